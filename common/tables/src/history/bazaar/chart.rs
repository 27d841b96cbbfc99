//! Reads the chart of one product.

use common::params::ItemId;
use common::time::{Tick, UnixSeconds};

use super::quotes::{Quote, corrupt_products};
use super::tiers::{Tier, parse_tick_key};
use crate::error::Error;
use crate::history::slots::{FIRST_SLOT, LAST_SLOT, slot_key};
use crate::item::{Corrupt, SORT_KEY};
use crate::row::Row;
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
    let read = |row: &Row<'_>| row.unless_corrupt(point(row, tier, id), &partition);
    let mut points = table.read_rows(query, tier.slots as usize * MOST_ROWS_PER_SLOT, read).await?;
    points.reverse();
    // The first tick of a slot is the one that counts. The rows of a tick that lost the slot are deleted before the marker
    // moves, so its rows are here only while that happens, or if a recorder was killed.
    points.dedup_by_key(|point| tier.slot(point.recorded_at));
    Ok(points)
}

/// Returns the product's point in a row, if the row has the product.
fn point(row: &Row<'_>, tier: &Tier, id: &ItemId) -> Result<Option<Point>, Corrupt> {
    let tick = tick_of_row(row, tier)?;
    let Some(products) = row.products() else { return Ok(None) };
    let quote = products.map().and_then(|products| products.get(id.as_str()));
    let quote = quote.and_then(Quote::of_value).ok_or_else(corrupt_products)?;
    Ok(Some(Point { recorded_at: tick.time(), quote }))
}

/// Reads the tick in a row's sort key.
fn tick_of_row(row: &Row<'_>, tier: &Tier) -> Result<Tick, Corrupt> {
    let key = row.sort_key()?;
    let tick = parse_tick_key(key).filter(|(slot, tick)| tier.contains(*slot, tick.time()));
    tick.map(|(_, tick)| tick).ok_or(Corrupt::new(SORT_KEY, "a slot of its tier and a tick in it"))
}
