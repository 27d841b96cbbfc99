//! Builds candles: finds the slots whose candles are missing or were built from something else than there is now.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::params::ItemId;
use common::time::UnixSeconds;
use serde::Serialize;

use super::candle::{Candle, Candles, corrupt_products};
use super::intervals::{INTERVALS, Interval};
use super::slots::{Marker, Written, built_between, claim, newest, oldest, remove_others, write};
use crate::error::Error;
use crate::history::bazaar::{self, Quote, TIERS, Tier};
use crate::history::slots::{PRODUCTS, slot_key};
use crate::item::{Corrupt, Item, SORT_KEY, readable, text};
use crate::session::Session;

/// How far back a run makes up for runs that did not happen. The one-minute rows live for four hours; those that are about to expire
/// are left alone, because DynamoDB deletes them one by one.
pub const REACH: Duration = Duration::from_mins(225);

/// How long after the end of its last minute a slot is built. A recorder fetches during the minute, and ends within 50 s of
/// the fetch, so nothing of the minute changes later.
const SETTLE: Duration = Duration::from_mins(2);

/// The tier with the recorded minutes.
pub(super) const MINUTES: &Tier = {
    let [minutes, ..] = &TIERS;
    minutes
};

/// A slot that was built.
#[derive(Debug, Serialize)]
pub struct BuiltSlot {
    /// The interval's name.
    pub interval: &'static str,
    /// The slot.
    pub slot: UnixSeconds,
    /// The number of its rows.
    pub rows: usize,
    /// The write units that the rows took.
    pub write_units: f64,
}

/// What one run did.
#[derive(Debug)]
pub struct Built {
    /// The slots that were built; empty if there was nothing to do.
    pub slots: Vec<BuiltSlot>,
    /// The ends of the candles of the finest interval, in order: of all that a run can build. If none of them exists, the end of the
    /// newest candle.
    pub ends: Vec<UnixSeconds>,
}

/// What the candles of an interval are built from.
#[derive(Debug, Clone, Copy)]
enum Sources {
    /// The recorded minutes.
    Minutes,
    /// The candles of the next finer interval.
    Finer(&'static Interval),
}

/// The versions of the sources of each slot, and so of the slot.
type Versions = BTreeMap<UnixSeconds, crc32fast::Hasher>;

/// Builds every candle whose interval has ended at the time `now` and whose sources have changed since it was built, from fine to coarse
/// and from old to new. After a failure, the same call goes on where this one stopped.
///
/// # Errors
/// If a part was not read or written before the deadline.
pub async fn build(table: Session<'_>, now: UnixSeconds) -> Result<Built, Error> {
    let [finest, ..] = &INTERVALS;
    // Everything that ends no later than this is settled.
    let settled = finest.slot(now.minus(SETTLE));
    let reach = finest.end(finest.slot(now.minus(REACH)));
    let mut slots = Vec::new();
    for interval in &INTERVALS {
        let sources = Sources::of(interval);
        let first = sources.first(table, interval, reach, now).await?;
        for (slot, version) in due(table, interval, sources, first, settled, now).await? {
            slots.extend(build_slot(table, interval, sources, slot, version).await?);
        }
    }
    let mut recorded = built_between(table, finest, reach, settled).await?;
    if recorded.is_empty() {
        recorded.extend(newest(table, finest).await?);
    }
    let ends = recorded.into_iter().map(|recorded| finest.end(recorded.slot)).collect();
    Ok(Built { slots, ends })
}

impl Sources {
    fn of(interval: &Interval) -> Self {
        interval.finer().map_or(Self::Minutes, Self::Finer)
    }

    /// Returns the first slot to look at. Coarse candles may be missing for longer than minutes are kept, because finer ones are.
    async fn first(
        self,
        table: Session<'_>,
        interval: &'static Interval,
        reach: UnixSeconds,
        now: UnixSeconds,
    ) -> Result<UnixSeconds, Error> {
        let Self::Finer(finer) = self else { return Ok(reach) };
        let known = match newest(table, interval).await? {
            Some(newest) => Some(newest.slot),
            None => oldest(table, finer, now).await?.map(|oldest| interval.slot(oldest.slot)),
        };
        let reach = interval.slot(reach);
        Ok(known.map_or(reach, |known| known.min(reach)))
    }

    /// Returns the versions of the slots of `interval` from `first` until before `end` that have sources.
    async fn versions(
        self,
        table: Session<'_>,
        interval: &Interval,
        first: UnixSeconds,
        end: UnixSeconds,
    ) -> Result<Versions, Error> {
        let mut versions = Versions::new();
        let mut add = |source: UnixSeconds, version: u64| {
            let hasher = versions.entry(interval.slot(source)).or_default();
            hasher.update(&source.get().to_be_bytes());
            hasher.update(&version.to_be_bytes());
        };
        match self {
            Self::Minutes => {
                for minute in bazaar::complete_between(table, MINUTES, first, end).await? {
                    add(minute.tick.time(), minute.products().map_or(u64::MAX, |products| products as u64));
                }
            }
            Self::Finer(finer) => {
                for built in built_between(table, finer, first, end).await? {
                    add(built.slot, built.version.map_or(u64::MAX, u64::from));
                }
            }
        }
        Ok(versions)
    }

