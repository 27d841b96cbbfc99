//! Whether prices of auctions follow from pages that the upstream served.

use std::collections::{BTreeMap, HashMap};

use record_auctions::item::{Buffers, Item, read};
use serde_json::Value;

use super::candles::time;
use super::journal::Journal;
use super::snapshot::PAGES;
use crate::history::{DAY, HOUR};
use crate::oracle::Source;

/// The oldest that `lastUpdated` can be, in Unix milliseconds before the request: prices are served for ten minutes after their minute,
/// and a minute by the stage cache; a page is a minute old, and a run takes as long.
const OLDEST_MS: i64 = 13 * 60_000;

/// How long before it ends an auction may be missing: the recorder's time is that of its event.
const ENDING_MS: i64 = 2 * 60_000;

/// A buy-it-now auction, as a page showed it.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    auction: String,
    ids: Vec<String>,
    /// The price of one item in hundredths of a coin.
    price: u64,
    /// When it ends, in Unix milliseconds.
    end: i64,
}

/// The buy-it-now auctions of a page, as far as their rows make sense.
pub(super) fn offers(page: &str) -> Vec<Offer> {
    let body: Value = serde_json::from_str(page).unwrap();
    let mut buffers = Buffers::default();
    let offer = |row: &Value| {
        let Item { id, also, count, .. } = read(row["item_bytes"].as_str()?, &mut buffers).ok()?;
        let count = u64::from(count.get());
        let ids = [Some(id), also].into_iter().flatten().map(|id| id.as_str().to_owned());
        let offer = Offer {
            auction: row["uuid"].as_str()?.to_owned(),
            ids: ids.collect(),
            price: (row["starting_bid"].as_u64()? * 100 + count / 2) / count,
            end: row["end"].as_i64()?,
        };
        (row["bin"] == true).then_some(offer)
    };
    body["auctions"].as_array().unwrap().iter().filter_map(offer).collect()
}

/// All auctions that were ever served: by item, the prices of its auctions.
#[derive(Debug, Default)]
pub(super) struct Served {
    by_item: HashMap<String, HashMap<String, u64>>,
}

impl Served {
    pub(super) fn add(&mut self, offers: &[Offer]) {
        for Offer { auction, ids, price, .. } in offers {
            for id in ids {
                self.by_item.entry(id.clone()).or_default().insert(auction.clone(), *price);
            }
        }
    }

    /// Whether an auction of the item had this price.
    fn has(&self, id: &str, price: u64) -> bool {
        self.by_item.get(id).is_some_and(|auctions| auctions.values().any(|known| *known == price))
    }

    /// The lowest and the highest price of an auction of the item.
    fn range(&self, id: &str) -> Option<(u64, u64)> {
        let prices = || self.by_item.get(id).into_iter().flat_map(HashMap::values).copied();
        Some((prices().min()?, prices().max()?))
    }

    /// Expects an entry to have prices of auctions of its item that were served.
    fn expect_entry(&self, entry: &Value) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}: {entry}"));
        let Some(auctions) = entry["id"].as_str().and_then(|id| self.by_item.get(id)) else {
            return wrong("an item that no page has");
        };
        let has =
            |price: Option<u64>| price.is_some_and(|price| auctions.values().any(|known| *known == price));
        let (lowest, second, listings) = prices(entry);
        if !has(lowest) || (second.is_some() && !has(second)) {
            return wrong("a price that no page has");
        }
        let is_ordered = second.is_none_or(|second| lowest <= Some(second));
        if !is_ordered || (listings == 1) == second.is_some() || listings > auctions.len() {
            return wrong("prices that contradict each other");
        }
        match entry["auction"].as_str() {
            Some(auction) if auctions.get(auction).copied() != lowest => wrong("another auction"),
            _ => Ok(()),
        }
    }
}

/// The price in hundredths of a coin.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are not negative")]
fn hundredths(price: &Value) -> Option<u64> {
    price.as_f64().map(|coins| (coins * 100.0).round() as u64)
}

/// The lowest and the second price of an entry in hundredths of a coin, and the number of auctions.
fn prices(entry: &Value) -> (Option<u64>, Option<u64>, usize) {
    let listings = entry["listings"].as_u64().and_then(|listings| usize::try_from(listings).ok());
    (hundredths(&entry["lowest"]), hundredths(&entry["second"]), listings.unwrap_or_default())
}

/// Expects all entries to follow from pages that were served, and to be those of these ids.
///
/// # Errors
/// What is wrong.
pub(super) fn expect(
    journal: &Journal,
    data: &Value,
    ids: Option<&[&str]>,
    sent_ms: i64,
) -> Result<(), String> {
    let items = data["items"].as_array().ok_or("prices have items")?;
    let found: Vec<_> = items.iter().filter_map(|entry| entry["id"].as_str()).collect();
    let is_right = match ids {
        None => found.is_sorted() && data.get("unknown").is_none(),
        Some(ids) => {
            let unknown = data["unknown"].as_array().ok_or("with ids, some may be unknown")?;
            let unknown: Vec<_> = unknown.iter().filter_map(Value::as_str).collect();
            let (known, others): (Vec<&str>, Vec<&str>) = ids.iter().partition(|id| found.contains(id));
            found == known && unknown == others
        }
    };
    let last_updated = data["lastUpdated"].as_i64().ok_or("prices have a time")?;
    if !is_right || data["count"] != items.len() || items.is_empty() && ids.is_none() {
        return Err(format!("other items: {data:.300}"));
    }
    if last_updated < sent_ms - OLDEST_MS {
        return Err(format!("the prices are {} ms old", sent_ms - last_updated));
    }
    journal.with_served(|served| items.iter().try_for_each(|entry| served.expect_entry(entry)))
}

