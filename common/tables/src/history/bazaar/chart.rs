//! Reads the chart of one product.

use std::collections::BTreeMap;
use std::time::Duration;

use common::params::ItemId;
use common::time::{Tick, UnixSeconds};

use super::quotes::{Quote, corrupt_products};
use super::tiers::{Tier, tick_key};
use crate::error::Error;
use crate::history::slots::{FIRST_SLOT, LAST_SLOT, PRODUCTS, slot_key};
use crate::item::{Corrupt, Item, SORT_KEY, readable, text};
use crate::session::Session;

/// A query reads at most this many rows per slot on average. There is one row, and for a moment two, unless something else
/// writes to the table.
const MOST_ROWS_PER_SLOT: usize = 4;

/// The quote of a product at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The tick.
    pub recorded_at: UnixSeconds,
    /// The prices and volumes.
    pub quote: Quote,
}

/// Returns the points of the product in the tier's range before the time `now`, oldest first. A tick without the product has no
/// point.
///
/// # Errors
/// If the table does not answer in time.
pub async fn points(
    table: Session<'_>,
    tier: &Tier,
    id: &ItemId,
    now: UnixSeconds,
) -> Result<Vec<Point>, Error> {
    let partition = tier.partition(tier.shard(id));
    let newest = tier.slot(now);
    let oldest = tier.oldest_slot(now);
    // No tick is recorded at any other time. DynamoDB refuses a range of keys that ends before it begins.
    let (first, last) = (oldest.max(FIRST_SLOT), newest.min(tier.slot(LAST_SLOT)));
    if first > last {
        return Ok(Vec::new());
    }
    let query = table
        // `~` sorts after the last tick of the slot.
        .query_between(&partition, slot_key(first), format!("{}#~", slot_key(last)))
        .projection_expression("sk, products.#id")
        .expression_attribute_names("#id", id.as_str())
        // If there are too many rows, the newest ones matter most.
        .scan_index_forward(false);
    let rows = table.rows(query, tier.slots as usize * MOST_ROWS_PER_SLOT).await?;
    let points = readable(&rows, &partition, |row| point(row, tier, id));
    // The earliest tick of a slot comes last here, and replaces the others. The rows of a tick that lost the slot are deleted
    // before the marker moves, so its rows are here only while that happens, or if a recorder was killed.
    let slots: BTreeMap<_, _> =
        points.into_iter().map(|point| (tier.slot(point.recorded_at), point)).collect();
    Ok(slots.into_values().collect())
}

/// Returns the product's point in a row, if the row has the product.
fn point(row: &Item, tier: &Tier, id: &ItemId) -> Result<Option<Point>, Corrupt> {
    let tick = tick_of_row(row, tier)?;
    let Some(products) = row.get(PRODUCTS) else { return Ok(None) };
    let quote = products.as_m().ok().and_then(|products| products.get(id.as_str()));
    let quote = quote.and_then(Quote::of_attribute).ok_or_else(corrupt_products)?;
    Ok(Some(Point { recorded_at: tick.time(), quote }))
}

/// Reads the tick in a row's sort key.
fn tick_of_row(row: &Item, tier: &Tier) -> Result<Tick, Corrupt> {
    let key = text(row, SORT_KEY)?;
    let (slot, minutes) = key.split_once('#').unwrap_or((&key, "0"));
    let read = |text: &str| text.parse::<u32>().ok();
    let tick = read(slot).zip(read(minutes)).map(|(slot, minutes)| {
        let slot = UnixSeconds::new(slot.into());
        (slot, Tick::of(slot.plus(Duration::from_mins(1) * minutes)))
    });
    tick.filter(|(slot, tick)| tier.contains(*slot, tick.time()) && key == tick_key(*slot, *tick))
        .map(|(_, tick)| tick)
        .ok_or(Corrupt::new(SORT_KEY, "a slot of its tier and a tick in it"))
}