    /// Whether all sources of the slot are still there at the time `now`.
    fn are_kept(self, slot: UnixSeconds, now: UnixSeconds) -> bool {
        match self {
            Self::Minutes => MINUTES.expires(slot) > now,
            Self::Finer(finer) => finer.expires(slot).is_none_or(|expires| expires > now),
        }
    }

    /// The partitions of all shards of the sources.
    fn partitions(self) -> Vec<String> {
        match self {
            Self::Minutes => (0..MINUTES.shards).map(|shard| MINUTES.partition(shard)).collect(),
            Self::Finer(finer) => finer.shards().map(|shard| finer.partition(shard)).collect(),
        }
    }

    /// Returns the candles in a row. A corrupt one hides none of the others.
    fn candles(self, row: &Item, partition: &str) -> Result<Vec<(ItemId, Candle)>, Corrupt> {
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok());
        let products = products.ok_or_else(corrupt_products)?;
        let candle = |(id, value): (&String, &AttributeValue)| {
            let candle = match self {
                Self::Minutes => Quote::of_attribute(value).map(Candle::of),
                Self::Finer(_) => Candle::of_attribute(value),
            };
            Some((id.parse().ok()?, candle?))
        };
        let candles: Vec<_> = products.iter().filter_map(candle).collect();
        if candles.len() < products.len() {
            tracing::warn!(
                partition_key = partition,
                sort_key = text(row, SORT_KEY).unwrap_or_default(),
                products = products.len() - candles.len(),
                "corrupt products of a row are skipped"
            );
        }
        Ok(candles)
    }
}

/// Returns the slots of the interval from `first` on that must be built, and their versions. They end no later than `settled`.
async fn due(
    table: Session<'_>,
    interval: &'static Interval,
    sources: Sources,
    first: UnixSeconds,
    settled: UnixSeconds,
    now: UnixSeconds,
) -> Result<Vec<(UnixSeconds, u32)>, Error> {
    let end = interval.slot(settled);
    let versions = sources.versions(table, interval, first, end).await?;
    let built = built_between(table, interval, first, end).await?;
    let built: BTreeMap<_, _> = built.into_iter().map(|built| (built.slot, built.version)).collect();
    let versions = versions.into_iter().map(|(slot, version)| (slot, version.finalize()));
    let is_due = |(slot, version): &(UnixSeconds, u32)| {
        let is_outdated = match built.get(slot) {
            None => true,
            Some(built) => built.is_some_and(|built| built != *version),
        };
        is_outdated && sources.are_kept(*slot, now)
    };
    Ok(versions.filter(is_due).collect())
}

/// Builds the slot, unless another run has built it with this version.
async fn build_slot(
    table: Session<'_>,
    interval: &'static Interval,
    sources: Sources,
    slot: UnixSeconds,
    mut version: u32,
) -> Result<Option<BuiltSlot>, Error> {
    let mut marker = Marker::read(table, interval, slot).await?;
    if marker.has_version(version) {
        return Ok(None);
    }
    loop {
        let candles = read(table, interval, sources, slot).await?;
        let written = write(table, interval, slot, &candles).await?;
        if marker != Marker::Absent {
            // What a killed run wrote without a marker is a part of this: sources are added, never removed.
            remove_others(table, interval, slot, &written.shards).await?;
        }
        if claim(table, written.of(interval, slot, version), marker).await? {
            let Written { shards, write_units } = written;
            return Ok(Some(BuiltSlot { interval: interval.name, slot, rows: shards.len(), write_units }));
        }
        marker = Marker::read(table, interval, slot).await?;
        let versions = sources.versions(table, interval, slot, interval.end(slot)).await?;
        let Some(now) = versions.into_values().next() else { return Ok(None) };
        let now = now.finalize();
        // If the other run has built this version, the rows are the same. If not, this run may have replaced newer rows.
        if now == version && marker.has_version(version) {
            return Ok(None);
        }
        version = now;
    }
}

/// Returns the candles of the slot, made of its sources.
async fn read(
    table: Session<'_>,
    interval: &Interval,
    sources: Sources,
    slot: UnixSeconds,
) -> Result<Candles, Error> {
    let last = UnixSeconds::new(interval.end(slot).get() - 1);
    let partitions = sources.partitions();
    let queries = partitions.iter().map(|partition| {
        let query = table.query_between(partition, slot_key(slot), slot_key(last)).consistent_read(true);
        (query, usize::MAX)
    });
    let shards = table.rows_of_each(queries.collect()).await?;
    let mut candles = Candles::new();
    for (partition, rows) in partitions.iter().zip(&shards) {
        let rows = readable(rows, partition, |row| sources.candles(row, partition).map(Some));
        for (id, later) in rows.into_iter().flatten() {
            candles
                .entry(id)
                .and_modify(|candle: &mut Candle| *candle = candle.followed_by(later))
                .or_insert(later);
        }
    }
    Ok(candles)
}
