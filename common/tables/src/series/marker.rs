//! Markers, which show that a slot is completely written.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use common::time::UnixSeconds;

use super::keys::{FIRST_SLOT, Interval, LAST_SLOT, Slot, slot_key, slot_of};
use crate::error::Error;
use crate::filing::Filing;
use crate::item::{self, Attributes, Corrupt, integer, number, readable};
use crate::session::Session;

pub(crate) const ROWS: &str = "rows";

/// The attribute with the minute of the run's event, in Unix seconds. Absent if the data is recorded under
/// that same minute.
const EVENT: &str = "event";

/// Returns a query of the markers of the interval from the slot `first` to the time `last`.
pub(crate) fn markers(
    table: Session<'_>,
    interval: &Interval,
    first: UnixSeconds,
    last: UnixSeconds,
) -> QueryFluentBuilder {
    let (first, last) = (first.max(FIRST_SLOT), last.min(LAST_SLOT));
    table.query_between(&interval.markers(), slot_key(first), slot_key(last)).consistent_read(true)
}

fn slots(interval: &'static Interval, markers: &[Attributes]) -> Vec<Slot> {
    readable(markers, &interval.markers(), |marker| slot_of(interval, marker).map(Some))
}

/// Returns the recorded slots of the interval from `first` to before `end`, in order, at most `limit`.
pub(crate) async fn recorded_between(
    table: Session<'_>,
    interval: &'static Interval,
    first: UnixSeconds,
    end: UnixSeconds,
    limit: usize,
) -> Result<Vec<Slot>, Error> {
    // DynamoDB refuses a range of keys that ends before it begins.
    if first >= end || end <= FIRST_SLOT {
        return Ok(Vec::new());
    }
    let query = markers(table, interval, first, UnixSeconds::new(end.get() - 1));
    Ok(slots(interval, &table.rows(query, limit).await?))
}

/// Times with data, in order.
#[derive(Debug)]
pub struct Found {
    pub(crate) times: BTreeSet<UnixSeconds>,
    /// All times before this time were found.
    pub(crate) until: UnixSeconds,
}

impl Found {
    pub(crate) fn new(times: impl Iterator<Item = UnixSeconds>, until: UnixSeconds) -> Self {
        Self { times: times.collect(), until }
    }

    /// Returns the recorded slots of the interval from `first` to before `end`, at most `limit`.
    pub(crate) async fn recorded(
        table: Session<'_>,
        interval: &'static Interval,
        first: UnixSeconds,
        end: UnixSeconds,
        limit: usize,
    ) -> Result<Self, Error> {
        let slots = recorded_between(table, interval, first, end, limit).await?;
        let until = match slots.last() {
            Some(last) if slots.len() >= limit => last.start,
            _ => end,
        };
        Ok(Self::new(slots.iter().map(|slot| slot.start), until))
    }

    /// Returns the times that either has.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.times.extend(other.times);
        Self { until: self.until.min(other.until), ..self }
    }
}

/// Returns every recorded slot of the interval that has not expired at the time `now`, in order.
pub async fn recorded(
    table: Session<'_>,
    interval: &'static Interval,
    now: UnixSeconds,
) -> Result<Vec<Slot>, Error> {
    let first = interval.oldest_slot(now).unwrap_or(FIRST_SLOT);
    recorded_between(table, interval, first, LAST_SLOT, usize::MAX).await
}

/// Returns the oldest recorded slot of the interval that has not expired at the time `now`. Reads one row.
pub async fn oldest(
    table: Session<'_>,
    interval: &'static Interval,
    now: UnixSeconds,
) -> Result<Option<Slot>, Error> {
    let first = interval.oldest_slot(now).unwrap_or(FIRST_SLOT);
    Ok(recorded_between(table, interval, first, LAST_SLOT, 1).await?.first().copied())
}

/// Returns the newest recorded slot of the interval that has not expired at the time `now`. Reads one row.
pub async fn newest(
    table: Session<'_>,
    interval: &'static Interval,
    now: UnixSeconds,
) -> Result<Option<Slot>, Error> {
    let first = interval.oldest_slot(now).unwrap_or(FIRST_SLOT);
    let newest_first = markers(table, interval, first, LAST_SLOT).scan_index_forward(false);
    Ok(slots(interval, &table.rows(newest_first, 1).await?).first().copied())
}

/// Returns the number of rows of a recorded slot; `None` if the slot is not recorded or its marker is
/// corrupt.
pub(crate) async fn rows_of_slot(table: Session<'_>, slot: Slot) -> Result<Option<usize>, Error> {
    let interval = slot.interval;
    let marker = table.get(item::key(interval.markers(), slot_key(slot.start))).await?;
    let count = |marker: &Attributes| count(interval, marker).map(Some);
    Ok(readable(marker.as_slice(), &interval.markers(), count).pop())
}

/// Returns the number of rows in a marker of the interval.
pub(super) fn count(interval: &'static Interval, marker: &Attributes) -> Result<usize, Corrupt> {
    slot_of(interval, marker)?;
    usize::try_from(integer(marker, ROWS)?).map_err(|_| Corrupt::new(ROWS, "a count"))
}

/// Whether the minute must be recorded in the interval at the time `now`: its rows have not expired, and it
/// is not recorded yet. A minute that was recorded for another event is still due for its own event.
pub async fn is_due(
    table: Session<'_>,
    interval: &'static Interval,
    filing: impl Into<Filing>,
    now: UnixSeconds,
) -> Result<bool, Error> {
    let filing = filing.into();
    let slot = interval.at(filing.tick.time());
    if !interval.keeps(slot.start, now) {
        return Ok(false);
    }
    let marker = table.get(item::key(interval.markers(), slot_key(slot.start))).await?;
    let is_of_another_event = readable(marker.as_slice(), &interval.markers(), |marker| {
        count(interval, marker)?;
        Ok(Some(marker.contains_key(EVENT)))
    });
    Ok(is_of_another_event.first().is_none_or(|is_of_another| *is_of_another && filing.is_own()))
}

/// Writes the marker of the slot with this number of rows.
pub(crate) async fn mark(table: Session<'_>, slot: Slot, rows: usize) -> Result<(), Error> {
    let marker = table.put_item().set_item(Some(of_slot(slot, rows)));
    table.write("PutItem", marker.send()).await.map(drop)
}

/// Returns the marker of the slot with this number of rows.
pub(super) fn of_slot(slot: Slot, rows: usize) -> Attributes {
    let mut marker = slot.marker();
    marker.insert(ROWS.to_owned(), number(rows));
    marker
}

/// Returns the marker of a minute without its count.
pub(crate) fn of_minute(interval: &'static Interval, filing: Filing) -> Attributes {
    let mut marker = interval.at(filing.tick.time()).marker();
    if !filing.is_own() {
        marker.insert(EVENT.to_owned(), number(filing.event.time().get()));
    }
    marker
}
