//! Slots of candles in the table: which ones are built, their candles, and how they are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue;
use common::params::ItemId;
use common::time::UnixSeconds;

use super::candle::{Candle, Candles, corrupt_products};
use super::intervals::{INTERVALS, Interval};
use crate::error::Error;
use crate::history::slots::{FIRST_SLOT, LAST_SLOT, PRODUCTS, slot_key};
use crate::item::{self, Corrupt, Item, SORT_KEY, TIME_TO_LIVE, integer, number, readable, text};
use crate::session::Session;

const VERSION: &str = "version";
const ROWS: &str = "rows";

/// A slot whose candles are all written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedSlot {
    /// The interval.
    pub interval: &'static Interval,
    /// The start of the slot.
    pub slot: UnixSeconds,
    /// The CRC-32 of what it was built from; `None` if another program computed its candles.
    pub version: Option<u32>,
    rows: usize,
}

/// What the marker of a slot says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// It is missing.
    Absent,
    /// The slot is built.
    Built(RecordedSlot),
    /// It is corrupt.
    Corrupt,
}

impl RecordedSlot {
    /// Reads a marker.
    fn of_marker(interval: &'static Interval, marker: &Item) -> Result<Self, Corrupt> {
        let slot = text(marker, SORT_KEY)?.parse().ok().map(UnixSeconds::new);
        let slot = slot.filter(|slot| interval.slot(*slot) == *slot);
        let slot = slot.ok_or(Corrupt::new(SORT_KEY, "a slot of its interval"))?;
        let version = marker.contains_key(VERSION).then(|| integer(marker, VERSION)).transpose()?;
        let version = version.map(u32::try_from).transpose();
        let version = version.map_err(|_| Corrupt::new(VERSION, "a number of 32 bits"))?;
        let rows = usize::try_from(integer(marker, ROWS)?).map_err(|_| Corrupt::new(ROWS, "a count"))?;
        Ok(Self { interval, slot, version, rows })
    }
}

impl Marker {
    /// Reads the marker of the slot as it is now.
    pub(super) async fn read(
        table: Session<'_>,
        interval: &'static Interval,
        slot: UnixSeconds,
    ) -> Result<Self, Error> {
        let Some(marker) = table.get(item::key(interval.markers(), slot_key(slot))).await? else {
            return Ok(Self::Absent);
        };
        let recorded = recorded(interval, std::slice::from_ref(&marker));
        Ok(recorded.first().map_or(Self::Corrupt, |recorded| Self::Built(*recorded)))
    }

    /// Whether the slot is built from this version of its sources.
    pub(super) fn has_version(self, version: u32) -> bool {
        matches!(self, Self::Built(built) if built.version == Some(version))
    }
}

/// The markers of the interval from the slot `first` to the slot `last`.
fn markers(
    table: Session<'_>,
    interval: &Interval,
    first: UnixSeconds,
    last: UnixSeconds,
) -> QueryFluentBuilder {
    let (first, last) = (first.max(FIRST_SLOT), last.min(LAST_SLOT));
    table.query_between(&interval.markers(), slot_key(first), slot_key(last)).consistent_read(true)
}

/// Returns the slots in the markers, without the corrupt ones.
fn recorded(interval: &'static Interval, markers: &[Item]) -> Vec<RecordedSlot> {
    readable(markers, &interval.markers(), |marker| RecordedSlot::of_marker(interval, marker).map(Some))
}

/// Returns the built slots of the interval from `first` until before `end`, in order.
pub(super) async fn built_between(
    table: Session<'_>,
    interval: &'static Interval,
    first: UnixSeconds,
    end: UnixSeconds,
) -> Result<Vec<RecordedSlot>, Error> {
    if first >= end {
        return Ok(Vec::new());
    }
    let query = markers(table, interval, first, UnixSeconds::new(end.get() - 1));
    Ok(recorded(interval, &table.rows(query, usize::MAX).await?))
}

/// Returns the newest built slot of the interval.
pub(super) async fn newest(
    table: Session<'_>,
    interval: &'static Interval,
) -> Result<Option<RecordedSlot>, Error> {
    let query = markers(table, interval, FIRST_SLOT, LAST_SLOT).scan_index_forward(false);
    Ok(recorded(interval, &table.rows(query, 1).await?).first().copied())
}

/// Returns the oldest built slot of the interval that has not expired at the time `now`.
///
/// # Errors
/// If the table does not answer in time.
pub async fn oldest(
    table: Session<'_>,
    interval: &'static Interval,
    now: UnixSeconds,
) -> Result<Option<RecordedSlot>, Error> {
    let first = interval.oldest_slot(now).unwrap_or(FIRST_SLOT);
    let query = markers(table, interval, first, LAST_SLOT);
    Ok(recorded(interval, &table.rows(query, 1).await?).first().copied())
}

/// Returns every built slot that has not expired at the time `now`: the finest interval first, and each in order.
///
/// # Errors
/// If the table does not answer in time.
pub async fn recorded_slots(table: Session<'_>, now: UnixSeconds) -> Result<Vec<RecordedSlot>, Error> {
    let mut slots = Vec::new();
    for interval in &INTERVALS {
        let query = markers(table, interval, FIRST_SLOT, LAST_SLOT);
        let built = recorded(interval, &table.rows(query, usize::MAX).await?);
        slots.extend(built.into_iter().filter(|recorded| interval.keeps(recorded.slot, now)));
    }
    Ok(slots)
}

