//! Checks during the storm that histories show only data that the upstream has served. After the storm,
//! checks that the bazaar's history has every recorded minute of the last hour. Other tests check how candles
//! and prices follow from minutes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::journal::{Journal, Quotes};
use super::query::Kind;
use crate::history::{HOUR, MINUTE};
use crate::oracle::Quote;

/// The longest time in seconds that a recorder takes to read a body: its timeout.
const READING: i64 = 50;

/// Checks that the upstream has served every entry of a history.
///
/// # Errors
/// The first wrong entry.
pub(super) fn expect_served(journal: &Journal, kind: &Kind, data: &Value) -> Result<(), String> {
    match kind {
        Kind::Chart(id) => chart(journal, id, data).map(drop),
        Kind::History => entries(data)?.iter().try_for_each(|entry| {
            let mut shown = entry.clone();
            let fields = shown.as_object_mut().ok_or("an entry is not an object")?;
            fields.retain(|name, _| !["started_at", "ended_at", "recorded_at"].contains(&name.as_str()));
            let is_known = journal.entries().shown.contains(&shown);
            if is_known { Ok(()) } else { Err(format!("the upstream never served {entry}")) }
        }),
        _ => Ok(()),
    }
}

fn entries(data: &Value) -> Result<&Vec<Value>, String> {
    data["history"].as_array().ok_or_else(|| format!("no history: {data:.200}"))
}

/// Returns the quotes by recorded minute. Each quote must be from a snapshot that was requested at most
/// [`READING`] seconds before the quote's minute, or later.
fn chart(journal: &Journal, id: &str, data: &Value) -> Result<BTreeMap<i64, Quote>, String> {
    let shown = &journal.entries().quotes;
    let mut quotes = BTreeMap::new();
    for point in entries(data)? {
        let time = point["recorded_at"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let minute = time.ok_or("a point has no time")?.as_second();
        let quote = Quote::of_point(point)?;
        let mut since = shown.iter().filter(|shown| shown.requested.cloud_ms / 1_000 + READING >= minute);
        if !since.any(|shown| shown.content.get(id) == Some(&quote)) {
            return Err(format!("no snapshot that the recorder could read has {point} of {id}"));
        }
        quotes.insert(minute, quote);
    }
    Ok(quotes)
}

/// Checks that each recorded minute of the last hour has all quotes of one snapshot. Returns the number of
/// points.
///
/// # Errors
/// The first missing or wrong minute.
pub(super) fn expect_recorded(
    journal: &Journal,
    charts: &[(&'static str, Value)],
    now: i64,
) -> Result<usize, String> {
    let mut minutes = BTreeMap::<i64, Quotes>::new();
    for (id, data) in charts {
        for (minute, quote) in chart(journal, id, data)? {
            minutes.entry(minute).or_default().insert(id, quote);
        }
    }
    let entries = journal.entries();
    let oldest = now - now.rem_euclid(MINUTE) - HOUR;
    for line in entries.recorded.iter().filter(|line| line.tick > oldest) {
        let found = minutes.entry(line.tick).or_default();
        let mut shown = entries.quotes.iter().filter(|shown| {
            let is_late = shown.requested.cloud_ms / 1_000 + READING >= line.tick;
            is_late && shown.requested.real <= line.logged.real
        });
        if !shown.any(|shown| shown.content == *found) {
            return Err(format!("{line:?} equals no snapshot: {found:?}"));
        }
    }
    Ok(minutes.values().map(BTreeMap::len).sum())
}
