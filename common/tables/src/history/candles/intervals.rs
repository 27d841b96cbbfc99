//! The intervals of candles, and where their rows are.

use std::time::Duration;

use common::params::ItemId;
use common::time::UnixSeconds;

use crate::history::slots::shard;

/// Rows are kept for this long after a query has seen them last, so that none expires that a query may need.
const MARGIN: Duration = Duration::from_hours(3);

/// The number of shards of every interval. It was chosen with the 1,913 ids and the prices of a real snapshot: a query of 288
/// candles takes 21 read units on average and 40 at most if every product has a price, and a slot hardly more write units than
/// rows. Among the numbers near the goal of 24 read units, this one distributes the ids best.
const SHARDS: u32 = 449;

/// One of the five intervals of candles.
#[derive(Debug, PartialEq, Eq)]
pub struct Interval {
    /// The name.
    pub name: &'static str,
    /// The length.
    pub length: Duration,
    /// How long its candles are kept. `None`: for ever.
    pub kept: Option<Duration>,
}

/// The length of a day.
const DAY: Duration = Duration::from_hours(24);

/// The intervals, from fine to coarse. Each is a multiple of the one before.
pub const INTERVALS: [Interval; 5] = [
    Interval { name: "5m", length: Duration::from_mins(5), kept: Some(DAY.saturating_mul(30)) },
    Interval { name: "30m", length: Duration::from_mins(30), kept: Some(DAY.saturating_mul(90)) },
    Interval { name: "1h", length: Duration::from_hours(1), kept: Some(DAY.saturating_mul(365)) },
    Interval { name: "3h", length: Duration::from_hours(3), kept: Some(DAY.saturating_mul(3 * 365)) },
    Interval { name: "1d", length: DAY, kept: None },
];

impl Interval {
    /// Returns the slot that contains the time. Slots are counted from the Unix epoch: days are those of UTC.
    #[must_use]
    pub const fn slot(&self, time: UnixSeconds) -> UnixSeconds {
        time.rounded_down(self.length)
    }

    /// Returns the end of the slot, which is the next one.
    #[must_use]
    pub const fn end(&self, slot: UnixSeconds) -> UnixSeconds {
        slot.plus(self.length)
    }

    /// Whether the candles of the slot are kept at the time `now`.
    #[must_use]
    pub fn keeps(&self, slot: UnixSeconds, now: UnixSeconds) -> bool {
        self.oldest_slot(now).is_none_or(|oldest| slot >= oldest)
    }

    /// Returns the oldest slot whose candles are kept at the time `now`; `None` if all are.
    pub(super) fn oldest_slot(&self, now: UnixSeconds) -> Option<UnixSeconds> {
        self.kept.map(|kept| self.slot(now.minus(kept)))
    }

    /// Returns when the rows of this slot expire; `None` if they never do.
    pub(super) fn expires(&self, slot: UnixSeconds) -> Option<UnixSeconds> {
        self.kept.map(|kept| self.end(slot).plus(kept + MARGIN))
    }

    /// Returns the next finer interval; `None` for the finest.
    pub(super) fn finer(&self) -> Option<&'static Self> {
        INTERVALS.iter().rev().find(|other| other.length < self.length)
    }

    /// The shards.
    #[must_use]
    pub const fn shards(&self) -> std::ops::Range<u32> {
        0..SHARDS
    }

    /// Returns the shard of the product.
    #[expect(clippy::unused_self, reason = "all intervals have the same number today")]
    pub(super) fn shard(&self, id: &ItemId) -> u32 {
        shard(id, SHARDS)
    }

    /// Returns the partition key of the shard.
    pub(super) fn partition(&self, shard: u32) -> String {
        format!("candles#{}#{shard:03}", self.name)
    }

    /// Returns the partition key of the markers of built slots.
    pub(super) fn markers(&self) -> String {
        format!("candles#{}", self.name)
    }
}
