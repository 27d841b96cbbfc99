//! The fields of a candle in responses and files.

use common::request::parameters::ItemId;
use schemars::JsonSchema;
use serde::Serialize;

use super::candle::{Best, Candle, Prices};

/// The prices and volumes of a product during an interval. Prices are in coins, rounded to 0.01; volumes are
/// in items.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CandleFields {
    /// The sell price at the first recorded minute: the average of the best 2 % of buy orders, 0 without any.
    sell_open: f64,
    /// The highest sell price.
    sell_high: f64,
    /// The lowest sell price.
    sell_low: f64,
    /// The sell price at the last recorded minute.
    sell_close: f64,
    /// The buy price at the first recorded minute: the average of the best 2 % of sell offers, 0 without any.
    buy_open: f64,
    /// The highest buy price.
    buy_high: f64,
    /// The lowest buy price.
    buy_low: f64,
    /// The buy price at the last recorded minute.
    buy_close: f64,
    /// The number of items in open buy orders at the last recorded minute.
    sell_volume: i64,
    /// The number of items in open sell offers at the last recorded minute.
    buy_volume: i64,
    /// The number of minutes of the interval in which the product was recorded.
    samples: u32,
    /// The highest price of the best buy order; null without one.
    buy_order_high: Option<f64>,
    /// The lowest price of the best buy order.
    buy_order_low: Option<f64>,
    /// The last price of the best buy order.
    buy_order_close: Option<f64>,
    /// The highest price of the best sell offer; null without one.
    sell_offer_high: Option<f64>,
    /// The lowest price of the best sell offer.
    sell_offer_low: Option<f64>,
    /// The last price of the best sell offer.
    sell_offer_close: Option<f64>,
    /// `sellMovingWeek` at the last recorded minute; null if unknown.
    sell_moving_week: Option<i64>,
    /// `buyMovingWeek` at the last recorded minute; null if unknown.
    buy_moving_week: Option<i64>,
}

impl From<&Candle> for CandleFields {
    fn from(candle: &Candle) -> Self {
        let &Candle { sell, buy, sell_volume, buy_volume, samples, .. } = candle;
        let coins = |Prices { open, high, low, close }: Prices| {
            (open.coins(), high.coins(), low.coins(), close.coins())
        };
        let (sell_open, sell_high, sell_low, sell_close) = coins(sell);
        let (buy_open, buy_high, buy_low, buy_close) = coins(buy);
        let [buy_order_high, buy_order_low, buy_order_close] = Best::coins(candle.buy_order);
        let [sell_offer_high, sell_offer_low, sell_offer_close] = Best::coins(candle.sell_offer);
        Self {
            sell_open,
            sell_high,
            sell_low,
            sell_close,
            buy_open,
            buy_high,
            buy_low,
            buy_close,
            sell_volume,
            buy_volume,
            samples,
            buy_order_high,
            buy_order_low,
            buy_order_close,
            sell_offer_high,
            sell_offer_low,
            sell_offer_close,
            sell_moving_week: candle.sell_moving_week,
            buy_moving_week: candle.buy_moving_week,
        }
    }
}

/// The candle of one product, in a list of all products.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BazaarProductCandle")]
pub struct ProductCandle<'a> {
    /// The product's id.
    item_id: &'a str,
    /// The candle.
    #[serde(flatten)]
    fields: CandleFields,
}

impl<'a> ProductCandle<'a> {
    #[must_use]
    pub fn of(id: &'a ItemId, candle: &Candle) -> Self {
        Self { item_id: id.as_str(), fields: candle.into() }
    }
}
