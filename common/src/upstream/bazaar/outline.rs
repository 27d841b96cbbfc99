//! The body of the bazaar without the orders, which are five sixths of it. Prices are then read in a fifth of
//! the time.
//!
//! Only lists of orders in the usual form (see `is_usual`) are cut out. All other lists stay in the text, and
//! the parser reads them.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// The end of the keys `sell_summary` and `buy_summary`.
const KEY: &[u8] = br#"_summary""#;

/// A body whose usual lists of orders are replaced by empty lists.
pub(super) struct Outline<'a> {
    pub(super) text: Cow<'a, str>,
    /// For each cut: its position in the text, and the position in the body at which the cut list ends.
    cuts: Vec<(usize, usize)>,
}

impl<'a> Outline<'a> {
    /// The outline of `body` without cuts.
    pub(super) const fn whole(body: &'a str) -> Self {
        Self { text: Cow::Borrowed(body), cuts: Vec::new() }
    }

    /// The outline of `body`. It is valid JSON if the body is.
    pub(super) fn of(body: &'a str) -> Self {
        let mut text = String::with_capacity(body.len() / 4);
        let mut cuts = Vec::new();
        let mut position = 0;
        let mut copied = 0;
        let key = memmem::Finder::new(KEY);
        let from = |position| body.as_bytes().get(position..).unwrap_or_default();
        while let Some(found) = key.find(from(position)) {
            position += found + KEY.len();
            let Some(list) = behind(b':', from(position)).and_then(|value| behind(b'[', value)) else {
                continue;
            };
            position = body.len() - list.len();
            let orders = memchr(b']', list).and_then(|length| list.get(..length));
            if let Some(orders) = orders.filter(|orders| is_usual(orders)) {
                text.push_str(body.get(copied..position).unwrap_or_default());
                position += orders.len();
                copied = position;
                cuts.push((text.len(), copied));
            }
        }
        text.push_str(body.get(copied..).unwrap_or_default());
        Self { text: text.into(), cuts }
    }

    /// Returns the position in the body for a position in the text.
    pub(super) fn position_in_body(&self, position: usize) -> usize {
        let earlier = self.cuts.partition_point(|(in_text, _)| *in_text <= position);
        let last = earlier.checked_sub(1).and_then(|index| self.cuts.get(index));
        last.map_or(position, |(in_text, in_body)| in_body + (position - in_text))
    }
}

/// Returns the text after `byte`; `None` if `byte` is not the first byte after white space.
fn behind(byte: u8, text: &[u8]) -> Option<&[u8]> {
    text.trim_ascii_start().strip_prefix(&[byte])
}

/// Whether the bracket `]` after `orders` ends the list of orders: it is not within a string, and the list
/// contains no other list. The loop has no branches, so that the compiler uses vector instructions. With
/// branches, the loop would take as long as parsing.
fn is_usual(orders: &[u8]) -> bool {
    let mut quotes = 0_u8;
    let mut others = 0_u8;
    for &byte in orders {
        quotes = quotes.wrapping_add(u8::from(byte == b'"'));
        others |= u8::from(byte == b'\\') | u8::from(byte == b'[');
    }
    quotes.is_multiple_of(2) && others == 0
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use serde::de::IgnoredAny;
    use serde_json::value::RawValue;

    use super::*;
    use crate::upstream::UpstreamResponse;
    use crate::upstream::bazaar::{Orders, PATH, market, order_book};

    const STATUS: &str = r#"{"sellPrice":1.5,"sellVolume":2,"sellMovingWeek":3,"buyPrice":2.5,"buyVolume":4,"buyMovingWeek":5.0}"#;
    const ORDERS: &str =
        r#"[{"amount":7,"pricePerUnit":1.5,"orders":1},{"amount":1,"pricePerUnit":1.4E7,"orders":2}]"#;

    /// A document with the products `A`, whose buy orders are `orders`, and `B`, which has no buy orders.
    fn document(orders: &str) -> String {
        let product =
            |orders| format!(r#"{{"sell_summary":{orders},"buy_summary":{ORDERS},"quick_status":{STATUS}}}"#);
        let a = product(orders);
        let b = product("[]");
        format!(r#"{{"success":true,"lastUpdated":17,"products":{{"A":{a},"B":{b}}}}}"#)
    }

    /// Returns the data that is read from `body` with cuts and without cuts.
    fn both(body: &str) -> [Option<String>; 2] {
        let response = UpstreamResponse::new(PATH, body.to_owned());
        [Orders::LeftOut, Orders::Read].map(|orders| {
            let market = market(&response, orders).ok()?;
            if let Some(raw) = market.raw.filter(|raw| !raw.is_empty()) {
                let members: HashMap<String, &RawValue> = serde_json::from_str(body).unwrap();
                assert_eq!(&body[raw], members["products"].get());
            }
            let products = market.products.usable.iter();
            let products = products.map(|product| {
                let book = order_book(&response, product).ok().map(|book| format!("{book:?}"));
                (&product.id, product.status, book)
            });
            Some(format!("{:?} {:?}", market.last_updated, products.collect::<Vec<_>>()))
        })
    }

    #[test]
    fn usual_lists_of_orders_are_cut_out() {
        let body = document(ORDERS);
        let outline = Outline::of(&body);
        assert_eq!(outline.text, document("[]").replace(ORDERS, "[]"));
        for id in ["\"A\"", "\"B\"", "\"success\""] {
            let position = outline.text.find(id).unwrap();
            assert_eq!(outline.position_in_body(position), body.find(id).unwrap(), "{id}");
        }
    }

    #[test]
    fn every_capture_and_every_simulated_body_is_read_as_without_cuts() {
        let simulated = simulator::bazaar::body(1, 1_777_388_600_000);
        let captures = ["bazaar/v2-20260428T1503Z.json", "bazaar/v1-20210419T1337Z.json"];
        for body in captures.into_iter().filter_map(captures::text).chain([simulated]) {
            assert!(Outline::of(&body).text.len() < body.len() / 2);
            let [cut, whole] = both(&body);
            assert!(cut.is_some() && cut == whole);
        }
    }

    #[test]
    fn unusual_lists_stay() {
        for orders in ["null", "[[]]", r#"[{"text":"]"}]"#, r#"[{"text":"\"]"}]"#, r#"[{"_summary\":[":1}]"#]
        {
            let body = document(orders);
            assert!(Outline::of(&body).text.contains(orders), "{orders}");
            let [cut, whole] = both(&body);
            assert_eq!(cut, whole, "{orders}");
        }
        let good = document(ORDERS);
        for length in 0..good.len() {
            assert_eq!(both(&good[..length]), [None, None], "{length}");
        }
    }

    proptest! {
        /// Any valid document gives the same data with and without cuts.
        #[test]
        fn cuts_change_nothing_in_valid_documents(
            position in 0_usize..700, replaced in 0_usize..4, text in r#"(_summary" : )?[\[\]{}",:\\ \n0-9a-z.-]{0,4}"#
        ) {
            let mut body = document(ORDERS);
            let start = position.min(body.len());
            let end = (start + replaced).min(body.len());
            body.replace_range(start..end, &text);
            let [cut, whole] = both(&body);
            if serde_json::from_str::<IgnoredAny>(&body).is_ok() {
                prop_assert_eq!(cut, whole);
            }
        }
    }
}
