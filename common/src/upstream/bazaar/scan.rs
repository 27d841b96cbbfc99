//! Reads the prices out of the bazaar without parsing the orders, which are five sixths of the body.
//!
//! The scan knows one form of the document, the one that the provider writes: products that are objects of texts, numbers,
//! lists of orders, and `quick_status`. It returns `None` for any other, which serde then parses. It finds the end of a list of
//! orders without reading the orders: a syntax error in them goes unnoticed here, as nothing but [`super::order_book`] needs them.

use memchr::memchr;
use serde::de::IgnoredAny;

use super::{QuickStatus, Success};
use crate::json::Object;

/// The document, with the parts that the prices need.
pub(super) struct Scanned<'a> {
    /// The products, in the provider's order.
    pub(super) products: Vec<ScannedProduct<'a>>,
    /// The value of `lastUpdated`, as the provider spells it.
    pub(super) last_updated: Option<&'a str>,
}

/// One product.
pub(super) struct ScannedProduct<'a> {
    pub(super) id: &'a str,
    pub(super) status: QuickStatus,
    /// Where its id ends in the document, in bytes: the product follows.
    pub(super) position: usize,
}

/// Returns the prices in `document`, or `None` if it does not have the usual form.
pub(super) fn scan(document: &str) -> Option<Scanned<'_>> {
    let mut cursor = Cursor { document, position: 0 };
    let (mut success, mut last_updated, mut products) = (None, None, None);
    cursor.object(|cursor, name| match name {
        "success" => set(&mut success, serde_json::from_str::<Success>(cursor.scalar()?).ok()?),
        "lastUpdated" => set(&mut last_updated, cursor.scalar()?),
        "products" => set(&mut products, cursor.products()?),
        _ => cursor.value(),
    })?;
    cursor.blanks();
    success?;
    cursor.rest().is_empty().then_some(Scanned { products: products?, last_updated })
}

/// Sets what must not be set yet: serde refuses a field that is there twice.
fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// A position in a document. Every method reads on from there, and returns `None` if something else than it reads is there.
struct Cursor<'a> {
    document: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.document.as_bytes().get(self.position..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.position += self.rest().iter().take_while(is_blank).count();
    }

    /// The next byte after blanks, which it does not read.
    fn next(&mut self) -> Option<u8> {
        self.blanks();
        self.rest().first().copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.position += 1)
    }

    /// Reads `length` bytes.
    fn take(&mut self, length: usize) -> Option<&'a str> {
        let text = self.document.get(self.position..self.position.checked_add(length)?)?;
        self.position += length;
        Some(text)
    }

    /// Reads an object, and calls `read_value` after each of its names.
    fn object(&mut self, mut read_value: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.next()? == b'}' {
            return self.expect(b'}');
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            read_value(self, name)?;
            if self.next()? == b'}' {
                return self.expect(b'}');
            }
            self.expect(b',')?;
        }
    }

    /// Reads a string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let text = self.take(memchr(b'"', self.rest())?)?;
        self.expect(b'"')?;
        text.bytes().all(|byte| byte >= b' ' && byte != b'\\').then_some(text)
    }

    /// Reads a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Option<&'a str> {
        self.blanks();
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let text = self.take(self.rest().iter().take_while(is_part).count())?;
        serde_json::from_str::<IgnoredAny>(text).is_ok().then_some(text)
    }

    /// Reads a value that is not needed.
    fn value(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.string().map(drop),
            b'[' => self.orders(),
            _ => self.scalar().map(drop),
        }
    }

    fn products(&mut self) -> Option<Vec<ScannedProduct<'a>>> {
        let mut products = Vec::new();
        self.object(|cursor, id| {
            let position = cursor.position_after(id);
            let status = cursor.product()?;
            products.push(ScannedProduct { id, status, position });
            Some(())
        })?;
        Some(products)
    }

    /// Returns where the string ends that was read last, with its quote.
    fn position_after(&self, text: &str) -> usize {
        text.as_ptr().addr().saturating_sub(self.document.as_ptr().addr()) + text.len() + "\"".len()
    }

    /// Reads a product, which must have prices that make sense.
    fn product(&mut self) -> Option<QuickStatus> {
        let mut status = None;
        self.object(|cursor, name| match name {
            "quick_status" => set(&mut status, cursor.status()?),
            _ => cursor.value(),
        })?;
        status
    }

    /// Reads the prices, an object without objects in it.
    fn status(&mut self) -> Option<QuickStatus> {
        self.blanks();
        let text = self.take(memchr(b'}', self.rest())? + 1)?;
        let Object(status) = serde_json::from_str::<Object<QuickStatus>>(text).ok()?;
        status.check().is_ok().then_some(status)
    }

    /// Reads a list of objects whose values are neither lists, objects nor strings. In a valid document, the first `]` is its
    /// end: in front of one in a string there would be an odd number of quotes, and an inner list would begin with `[`.
    fn orders(&mut self) -> Option<()> {
        self.expect(b'[')?;
        let text = self.take(memchr(b']', self.rest())?)?;
        let marks = Marks::of(text.as_bytes());
        let is_usual =
            marks.quotes == 2 * marks.colons && marks.openings == marks.closings && marks.others == 0;
        is_usual.then(|| self.expect(b']'))?
    }
}

