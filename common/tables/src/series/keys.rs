//! The keys of the rows of a series: intervals, slots and shards.

use std::fmt;
use std::time::Duration;

use common::time::UnixSeconds;

use crate::item::{self, Attributes, Corrupt, SORT_KEY, TIME_TO_LIVE, number, text};

/// The first time whose slot has a key of ten digits.
pub(crate) const FIRST_SLOT: UnixSeconds = UnixSeconds::new(0);
/// The last time whose slot has a key of ten digits.
pub(crate) const LAST_SLOT: UnixSeconds = UnixSeconds::new(9_999_999_999);

/// Slots that ended longer ago than this are built, unless the recorder failed. This time is the sum of the
/// time until a slot is settled, the time between two runs, and the duration of a run.
pub(super) const UNBUILT: Duration = Duration::from_mins(10);

/// Rows are kept this much longer than queries can read them, so that no query misses an expired row.
pub(crate) const MARGIN: Duration = Duration::from_hours(3);

#[derive(Debug, PartialEq, Eq)]
pub struct Interval {
    /// The name of the series, with which the partition keys begin.
    pub(crate) series: &'static str,
    pub name: &'static str,
    pub length: Duration,
    /// How long the rows of a slot are kept after the slot; `None` if permanently.
    pub kept: Option<Duration>,
    pub(crate) shards: u32,
}

impl Interval {
    /// Returns the start of the slot that contains the time. Slots are counted from the Unix epoch, so days
    /// are in UTC.
    #[must_use]
    pub const fn slot(&self, time: UnixSeconds) -> UnixSeconds {
        time.rounded_down(self.length)
    }

    /// Returns the end of the slot, where the next one begins.
    #[must_use]
    pub const fn end(&self, slot: UnixSeconds) -> UnixSeconds {
        slot.plus(self.length)
    }

    /// Returns the start of the first slot that does not begin before the time.
    pub(super) fn first_slot_from(&self, time: UnixSeconds) -> UnixSeconds {
        let slot = self.slot(time);
        if slot < time { self.end(slot) } else { slot }
    }

    #[must_use]
    pub const fn at(&'static self, time: UnixSeconds) -> Slot {
        Slot { interval: self, start: self.slot(time) }
    }

    /// Whether the rows of the slot are kept at the time `now`.
    #[must_use]
    pub fn keeps(&self, slot: UnixSeconds, now: UnixSeconds) -> bool {
        self.oldest_slot(now).is_none_or(|oldest| slot >= oldest)
    }

    /// Returns the oldest slot whose rows are kept at the time `now`; `None` if all are kept.
    pub(crate) fn oldest_slot(&self, now: UnixSeconds) -> Option<UnixSeconds> {
        self.kept.map(|kept| self.slot(now.minus(kept)))
    }

    /// Returns the shard of the product. It is computed with CRC-32, which never changes and exists in every
    /// language.
    pub(crate) fn shard(&self, id: &str) -> u32 {
        crc32fast::hash(id.as_bytes()) % self.shards
    }

    pub(crate) fn partition(&self, shard: u32) -> String {
        format!("{}#{}#{shard:03}", self.series, self.name)
    }

    /// Returns the partition key of the markers.
    pub(crate) fn markers(&self) -> String {
        format!("{}#{}", self.series, self.name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub interval: &'static Interval,
    pub start: UnixSeconds,
}

impl Slot {
    #[must_use]
    pub const fn end(&self) -> UnixSeconds {
        self.interval.end(self.start)
    }

    /// Whether the rows of the slot are kept at the time `now`. There are no rows before 1970 or after 2286.
    #[must_use]
    pub fn is_kept(&self, now: UnixSeconds) -> bool {
        (FIRST_SLOT..=LAST_SLOT).contains(&self.start) && self.interval.keeps(self.start, now)
    }

    /// Returns the time by which the candles of the slot are built, unless the recorder has failed.
    #[must_use]
    pub const fn built_by(&self) -> UnixSeconds {
        self.end().plus(UNBUILT)
    }

    /// Returns the start of the slot's last minute.
    pub(crate) const fn last_minute(&self) -> UnixSeconds {
        self.end().minus(Duration::from_mins(1))
    }

    /// Returns the row of the shard without products: its key and its expiry.
    pub(crate) fn row(&self, shard: u32) -> Attributes {
        self.row_in(self.interval.partition(shard))
    }

    /// Returns the marker without its count.
    pub(crate) fn marker(&self) -> Attributes {
        self.row_in(self.interval.markers())
    }

    fn row_in(&self, partition: String) -> Attributes {
        let mut row = item::key(partition, slot_key(self.start));
        let expires = self.interval.kept.map(|kept| self.end().plus(kept + MARGIN));
        row.extend(expires.map(|expires| (TIME_TO_LIVE.to_owned(), number(expires.get()))));
        row
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.interval.name, self.start)
    }
}

/// Returns the sort key of a slot. Sort keys are ordered by time, from `FIRST_SLOT` to `LAST_SLOT`.
pub(crate) fn slot_key(slot: UnixSeconds) -> String {
    format!("{:010}", slot.get())
}

/// Returns the slot with this sort key. `None` for any other text.
fn parse_slot_key(key: &str) -> Option<UnixSeconds> {
    let is_key = key.len() == 10 && key.bytes().all(|byte| byte.is_ascii_digit());
    is_key.then(|| key.parse().ok().map(UnixSeconds::new)).flatten()
}

/// Returns the slot of the interval with this sort key.
pub(crate) fn slot_of_key(interval: &'static Interval, key: &str) -> Result<Slot, Corrupt> {
    let start = parse_slot_key(key)
        .filter(|start| interval.slot(*start) == *start)
        .ok_or(Corrupt::new(SORT_KEY, "a slot of its interval"))?;
    Ok(Slot { interval, start })
}

pub(crate) fn slot_of(interval: &'static Interval, row: &Attributes) -> Result<Slot, Corrupt> {
    slot_of_key(interval, &text(row, SORT_KEY)?)
}
