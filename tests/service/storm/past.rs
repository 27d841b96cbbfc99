//! Whether histories are right, and at the end complete.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use super::candles::{self, READING, time};
use super::exchange::Exchange;
use super::journal::{Journal, Quotes, Recorded};
use super::prices;
use super::query::{INTERVALS, Kind, Query, RANGES};
use crate::oracle::Quote;

/// The start of year 1 of the game, the length of a year, and when an election closes in the year after its own: in seconds.
const EPOCH: i64 = 1_560_275_700;
const YEAR: i64 = 124 * 60 * 60;
const CLOSE: i64 = 1_760 * 60;

/// When the term of the mayor elected in this year begins, in Unix seconds.
fn term_begins(year: i64) -> i64 {
    EPOCH + year * YEAR + CLOSE
}

/// Expects every entry of a history to be what the upstream showed.
///
/// # Errors
/// The entry that is wrong.
pub(super) fn expect_history(
    journal: &Journal,
    exchange: &Exchange,
    data: &str,
    fetched_ms: i64,
) -> Result<(), String> {
    let data: Value = serde_json::from_str(data).map_err(|error| error.to_string())?;
    let until = exchange.received.cloud_ms.max(fetched_ms + 1_000) / 1_000;
    match &exchange.query.kind {
        Kind::MayorHistory(limit) => mayors(journal, &data, until).and_then(|found| at_most(found, *limit)),
        Kind::FireSalesHistory(limit) => {
            sales(journal, &data, until).and_then(|found| at_most(found.len(), *limit))
        }
        Kind::Chart { id, range } => chart(journal, &data, id, range, fetched_ms / 1_000, until).map(drop),
        Kind::Candles { id, interval, limit } => {
            candles::page(journal, &data, id, interval, *limit, until).map(drop)
        }
        Kind::Averages(ids) => prices::expect_averages(journal, &data, ids, exchange.sent.cloud_ms / 1_000),
        Kind::AuctionCandles { id, interval } => {
            prices::expect_candles(journal, &data, id, interval, exchange.sent.cloud_ms / 1_000)
        }
        Kind::Prices(ids) => prices::expect(journal, &data, ids.as_deref(), exchange.sent.cloud_ms),
        Kind::Status => status(&data, until),
        _ => unreachable!("not a history"),
    }
}

/// Expects the feeds of a status to be consistent.
fn status(data: &Value, until: i64) -> Result<(), String> {
    let wrong = || Err(format!("another status: {data}"));
    let checked_at = time(&data["checked_at"])?;
    let feeds = data["feeds"].as_array().ok_or("a status has feeds")?;
    let names: Vec<_> = feeds.iter().filter_map(|feed| feed["name"].as_str()).collect();
    if names != ["bazaar", "candles", "mayor", "fire-sales", "auctions"] || checked_at > until {
        return wrong();
    }
    let mut is_healthy = true;
    for feed in feeds {
        let every = feed["expected_every_seconds"].as_i64().ok_or("a feed has an interval")?;
        let own = match &feed["last_recorded_at"] {
            Value::Null if feed["age_seconds"].is_null() => false,
            last => {
                let age = checked_at - time(last)?;
                // The clock jumps, so a tick can be newer than the event that asks.
                if feed["age_seconds"] != age.max(0) {
                    return wrong();
                }
                age <= 2 * every + if feed["name"] == "candles" { 230 } else { 110 }
            }
        };
        if feed["is_healthy"].as_bool().is_none_or(|shown| shown && !own) {
            return wrong();
        }
        is_healthy &= feed["is_healthy"] == true;
    }
    if data["is_healthy"] == is_healthy { Ok(()) } else { wrong() }
}

fn at_most(found: usize, limit: usize) -> Result<(), String> {
    if found <= limit { Ok(()) } else { Err(format!("{found} entries, the limit is {limit}")) }
}

fn entries(data: &Value) -> Result<&Vec<Value>, String> {
    data["history"].as_array().ok_or_else(|| format!("no history: {data}"))
}

