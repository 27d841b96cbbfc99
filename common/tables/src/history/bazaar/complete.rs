//! Markers of complete slots: which ticks are recorded, and the quotes of such a tick.

use std::collections::{BTreeMap, HashMap};

use common::params::ItemId;
use common::time::{Tick, UnixSeconds};

use super::quotes::{Quote, Quotes, corrupt_products};
use super::tiers::{PRODUCTS, RECORDED_AT, ROWS, TIERS, Tier, tick_key};
use crate::error::Error;
use crate::item::{self, Corrupt, Item, SORT_KEY, integer, readable, string, text};
use crate::session::Session;

/// A tick that is completely recorded in a slot of a tier.
#[derive(Debug, Clone, Copy)]
pub struct RecordedTick {
    /// The tick.
    pub tick: Tick,
    pub(super) tier: &'static Tier,
    pub(super) slot: UnixSeconds,
    pub(super) rows: usize,
}

impl RecordedTick {
    /// Reads a marker.
    pub(super) fn of_marker(tier: &'static Tier, marker: &Item) -> Result<Self, Corrupt> {
        let slot = text(marker, SORT_KEY)?.parse().map(UnixSeconds::new);
        let slot = slot.map_err(|_| Corrupt::new(SORT_KEY, "a time in Unix seconds"))?;
        let tick = Tick::of(UnixSeconds::new(integer(marker, RECORDED_AT)?));
        if !tier.contains(slot, tick.time()) {
            return Err(Corrupt::new(RECORDED_AT, "a tick in its slot"));
        }
        let rows =
            usize::try_from(integer(marker, ROWS)?).map_err(|_| Corrupt::new(ROWS, "a number of rows"))?;
        Ok(Self { tick, tier, slot, rows })
    }
}

/// Returns every tick that is completely recorded in some tier, oldest first. Rows that have expired at the time `now` do not
/// count: DynamoDB deletes them late and in no order.
///
/// # Errors
/// If the table does not answer in time.
pub async fn recorded_ticks(table: Session<'_>, now: UnixSeconds) -> Result<Vec<RecordedTick>, Error> {
    let mut ticks = BTreeMap::new();
    for tier in &TIERS {
        for recorded in complete_slots(table, tier).await? {
            if tier.expires(recorded.slot) > now {
                // The finer tier has fewer shards to read.
                ticks.entry(recorded.tick).or_insert(recorded);
            }
        }
    }
    Ok(ticks.into_values().collect())
}

/// Returns the complete slots of a tier, in order.
async fn complete_slots(table: Session<'_>, tier: &'static Tier) -> Result<Vec<RecordedTick>, Error> {
    let query = table
        .query()
        .key_condition_expression("pk = :partition")
        .expression_attribute_values(":partition", string(tier.markers()));
    let markers = table.rows(query, usize::MAX).await?;
    Ok(readable(&markers, &tier.markers(), |marker| RecordedTick::of_marker(tier, marker).map(Some)))
}

/// Returns the quotes of a recorded tick, or `None` if rows of it are missing or corrupt.
///
/// # Errors
/// If the table does not answer in time.
pub async fn quotes(table: Session<'_>, recorded: RecordedTick) -> Result<Option<Quotes>, Error> {
    let RecordedTick { tick, tier, slot, rows: expected } = recorded;
    let keys = (0..tier.shards).map(|shard| item::key(tier.partition(shard), tick_key(slot, tick))).collect();
    let rows = table.get_all(keys).await?;
    let shards = readable(&rows, tier.name, |row| {
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok());
        let products = products.ok_or_else(corrupt_products)?.iter();
        let quotes = products.map(|(id, quote)| Some((id.parse().ok()?, Quote::of_attribute(quote)?)));
        quotes.collect::<Option<Vec<(ItemId, Quote)>>>().ok_or_else(corrupt_products).map(Some)
    });
    Ok((shards.len() == expected).then(|| shards.into_iter().flatten().collect()))
}

/// Whether a tick must be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickStatus {
    /// It has slots to fill, as far as is known: [`open_slots`](super::open_slots) returns them.
    Open,
    /// Its slots are complete with it or with earlier ticks.
    Complete,
    /// All its rows would have expired.
    Expired,
}

/// The slots that are known to be complete. An import of many ticks uses them to skip ticks without a request: a slot that is
/// complete with a tick never belongs to a later one.
#[derive(Debug, Default)]
pub struct CompleteSlots(HashMap<(&'static str, UnixSeconds), Tick>);

impl CompleteSlots {
    /// Reads the slots that are complete now.
    ///
    /// # Errors
    /// If the table does not answer in time.
    pub async fn read(table: Session<'_>) -> Result<Self, Error> {
        let mut ticks = HashMap::new();
        for tier in &TIERS {
            for RecordedTick { tick, tier, slot, .. } in complete_slots(table, tier).await? {
                ticks.insert((tier.name, slot), tick);
            }
        }
        Ok(Self(ticks))
    }

    /// Returns the status of the tick at the time `now`.
    #[must_use]
    pub fn status(&self, tick: Tick, now: UnixSeconds) -> TickStatus {
        let mut status = TickStatus::Expired;
        for tier in &TIERS {
            let slot = tier.slot(tick.time());
            if tier.expires(slot) > now {
                match self.0.get(&(tier.name, slot)) {
                    Some(complete) if *complete <= tick => status = TickStatus::Complete,
                    _ => return TickStatus::Open,
                }
            }
        }
        status
    }

    /// Notes that the tick has filled its open slots.
    pub fn insert(&mut self, tick: Tick) {
        for tier in &TIERS {
            let complete = self.0.entry((tier.name, tier.slot(tick.time()))).or_insert(tick);
            *complete = tick.min(*complete);
        }
    }
}
