//! Reads the candles of one product.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use common::time::UnixSeconds;
use futures_util::future::try_join;

use super::candle::SeriesCandle;
use super::keys::{FIRST_SLOT, Interval, LAST_SLOT, UNBUILT, slot_key, slot_of_key};
use super::progress::Progress;
use super::rows::CORRUPT;
use crate::error::Error;
use crate::row::Row;
use crate::session::Session;

/// The number of further rows that a page reads if its first rows have too few candles of the product.
const MORE_ROWS: usize = 100;

/// The number of latest minutes that are searched for the product.
const LAST_MINUTES: usize = 10;

#[derive(Debug, Clone, PartialEq)]
pub struct Page<C> {
    /// The candles, oldest first.
    pub candles: Vec<PagedCandle<C>>,
    /// The end of the next page, which is older. `None` if there are no older candles.
    pub next_before: Option<UnixSeconds>,
}

/// A candle and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PagedCandle<C> {
    /// The start of the interval.
    pub opened_at: UnixSeconds,
    pub candle: C,
    /// Whether the candle is built. If not, it is composed of finer data, and later minutes may change it.
    pub is_complete: bool,
}

/// The time in which the candles of a page open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Period {
    /// The earliest time of an opening; `None` without a limit.
    pub from: Option<UnixSeconds>,
    /// The end, at which no candle opens.
    pub before: UnixSeconds,
}

/// Returns the product's newest candles that open in the period, at most `limit`. `now` is the current time.
/// An interval in which the product was not recorded has no candle. If a product was rarely recorded, a page
/// can have fewer than `limit` candles although there are older candles.
pub async fn page<C: SeriesCandle>(
    table: Session<'_>,
    interval: &'static Interval,
    id: &C::Id,
    Period { from, before }: Period,
    limit: usize,
    now: UnixSeconds,
) -> Result<Page<C>, Error> {
    let kept = interval.oldest_slot(now).unwrap_or(FIRST_SLOT);
    let oldest = from.map_or(kept, |from| interval.first_slot_from(from).max(kept));
    let Some(range) = Range::new(interval, oldest, before.min(now.plus(Duration::from_secs(1)))) else {
        return Ok(Page { candles: Vec::new(), next_before: None });
    };
    let product = Product::<C> { table, id, now, range };
    let found = product.candles(limit + 1).await?;
    let mut candles = found.paged();
    let mut rows = found.rows;
    let mut is_end = rows.len() <= limit;
    if candles.len() <= limit
        && !is_end
        && let Some(last) = rows.iter().rev().find_map(|row| row.slot)
        && let Some(range) = Range::new(interval, range.oldest, last)
    {
        let more = Product { range, ..product }.rows(MORE_ROWS).await?;
        is_end = more.rows.len() < MORE_ROWS;
        candles.extend(more.paged());
        rows = more.rows;
    }
    let next_before = if candles.len() > limit {
        candles.truncate(limit);
        candles.last().map(|candle| candle.opened_at)
    } else if is_end {
        None
    } else {
        rows.iter().rev().find_map(|row| row.slot).filter(|slot| *slot > oldest)
    };
    candles.reverse();
    Ok(Page { candles, next_before })
}

/// Returns the candles of the product from the slot `oldest` to the time `now`, oldest first. Only the closes
/// of the candles are valid, because the last candle may consist of its last minute alone.
pub(crate) async fn closes<C: SeriesCandle>(
    table: Session<'_>,
    interval: &'static Interval,
    id: &C::Id,
    oldest: UnixSeconds,
    now: UnixSeconds,
) -> Result<Vec<C>, Error> {
    let Some(range) = Range::new(interval, oldest, now.plus(Duration::from_secs(1))) else {
        return Ok(Vec::new());
    };
    let product = Product::<C> { table, id, now, range };
    let found = if interval == C::SERIES.minutes {
        product.rows(usize::MAX).await?
    } else if let Some(found) = product.with_last_minute().await? {
        found
    } else {
        product.candles(usize::MAX).await?
    };
    Ok(found.paged().into_iter().rev().map(|paged| paged.candle).collect())
}

/// Slots of an interval, at least one.
#[derive(Debug, Clone, Copy)]
struct Range {
    interval: &'static Interval,
    oldest: UnixSeconds,
    newest: UnixSeconds,
}

