//! The rows of a slot: writing them, and reading their candles.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::operation::put_item::PutItemOutput;
use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity, ReturnConsumedCapacity};
use futures_util::future::try_join;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use super::candle::{Candles, SeriesCandle};
use super::keys::{Interval, Slot, slot_key, slot_of};
use super::marker::{count, mark, markers, of_slot, rows_of_slot};
use super::progress::Progress;
use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, PRODUCTS, SORT_KEY, each_readable, readable, text};
use crate::session::{Reads, Session};

/// The number of concurrent writes of single rows: enough to hide the network latency.
pub(crate) const CONCURRENT_WRITES: usize = 16;

/// The rows that were written for a slot.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Written {
    pub rows: usize,
    pub write_units: f64,
    /// Whether the slot was not recorded before.
    #[serde(skip)]
    pub is_first: bool,
}

type Products = HashMap<String, AttributeValue>;

/// Returns the rows of a slot with these values of products: one row for each shard that has a product.
pub(crate) fn by_shard<'a, Id: AsRef<str> + 'a>(
    slot: Slot,
    values: impl Iterator<Item = (&'a Id, AttributeValue)>,
) -> Vec<Attributes> {
    let mut shards = BTreeMap::<u32, Products>::new();
    for (id, value) in values {
        let id = id.as_ref();
        shards.entry(slot.interval.shard(id)).or_default().insert(id.to_owned(), value);
    }
    shards.into_iter().map(|(shard, products)| row(slot, shard, products)).collect()
}

/// Writes the rows, and returns the write units that they took. Existing rows are replaced.
pub(crate) async fn put_rows(table: Session<'_>, rows: Vec<Attributes>) -> Result<f64, Error> {
    let requests = rows.into_iter().map(|row| table.put_request(row)).collect::<Result<_, _>>()?;
    table.write_all(requests).await
}

/// Returns a row with these products.
fn row(slot: Slot, shard: u32, products: Products) -> Attributes {
    let mut row = slot.row(shard);
    row.insert(PRODUCTS.to_owned(), AttributeValue::M(products));
    row
}

/// Returns the write units that a row took.
pub(crate) fn units(written: &PutItemOutput) -> f64 {
    written.consumed_capacity().and_then(ConsumedCapacity::capacity_units).unwrap_or_default()
}

/// The error of a row whose map of products is invalid.
pub(super) const CORRUPT: Corrupt = Corrupt::new(PRODUCTS, "a map of values of its series");

/// Returns the values of the products in a row.
pub(crate) fn products(row: &Attributes) -> Result<&Products, Corrupt> {
    row.get(PRODUCTS).and_then(|products| products.as_m().ok()).ok_or(CORRUPT)
}

/// Returns the candles of the slot, composed of the rows of a finer interval.
pub(crate) async fn parts<C: SeriesCandle>(
    table: Session<'_>,
    finer: &'static Interval,
    slot: Slot,
) -> Result<Candles<C>, Error> {
    let partitions: Vec<_> = (0..finer.shards).map(|shard| finer.partition(shard)).collect();
    let queries = partitions.iter().map(|partition| {
        let first = slot_key(slot.start);
        let last = slot_key(slot.last_minute());
        (table.query_between(partition, first, last).consistent_read(true), usize::MAX)
    });
    let shards = table.rows_of_each(queries.collect()).await?;
    let mut candles = Candles::<C>::new();
    for (partition, rows) in partitions.iter().zip(&shards) {
        let rows = readable(rows, partition, |row| candles_of::<C>(finer, row, partition).map(Some));
        for (id, later) in rows.into_iter().flatten() {
            let candle = match candles.remove(&id) {
                Some(candle) => candle.followed_by(later),
                None => later,
            };
            candles.insert(id, candle);
        }
    }
    Ok(candles)
}

/// Returns the candles in a row of minutes or candles. Corrupt candles are skipped.
fn candles_of<C: SeriesCandle>(
    interval: &'static Interval,
    row: &Attributes,
    partition: &str,
) -> Result<Vec<(C::Id, C)>, Corrupt> {
    let slot = slot_of(interval, row)?;
    let products = products(row)?;
    let candle =
        |(id, value): (&String, &AttributeValue)| Some((id.parse().ok()?, C::of_value(slot, &value.into())?));
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

/// Returns the expected number of rows of a recorded slot, and its rows; `None` if the slot is not recorded.
pub(crate) async fn rows_of(
    table: Session<'_>,
    slot: Slot,
) -> Result<Option<(usize, Vec<Attributes>)>, Error> {
    let Some(expected) = rows_of_slot(table, slot).await? else { return Ok(None) };
    Ok(Some((expected, table.get_all(keys(slot), Reads::Consistent).await?)))
}

pub(crate) fn keys(slot: Slot) -> Vec<Attributes> {
    let key = |shard| item::key(slot.interval.partition(shard), slot_key(slot.start));
    (0..slot.interval.shards).map(key).collect()
}

/// The candles of a recorded slot without missing rows.
#[derive(Debug)]
pub struct Recorded<C: SeriesCandle> {
    /// The candles that can be read.
    pub candles: Candles<C>,
    /// The number of corrupt candles and corrupt rows. The log has the reasons.
    pub corrupt: usize,
}

/// Returns the candles of a slot; `None` if the slot is not recorded, rows are missing, or rows or candles
/// are corrupt.
pub async fn candles<C: SeriesCandle>(table: Session<'_>, slot: Slot) -> Result<Option<Candles<C>>, Error> {
    let recorded = recorded_candles(table, slot).await?;
    Ok(recorded.filter(|recorded| recorded.corrupt == 0).map(|recorded| recorded.candles))
}

/// Returns the candles of a slot, which can also be a minute; `None` if the slot is not recorded or rows are
/// missing. Corrupt candles are counted and skipped.
pub async fn recorded_candles<C: SeriesCandle>(
    table: Session<'_>,
    slot: Slot,
) -> Result<Option<Recorded<C>>, Error> {
    let Some((expected, rows)) = rows_of(table, slot).await? else { return Ok(None) };
    let partition = slot.interval.markers();
    let shards = each_readable(&rows, &partition, |row| {
        let candles = candles_of::<C>(slot.interval, row, &partition)?;
        Ok(Some((products(row)?.len() - candles.len(), candles)))
    });
    let mut recorded = Recorded { candles: Candles::<C>::new(), corrupt: 0 };
    for shard in shards {
        let (corrupt, candles) = shard.unwrap_or_else(|| (1, Vec::new()));
        recorded.corrupt += corrupt;
        recorded.candles.extend(candles);
    }
    Ok((rows.len() >= expected).then_some(recorded))
}

/// The state of a slot's candles.
#[derive(Debug)]
pub enum SlotCandles<C: SeriesCandle> {
    /// The candles of all products. They change only if data of that time is imported.
    Built(Candles<C>),
    NotBuilt,
    /// Nothing was recorded in the slot.
    NotRecorded,
}

/// Returns the candles of a slot. The reads are eventually consistent, which takes half the read units.
/// Therefore, rows that were written a moment ago can be missing, which is an error; [`candles`] reads the
/// latest rows. Corrupt candles are skipped.
pub async fn slot_candles<C: SeriesCandle>(table: Session<'_>, slot: Slot) -> Result<SlotCandles<C>, Error> {
    let Slot { interval, start } = slot;
    let partition = interval.markers();
    // Uses a query, because the functions of routes have no permission for `GetItem`.
    let marker = table.rows(markers(table, interval, start, start), 1);
    let (until, marker) = try_join(Progress::query(table, C::SERIES), marker).await?;
    if until.is_none_or(|until| until < slot.end()) {
        return Ok(SlotCandles::NotBuilt);
    }
    let expected = readable(&marker, &partition, |marker| count(interval, marker).map(Some)).pop();
    let Some(expected) = expected else { return Ok(SlotCandles::NotRecorded) };
    let rows = table.get_all(keys(slot), Reads::Eventual).await?;
    if rows.len() < expected {
        let cause = format!("{} of its {expected} rows are missing", expected - rows.len());
        return Err(Error::Corrupt { table: table.table_name().to_owned(), key: partition, cause });
    }
    let rows = readable(&rows, &partition, |row| candles_of::<C>(interval, row, &partition).map(Some));
    Ok(SlotCandles::Built(rows.into_iter().flatten().collect()))
}

/// Returns the rows of a slot with these candles, and its marker as the last one.
#[must_use]
pub fn rows<C: SeriesCandle>(slot: Slot, candles: &Candles<C>) -> Vec<Attributes> {
    let mut rows = by_shard(slot, candles.iter().map(|(id, candle)| (id, candle.attribute(slot))));
    rows.push(of_slot(slot, rows.len()));
    rows
}

/// Stores candles that another program computed, and returns the number of changed rows. Stored candles of
/// more data are kept ([`SeriesCandle::merged_over`]). The caller must then call
/// [`build_again`](super::build_again), so that coarser candles are rebuilt from the stored ones.
///
/// # Errors
/// If a row was not written before the deadline. Repeating the call completes it.
pub async fn store<C: SeriesCandle>(
    table: Session<'_>,
    slot: Slot,
    candles: &Candles<C>,
) -> Result<usize, Error> {
    if let Some(marked) = rows_of_slot(table, slot).await? {
        return Ok(merge(table, slot, candles, Some(marked)).await?.rows);
    }
    // The recorder may be building the slot at the same time. It rebuilds the slot after the caller has
    // called `build_again`.
    let rows = by_shard(slot, candles.iter().map(|(id, candle)| (id, candle.attribute(slot))));
    let count = rows.len();
    put_rows(table, rows).await?;
    mark(table, slot, count).await?;
    Ok(count)
}

/// The changed rows of a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Changed {
    /// The number of changed rows.
    pub(super) rows: usize,
    /// The write units that these rows took.
    pub(super) write_units: f64,
}

/// Writes the candles of a slot and its marker, and returns the changed rows. Stored candles of more data are
/// kept ([`SeriesCandle::merged_over`]). `marked` is the number of rows in the slot's marker; `None` if the
/// slot has no marker. With a marker, the existing rows are read first.
pub(super) async fn merge<C: SeriesCandle>(
    table: Session<'_>,
    slot: Slot,
    candles: &Candles<C>,
    marked: Option<usize>,
) -> Result<Changed, Error> {
    let mut shards = BTreeMap::<u32, Vec<(&C::Id, &C)>>::new();
    for (id, candle) in candles {
        shards.entry(slot.interval.shard(id.as_ref())).or_default().push((id, candle));
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

/// Merges candles into the row of a shard, and returns the write units of the row; `None` if the row did not
/// change.
async fn merge_row<C: SeriesCandle>(
    table: Session<'_>,
    slot: Slot,
    shard: u32,
    candles: Vec<(&C::Id, &C)>,
    is_read: bool,
) -> Result<Option<f64>, Error> {
    let key = || item::key(slot.interval.partition(shard), slot_key(slot.start));
    let mut before = if is_read { table.get(key()).await? } else { None };
    loop {
        let stored = before.as_ref().and_then(|row| row.get(PRODUCTS)?.as_m().ok());
        let mut products = stored.cloned().unwrap_or_default();
        for (id, candle) in &candles {
            let stored = products.get(id.as_ref()).and_then(|stored| C::of_value(slot, &stored.into()));
            let candle = (*candle).clone();
            let merged = match stored {
                Some(stored) => candle.merged_over(stored),
                None => candle,
            };
            products.insert(id.as_ref().to_owned(), merged.attribute(slot));
        }
        if stored == Some(&products) {
            return Ok(None);
        }
        let row = row(slot, shard, products);
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
            return Ok(Some(units(&written)));
        }
        // Another run or an import has written the row since it was read.
        before = table.get(key()).await?;
    }
}
