//! Computes the candle that must follow from minutes or from shorter candles.

use jiff::Timestamp;
use serde::Deserialize;

use super::quote::Quote;

/// A candle in a response (`functions/README.md`, Bazaar candles).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Candle {
    pub(crate) opened_at: String,
    pub(crate) sell_open: f64,
    pub(crate) sell_high: f64,
    pub(crate) sell_low: f64,
    pub(crate) sell_close: f64,
    pub(crate) buy_open: f64,
    pub(crate) buy_high: f64,
    pub(crate) buy_low: f64,
    pub(crate) buy_close: f64,
    pub(crate) sell_volume: i64,
    pub(crate) buy_volume: i64,
    pub(crate) samples: u32,
    pub(crate) buy_order_high: Option<f64>,
    pub(crate) buy_order_low: Option<f64>,
    pub(crate) buy_order_close: Option<f64>,
    pub(crate) sell_offer_high: Option<f64>,
    pub(crate) sell_offer_low: Option<f64>,
    pub(crate) sell_offer_close: Option<f64>,
    pub(crate) sell_moving_week: Option<i64>,
    pub(crate) buy_moving_week: Option<i64>,
    pub(crate) complete: bool,
}

/// What is recorded about a product in a minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Minute {
    pub(crate) quote: Quote,
    pub(crate) buy_order: Option<f64>,
    pub(crate) sell_offer: Option<f64>,
    pub(crate) sell_moving_week: i64,
    pub(crate) buy_moving_week: i64,
}

impl Candle {
    /// The complete candle of the minutes of an interval that starts at `slot`, in Unix seconds. `None`
    /// without minutes.
    pub(crate) fn of_minutes(slot: i64, minutes: impl Iterator<Item = Minute>) -> Option<Self> {
        let opened_at = Timestamp::from_second(slot).unwrap().to_string();
        let candle = |minute: Minute| {
            let Minute { buy_order, sell_offer, .. } = minute;
            let Quote { sell_price, buy_price, sell_volume, buy_volume } = minute.quote;
            Self {
                opened_at: opened_at.clone(),
                sell_open: sell_price,
                sell_high: sell_price,
                sell_low: sell_price,
                sell_close: sell_price,
                buy_open: buy_price,
                buy_high: buy_price,
                buy_low: buy_price,
                buy_close: buy_price,
                sell_volume,
                buy_volume,
                samples: 1,
                buy_order_high: buy_order,
                buy_order_low: buy_order,
                buy_order_close: buy_order,
                sell_offer_high: sell_offer,
                sell_offer_low: sell_offer,
                sell_offer_close: sell_offer,
                sell_moving_week: Some(minute.sell_moving_week),
                buy_moving_week: Some(minute.buy_moving_week),
                complete: true,
            }
        };
        minutes.map(candle).reduce(Self::followed_by)
    }

    /// The candle that starts at `opened_at` and joins `parts`, shorter candles in order. The first part may
    /// start later. `None` without parts.
    pub(crate) fn of_parts(opened_at: &str, parts: impl Iterator<Item = Self>) -> Option<Self> {
        let whole = parts.reduce(Self::followed_by)?;
        Some(Self { opened_at: opened_at.to_owned(), ..whole })
    }

    fn followed_by(self, mut later: Self) -> Self {
        later.opened_at = self.opened_at;
        later.sell_open = self.sell_open;
        later.sell_high = later.sell_high.max(self.sell_high);
        later.sell_low = later.sell_low.min(self.sell_low);
        later.buy_open = self.buy_open;
        later.buy_high = later.buy_high.max(self.buy_high);
        later.buy_low = later.buy_low.min(self.buy_low);
        later.samples += self.samples;
        let of_both = |earlier: Option<f64>, later: Option<f64>, better: fn(f64, f64) -> f64| {
            earlier.into_iter().chain(later).reduce(better)
        };
        later.buy_order_high = of_both(self.buy_order_high, later.buy_order_high, f64::max);
        later.buy_order_low = of_both(self.buy_order_low, later.buy_order_low, f64::min);
        later.buy_order_close = later.buy_order_close.or(self.buy_order_close);
        later.sell_offer_high = of_both(self.sell_offer_high, later.sell_offer_high, f64::max);
        later.sell_offer_low = of_both(self.sell_offer_low, later.sell_offer_low, f64::min);
        later.sell_offer_close = later.sell_offer_close.or(self.sell_offer_close);
        later.complete &= self.complete;
        later
    }

    /// The start of the candle's interval in Unix seconds. `None` unless `opened_at` is in whole seconds and
    /// UTC.
    pub(crate) fn slot(&self) -> Option<i64> {
        let time: Timestamp = self.opened_at.parse().ok()?;
        (time.to_string() == self.opened_at).then_some(time.as_second())
    }
}