impl Range {
    /// Returns the slots from `oldest` that begin before `end`; `None` without such a slot.
    fn new(interval: &'static Interval, oldest: UnixSeconds, end: UnixSeconds) -> Option<Self> {
        let oldest = oldest.max(FIRST_SLOT);
        let newest = interval.slot(UnixSeconds::new(end.get().saturating_sub(1))).min(LAST_SLOT);
        (oldest <= newest).then_some(Self { interval, oldest, newest })
    }
}

/// The candles of one product in a range.
struct Found<C> {
    /// The rows, newest first.
    rows: Vec<Entry<C>>,
    /// The candles that are not built yet, composed of finer data, by slot.
    unbuilt: BTreeMap<UnixSeconds, C>,
}

impl<C: SeriesCandle> Found<C> {
    /// Returns all candles, newest first. If a slot has a candle in the rows and an unbuilt candle, the one
    /// with more samples counts.
    fn paged(&self) -> Vec<PagedCandle<C>> {
        let built = self.rows.iter().filter_map(|row| {
            Some(PagedCandle { opened_at: row.slot?, candle: row.candle.clone()?, is_complete: true })
        });
        if self.unbuilt.is_empty() {
            return built.collect();
        }
        let mut candles: BTreeMap<_, _> = built.map(|candle| (candle.opened_at, candle)).collect();
        for (opened_at, candle) in &self.unbuilt {
            let built = candles.get(opened_at);
            if built.is_none_or(|built| built.candle.samples() < candle.samples()) {
                let (opened_at, candle) = (*opened_at, candle.clone());
                candles.insert(opened_at, PagedCandle { opened_at, candle, is_complete: false });
            }
        }
        candles.into_values().rev().collect()
    }
}

/// The rows of one product in a range, at the time `now`.
struct Product<'a, C: SeriesCandle> {
    table: Session<'a>,
    id: &'a C::Id,
    now: UnixSeconds,
    range: Range,
}

/// An interval, and the partition of the interval that has the product.
struct Source {
    interval: &'static Interval,
    partition: String,
}

/// The product's entry in a row.
#[derive(Debug)]
struct Entry<C> {
    /// The slot; `None` if the sort key is corrupt.
    slot: Option<UnixSeconds>,
    /// The candle; `None` if the product has no candle in this slot, or if the row is corrupt.
    candle: Option<C>,
}

