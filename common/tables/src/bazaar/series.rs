//! The series of bazaar candles: its intervals, and the form of a candle in a row.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::parameters::ItemId;
use serde::Serialize;

use super::candle::{Best, Candle};
use super::fields::ProductCandle;
use super::intervals::{FIVE_MINUTES, HOUR, INTERVALS, ONE_MINUTE};
use super::numbers::Number;
use super::quote::Quote;
use crate::error::Error;
use crate::item::string;
use crate::row::Value;
use crate::series;
use crate::series::keys::Slot;
use crate::series::rows::parts;
use crate::series::{Series, SeriesCandle};
use crate::session::Session;

/// The candles of all products in a slot.
pub type Candles = series::Candles<Candle>;

pub const SERIES: Series = Series {
    name: "candles",
    minutes: &ONE_MINUTE,
    finest: &FIVE_MINUTES,
    intervals: &INTERVALS,
    parts: &[&HOUR, &FIVE_MINUTES, &ONE_MINUTE],
    // A recorder fetches during the minute, and ends within 50 s of the fetch.
    settle: Duration::from_mins(2),
    reach: Duration::ZERO,
};

impl SeriesCandle for Candle {
    type Id = ItemId;

    const SERIES: &'static Series = &SERIES;

    fn samples(&self) -> u32 {
        self.samples
    }

    fn followed_by(self, later: Self) -> Self {
        Self {
            sell: self.sell.followed_by(later.sell),
            buy: self.buy.followed_by(later.buy),
            buy_order: Best::joined(self.buy_order, later.buy_order),
            sell_offer: Best::joined(self.sell_offer, later.sell_offer),
            samples: self.samples.saturating_add(later.samples),
            ..later
        }
    }

    /// Returns the numbers, separated by commas. A missing number is empty.
    fn attribute(&self, slot: Slot) -> AttributeValue {
        let text = |number: Option<Number>| number.map(|number| number.to_string()).unwrap_or_default();
        let texts: Vec<_> = self.numbers(slot).into_iter().map(text).collect();
        string(texts.join(","))
    }

    fn row<'a>(&'a self, id: &'a ItemId) -> impl Serialize + use<'a> {
        ProductCandle::of(id, self)
    }

    fn of_value(slot: Slot, value: &Value<'_>) -> Option<Self> {
        if *slot.interval == ONE_MINUTE {
            return Quote::of_value(value).map(|quote| Self::of(quote, slot.start));
        }
        Self::of_text(slot, value.text()?)
    }

    async fn build(table: Session<'_>, slot: Slot) -> Result<Candles, Error> {
        parts(table, &ONE_MINUTE, slot).await
    }
}
