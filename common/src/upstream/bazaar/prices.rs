//! The prices of all products at once: the provider's averages, and the prices of the best orders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Level, Product, QuickStatus, RawOrders, Side, has_price, levels, value_at};
use crate::json::Object;
use crate::upstream::UpstreamResponse;
use crate::upstream::rows::Skipped;

/// The prices of all products.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BazaarPrices")]
#[serde(rename_all = "camelCase")]
pub struct Prices<'a> {
    /// When the provider refreshed the data, in Unix milliseconds.
    pub last_updated: i64,
    /// The number of items.
    pub count: usize,
    /// The products, active or not, sorted by id.
    pub items: Vec<ProductPrices<'a>>,
}

/// The prices of a product. Prices are in coins and not rounded; volumes are in items.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BazaarProductPrices")]
#[serde(rename_all = "camelCase")]
pub struct ProductPrices<'a> {
    /// The product's id.
    pub id: &'a str,
    /// The highest price of a buy order, in coins, which an instant sale gets; `null` without buy orders, or
    /// if the orders are invalid.
    pub top_buy_order: Option<f64>,
    /// The lowest price of a sell offer, in coins, which an instant purchase pays; `null` without sell
    /// offers, or if the orders are invalid.
    pub top_sell_offer: Option<f64>,
    /// The average price of the best 2 % of the volume of buy orders, in coins; 0 if there are no buy orders.
    pub sell_price: f64,
    /// The average price of the best 2 % of the volume of sell offers, in coins; 0 if there are no sell
    /// offers.
    pub buy_price: f64,
    /// The number of items in open buy orders.
    pub sell_volume: i64,
    /// The number of items in open sell offers.
    pub buy_volume: i64,
    /// The number of items sold instantly in the last seven days. According to the provider, it includes the
    /// live state.
    pub sell_moving_week: i64,
    /// The number of items bought instantly in the last seven days. According to the provider, it includes
    /// the live state.
    pub buy_moving_week: i64,
}

impl ProductPrices<'_> {
    /// Whether there is an average price on at least one side.
    #[must_use]
    pub const fn has_price(&self) -> bool {
        has_price(self.sell_price, self.buy_price)
    }
}

/// Returns the prices of these products of a [`market`](super::market), which was refreshed at
/// `last_updated`. Writes one warning about all invalid orders, if there are any.
#[must_use]
pub fn prices<'a>(response: &UpstreamResponse, products: &'a [Product], last_updated: i64) -> Prices<'a> {
    let row = |(product, tops): (&'a Product, Tops)| {
        let [top_buy_order, top_sell_offer] = tops;
        let QuickStatus { sell_price, buy_price, sell_volume, buy_volume, sell_moving_week, buy_moving_week } =
            product.status;
        ProductPrices {
            id: &product.id,
            top_buy_order,
            top_sell_offer,
            sell_price,
            buy_price,
            sell_volume,
            buy_volume,
            sell_moving_week,
            buy_moving_week,
        }
    };
    let mut items: Vec<_> = products.iter().zip(tops(response, products)).map(row).collect();
    items.sort_unstable_by_key(|item| item.id);
    Prices { last_updated, count: items.len(), items }
}

/// The prices of the best buy order and the best sell offer; `None` without orders, or if the orders are
/// invalid.
pub type Tops = [Option<f64>; 2];

/// Returns the best prices of each of these products. Writes one warning about all invalid orders, if there
/// are any.
pub fn tops<'a>(response: &UpstreamResponse, products: impl IntoIterator<Item = &'a Product>) -> Vec<Tops> {
    let mut skipped = Skipped::default();
    let tops = products.into_iter().map(|product| tops_of_product(response, product, &mut skipped)).collect();
    skipped.warn(response, "orders are left out");
    tops
}

