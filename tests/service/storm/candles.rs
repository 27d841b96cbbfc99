//! Whether candles are right: they have prices that were served, and at the end they follow from the recorded minutes.

use std::collections::BTreeMap;
use std::time::Instant;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::journal::{Journal, Recorded};
use super::query::INTERVALS;
use crate::oracle::{Candle, Quote};

/// For how long a run makes up for runs that failed, in seconds, with some time for the last jumps of the clock.
const REACH: i64 = 150 * 60;

/// How long a recorder can take to read a body, in seconds: its timeout. It files it under the minute in which it has it.
pub(super) const READING: i64 = 50;

/// The candles of a page by the start of their interval. Every price must be one that was served in its interval or later.
///
/// # Errors
/// The candle that is wrong.
pub(super) fn page(
    journal: &Journal,
    data: &Value,
    id: &str,
    interval: &str,
    limit: usize,
    until: i64,
) -> Result<BTreeMap<i64, Candle>, String> {
    let (_, length) = INTERVALS.into_iter().find(|(name, _)| *name == interval).unwrap();
    let entries = data["candles"].as_array().ok_or_else(|| format!("no candles: {data:.200}"))?;
    if data["item_id"] != id
        || data["interval"] != interval
        || data["count"] != entries.len()
        || entries.len() > limit
    {
        return Err(format!("another page than {id} {interval}: {data:.200}"));
    }
    let shown = journal.quotes();
    let mut candles = BTreeMap::new();
    for entry in entries {
        let candle = Candle::deserialize(entry).map_err(|error| format!("{error}: {entry}"))?;
        let opened_at = candle.slot().ok_or_else(|| format!("another time in {entry}"))?;
        let is_later = candles.last_key_value().is_none_or(|(last, _)| *last < opened_at);
        let has_ended = opened_at + length <= until;
        if opened_at % length != 0 || opened_at > until || !is_later || (candle.complete && !has_ended) {
            return Err(format!("the candle is out of order or not over: {entry}"));
        }
        let quotes = shown.iter().filter(|shown| shown.sent.cloud_ms / 1_000 + READING >= opened_at);
        let quotes: Vec<_> = quotes.filter_map(|shown| shown.content.get(id)).collect();
        let was_sold = |price: &f64| quotes.iter().any(|quote| quote.sell_price.to_bits() == price.to_bits());
        let was_bought =
            |price: &f64| quotes.iter().any(|quote| quote.buy_price.to_bits() == price.to_bits());
        let close = |quote: &&&Quote| {
            (quote.sell_price.to_bits(), quote.buy_price.to_bits(), quote.sell_volume, quote.buy_volume)
                == (
                    candle.sell_close.to_bits(),
                    candle.buy_close.to_bits(),
                    candle.sell_volume,
                    candle.buy_volume,
                )
        };
        let is_possible = (1..=length / 60).contains(&candle.samples.into())
            && [candle.sell_open, candle.sell_high, candle.sell_low, candle.sell_close].iter().all(was_sold)
            && [candle.buy_open, candle.buy_high, candle.buy_low, candle.buy_close].iter().all(was_bought)
            && quotes.iter().any(|quote| close(&quote));
        if !is_possible {
            return Err(format!("no snapshots since then make this candle of {id}: {entry}"));
        }
        candles.insert(opened_at, candle);
    }
    Ok(candles)
}

/// Expects the candles at the end to follow from the recorded minutes, as far as these were recorded until that time, before the last
/// run began, and are still shown, and coarse candles from fine ones. Returns the number of candles that were compared.
///
/// # Errors
/// The candle that is wrong.
pub(super) fn expect_built(
    journal: &Journal,
    pages: &BTreeMap<(&'static str, &'static str), Value>,
    recorded: &[Recorded],
    charts: &BTreeMap<(&'static str, &'static str), BTreeMap<i64, Quote>>,
    recorded_until: Instant,
    now: i64,
) -> Result<usize, String> {
    let of = |recorder: &'static str| recorded.iter().filter(move |line| line.recorder == recorder);
    let last = of("record-candles").max_by_key(|line| line.logged.real).ok_or("no run has built candles")?;
    let in_time = |minute: i64| {
        let mut lines = of("record-bazaar").filter(|line| line.tick == minute).peekable();
        lines.peek().is_some() && lines.all(|line| line.logged.real < recorded_until && !line.is_late())
    };
    let mut compared = 0;
    for id in journal.observed() {
        let read = |name: &'static str| page(journal, &pages[&(*id, name)], id, name, 1_000, now);
        let fine = read("5m")?;
        let mut expected = BTreeMap::<i64, Vec<(i64, Quote)>>::new();
        for (minute, quote) in &charts[&(*id, "1h")] {
            expected.entry(minute.div_euclid(300) * 300).or_default().push((*minute, *quote));
        }
        // The first slot may be shown in part.
        for (slot, minutes) in expected.into_iter().skip(1) {
            let is_settled = slot + 300 <= last.tick;
            if !is_settled || !minutes.iter().all(|(minute, _)| in_time(*minute)) {
                continue;
            }
            let candle = Candle::of_minutes(slot, minutes.iter().map(|(_, quote)| *quote));
            if fine.get(&slot) != candle.as_ref() {
                return Err(format!(
                    "{id} at {slot}: {:?}, but its minutes make {candle:?}",
                    fine.get(&slot)
                ));
            }
            compared += 1;
        }
        for (name, length) in INTERVALS.into_iter().skip(1) {
            for (slot, candle) in read(name)? {
                let parts = fine.range(slot..slot + length).map(|(_, part)| part.clone());
                if !candle.complete || slot < now - REACH {
                    continue;
                }
                let parts = Candle::of_parts(&candle.opened_at, parts);
                if parts.as_ref() != Some(&candle) {
                    return Err(format!("{id}, {name} at {slot}: {candle:?}, but its parts make {parts:?}"));
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}

/// The Unix seconds of a time in a response.
pub(super) fn time(value: &Value) -> Result<i64, String> {
    let text = value.as_str().unwrap_or_default();
    let time: Timestamp = text.parse().map_err(|error| format!("{text}: {error}"))?;
    let seconds = time.as_second();
    if time.to_string() == text { Ok(seconds) } else { Err(format!("{text} is not in whole seconds, UTC")) }
}
