//! The simulated game that the storm's upstream serves. In most bodies, a field of every row contains the time of the refresh, so a response
//! that mixes two snapshots differs from the responses to each of the two.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use serde_json::Value;
use simulator::{auctions, bazaar, election, fire_sales, items, profiles};

use crate::oracle::{Facts, Source};

/// A [`Memory`] with more entries than this is emptied.
const KEPT: usize = 64;

/// The number of pages of auctions. The game has far more, but a recorder reads all pages and takes a quarter of a second for each.
pub(super) const PAGES: u32 = 3;

pub(super) struct Snapshot {
    pub(super) source: Source,
    pub(super) text: String,
    gzipped: OnceLock<Bytes>,
    facts: OnceLock<Facts>,
}

impl Snapshot {
    fn new(source: Source, text: String) -> Arc<Self> {
        Arc::new(Self { source, text, gzipped: OnceLock::new(), facts: OnceLock::new() })
    }

    /// The data that responses to this snapshot must have.
    pub(super) fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::of(&self.source, &self.text))
    }

    pub(super) fn gzipped(&self) -> Bytes {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(self.text.as_bytes()).unwrap();
            Bytes::from(encoder.finish().unwrap())
        };
        self.gzipped.get_or_init(compress).clone()
    }

    /// The next page of auctions, but with the rows of this page.
    pub(super) fn repeated(&self) -> Arc<Self> {
        let Source::Auctions(page) = self.source else { panic!("only pages can repeat") };
        let number = |page: u32| format!("\"page\":{page},");
        assert!(self.text.contains(&number(page)), "the page has no number {page}");
        Self::new(Source::Auctions(page + 1), self.text.replacen(&number(page), &number(page + 1), 1))
    }

    /// The same snapshot with some or most rows invalid. `None` if it has no rows.
    pub(super) fn spoiled(&self, rng: &mut Rng, most: bool) -> Option<Arc<Self>> {
        let mut body: Value = serde_json::from_str(&self.text).unwrap();
        let (list, fields) = match &self.source {
            Source::Bazaar => ("products", BAZAAR_FIELDS),
            Source::Items => ("items", ITEM_FIELDS),
            Source::Auctions(_) => ("auctions", AUCTION_FIELDS),
            Source::EndedAuctions => ("auctions", SOLD_FIELDS),
            Source::FireSales => ("sales", SALE_FIELDS),
            Source::Profiles(_) => ("profiles", PROFILE_FIELDS),
            _ => return None,
        };
        let mut rows: Vec<&mut Value> = match &mut body[list] {
            Value::Object(rows) => rows.values_mut().collect(),
            Value::Array(rows) => rows.iter_mut().collect(),
            _ => return None,
        };
        let count = if most { rows.len() * 9 / 10 + 1 } else { rows.len().min(rng.usize(1..=6)) };
        if rows.is_empty() {
            return None;
        }
        rng.shuffle(&mut rows);
        for row in rows.into_iter().take(count) {
            spoil(row, rng.choice(fields).unwrap(), rng);
        }
        Some(Self::new(self.source.clone(), body.to_string()))
    }
}

/// Fields to spoil. The tests in `rows` cover all fields.
const BAZAAR_FIELDS: &[&str] =
    &["/quick_status/sellPrice", "/quick_status/buyVolume", "/sell_summary", "/buy_summary"];
const ITEM_FIELDS: &[&str] = &["/id", "/name", "/material"];
const AUCTION_FIELDS: &[&str] = &["/uuid", "/starting_bid", "/bin", "/end", "/last_updated", "/item_bytes"];
const SOLD_FIELDS: &[&str] = &["/auction_id", "/timestamp", "/price", "/bin", "/item_bytes"];
const SALE_FIELDS: &[&str] = &["/item_id", "/start", "/end", "/amount", "/price"];
const PROFILE_FIELDS: &[&str] = &["/profile_id", "/cute_name", "/members"];

