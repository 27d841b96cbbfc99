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
    pub(crate) complete: bool,
}

impl Candle {
    /// The complete candle of the minutes of an interval that starts at `slot`, in Unix seconds. `None` without minutes.
    pub(crate) fn of_minutes(slot: i64, minutes: impl Iterator<Item = Quote>) -> Option<Self> {
        let opened_at = Timestamp::from_second(slot).unwrap().to_string();
        let candle = |minute: Quote| {
            let Quote { sell_price, buy_price, sell_volume, buy_volume } = minute;
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
                complete: true,
            }
        };
        minutes.map(candle).reduce(Self::followed_by)
    }

    /// The candle that starts at `opened_at` and joins `parts`, shorter candles in order. The first part may start later. `None` without
    /// parts.
    pub(crate) fn of_parts(opened_at: &str, parts: impl Iterator<Item = Self>) -> Option<Self> {
        let whole = parts.reduce(Self::followed_by)?;
        Some(Self { opened_at: opened_at.to_owned(), ..whole })
    }

    /// Joins this candle and a later candle.
    fn followed_by(self, mut later: Self) -> Self {
        later.opened_at = self.opened_at;
        later.sell_open = self.sell_open;
        later.sell_high = later.sell_high.max(self.sell_high);
        later.sell_low = later.sell_low.min(self.sell_low);
        later.buy_open = self.buy_open;
        later.buy_high = later.buy_high.max(self.buy_high);
        later.buy_low = later.buy_low.min(self.buy_low);
        later.samples += self.samples;
        later.complete &= self.complete;
        later
    }

    /// The start of the candle's interval in Unix seconds. `None` unless `opened_at` is in whole seconds and UTC.
    pub(crate) fn slot(&self) -> Option<i64> {
        let time: Timestamp = self.opened_at.parse().ok()?;
        (time.to_string() == self.opened_at).then_some(time.as_second())
    }
}
