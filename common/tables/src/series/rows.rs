//! The rows of a slot: how they are written, and its candles.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use common::request::parameters::ItemId;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use super::keys::{Slot, slot_key};
use super::marker::{mark, rows_of_slot};
use crate::bazaar::candle::{Candle, Candles, corrupt_candles};
use crate::error::Error;
use crate::item::{self, Item, PRODUCTS, readable};
use crate::session::Session;

/// The number of rows that are written at the same time, one by one: enough to hide the network latency.
const CONCURRENT_WRITES: usize = 16;

/// The rows of a slot that was recorded.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Written {
    /// The number of rows.
    pub rows: usize,
    /// The write units that the rows took.
    pub write_units: f64,
}

/// The values of the products in a row.
type Products = HashMap<String, AttributeValue>;

/// Divides the values of products into the rows of a slot, by shard.
fn by_shard<'a>(
    slot: Slot,
    values: impl Iterator<Item = (&'a ItemId, AttributeValue)>,
) -> BTreeMap<u32, Products> {
    let mut rows = BTreeMap::<u32, Products>::new();
    for (id, value) in values {
        rows.entry(slot.interval.shard(id)).or_default().insert(id.as_str().to_owned(), value);
    }
    rows
}

/// Writes the rows of a slot, and returns their number and the write units that they took. Rows that are there are replaced.
pub(crate) async fn put_rows<'a>(
    table: Session<'_>,
    slot: Slot,
    values: impl Iterator<Item = (&'a ItemId, AttributeValue)>,
) -> Result<(usize, f64), Error> {
    let rows = by_shard(slot, values);
    let count = rows.len();
    let put = |(shard, products)| {
        let mut row = slot.row(shard);
        row.insert(PRODUCTS.to_owned(), AttributeValue::M(products));
        table.put_request(row)
    };
    let write_units = table.write_all(rows.into_iter().map(put).collect::<Result<_, _>>()?).await?;
    Ok((count, write_units))
}

/// Returns the rows of a recorded slot and the number that there must be; `None` if the slot is not recorded.
pub(crate) async fn rows_of(table: Session<'_>, slot: Slot) -> Result<Option<(usize, Vec<Item>)>, Error> {
    let Some(expected) = rows_of_slot(table, slot).await? else { return Ok(None) };
    let key = |shard| item::key(slot.interval.partition(shard), slot_key(slot.start));
    let rows = table.get_all((0..slot.interval.shards).map(key).collect()).await?;
    Ok(Some((expected, rows)))
}

/// Returns the candles of a recorded slot, or `None` if rows of it are missing or corrupt.
///
/// # Errors
/// If the table does not answer in time.
pub async fn candles(table: Session<'_>, slot: Slot) -> Result<Option<Candles>, Error> {
    let Some((expected, rows)) = rows_of(table, slot).await? else { return Ok(None) };
    let shards = readable(&rows, &slot.interval.markers(), |row| {
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok());
        let products = products.ok_or_else(corrupt_candles)?.iter();
        let candles =
            products.map(|(id, candle)| Some((id.parse().ok()?, Candle::of_attribute(slot, candle)?)));
        candles.collect::<Option<Vec<(ItemId, Candle)>>>().ok_or_else(corrupt_candles).map(Some)
    });
    Ok((shards.len() >= expected).then(|| shards.into_iter().flatten().collect()))
}

/// Stores candles that another program computed, and returns the number of rows that changed. A candle that is there stays if it has
/// more samples. The caller notes afterwards that coarser candles must be built of them
/// ([`build_again`](super::build_again)).
///
/// # Errors
/// If a part was not written before the deadline. The same call completes it.
pub async fn store(table: Session<'_>, slot: Slot, candles: &Candles) -> Result<usize, Error> {
    if let Some(marked) = rows_of_slot(table, slot).await? {
        return Ok(merge(table, slot, candles, Some(marked)).await?.rows);
    }
    // If the recorder builds the slot at this moment, it builds it once more afterwards.
    let values = candles.iter().map(|(id, candle)| (id, candle.attribute(slot)));
    let (rows, _) = put_rows(table, slot, values).await?;
    mark(table, slot, rows).await?;
    Ok(rows)
}

/// The rows of a slot that changed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Changed {
    /// Their number.
    pub(super) rows: usize,
    /// The write units that they took.
    pub(super) write_units: f64,
}

/// Writes the candles of a slot and its marker, and returns the rows that changed. A candle that is there stays if it has more samples.
/// `marked`: the number of rows in the marker, if the slot has been recorded before. Then its rows are read first.
pub(super) async fn merge(
    table: Session<'_>,
    slot: Slot,
    candles: &Candles,
    marked: Option<usize>,
) -> Result<Changed, Error> {
    let mut shards = BTreeMap::<u32, Vec<(&ItemId, Candle)>>::new();
    for (id, candle) in candles {
        shards.entry(slot.interval.shard(id)).or_default().push((id, *candle));
    }
    let rows = shards.len();
    let write = |(shard, candles)| merge_row(table, slot, shard, candles, marked.is_some());
    let writes: Vec<_> = shards.into_iter().map(write).collect();
    let changed = stream::iter(writes)
        .buffer_unordered(CONCURRENT_WRITES)
        .try_fold(Changed::default(), async |sum, units: Option<f64>| {
            let rows = sum.rows + usize::from(units.is_some());
            Ok(Changed { rows, write_units: sum.write_units + units.unwrap_or_default() })
        })
        .await?;
    if marked.is_none_or(|marked| marked < rows) {
        mark(table, slot, rows).await?;
    }
    Ok(changed)
}

/// Merges candles into the row of a shard, and returns the write units that it took; `None` if nothing changed.
async fn merge_row(
    table: Session<'_>,
    slot: Slot,
    shard: u32,
    candles: Vec<(&ItemId, Candle)>,
    is_read: bool,
) -> Result<Option<f64>, Error> {
    let key = || item::key(slot.interval.partition(shard), slot_key(slot.start));
    let mut before = if is_read { table.get(key()).await? } else { None };
    loop {
        let stored = before.as_ref().and_then(|row| row.get(PRODUCTS)?.as_m().ok());
        let mut products = stored.cloned().unwrap_or_default();
        for (id, candle) in &candles {
            let stored = products.get(id.as_str()).and_then(|stored| Candle::of_attribute(slot, stored));
            if stored.is_none_or(|stored| stored.samples <= candle.samples) {
                products.insert(id.as_str().to_owned(), candle.attribute(slot));
            }
        }
        if stored == Some(&products) {
            return Ok(None);
        }
        let mut row = slot.row(shard);
        row.insert(PRODUCTS.to_owned(), AttributeValue::M(products));
        let request = match before.as_ref().map(|row| row.get(PRODUCTS)) {
            None => table.put_item().condition_expression("attribute_not_exists(pk)"),
            Some(None) => table.put_item().condition_expression("attribute_not_exists(products)"),
            Some(Some(stored)) => table
                .put_item()
                .condition_expression("products = :stored")
                .expression_attribute_values(":stored", stored.clone()),
        };
        let request = request.return_consumed_capacity(ReturnConsumedCapacity::Total);
        if let Some(written) = table.write("PutItem", request.set_item(Some(row)).send()).await? {
            return Ok(Some(
                written.consumed_capacity.and_then(|consumed| consumed.capacity_units).unwrap_or(1.0),
            ));
        }
        // Another run or an import has written the row since.
        before = table.get(key()).await?;
    }
}
