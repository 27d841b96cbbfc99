//! What a series is, and what its candles can do.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::str::FromStr;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;

use super::keys::{Interval, Slot};
use crate::error::Error;
use crate::row::Value;
use crate::session::Session;

#[derive(Debug)]
pub struct Series {
    /// The name, the front of the partition keys of candles.
    pub(crate) name: &'static str,
    /// The recorded minutes.
    pub(crate) minutes: &'static Interval,
    pub finest: &'static Interval,
    /// The intervals of candles, from fine to coarse. Each is a multiple of the one before.
    pub intervals: &'static [Interval],
    /// What a candle that is not built is made of when it is read, from coarse to fine. Each is another query, so there are few.
    pub(crate) parts: &'static [&'static Interval],
    /// How long after its end a slot is built: by then, nothing that it is made of changes any more.
    pub(crate) settle: Duration,
    /// A slot is also made of the minutes up to this much later.
    pub(crate) reach: Duration,
}

/// The prices of a product during an interval.
pub trait SeriesCandle: Clone + PartialEq + Send + Sync + 'static {
    type Id: Clone + Ord + Hash + FromStr + AsRef<str> + Debug + Send + Sync;

    /// What is made of the minutes of a slot besides its candles.
    type Texts: Send;

    const SERIES: &'static Series;

    /// Returns the number of recorded minutes. Of two candles of a slot, the one with more counts.
    fn samples(&self) -> u32;

    /// Returns the candle of this interval and a later one together.
    #[must_use]
    fn followed_by(self, later: Self) -> Self;

    /// Returns the candle as responses and files with the candles of all products have it: the id, and the fields. All values are numbers or
    /// null.
    fn row<'a>(&'a self, id: &'a Self::Id) -> impl Serialize + use<'a, Self>;

    /// The value in a row of the slot.
    fn attribute(&self, slot: Slot) -> AttributeValue;

    /// Reads the value in a row of the slot.
    fn of_value(slot: Slot, value: &Value<'_>) -> Option<Self>;

    /// Reads the minutes of a slot of the finest interval, and returns its candles and texts. Writes nothing.
    fn of_minutes(
        table: Session<'_>,
        slot: Slot,
    ) -> impl Future<Output = Result<(Candles<Self>, Self::Texts), Error>> + Send;

    /// Writes the texts of a slot. A text may be made of the one before, so slots are written in order.
    fn write_texts(
        table: Session<'_>,
        slot: Slot,
        texts: Self::Texts,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The candles of all products in a slot.
pub type Candles<C> = BTreeMap<<C as SeriesCandle>::Id, C>;