impl<C: SeriesCandle> Product<'_, C> {
    /// Returns the rows of the range, whose newest slot is the current one, and the last minute in place of
    /// the current candle. This takes three queries instead of five. `None` if an earlier slot may not be
    /// built yet, or if the product is missing from the last minutes.
    async fn with_last_minute(&self) -> Result<Option<Found<C>>, Error> {
        let Range { interval, oldest, newest } = self.range;
        let built = C::SERIES.finest.slot(self.now.minus(UNBUILT));
        if interval.slot(built) != newest {
            return Ok(None);
        }
        let sources = [interval, C::SERIES.minutes].map(|interval| self.source(interval));
        let [of_interval, of_minutes] = &sources;
        let rows = self.query(of_interval, oldest, newest).scan_index_forward(false);
        let minutes = self.query(of_minutes, newest, self.now.min(LAST_SLOT)).scan_index_forward(false);
        let read =
            |position: usize, row: &Row<'_>| sources.get(position).map(|source| self.entry(source, row));
        let queries = vec![(rows, usize::MAX), (minutes, LAST_MINUTES)];
        let found = self.table.read_rows_of_each(queries, read);
        let (until, found) = try_join(Progress::query(self.table, C::SERIES), found).await?;
        let mut found = found.into_iter();
        let rows = found.next().unwrap_or_default();
        let minutes = found.next().unwrap_or_default();
        let last = minutes.into_iter().find_map(|minute| minute.candle);
        Ok(match last {
            Some(last) if until.is_some_and(|until| until >= built) => {
                Some(Found { rows, unbuilt: BTreeMap::from([(newest, last)]) })
            }
            _ => None,
        })
    }

    /// Returns at most `limit` newest rows of the range, and its candles that are not built yet.
    async fn candles(&self, limit: usize) -> Result<Found<C>, Error> {
        let kept = C::SERIES.minutes.oldest_slot(self.now).unwrap_or(FIRST_SLOT);
        if self.range.interval.end(self.range.newest) <= kept {
            return self.rows(limit).await;
        }
        let mut built = C::SERIES.finest.slot(self.now.minus(UNBUILT)).max(FIRST_SLOT);
        let found = self.candles_after(built, limit);
        let (until, found) = try_join(Progress::query(self.table, C::SERIES), found).await?;
        if until.is_some_and(|until| until >= built) {
            return Ok(found);
        }
        built = until.unwrap_or(kept).max(kept).max(FIRST_SLOT);
        self.candles_after(built, limit).await
    }

    /// Returns the same as [`Product::candles`], assuming that no slot that ends after `built` is built.
    async fn candles_after(&self, built: UnixSeconds, limit: usize) -> Result<Found<C>, Error> {
        let Range { interval, oldest, newest } = self.range;
        let mut sources = vec![self.source(interval)];
        let mut queries =
            vec![(self.query(&self.source(interval), oldest, newest).scan_index_forward(false), limit)];
        let mut first = interval.slot(built).max(oldest);
        if first <= newest {
            let last = interval.at(newest).last_minute().min(self.now).min(LAST_SLOT);
            let parts = C::SERIES.parts.iter().filter(|part| part.length < interval.length);
            for part in parts.map(|part| self.source(part)) {
                queries.push((self.query(&part, first, last), usize::MAX));
                first = part.interval.slot(built).max(first);
                sources.push(part);
            }
        }
        let read =
            |position: usize, row: &Row<'_>| sources.get(position).map(|source| self.entry(source, row));
        let mut found = self.table.read_rows_of_each(queries, read).await?.into_iter();
        let rows = found.next().unwrap_or_default();
        let parts: Vec<_> = sources.iter().skip(1).zip(found).collect();
        let mut unbuilt = BTreeMap::new();
        for (source, entries) in parts.into_iter().rev() {
            unbuilt = grouped(source.interval, unbuilt);
            for (slot, candle) in entries.into_iter().filter_map(|entry| Some((entry.slot?, entry.candle?))) {
                let of_parts = unbuilt.get(&slot);
                if of_parts.is_none_or(|of_parts: &C| of_parts.samples() <= candle.samples()) {
                    unbuilt.insert(slot, candle);
                }
            }
        }
        Ok(Found { rows, unbuilt: grouped(interval, unbuilt) })
    }

    /// Returns at most `limit` newest rows of the range.
    async fn rows(&self, limit: usize) -> Result<Found<C>, Error> {
        let Range { interval, oldest, newest } = self.range;
        let source = self.source(interval);
        let query = self.query(&source, oldest, newest).scan_index_forward(false);
        let rows = self.table.read_rows(query, limit, |row| Some(self.entry(&source, row))).await?;
        Ok(Found { rows, unbuilt: BTreeMap::new() })
    }

    fn source(&self, interval: &'static Interval) -> Source {
        Source { interval, partition: interval.partition(interval.shard(self.id.as_ref())) }
    }

    /// Returns a query of the rows between two times, oldest first, with this product only.
    fn query(&self, source: &Source, first: UnixSeconds, last: UnixSeconds) -> QueryFluentBuilder {
        self.table
            .query_between(&source.partition, slot_key(first), slot_key(last))
            .projection_expression("sk, products.#id")
            .expression_attribute_names("#id", self.id.as_ref())
    }

    /// Reads the product's entry in a row.
    fn entry(&self, Source { interval, partition }: &Source, row: &Row<'_>) -> Entry<C> {
        let slot = row.sort_key().and_then(|key| slot_of_key(interval, key));
        let start = slot.as_ref().ok().map(|slot| slot.start);
        let candle = || {
            let (slot, Some(products)) = (slot?, row.products()) else { return Ok(None) };
            let value = products.map().and_then(|products| products.get(self.id.as_ref()));
            value.and_then(|value| C::of_value(slot, value)).map(Some).ok_or(CORRUPT)
        };
        Entry { slot: start, candle: row.unless_corrupt(candle(), partition) }
    }
}

/// Returns the candles of the interval, composed of these candles of a finer interval.
fn grouped<C: SeriesCandle>(
    interval: &Interval,
    parts: BTreeMap<UnixSeconds, C>,
) -> BTreeMap<UnixSeconds, C> {
    let mut candles = BTreeMap::<UnixSeconds, C>::new();
    for (start, later) in parts {
        let slot = interval.slot(start);
        let candle = match candles.remove(&slot) {
            Some(candle) => candle.followed_by(later),
            None => later,
        };
        candles.insert(slot, candle);
    }
    candles
}