/// Removes the field, or sets it to null or a value of another type.
fn spoil(row: &mut Value, field: &str, rng: &mut Rng) {
    let (parent, name) = field.rsplit_once('/').unwrap();
    let parent = row.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match rng.u32(..3) {
        0 => drop(parent.remove(name)),
        1 => parent[name] = Value::Null,
        _ => parent[name] = Value::from(vec!["nonsense"]),
    }
}

/// A value that is computed only once, even for concurrent requests.
type Once<T> = Arc<OnceLock<T>>;

/// Values that are computed only once for each key.
type Memory<K, V> = Mutex<HashMap<K, Once<V>>>;

pub(super) struct Game {
    pub(super) seed: u64,
    /// The snapshots by resource and time of refresh.
    snapshots: Memory<(Source, i64), Option<Arc<Snapshot>>>,
    /// The auctions by time of refresh.
    auctions: Memory<i64, auctions::Snapshot>,
}

impl Game {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, snapshots: Mutex::default(), auctions: Mutex::default() }
    }

    /// The resource at this time in Unix milliseconds. `None` for a page beyond the last. Computing a snapshot can take a tenth of a
    /// second.
    pub(super) fn snapshot(&self, source: &Source, now_ms: i64) -> Option<Arc<Snapshot>> {
        let refresh = match source {
            Source::Election => election::refreshed_at(now_ms),
            Source::FireSales => fire_sales::refreshed_at(now_ms),
            Source::Bazaar => bazaar::refreshed_at(now_ms),
            Source::Auctions(page) => {
                auctions::refreshed_at(self.seed, usize::try_from(*page).unwrap(), now_ms)
            }
            Source::EndedAuctions => auctions::ended::refreshed_at(now_ms),
            Source::Items => items::refreshed_at(now_ms),
            Source::Passed(resource) => (resource.refreshed_at)(now_ms),
            Source::Profiles(_) => profiles::refreshed_at(now_ms),
            Source::Names => return None,
        };
        once(&self.snapshots, (source.clone(), refresh))
            .get_or_init(|| Some(Snapshot::new(source.clone(), self.text(source, refresh, now_ms)?)))
            .clone()
    }

    fn text(&self, source: &Source, refresh: i64, now_ms: i64) -> Option<String> {
        let seed = self.seed;
        // Adds the time of the refresh to a field, because consecutive snapshots are often almost equal.
        let tagged = |text: String, field: &str| {
            text.replace(&format!("\"{field}\":\""), &format!("\"{field}\":\"{} ", refresh / 1_000))
        };
        Some(match source {
            Source::Election => tagged(election::body(seed, now_ms), "name"),
            Source::FireSales => {
                let mut body: Value = serde_json::from_str(&fire_sales::body(seed, now_ms)).unwrap();
                for sale in body["sales"].as_array_mut().unwrap() {
                    sale["amount"] = (sale["amount"].as_i64().unwrap() + refresh / 60_000 % 400).into();
                }
                body.to_string()
            }
            Source::Bazaar => bazaar::body(seed, now_ms),
            Source::Auctions(page) if *page >= PAGES => return None,
            Source::Auctions(page) => {
                let slot = once(&self.auctions, refresh);
                let auctions = slot.get_or_init(|| auctions::Snapshot::new(seed, refresh));
                let text = tagged(auctions.page(usize::try_from(*page).unwrap())?, "item_name");
                let pages = format!("\"totalPages\":{},", auctions.total_pages());
                assert!(text.contains(&pages), "the page has no field {pages}");
                text.replace(&pages, &format!("\"totalPages\":{PAGES},"))
            }
            Source::EndedAuctions => auctions::ended::body(seed, now_ms),
            Source::Items => tagged(items::body(seed, now_ms), "name"),
            Source::Passed(resource) => tagged((resource.body)(seed, now_ms), "name"),
            Source::Profiles(id) => tagged(profiles::body(seed, id, now_ms), "cute_name"),
            Source::Names => return None,
        })
    }
}

fn once<K: Eq + std::hash::Hash, V>(memory: &Memory<K, V>, key: K) -> Once<V> {
    let mut map = memory.lock().unwrap();
    if map.len() > KEPT {
        map.clear();
    }
    Arc::clone(map.entry(key).or_default())
}