/// The number of mayors.
fn mayors(journal: &Journal, data: &Value, until: i64) -> Result<usize, String> {
    let mut later = i64::MAX;
    let mayors = entries(data)?;
    for entry in mayors {
        let begins = time(&entry["started_at"])?;
        let year = (begins - EPOCH - CLOSE) / YEAR;
        let mut mayor = entry.clone();
        let fields = mayor.as_object_mut().unwrap();
        fields.remove("started_at");
        fields.remove("ended_at");
        let is_right = begins == term_begins(year)
            && time(&entry["ended_at"])? == term_begins(year + 1)
            && term_begins(year + 1) <= until
            && begins < later;
        if !is_right || !journal.has_mayor(year, &mayor) {
            return Err(format!("the mayor of {year} was never shown so, or is out of order: {entry}"));
        }
        later = begins;
    }
    Ok(mayors.len())
}

/// The sales, each with its start. Every one must have been shown in the minute in which it was recorded, or later.
fn sales(journal: &Journal, data: &Value, until: i64) -> Result<Vec<Value>, String> {
    let shown = journal.sales();
    let mut later = i64::MAX;
    let mut found = Vec::new();
    for entry in entries(data)? {
        let recorded_at = time(&entry["recorded_at"])?;
        let is_shown =
            |sale: &&Value| ["item_id", "amount", "price"].iter().all(|field| sale[*field] == entry[*field]);
        let after = shown.iter().filter(|shown| shown.sent.cloud_ms / 1_000 + READING >= recorded_at);
        let sale = after.flat_map(|shown| &shown.content).find(is_shown);
        let Some(sale) = sale.filter(|_| recorded_at % 60 == 0 && recorded_at <= until) else {
            return Err(format!("the sale was never shown so: {entry}"));
        };
        let start = sale["start"].as_i64().unwrap();
        if start > later {
            return Err(format!("the sale is out of order: {entry}"));
        }
        later = start;
        found.push(sale.clone());
    }
    Ok(found)
}

/// The quotes by recorded minute. Every one must be that of a snapshot that was served in that minute or later.
fn chart(
    journal: &Journal,
    data: &Value,
    id: &str,
    range: &str,
    fetched: i64,
    until: i64,
) -> Result<BTreeMap<i64, Quote>, String> {
    let (_, interval, length) = RANGES.into_iter().find(|(name, ..)| *name == range).unwrap();
    let points = entries(data)?;
    if data["item_id"] != id || data["range"] != range || data["dataPoints"] != points.len() {
        return Err(format!("another chart than {id} {range}: {data:.200}"));
    }
    let shown = journal.quotes();
    let mut quotes = BTreeMap::new();
    let mut last_slot = i64::MIN;
    for point in points {
        let tick = time(&point["recorded_at"])?;
        let quote = Quote::of_point(point)?;
        let slot = tick.div_euclid(interval);
        // The query is older than its response by the time that it took.
        let is_in_range = tick % 60 == 0 && tick > fetched - length - 30 - interval && tick <= until;
        if !is_in_range || slot <= last_slot {
            return Err(format!("{point} is out of range or order"));
        }
        last_slot = slot;
        let mut candidates = shown.iter().filter(|shown| shown.sent.cloud_ms / 1_000 + READING >= tick);
        if !candidates.any(|shown| shown.content.get(id) == Some(&quote)) {
            return Err(format!("no snapshot since then has {point} of {id}"));
        }
        quotes.insert(tick, quote);
    }
    Ok(quotes)
}

/// How much was checked at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked {
    pub(super) ticks: usize,
    pub(super) points: usize,
    pub(super) candles: usize,
    pub(super) prices: usize,
}

/// The histories at the end, read by functions without a cache.
pub(super) struct Archive {
    /// The data of charts by product and range.
    pub(super) charts: BTreeMap<(&'static str, &'static str), Value>,
    /// The data of pages of candles by product and interval.
    pub(super) candles: BTreeMap<(&'static str, &'static str), Value>,
    pub(super) mayors: Value,
    pub(super) sales: Value,
    /// The prices of all items in auctions.
    pub(super) prices: Value,
    /// When they were read, in Unix milliseconds.
    pub(super) now_ms: i64,
    /// When they were read, in Unix seconds.
    pub(super) now: i64,
    /// Candles contain what was recorded before this time.
    pub(super) recorded_until: Instant,
}

impl Archive {
    /// The queries for all histories.
    pub(super) fn queries(journal: &Journal) -> Vec<Query> {
        let ids = journal.observed();
        let charts = ids.iter().flat_map(|id| RANGES.map(|(range, ..)| Query::chart(id, range)));
        let candles = ids.iter().flat_map(|id| INTERVALS.map(|(name, _)| Query::candles(id, name, 1_000)));
        charts.chain(candles).collect()
    }

