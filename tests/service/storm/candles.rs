//! Whether candles are right: they have prices that were served, and at the end they follow from the recorded minutes.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use super::expected::Quote;
use super::journal::{Journal, Recorded};
use super::past::{READING, time};
use super::query::INTERVALS;

/// For how long a run makes up for runs that failed, in seconds, with some time for the last jumps of the clock.
const REACH: i64 = 150 * 60;

/// What a candle says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candle {
    /// Open, high, low and close.
    sell: [f64; 4],
    buy: [f64; 4],
    volumes: (i64, i64),
    samples: i64,
    is_complete: bool,
}

impl Candle {
    fn of(quote: Quote) -> Self {
        let Quote { sell_price, buy_price, sell_volume, buy_volume } = quote;
        let volumes = (sell_volume, buy_volume);
        Self { sell: [sell_price; 4], buy: [buy_price; 4], volumes, samples: 1, is_complete: true }
    }

    fn followed_by(self, later: Self) -> Self {
        let prices =
            |own: [f64; 4], later: [f64; 4]| [own[0], own[1].max(later[1]), own[2].min(later[2]), later[3]];
        Self {
            sell: prices(self.sell, later.sell),
            buy: prices(self.buy, later.buy),
            volumes: later.volumes,
            samples: self.samples + later.samples,
            is_complete: self.is_complete && later.is_complete,
        }
    }

    fn read(entry: &Value) -> Result<Self, String> {
        let number = |field: &str| entry[field].as_f64().ok_or(format!("{field} in {entry}"));
        let whole = |field: &str| entry[field].as_i64().ok_or(format!("{field} in {entry}"));
        if entry.as_object().is_none_or(|entry| entry.len() != 13) {
            return Err(format!("the candle {entry} has other fields"));
        }
        Ok(Self {
            sell: [number("sell_open")?, number("sell_high")?, number("sell_low")?, number("sell_close")?],
            buy: [number("buy_open")?, number("buy_high")?, number("buy_low")?, number("buy_close")?],
            volumes: (whole("sell_volume")?, whole("buy_volume")?),
            samples: whole("samples")?,
            is_complete: entry["complete"].as_bool().ok_or(format!("complete in {entry}"))?,
        })
    }
}

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
        let opened_at = time(&entry["opened_at"])?;
        let candle = Candle::read(entry)?;
        let is_later = candles.last_key_value().is_none_or(|(last, _)| *last < opened_at);
        let has_ended = opened_at + length <= until;
        if opened_at % length != 0 || opened_at > until || !is_later || (candle.is_complete && !has_ended) {
            return Err(format!("the candle is out of order or not over: {entry}"));
        }
        let quotes = shown.iter().filter(|shown| shown.sent.cloud_ms / 1_000 + READING >= opened_at);
        let quotes: Vec<_> = quotes.filter_map(|shown| shown.content.get(id)).collect();
        let was_sold = |price: &f64| quotes.iter().any(|quote| quote.sell_price.to_bits() == price.to_bits());
        let was_bought =
            |price: &f64| quotes.iter().any(|quote| quote.buy_price.to_bits() == price.to_bits());
        let close = |quote: &&&Quote| {
            (quote.sell_price.to_bits(), quote.buy_price.to_bits(), quote.sell_volume, quote.buy_volume)
                == (candle.sell[3].to_bits(), candle.buy[3].to_bits(), candle.volumes.0, candle.volumes.1)
        };
        let is_possible = (1..=length / 60).contains(&candle.samples)
            && candle.sell.iter().all(was_sold)
            && candle.buy.iter().all(was_bought)
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
    let last = of("record-candles").max_by_key(|line| line.logged).ok_or("no run has built candles")?;
    let in_time = |minute: i64| {
        let mut lines = of("record-bazaar").filter(|line| line.tick == minute).peekable();
        lines.peek().is_some() && lines.all(|line| line.logged < recorded_until)
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
            let candle = minutes.iter().map(|(_, quote)| Candle::of(*quote)).reduce(Candle::followed_by);
            if fine.get(&slot).copied() != candle {
                return Err(format!(
                    "{id} at {slot}: {:?}, but its minutes make {candle:?}",
                    fine.get(&slot)
                ));
            }
            compared += 1;
        }
        for (name, length) in INTERVALS.into_iter().skip(1) {
            for (slot, candle) in read(name)? {
                let parts = fine.range(slot..slot + length).map(|(_, part)| *part);
                if !candle.is_complete || slot < now - REACH {
                    continue;
                }
                let parts = parts.reduce(Candle::followed_by);
                if parts != Some(candle) {
                    return Err(format!("{id}, {name} at {slot}: {candle:?}, but its parts make {parts:?}"));
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}
