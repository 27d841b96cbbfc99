//! Reads the candles of one product.

use std::collections::BTreeMap;

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

/// A page of candles.
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

/// Returns the product's newest candles that open before the time `before`, at most `limit`. `now` is the current time. An interval in
/// which the product was not recorded has no candle. If a product was rarely recorded, a page can have fewer than `limit` candles although
/// there are older candles.
///
/// # Errors
/// If the table does not answer in time.
pub async fn page<C: SeriesCandle>(
    table: Session<'_>,
    interval: &'static Interval,
    id: &C::Id,
    before: UnixSeconds,
    limit: usize,
    now: UnixSeconds,
) -> Result<Page<C>, Error> {
    let product = Product::<C> { table, id, now };
    let oldest = interval.oldest_slot(now).unwrap_or(FIRST_SLOT).max(FIRST_SLOT);
    let newest = interval.slot(UnixSeconds::new(before.get().saturating_sub(1)).min(now)).min(LAST_SLOT);
    if newest < oldest {
        return Ok(Page { candles: Vec::new(), next_before: None });
    }
    let (mut rows, unbuilt) = product.candles(interval, oldest, newest, limit + 1).await?;
    let mut candles = paged(&rows, unbuilt);
    let mut is_end = rows.len() <= limit;
    if candles.len() <= limit
        && !is_end
        && let Some(last) = rows.iter().rev().find_map(|row| row.slot)
        && last > oldest
    {
        rows = product.rows(interval, oldest, UnixSeconds::new(last.get() - 1), MORE_ROWS).await?;
        is_end = rows.len() < MORE_ROWS;
        candles.extend(paged(&rows, BTreeMap::new()));
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

/// Returns the candles of the product from the slot `oldest` to the time `now`, oldest first. Only the closes of the candles are valid,
/// because the last candle may consist of its last minute alone.
///
/// # Errors
/// If the table does not answer in time.
pub(crate) async fn closes<C: SeriesCandle>(
    table: Session<'_>,
    interval: &'static Interval,
    id: &C::Id,
    oldest: UnixSeconds,
    now: UnixSeconds,
) -> Result<Vec<C>, Error> {
    let (oldest, newest) = (oldest.max(FIRST_SLOT), interval.slot(now.min(LAST_SLOT)));
    if newest < oldest {
        return Ok(Vec::new());
    }
    let product = Product::<C> { table, id, now };
    let (rows, unbuilt) = if interval == C::SERIES.minutes {
        (product.rows(interval, oldest, newest, usize::MAX).await?, BTreeMap::new())
    } else if let Some(found) = product.with_last_minute(interval, oldest, newest).await? {
        found
    } else {
        product.candles(interval, oldest, newest, usize::MAX).await?
    };
    Ok(paged(&rows, unbuilt).into_iter().rev().map(|paged| paged.candle).collect())
}

/// Returns the candles in the rows and the unbuilt ones, newest first. If a slot has a candle in the rows and an unbuilt candle, the one
/// with more samples counts.
fn paged<C: SeriesCandle>(rows: &[Entry<C>], unbuilt: BTreeMap<UnixSeconds, C>) -> Vec<PagedCandle<C>> {
    let built = rows.iter().filter_map(|row| {
        Some(PagedCandle { opened_at: row.slot?, candle: row.candle.clone()?, is_complete: true })
    });
    if unbuilt.is_empty() {
        return built.collect();
    }
    let mut candles: BTreeMap<_, _> = built.map(|candle| (candle.opened_at, candle)).collect();
    for (opened_at, candle) in unbuilt {
        let built = candles.get(&opened_at);
        if built.is_none_or(|built| built.candle.samples() < candle.samples()) {
            candles.insert(opened_at, PagedCandle { opened_at, candle, is_complete: false });
        }
    }
    candles.into_values().rev().collect()
}

/// The rows of one product, at the time `now`.
struct Product<'a, C: SeriesCandle> {
    table: Session<'a>,
    id: &'a C::Id,
    now: UnixSeconds,
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
    /// Returns the rows of the interval from the slot `oldest` to the current slot `newest`, and the last minute in place of the current
    /// candle. This takes three queries instead of five. `None` if an earlier slot may not be built yet, or if the product is missing from
    /// the last minutes.
    async fn with_last_minute(
        &self,
        interval: &'static Interval,
        oldest: UnixSeconds,
        newest: UnixSeconds,
    ) -> Result<Option<(Vec<Entry<C>>, BTreeMap<UnixSeconds, C>)>, Error> {
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
        Ok(last
            .filter(|_| until.is_some_and(|until| until >= built))
            .map(|last| (rows, BTreeMap::from([(newest, last)]))))
    }

    /// Returns the rows of the interval from the slot `oldest` to the slot `newest`, newest first and at most `limit`. Also returns the
    /// candles up to `newest` that are not built yet, composed of finer data.
    async fn candles(
        &self,
        interval: &'static Interval,
        oldest: UnixSeconds,
        newest: UnixSeconds,
        limit: usize,
    ) -> Result<(Vec<Entry<C>>, BTreeMap<UnixSeconds, C>), Error> {
        let finest = C::SERIES.finest;
        let kept = C::SERIES.minutes.oldest_slot(self.now).unwrap_or(FIRST_SLOT);
        if interval.end(newest) <= kept {
            return Ok((self.rows(interval, oldest, newest, limit).await?, BTreeMap::new()));
        }
        let mut built = finest.slot(self.now.minus(UNBUILT)).max(FIRST_SLOT);
        let found = self.candles_after(built, interval, oldest, newest, limit);
        let (until, found) = try_join(Progress::query(self.table, C::SERIES), found).await?;
        if until.is_some_and(|until| until >= built) {
            return Ok(found);
        }
        built = until.unwrap_or(kept).max(kept).max(FIRST_SLOT);
        self.candles_after(built, interval, oldest, newest, limit).await
    }

    /// Returns the same as [`Product::candles`], assuming that no slot that ends after `built` is built.
    async fn candles_after(
        &self,
        built: UnixSeconds,
        interval: &'static Interval,
        oldest: UnixSeconds,
        newest: UnixSeconds,
        limit: usize,
    ) -> Result<(Vec<Entry<C>>, BTreeMap<UnixSeconds, C>), Error> {
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
        Ok((rows, grouped(interval, unbuilt)))
    }

    /// Returns the rows of the interval from the slot `oldest` to the slot `newest`, newest first and at most `limit`.
    async fn rows(
        &self,
        interval: &'static Interval,
        oldest: UnixSeconds,
        newest: UnixSeconds,
        limit: usize,
    ) -> Result<Vec<Entry<C>>, Error> {
        let source = self.source(interval);
        let query = self.query(&source, oldest, newest).scan_index_forward(false);
        self.table.read_rows(query, limit, |row| Some(self.entry(&source, row))).await
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
