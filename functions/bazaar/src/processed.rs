//! A product with its spread: what is left of buying one by order and selling it by offer.

use common::prices::{spread, spread_percent};
use common::upstream::bazaar::{Product, QuickStatus};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// A product with its spread (`interface.md`, part 2). Prices are in coins and not rounded, volumes in items.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "BazaarItem"))]
#[serde(rename_all = "camelCase")]
pub struct ProcessedItem<'a> {
    /// The product's id.
    pub id: &'a str,
    /// What one item brings when sold at once, in coins; 0 when nobody buys.
    pub sell_price: f64,
    /// What one item costs when bought at once, in coins; 0 when nobody sells.
    pub buy_price: f64,
    /// How many items the open buy orders want.
    pub sell_volume: i64,
    /// How many items the open sell offers hold.
    pub buy_volume: i64,
    /// `buyPrice - sellPrice`, in coins.
    pub spread: f64,
    /// The spread in per cent of `sellPrice`; 0 when that is 0.
    pub spread_percent: f64,
    /// How many items were sold at once in seven days.
    pub sell_moving_week: i64,
    /// How many items were bought at once in seven days.
    pub buy_moving_week: i64,
}

impl<'a> ProcessedItem<'a> {
    /// The item that `product` is.
    #[must_use]
    pub fn of(product: &'a Product) -> Self {
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