/// Returns the candles of a built slot, or `None` if rows of it are missing or corrupt.
///
/// # Errors
/// If the table does not answer in time.
pub async fn candles(table: Session<'_>, recorded: RecordedSlot) -> Result<Option<Candles>, Error> {
    let RecordedSlot { interval, slot, rows: expected, .. } = recorded;
    let key = |shard| item::key(interval.partition(shard), slot_key(slot));
    let rows = table.get_all(interval.shards().map(key).collect()).await?;
    let shards = readable(&rows, interval.name, |row| {
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok());
        let products = products.ok_or_else(corrupt_products)?.iter();
        let candles = products.map(|(id, candle)| Some((id.parse().ok()?, Candle::of_attribute(candle)?)));
        candles.collect::<Option<Vec<(ItemId, Candle)>>>().ok_or_else(corrupt_products).map(Some)
    });
    Ok((shards.len() >= expected).then(|| shards.into_iter().flatten().collect()))
}

/// Stores the candles of a slot that is not built yet, and returns whether it did.
///
/// # Errors
/// If a part was not written before the deadline. The same call completes it.
pub async fn store(
    table: Session<'_>,
    interval: &'static Interval,
    slot: UnixSeconds,
    version: Option<u32>,
    candles: &Candles,
) -> Result<bool, Error> {
    let mut marker = Marker::read(table, interval, slot).await?;
    if marker != Marker::Absent {
        return Ok(false);
    }
    loop {
        let Written { shards, .. } = write(table, interval, slot, candles).await?;
        if marker != Marker::Absent {
            remove_others(table, interval, slot, &shards).await?;
        }
        let recorded = RecordedSlot { interval, slot, version, rows: shards.len() };
        if claim(table, recorded, marker).await? {
            return Ok(true);
        }
        // The recorder has built the slot since, and its rows are partly replaced.
        marker = Marker::read(table, interval, slot).await?;
    }
}

/// The rows of a slot.
pub(super) struct Written {
    /// Their shards.
    pub(super) shards: BTreeSet<u32>,
    /// The write units that they took.
    pub(super) write_units: f64,
}

impl Written {
    /// The slot with these rows.
    pub(super) fn of(&self, interval: &'static Interval, slot: UnixSeconds, version: u32) -> RecordedSlot {
        RecordedSlot { interval, slot, version: Some(version), rows: self.shards.len() }
    }
}

/// Writes the rows of a slot.
pub(super) async fn write(
    table: Session<'_>,
    interval: &'static Interval,
    slot: UnixSeconds,
    candles: &Candles,
) -> Result<Written, Error> {
    let mut rows = BTreeMap::<u32, HashMap<String, AttributeValue>>::new();
    for (id, candle) in candles {
        rows.entry(interval.shard(id)).or_default().insert(id.as_str().to_owned(), candle.attribute());
    }
    let shards = rows.keys().copied().collect();
    let put = |(shard, products)| {
        let mut row = item::key(interval.partition(shard), slot_key(slot));
        row.insert(PRODUCTS.to_owned(), AttributeValue::M(products));
        row.extend(time_to_live(interval, slot));
        table.put_request(row)
    };
    let write_units = table.write_all(rows.into_iter().map(put).collect::<Result<_, _>>()?).await?;
    Ok(Written { shards, write_units })
}

/// Deletes the rows of a slot in all other shards.
pub(super) async fn remove_others(
    table: Session<'_>,
    interval: &Interval,
    slot: UnixSeconds,
    shards: &BTreeSet<u32>,
) -> Result<(), Error> {
    let delete = |shard| table.delete_request(item::key(interval.partition(shard), slot_key(slot)));
    let others = interval.shards().filter(|shard| !shards.contains(shard));
    table.write_all(others.map(delete).collect::<Result<_, _>>()?).await.map(drop)
}

/// Writes the marker of the slot if it is still `before`, and returns whether it did.
pub(super) async fn claim(table: Session<'_>, recorded: RecordedSlot, before: Marker) -> Result<bool, Error> {
    let RecordedSlot { interval, slot, version, rows } = recorded;
    let mut marker = item::key(interval.markers(), slot_key(slot));
    marker.extend(version.map(|version| (VERSION.to_owned(), number(version))));
    marker.insert(ROWS.to_owned(), number(rows));
    marker.extend(time_to_live(interval, slot));
    let request = table.put_item().set_item(Some(marker));
    let request = match before {
        Marker::Corrupt => request,
        Marker::Absent => request.condition_expression("attribute_not_exists(pk)"),
        Marker::Built(RecordedSlot { version: None, .. }) => {
            request.condition_expression("attribute_exists(pk) AND attribute_not_exists(version)")
        }
        Marker::Built(RecordedSlot { version: Some(version), .. }) => request
            .condition_expression("version = :before")
            .expression_attribute_values(":before", number(version)),
    };
    Ok(table.write("PutItem", request.send()).await?.is_some())
}

fn time_to_live(interval: &Interval, slot: UnixSeconds) -> Option<(String, AttributeValue)> {
    interval.expires(slot).map(|expires| (TIME_TO_LIVE.to_owned(), number(expires.get())))
}
