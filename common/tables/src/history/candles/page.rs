//! Reads the candles of one product, page by page.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use common::params::ItemId;
use common::time::UnixSeconds;

use super::build::MINUTES;
use super::candle::{Candle, corrupt_products};
use super::intervals::{INTERVALS, Interval};
use crate::error::Error;
use crate::history::bazaar::Quote;
use crate::history::slots::{FIRST_SLOT, LAST_SLOT, parse_slot_key, slot_key};
use crate::item::{Corrupt, SORT_KEY};
use crate::row::{Row, Value};
use crate::session::Session;

/// A page looks at this many more rows than it has candles, for intervals in which the product was not recorded.
const MORE_ROWS: usize = 100;

/// Whatever ended longer ago than this is built: the time until it is settled, and the time between two runs of the recorder. What ended
/// later may have to be made of finer candles.
const UNBUILT: Duration = Duration::from_mins(10);

/// The intervals whose candles an unbuilt one is made of, from coarse to fine. Each is another query, so there are only two.
const PARTS: [&Interval; 2] = {
    let [five_minutes, _, hour, ..] = &INTERVALS;
    [hour, five_minutes]
};

/// A page of candles.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The candles, oldest first.
    pub candles: Vec<PagedCandle>,
    /// The end of the next page, which is older. `None` if there are no older candles.
    pub next_before: Option<UnixSeconds>,
}

/// A candle and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PagedCandle {
    /// The start of the interval.
    pub opened_at: UnixSeconds,
    /// The candle.
    pub candle: Candle,
    /// Whether the candle is built. Otherwise minutes may be added to it.
    pub is_complete: bool,
}

/// Returns the newest candles of the product that open before the time `before`, at most `limit`, at the time `now`. An interval in which
/// the product was not recorded has no candle. A page of a product that was seldom recorded can have fewer than `limit`
/// candles, although there are older ones.
///
/// # Errors
/// If the table does not answer in time.
pub async fn page(
    table: Session<'_>,
    interval: &'static Interval,
    id: &ItemId,
    before: UnixSeconds,
    limit: usize,
    now: UnixSeconds,
) -> Result<Page, Error> {
    let product = Product { table, id };
    let oldest = interval.oldest_slot(now).unwrap_or(FIRST_SLOT).max(FIRST_SLOT);
    let newest = interval.slot(UnixSeconds::new(before.get().saturating_sub(1)).min(now)).min(LAST_SLOT);
    if newest < oldest {
        return Ok(Page { candles: Vec::new(), next_before: None });
    }
    let partition = interval.partition(interval.shard(id));
    let rows_before = |newest| product.query(&partition, oldest, newest).scan_index_forward(false);

    let unbuilt = Unbuilt::of(interval, newest, now);
    let mut queries = vec![(rows_before(newest), limit + 1)];
    queries.extend(unbuilt.iter().map(|source| (source.query(&product), usize::MAX)));
    let built = |row: &Row<'_>| Some(product.built(interval, &partition, row));
    let read =
        |position: usize, row: &Row<'_>| match position.checked_sub(1).and_then(|part| unbuilt.get(part)) {
            Some(source) => product.part(source, row),
            None => built(row),
        };
    let mut found = table.read_rows_of_each(queries, read).await?.into_iter();
    let mut rows = found.next().unwrap_or_default();
    let mut is_end = rows.len() <= limit;

    // Rows whose slot is corrupt are passed over.
    let latest_row = rows.iter().filter_map(|row| row.slot).find(|slot| interval.slot(*slot) == *slot);
    let provisional = provisional(interval, latest_row, unbuilt.iter().zip(found));
    let mut candles: Vec<_> = provisional
        .into_iter()
        .rev()
        .filter(|(opened_at, _)| *opened_at <= newest)
        .map(|(opened_at, candle)| PagedCandle { opened_at, candle, is_complete: false })
        .collect();
    candles.extend(rows.iter().filter_map(Entry::paged));
    if candles.len() <= limit
        && !is_end
        && let Some(last) = rows.iter().rev().find_map(|row| row.slot)
        && last > oldest
    {
        let query = rows_before(UnixSeconds::new(last.get() - 1));
        rows = table.read_rows(query, MORE_ROWS, built).await?;
        is_end = rows.len() < MORE_ROWS;
        candles.extend(rows.iter().filter_map(Entry::paged));
    }
    let next_before = if candles.len() > limit {
        candles.truncate(limit);
        candles.last().map(|candle| candle.opened_at)
    } else if is_end {
        None
    } else {
        rows.iter().rev().find_map(|row| row.slot)
    };
    candles.reverse();
    Ok(Page { candles, next_before })
}

/// The rows of one product.
#[derive(Clone, Copy)]
struct Product<'a> {
    table: Session<'a>,
    id: &'a ItemId,
}

