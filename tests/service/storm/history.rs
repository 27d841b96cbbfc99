//! Whether histories have what the upstream has served, and at the end all that was recorded. How candles and prices follow from it is
//! tested where they are built.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::journal::{Journal, Quotes};
use super::query::Kind;
use crate::history::{HOUR, MINUTE};
use crate::oracle::Quote;

/// The products whose history is checked.
pub(super) const OBSERVED: [&str; 4] = ["INK_SACK:3", "ENCHANTED_DIAMOND", "COAL", "WHEAT"];

/// How long a recorder can take to read a body, in seconds: its timeout.
const READING: i64 = 50;

/// Expects every entry of a history to be what the upstream has served.
///
/// # Errors
/// The entry that is wrong.
pub(super) fn expect_served(journal: &Journal, kind: &Kind, data: &Value) -> Result<(), String> {
    match kind {
        Kind::Chart(id) => chart(journal, id, data).map(drop),
        Kind::History => entries(data)?.iter().try_for_each(|entry| {
            let mut shown = entry.clone();
            let fields = shown.as_object_mut().ok_or("an entry is an object")?;
            fields.retain(|name, _| !["started_at", "ended_at", "recorded_at"].contains(&name.as_str()));
            let is_known = journal.entries().shown.contains(&shown);
            if is_known { Ok(()) } else { Err(format!("it was never shown so: {entry}")) }
        }),
        _ => Ok(()),
    }
}

fn entries(data: &Value) -> Result<&Vec<Value>, String> {
    data["history"].as_array().ok_or_else(|| format!("no history: {data:.200}"))
}

/// The quotes by recorded minute. Each must be that of a snapshot that was served in that minute or later.
fn chart(journal: &Journal, id: &str, data: &Value) -> Result<BTreeMap<i64, Quote>, String> {
    let shown = &journal.entries().quotes;
    let mut quotes = BTreeMap::new();
    for point in entries(data)? {
        let time = point["recorded_at"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let minute = time.ok_or("a point has a time")?.as_second();
        let quote = Quote::of_point(point)?;
        let mut since = shown.iter().filter(|shown| shown.sent.cloud_ms / 1_000 + READING >= minute);
        if !since.any(|shown| shown.content.get(id) == Some(&quote)) {
            return Err(format!("no snapshot since then has {point} of {id}"));
        }
        quotes.insert(minute, quote);
    }
    Ok(quotes)
}

/// Expects each recorded minute of the last hour to have the quotes of one snapshot, none missing. Returns the number of points.
///
/// # Errors
/// What is missing or wrong.
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
            let is_late = shown.sent.cloud_ms / 1_000 + READING >= line.tick;
            is_late && shown.requested.real <= line.logged.real
        });
        if !shown.any(|shown| shown.content == *found) {
            return Err(format!("{line:?} equals no snapshot: {found:?}"));
        }
    }
    Ok(minutes.values().map(BTreeMap::len).sum())
}
