//! `mode=book`: the open orders of one product.

use common::upstream::bazaar::{Level, OrderBook, Product};
use schemars::JsonSchema;
use serde::Serialize;

/// The data of `mode=book`. Prices are in coins and not rounded.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarBook")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Book<'a> {
    /// The product's id.
    id: &'a str,
    /// When the provider refreshed the data, in Unix milliseconds.
    last_updated: i64,
    /// The highest price of a buy order: the price of an instant sale, in coins; `null` if there are no buy
    /// orders.
    top_buy_order: Option<f64>,
    /// The lowest price of a sell offer: the price of an instant purchase, in coins; `null` if there are no
    /// sell offers.
    top_sell_offer: Option<f64>,
    /// The open buy orders, highest price first: at most 30 prices, as the provider gives them.
    buy_orders: Vec<BookLevel>,
    /// The open sell offers, lowest price first: at most 30 prices, as the provider gives them.
    sell_offers: Vec<BookLevel>,
    /// The average price of the best 2 % of the volume of buy orders, in coins; 0 if there are no buy orders.
    sell_price: f64,
    /// The average price of the best 2 % of the volume of sell offers, in coins; 0 if there are no sell
    /// offers.
    buy_price: f64,
}

/// The orders or offers at one price.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarBookLevel")]
struct BookLevel {
    /// The price of one item, in coins.
    price: f64,
    /// The number of items in these orders.
    amount: i64,
    /// The number of orders.
    orders: i64,
}

impl<'a> Book<'a> {
    pub(crate) fn of(product: &'a Product, orders: OrderBook, last_updated: i64) -> Self {
        let OrderBook { buy_orders, sell_offers } = orders;
        let top = |levels: &[Level]| levels.first().map(|level| level.price_per_unit);
        Self {
            id: &product.id,
            last_updated,
            top_buy_order: top(&buy_orders),
            top_sell_offer: top(&sell_offers),
            buy_orders: buy_orders.into_iter().map(BookLevel::from).collect(),
            sell_offers: sell_offers.into_iter().map(BookLevel::from).collect(),
            sell_price: product.status.sell_price,
            buy_price: product.status.buy_price,
        }
    }
}

impl From<Level> for BookLevel {
    fn from(Level { price_per_unit, amount, orders }: Level) -> Self {
        Self { price: price_per_unit, amount, orders }
    }
}
