//! The simulated game that the storm's upstream serves. In most bodies, a field of every row contains the
//! time of the refresh, so a response that mixes two snapshots differs from the responses to each of the two.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use simulator::{Resource, auctions, profiles};

use super::source::Source;
use crate::provider::{Facts, PROFILES, parsed};

/// A [`Memory`] with more entries than this is emptied.
const KEPT: usize = 64;

/// The number of pages of auctions. The game has far more, but a recorder reads all pages and takes a quarter
/// of a second for each.
pub(super) const PAGES: u32 = 3;

pub(super) struct Snapshot {
    pub(super) source: Source,
    pub(super) text: String,
    gzipped: OnceLock<Vec<u8>>,
    facts: OnceLock<Facts>,
}

impl Snapshot {
    fn new(source: Source, text: String) -> Arc<Self> {
        Arc::new(Self { source, text, gzipped: OnceLock::new(), facts: OnceLock::new() })
    }

    /// The data that responses to this snapshot must have.
    pub(super) fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::of(&self.source.path, &self.text))
    }

    pub(super) fn gzipped(&self) -> &[u8] {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(self.text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        self.gzipped.get_or_init(compress)
    }

    /// The next page of auctions, but with the rows of this page.
    pub(super) fn repeated(&self) -> Arc<Self> {
        let page = self.source.page().unwrap();
        let number = |page: u32| format!("\"page\":{page},");
        assert!(self.text.contains(&number(page)), "the page has no number {page}");
        let next = Source::with(&self.source.path, (page + 1).to_string());
        Self::new(next, self.text.replacen(&number(page), &number(page + 1), 1))
    }

    /// The same snapshot with some or most rows invalid. `None` if it has no rows.
    pub(super) fn spoiled(&self, rng: &mut Rng, most: bool) -> Option<Arc<Self>> {
        let mut body: Value = serde_json::from_str(&self.text).unwrap();
        let resource = parsed().find(|resource| resource.path == self.source.path)?;
        let parts = resource.parts();
        let mut rows: Vec<&mut Value> = match body.pointer_mut(resource.rows[0])? {
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
            spoil(row, rng.choice(&parts).unwrap(), rng);
        }
        Some(Self::new(self.source.clone(), body.to_string()))
    }
}

/// Removes the part of the row at this JSON pointer, or sets it to null or a value of another type.
fn spoil(row: &mut Value, part: &str, rng: &mut Rng) {
    let (parent, name) = part.rsplit_once('/').unwrap();
    let parent = row.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match rng.u32(..3) {
        0 => drop(parent.remove(name)),
        1 => drop(parent.insert(name.to_owned(), Value::Null)),
        _ => drop(parent.insert(name.to_owned(), vec!["nonsense"].into())),
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

    /// The resource at this time in Unix milliseconds. `None` for a page beyond the last. Computing a
    /// snapshot can take a tenth of a second.
    pub(super) fn snapshot(&self, source: &Source, now_ms: i64) -> Option<Arc<Snapshot>> {
        let refresh = match (source.page(), Resource::at(&source.path)) {
            (Some(page), _) => auctions::refreshed_at(self.seed, usize::try_from(page).unwrap(), now_ms),
            (None, Some(resource)) => (resource.refreshed_at)(now_ms),
            (None, None) => profiles::refreshed_at(now_ms),
        };
        once(&self.snapshots, (source.clone(), refresh))
            .get_or_init(|| Some(Snapshot::new(source.clone(), self.text(source, refresh, now_ms)?)))
            .clone()
    }

    fn text(&self, source: &Source, refresh: i64, now_ms: i64) -> Option<String> {
        let seed = self.seed;
        let text = match (source.page(), Resource::at(&source.path)) {
            (Some(PAGES..), _) => return None,
            (Some(page), _) => {
                let slot = once(&self.auctions, refresh);
                let auctions = slot.get_or_init(|| auctions::Snapshot::new(seed, refresh));
                let text = auctions.page(usize::try_from(page).unwrap())?;
                let pages = format!("\"totalPages\":{},", auctions.total_pages());
                assert!(text.contains(&pages), "the page has no field {pages}");
                text.replace(&pages, &format!("\"totalPages\":{PAGES},"))
            }
            (None, Some(resource)) => (resource.body)(seed, now_ms),
            (None, None) => {
                assert_eq!(source.path, PROFILES.path);
                profiles::body(seed, &source.parameter, now_ms)
            }
        };
        let described = parsed().find(|resource| resource.path == source.path);
        // A passed resource has names.
        let tag = described.map_or(Some("name"), |resource| resource.tag);
        Some(match tag {
            Some(field) => tagged(&text, field, refresh),
            None => text,
        })
    }
}

/// Adds the time of the refresh to a field, because consecutive snapshots are often almost equal. A number
/// gets further digits.
fn tagged(text: &str, field: &str, refresh: i64) -> String {
    let [of_text, of_number] = ["\"", ""].map(|quote| format!("\"{field}\":{quote}"));
    if text.contains(&of_text) {
        text.replace(&of_text, &format!("{of_text}{} ", refresh / 1_000))
    } else {
        text.replace(&of_number, &format!("{of_number}{}", 1 + refresh / 60_000 % 400))
    }
}

fn once<K: Eq + std::hash::Hash, V>(memory: &Memory<K, V>, key: K) -> Once<V> {
    let mut map = memory.lock().unwrap();
    if map.len() > KEPT {
        map.clear();
    }
    Arc::clone(map.entry(key).or_default())
}