    /// Expects every recorded tick to be complete, and candles to follow from the recorded minutes. Returns how much was checked.
    ///
    /// # Errors
    /// What is missing or wrong.
    pub(super) fn expect_complete(&self, journal: &Journal) -> Result<Checked, String> {
        mayors(journal, &self.mayors, self.now)?;
        let sales = sales(journal, &self.sales, self.now)?;
        let mut charts = BTreeMap::new();
        for ((id, range), data) in &self.charts {
            charts.insert((*id, *range), chart(journal, data, id, range, self.now, self.now)?);
        }
        let recorded = journal.recorded();
        for line in &recorded {
            match line.recorder.as_str() {
                "record-mayor" => self.expect_mayor(line)?,
                "record-fire-sales" => Self::expect_sales(journal, line, &sales)?,
                "record-bazaar" => self.expect_quotes(journal, line, &charts)?,
                "record-auctions" | "record-candles" => {}
                other => return Err(format!("{other} is not a recorder")),
            }
        }
        let candles =
            candles::expect_built(journal, &self.candles, &recorded, &charts, self.recorded_until, self.now)?;
        let prices = prices::expect_complete(journal, &self.prices, self.now_ms)?;
        let points = charts.values().map(BTreeMap::len).sum();
        Ok(Checked { ticks: recorded.len(), points, candles, prices })
    }

    fn expect_mayor(&self, line: &Recorded) -> Result<(), String> {
        let year = line.outcome["year"].as_i64().ok_or("a recorded mayor has a year")?;
        let begins = term_begins(year);
        let is_over = term_begins(year + 1) <= self.now;
        let found = entries(&self.mayors)?.iter().any(|entry| time(&entry["started_at"]) == Ok(begins));
        if is_over == found {
            Ok(())
        } else {
            Err(format!("the mayor of {year} is over: {is_over}, found: {found}"))
        }
    }

    /// Some list that was shown at the tick must be in history.
    fn expect_sales(journal: &Journal, line: &Recorded, found: &[Value]) -> Result<(), String> {
        let is_known = |sale: &Value| {
            found.iter().any(|known| known["item_id"] == sale["item_id"] && known["start"] == sale["start"])
        };
        let shown = journal.sales();
        let mut shown =
            shown.iter().filter(|shown| served_for(line, shown.sent.cloud_ms, shown.requested.real));
        if shown.any(|shown| shown.content.iter().all(is_known)) {
            Ok(())
        } else {
            Err(format!("sales of the tick {} are missing: {found:?}", line.tick))
        }
    }

    /// The points of a tick must be those of one snapshot, none missing. Every longer range has a point in the slot of the tick.
    fn expect_quotes(
        &self,
        journal: &Journal,
        line: &Recorded,
        charts: &BTreeMap<(&'static str, &'static str), BTreeMap<i64, Quote>>,
    ) -> Result<(), String> {
        if line.outcome["products"] == 0 {
            return Ok(());
        }
        let shown = journal.quotes();
        let shown = shown.iter().filter(|shown| served_for(line, shown.sent.cloud_ms, shown.requested.real));
        let candidates: Vec<&Quotes> = shown.map(|shown| &shown.content).collect();
        for (range, interval, length) in RANGES {
            let slot = line.tick.div_euclid(interval);
            let has_left = slot < self.now.div_euclid(interval) - length / interval + 1;
            if has_left || interval > 60 && line.is_late() {
                continue;
            }
            let point = |id: &'static str| {
                let chart = &charts[&(id, range)];
                chart.range(slot * interval..(slot + 1) * interval).next().map(|(_, quote)| *quote)
            };
            let found: Quotes = journal.observed().iter().filter_map(|id| Some((*id, point(id)?))).collect();
            let is_right = match interval {
                60 => candidates.contains(&&found),
                _ => candidates.iter().any(|shown| shown.keys().all(|id| found.contains_key(id))),
            };
            if !is_right {
                return Err(format!(
                    "in {range}, {line:?} equals no snapshot of {}: {found:?}",
                    candidates.len()
                ));
            }
        }
        Ok(())
    }
}

/// Whether a body that was sent and requested then can be the one that was recorded.
fn served_for(line: &Recorded, sent_ms: i64, requested: std::time::Instant) -> bool {
    sent_ms / 1_000 + READING >= line.tick && requested <= line.logged.real
}