/// Expects candles in order that are over or made of hours, whose lowest prices are those of auctions of the item.
///
/// # Errors
/// The candle that is wrong.
pub(super) fn expect_candles(
    journal: &Journal,
    data: &Value,
    id: &str,
    interval: &str,
    now: i64,
) -> Result<(), String> {
    let length = if interval == "1d" { DAY } else { HOUR };
    let candles = data["candles"].as_array().ok_or("candles are a list")?;
    if data["id"] != id || data["interval"] != interval || data["count"] != candles.len() {
        return Err(format!("another page than {id} {interval}: {data:.200}"));
    }
    let mut last = 0;
    for candle in candles {
        let wrong = |what: &str| Err(format!("{what}: {candle}"));
        let opened_at = time(&candle["opened_at"])?;
        let is_over = opened_at + length <= now;
        if opened_at % length != 0
            || opened_at <= last
            || (!is_over && (interval == "1h" || candle["complete"] == true))
        {
            return wrong("out of order or not over");
        }
        last = opened_at;
        let prices = ["lowest_open", "lowest_high", "lowest_low", "lowest_close"];
        let prices: Vec<_> = prices.iter().filter_map(|name| hundredths(&candle[name])).collect();
        let is_known = journal.with_served(|served| prices.iter().all(|price| served.has(id, *price)));
        let samples = candle["samples"].as_i64().unwrap_or(-1);
        if !is_known || prices.len() != if samples > 0 { 4 } else { 0 } || samples > length / 60 {
            return wrong("a price that no page has");
        }
        let sold = (candle["sales"].as_i64(), candle["sold"].as_i64());
        let has_sales = sold.0 > Some(0);
        let are_sales = ["sale_low", "sale_average", "sale_median", "sale_high"];
        if sold.0 > sold.1 || are_sales.iter().any(|name| candle[name].is_null() == has_sales) {
            return wrong("sales that contradict each other");
        }
    }
    Ok(())
}

/// Expects averages of these items between the lowest and the highest price of an auction of theirs.
///
/// # Errors
/// What is wrong.
pub(super) fn expect_averages(journal: &Journal, data: &Value, ids: &[&str], now: i64) -> Result<(), String> {
    let items = data["items"].as_array().ok_or("averages have items")?;
    let unknown = data["unknown"].as_array().ok_or("with ids, some may be unknown")?;
    let named = items.iter().map(|item| &item["id"]).chain(unknown).filter_map(Value::as_str);
    let until = time(&data["until"])?;
    if data["window"] != "1d"
        || data["count"] != items.len()
        || until > now
        || until % HOUR != 0
        || named.count() != ids.len()
    {
        return Err(format!("other averages: {data:.300}"));
    }
    for item in items {
        let id = item["id"].as_str().filter(|id| ids.contains(id)).ok_or("another item")?;
        let is_between = |price: u64| {
            journal.with_served(|served| {
                served.range(id).is_some_and(|(low, high)| (low..=high).contains(&price))
            })
        };
        let minutes = item["minutes"].as_i64().unwrap_or(-1);
        let has_sales = item["sales"].as_u64() > Some(0);
        if !hundredths(&item["lowest"]).is_none_or(is_between)
            || !(0..=DAY / 60).contains(&minutes)
            || item["sale_median"].is_null() == has_sales
        {
            return Err(format!("averages that contradict what was served: {item}"));
        }
    }
    Ok(())
}

/// Expects the prices of a recorder that has read all pages once, while the clock stood still at this time.
///
/// # Errors
/// What is missing or wrong.
pub(super) fn expect_complete(journal: &Journal, data: &Value, now_ms: i64) -> Result<usize, String> {
    let body = |source: Source| {
        let served = journal.servings(&source);
        let served = served.iter().find(|serving| serving.requested.cloud_ms == now_ms);
        served.map(|serving| serving.snapshot.clone()).ok_or(format!("{source:?} was not served"))
    };
    let ended: Value = serde_json::from_str(&body(Source::EndedAuctions)?.text).unwrap();
    let ended: Vec<_> =
        ended["auctions"].as_array().unwrap().iter().map(|sale| &sale["auction_id"]).collect();
    // By item, all auctions that can count, and whether they must.
    let mut expected = BTreeMap::<String, Vec<(u64, bool)>>::new();
    let mut seen = HashMap::new();
    for page in 0..PAGES {
        for offer in body(Source::Auctions(page))?.offers() {
            let is_certain =
                offer.end > now_ms + ENDING_MS && !ended.iter().any(|sold| **sold == offer.auction);
            if seen.insert(offer.auction.clone(), page).is_none() {
                for id in &offer.ids {
                    expected.entry(id.clone()).or_default().push((offer.price, is_certain));
                }
            }
        }
    }
    let mut found: BTreeMap<_, _> = data["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["id"].as_str().unwrap(), entry))
        .collect();
    for (id, auctions) in &expected {
        let certain: Vec<_> =
            auctions.iter().filter(|(_, is_certain)| *is_certain).map(|(price, _)| *price).collect();
        let Some(entry) = found.remove(id.as_str()) else {
            if certain.is_empty() {
                continue;
            }
            return Err(format!("{id} is missing, of {} items", expected.len()));
        };
        let (lowest, _, listings) = prices(entry);
        let possible = auctions.iter().map(|(price, _)| *price);
        let is_right = lowest >= possible.min()
            && certain.iter().min().is_none_or(|price| lowest <= Some(*price))
            && (certain.len()..=auctions.len()).contains(&listings);
        if !is_right {
            return Err(format!("{entry} of {auctions:?}"));
        }
    }
    match found.first_key_value() {
        Some((id, _)) => Err(format!("{id} is on no page")),
        None => Ok(expected.len()),
    }
}