/// How often some bytes occur in a text.
#[derive(Default)]
struct Marks {
    quotes: usize,
    colons: usize,
    openings: usize,
    closings: usize,
    /// Backslashes and opening brackets, which a list of orders has none of.
    others: usize,
}

impl Marks {
    fn of(text: &[u8]) -> Self {
        let mut marks = Self::default();
        // Sums of bytes let the compiler use vector instructions. They cannot overflow in so few bytes.
        for chunk in text.chunks(usize::from(u8::MAX)) {
            let (mut quotes, mut colons, mut openings, mut closings, mut others) =
                (0_u8, 0_u8, 0_u8, 0_u8, 0_u8);
            for &byte in chunk {
                quotes += u8::from(byte == b'"');
                colons += u8::from(byte == b':');
                openings += u8::from(byte == b'{');
                closings += u8::from(byte == b'}');
                others |= u8::from(byte == b'\\') | u8::from(byte == b'[');
            }
            marks.quotes += usize::from(quotes);
            marks.colons += usize::from(colons);
            marks.openings += usize::from(openings);
            marks.closings += usize::from(closings);
            marks.others += usize::from(others);
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::upstream::UpstreamResponse;
    use crate::upstream::bazaar::{Market, PATH, market};

    const STATUS: &str = r#"{"productId":"A","sellPrice":1.5,"sellVolume":2,"sellMovingWeek":3,"buyPrice":2.5,"buyVolume":4,"buyMovingWeek":5.0}"#;
    const ORDERS: &str =
        r#"[{"amount":7,"pricePerUnit":1.5,"orders":1},{"amount":1,"pricePerUnit":1.4E7,"orders":2}]"#;

    /// A document with the products `A`, which is `product`, and `B`.
    fn document(product: &str) -> String {
        format!(
            r#"{{"success":true,"lastUpdated":17,"products":{{"A":{product},"B":{{"quick_status":{STATUS}}}}}}}"#
        )
    }

    /// What [`market`] finds in `document`, with and without the scan.
    fn both(document: &str) -> [Option<String>; 2] {
        let text = |document: String| {
            let Market { products, last_updated } = market(&UpstreamResponse::new(PATH, document)).ok()?;
            let products: Vec<_> =
                products.usable.into_iter().map(|product| (product.id, product.status)).collect();
            Some(format!("{products:?} {last_updated:?}"))
        };
        // An unknown object is not of the usual form, and changes nothing else.
        let unusual = document.replacen('{', r#"{"unusual":{},"#, 1);
        assert!(scan(&unusual).is_none());
        [text(document.to_owned()), text(unusual)]
    }

    #[test]
    fn the_usual_form_is_scanned() {
        let product = format!(
            r#" {{ "product_id" : "A" , "sell_summary":{ORDERS}, "buy_summary" : [ ] ,"quick_status":{STATUS} }} "#
        );
        let document = document(&product);
        let scanned = scan(&document).unwrap();
        let ids: Vec<_> = scanned.products.iter().map(|product| product.id).collect();
        assert_eq!((ids, scanned.last_updated), (vec!["A", "B"], Some("17")));
        assert!(
            scanned
                .products
                .iter()
                .all(|product| document[..product.position].ends_with(&format!("{:?}", product.id)))
        );
    }

    #[test]
    fn every_capture_and_every_simulated_body_is_scanned() {
        let simulated = simulator::bazaar::body(1, 1_777_388_600_000);
        let captures = ["bazaar/v2-20260428T1503Z.json", "bazaar/v1-20210419T1337Z.json"];
        for body in captures.into_iter().filter_map(captures::text).chain([simulated]) {
            assert!(scan(&body).is_some());
            let [scanned, parsed] = both(&body);
            assert!(scanned.is_some() && scanned == parsed);
        }
    }

    #[test]
    fn another_form_is_left_to_serde() {
        for product in [
            r"null".to_owned(),
            r"{}".to_owned(),
            format!(r#"{{"quick_status":{STATUS},"quick_status":{STATUS}}}"#),
            format!(r#"{{"quick_status":[{STATUS}]}}"#),
            format!(r#"{{"quick_status":{STATUS},}}"#),
            format!(r#"{{"quick_status":{STATUS}"more":1}}"#),
            format!(r#"{{"quick_status":{STATUS},"more":{{}}}}"#),
            format!(r#"{{"quick_status":{STATUS},"more":01}}"#),
            format!(r#"{{"quick_status":{STATUS},"more":"\u0041"}}"#),
            format!(r#"{{"sell_summary":[[]],"quick_status":{STATUS}}}"#),
            format!(r#"{{"sell_summary":[{{"text":"]"}}],"quick_status":{STATUS}}}"#),
            format!(r#"{{"sell_summary":[{{"text":"\"]"}}],"quick_status":{STATUS}}}"#),
            format!(r#"{{"quick_status":{}}}"#, STATUS.replace("1.5", "-1.5")),
            format!(r#"{{"quick_status":{}}}"#, STATUS.replace("1.5", "{}")),
        ] {
            let document = document(&product);
            assert!(scan(&document).is_none(), "{product}");
            let [scanned, parsed] = both(&document);
            assert_eq!(scanned, parsed, "{product}");
        }
        let good = document(&format!(r#"{{"quick_status":{STATUS}}}"#));
        for (from, to) in [
            (r#""success":true"#, r#""success":false"#),
            (r#""success":true,"#, ""),
            (r#""success":true"#, r#""success":true,"success":true"#),
            (r#""lastUpdated":17"#, r#""lastUpdated":1x7"#),
            ("\"A\"", "\"\\u0041\""),
            ("\"A\"", "\"\u{1}\""),
        ] {
            let document = good.replacen(from, to, 1);
            assert!(scan(&document).is_none(), "{document}");
            let [scanned, parsed] = both(&document);
            assert_eq!(scanned, parsed, "{document}");
        }
        assert!(scan(&format!("{good} \n")).is_some());
        for length in 0..good.len() {
            assert!(scan(&good[..length]).is_none(), "{length}");
        }
        for more in ["}", ",", "0", "{}"] {
            assert!(scan(&format!("{good}{more}")).is_none(), "{more}");
        }
    }

    proptest! {
        /// Whatever changes in a document that stays valid, both ways of reading it find the same.
        #[test]
        fn a_scan_finds_what_serde_finds(position in 0_usize..600, replaced in 0_usize..4, text in r#"[\[\]{}",:\\ 0-9a-z.-]{0,4}"#) {
            let mut document = document(&format!(
                r#"{{"product_id":"A","sell_summary":{ORDERS},"buy_summary":[],"quick_status":{STATUS}}}"#
            ));
            let start = position.min(document.len());
            let end = (start + replaced).min(document.len());
            document.replace_range(start..end, &text);
            let [scanned, parsed] = both(&document);
            if serde_json::from_str::<IgnoredAny>(&document).is_ok() {
                prop_assert_eq!(scanned, parsed);
            }
        }
    }
}
