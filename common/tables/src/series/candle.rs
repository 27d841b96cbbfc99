//! Series, and the trait of their candles.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::str::FromStr;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::time::UnixSeconds;
use serde::Serialize;

use super::keys::{Interval, Slot};
use super::marker::Found;
use crate::error::Error;
use crate::row::Value;
use crate::session::Session;

#[derive(Debug)]
pub struct Series {
    /// The name, with which the partition keys of candles begin.
    pub(crate) name: &'static str,
    pub(crate) minutes: &'static Interval,
    pub finest: &'static Interval,
    /// The intervals of candles, from fine to coarse. Each is a multiple of the previous one.
    pub intervals: &'static [Interval],
    /// The intervals from which readers compose a candle that is not built yet, from coarse to fine. Each
    /// interval takes an additional query, so there are few.
    pub(crate) parts: &'static [&'static Interval],
    /// How long after its end a slot is built. By then, the minutes of the slot no longer change.
    pub(crate) settle: Duration,
    /// A minute can also have data of slots that ended up to this much before it. If a backfill adds the
    /// minute, these slots are rebuilt.
    pub(crate) reach: Duration,
}

/// The prices of a product during an interval.
pub trait SeriesCandle: Clone + PartialEq + Send + Sync + 'static {
    type Id: Clone + Ord + Hash + FromStr + AsRef<str> + Debug + Send + Sync;

    const SERIES: &'static Series;

    /// Returns the number of recorded minutes.
    fn samples(&self) -> u32;

    /// Returns one candle for this interval and a later interval together.
    #[must_use]
    fn followed_by(self, later: Self) -> Self;

    /// Returns the candle to store in place of a stored candle of the same slot. By default, the one with
    /// more minutes.
    #[must_use]
    fn merged_over(self, stored: Self) -> Self {
        if self.samples() < stored.samples() { stored } else { self }
    }

    /// Returns the candle in the form of responses and files with all products: the id, and the fields. All
    /// fields are numbers or null.
    fn row<'a>(&'a self, id: &'a Self::Id) -> impl Serialize + use<'a, Self>;

    /// Returns the candle's value in a row of the slot.
    fn attribute(&self, slot: Slot) -> AttributeValue;

    /// Parses the value in a row of the slot; `None` if it is not a candle.
    fn of_value(slot: Slot, value: &Value<'_>) -> Option<Self>;

    /// Finds the minutes with data from `first` to before `end`: by default recorded minutes, at most
    /// `limit`.
    #[must_use]
    fn minutes_between(
        table: Session<'_>,
        first: UnixSeconds,
        end: UnixSeconds,
        limit: usize,
    ) -> impl Future<Output = Result<Found, Error>> + Send {
        Found::recorded(table, Self::SERIES.minutes, first, end, limit)
    }

    /// Returns the candles of a slot of the finest interval, built from its minutes. First writes the rows
    /// that the series has besides candles. The rows of a slot may build on the rows of the previous slot, so
    /// slots must be built in order.
    fn build(table: Session<'_>, slot: Slot) -> impl Future<Output = Result<Candles<Self>, Error>> + Send;
}

/// The candles of all products in a slot.
pub type Candles<C> = BTreeMap<<C as SeriesCandle>::Id, C>;