/// Returns the prices of the best buy order and the best sell offer. Compares the prices of all levels,
/// because the provider promises no order of levels.
fn tops_of_product(response: &UpstreamResponse, product: &Product, skipped: &mut Skipped) -> Tops {
    let text = value_at(&response.body, product.position);
    let orders = Object::deserialize(&mut serde_json::Deserializer::from_str(text));
    // Parses whole lists first, and each level separately only if this fails, because each level is then read
    // twice.
    if let Ok(Object(RawOrders { sell_summary, buy_summary })) = orders {
        let sides: [Vec<Object<Level>>; 2] = [sell_summary, buy_summary];
        if sides.iter().flatten().all(|Object(level)| level.check().is_ok()) {
            let [buy_orders, sell_offers] =
                sides.each_ref().map(|side| side.iter().map(|Object(level)| level));
            return [Side::BuyOrders.best(buy_orders), Side::SellOffers.best(sell_offers)];
        }
    }
    let orders = Object::deserialize(&mut serde_json::Deserializer::from_str(text));
    let Object(RawOrders { sell_summary, buy_summary }) = match orders {
        Ok(orders) => orders,
        Err(error) => {
            skipped.add(&*product.id, error);
            return [None; 2];
        }
    };
    let sides = [(sell_summary, Side::BuyOrders), (buy_summary, Side::SellOffers)].map(|(entries, side)| {
        let rows = levels(entries, &format!("{} {}", product.id, side.name()));
        let best = rows.are_plausible().then(|| side.best(rows.usable.iter()));
        skipped.extend(rows.skipped);
        best
    });
    match sides {
        [Some(buy_orders), Some(sell_offers)] => [buy_orders, sell_offers],
        _ => [None; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::bazaar::{Orders, PATH, market, order_book};

    const STATUS: &str = r#"{"sellPrice":1.5,"sellVolume":2,"sellMovingWeek":3,"buyPrice":2.5,"buyVolume":4,"buyMovingWeek":5}"#;

    #[test]
    fn the_tops_of_every_product_are_those_of_its_order_book() {
        let simulated = simulator::bazaar::body(1, 1_777_388_600_000);
        let captures = ["bazaar/v2-20260428T1503Z.json", "bazaar/v1-20210419T1337Z.json"];
        for body in captures.into_iter().filter_map(captures::text).chain([simulated]) {
            let response = UpstreamResponse::new(PATH, body);
            let market = market(&response, Orders::LeftOut).unwrap();
            let mut products = market.products.usable;
            let prices = prices(&response, &products, market.last_updated);
            assert!(prices.count == products.len() && prices.items.len() == prices.count);
            let bytes = serde_json::to_string(&prices).unwrap().len();
            assert!(bytes < 800_000, "{bytes}");
            let tops: Vec<_> =
                prices.items.iter().map(|item| (item.top_buy_order, item.top_sell_offer)).collect();
            products.sort_by(|one, other| one.id.cmp(&other.id));
            for (product, tops) in products.iter().zip(tops) {
                let book = order_book(&response, product).unwrap();
                let best = |levels: &[Level]| levels.first().map(|level| level.price_per_unit);
                assert_eq!(tops, (best(&book.buy_orders), best(&book.sell_offers)), "{}", product.id);
            }
        }
    }

    #[test]
    fn orders_that_make_no_sense_hide_no_product() {
        let level = |price: f64| format!(r#"{{"amount":7,"pricePerUnit":{price},"orders":1}}"#);
        let [low, high, bad] = [1.5, 2.5, -1.0].map(level);
        for (sell_summary, buy_summary, tops) in [
            (format!("[{low},{high}]"), format!("[{high},{low}]"), [Some(2.5), Some(1.5)]),
            (format!("[{low},{bad},{high}]"), "[]".to_owned(), [Some(2.5), None]),
            (format!("[null,{low}]"), format!("[{high}]"), [Some(1.5), Some(2.5)]),
            (format!("[{bad},null,{low}]"), format!("[{high}]"), [None, None]),
            ("null".to_owned(), format!("[{high}]"), [None, None]),
            (format!("[{low}]"), "{}".to_owned(), [None, None]),
        ] {
            let odd = format!(
                r#"{{"sell_summary":{sell_summary},"buy_summary":{buy_summary},"quick_status":{STATUS}}}"#
            );
            let good =
                format!(r#"{{"sell_summary":[{low}],"buy_summary":[{high}],"quick_status":{STATUS}}}"#);
            let body = format!(r#"{{"success":true,"lastUpdated":17,"products":{{"B":{odd},"A":{good}}}}}"#);
            let response = UpstreamResponse::new(PATH, body);
            let products = market(&response, Orders::LeftOut).unwrap().products.usable;
            let Prices { last_updated, count, items } = prices(&response, &products, 17);
            let [a, b] = items.as_slice() else { panic!("two products") };
            assert_eq!((last_updated, count, a.id, b.id), (17, 2, "A", "B"));
            assert_eq!([a.top_buy_order, a.top_sell_offer], [Some(1.5), Some(2.5)]);
            assert_eq!([b.top_buy_order, b.top_sell_offer], tops, "{sell_summary} {buy_summary}");
            assert_eq!((b.sell_price, b.buy_volume), (1.5, 4));
        }
    }
}
