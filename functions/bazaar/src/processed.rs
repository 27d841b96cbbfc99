//! A product and its spread, which is the difference between the provider's average prices.

use common::upstream::bazaar::spread::{spread, spread_percent};
use common::upstream::bazaar::{Product, QuickStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// A product with its spread. Prices are in coins and not rounded; volumes are in items.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BazaarItem")]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessedItem<'a> {
    /// The product's id.
    pub(crate) id: &'a str,
    /// The average price of the best 2 % of the volume of buy orders, in coins; 0 if there are no buy orders.
    pub(crate) sell_price: f64,
    /// The average price of the best 2 % of the volume of sell offers, in coins; 0 if there are no sell
    /// offers.
    pub(crate) buy_price: f64,
    /// The number of items in open buy orders.
    pub(crate) sell_volume: i64,
    /// The number of items in open sell offers.
    pub(crate) buy_volume: i64,
    /// `buyPrice - sellPrice`, in coins.
    pub(crate) spread: f64,
    /// The spread in per cent of `sellPrice`; 0 if `sellPrice` is 0.
    pub(crate) spread_percent: f64,
    /// The number of items sold instantly in the last seven days. According to the provider, it includes the
    /// live state.
    pub(crate) sell_moving_week: i64,
    /// The number of items bought instantly in the last seven days. According to the provider, it includes
    /// the live state.
    pub(crate) buy_moving_week: i64,
}

impl<'a> ProcessedItem<'a> {
    pub(crate) fn of(product: &'a Product) -> Self {
        let QuickStatus { sell_price, buy_price, sell_volume, buy_volume, sell_moving_week, buy_moving_week } =
            product.status;
        Self {
            id: &product.id,
            sell_price,
            buy_price,
            sell_volume,
            buy_volume,
            spread: spread(sell_price, buy_price),
            spread_percent: spread_percent(sell_price, buy_price),
            sell_moving_week,
            buy_moving_week,
        }
    }
}