impl Product<'_> {
    /// The rows of the partition between two slots, oldest first, with this product only.
    fn query(&self, partition: &str, first: UnixSeconds, last: UnixSeconds) -> QueryFluentBuilder {
        self.table
            .query_between(partition, slot_key(first), slot_key(last))
            .projection_expression("sk, products.#id")
            .expression_attribute_names("#id", self.id.as_str())
    }

    /// Returns the slot of a row and what the row has of the product.
    fn value<'a, 'r>(&self, row: &'r Row<'a>) -> Result<(UnixSeconds, Option<&'r Value<'a>>), Corrupt> {
        let Some(products) = row.products() else { return Ok((slot(row)?, None)) };
        let value = products.map().ok_or_else(corrupt_products)?.get(self.id.as_str());
        Ok((slot(row)?, value))
    }

    /// Reads a row of the interval.
    fn built(&self, interval: &Interval, partition: &str, row: &Row<'_>) -> Entry {
        let candle = || {
            let (opened_at, Some(candle)) = self.value(row)? else { return Ok(None) };
            if interval.slot(opened_at) != opened_at {
                return Err(Corrupt::new(SORT_KEY, "a slot of its interval"));
            }
            Candle::of_value(candle).ok_or_else(corrupt_products).map(Some)
        };
        Entry { slot: slot(row).ok(), candle: row.unless_corrupt(candle(), partition) }
    }

    /// Reads a row of finer data. `None` if it is corrupt.
    fn part(&self, source: &Unbuilt, row: &Row<'_>) -> Option<Entry> {
        let part = || {
            let (slot, value) = self.value(row)?;
            let candle = value.map(|value| source.candle(value).ok_or_else(corrupt_products));
            Ok(Some(Entry { slot: Some(slot), candle: candle.transpose()? }))
        };
        row.unless_corrupt(part(), &source.partition(self.id))
    }
}

/// What a row has of the product.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Its slot. `None` if that is corrupt.
    slot: Option<UnixSeconds>,
    /// The candle. `None` if the product has none in this slot, or if the row is corrupt.
    candle: Option<Candle>,
}

impl Entry {
    fn paged(&self) -> Option<PagedCandle> {
        Some(PagedCandle { opened_at: self.slot?, candle: self.candle?, is_complete: true })
    }
}

/// Returns the candles of the slots after `latest_row`, made of finer candles and of minutes: of each time, the coarsest.
fn provisional<'a>(
    interval: &Interval,
    latest_row: Option<UnixSeconds>,
    sources: impl Iterator<Item = (&'a Unbuilt, Vec<Entry>)>,
) -> BTreeMap<UnixSeconds, Candle> {
    let mut candles = BTreeMap::<UnixSeconds, Candle>::new();
    let mut end = latest_row.map_or(FIRST_SLOT, |slot| interval.end(slot));
    for (source, parts) in sources {
        let begin = end;
        for (slot, candle) in parts.into_iter().filter_map(|part| Some((part.slot?, part.candle))) {
            if slot < begin {
                continue;
            }
            end = source.end(slot);
            if let Some(later) = candle {
                candles
                    .entry(interval.slot(slot))
                    .and_modify(|candle| *candle = candle.followed_by(later))
                    .or_insert(later);
            }
        }
    }
    candles
}

/// Finer data of the time after the last built candle.
#[derive(Debug, Clone, Copy)]
struct Unbuilt {
    /// Candles of this interval, or the recorded minutes.
    finer: Option<&'static Interval>,
    first: UnixSeconds,
    last: UnixSeconds,
}

impl Unbuilt {
    /// Returns what the candles up to `newest` may have to be made of at the time `now`, from coarse to fine.
    fn of(interval: &'static Interval, newest: UnixSeconds, now: UnixSeconds) -> Vec<Self> {
        let built = now.minus(UNBUILT);
        let mut sources = Vec::new();
        if newest < interval.slot(built) {
            return sources;
        }
        let last = now.min(LAST_SLOT);
        let mut first = interval.slot(built).max(FIRST_SLOT);
        for finer in PARTS.into_iter().filter(|finer| finer.length < interval.length) {
            sources.push(Self { finer: Some(finer), first, last });
            first = finer.slot(built).max(FIRST_SLOT);
        }
        sources.push(Self { finer: None, first, last });
        sources
    }

    fn partition(&self, id: &ItemId) -> String {
        match self.finer {
            Some(finer) => finer.partition(finer.shard(id)),
            None => MINUTES.partition(MINUTES.shard(id)),
        }
    }

    fn query(&self, product: &Product<'_>) -> QueryFluentBuilder {
        product.query(&self.partition(product.id), self.first, self.last)
    }

    fn end(&self, slot: UnixSeconds) -> UnixSeconds {
        slot.plus(self.finer.map_or(MINUTES.interval, |finer| finer.length))
    }

    fn candle(&self, value: &Value<'_>) -> Option<Candle> {
        match self.finer {
            Some(_) => Candle::of_value(value),
            None => Quote::of_value(value).map(Candle::of),
        }
    }
}

/// Reads the slot in a row's sort key.
fn slot(row: &Row<'_>) -> Result<UnixSeconds, Corrupt> {
    parse_slot_key(row.sort_key()?).ok_or(Corrupt::new(SORT_KEY, "a slot"))
}
