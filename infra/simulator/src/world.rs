//! The state of the server: clock, faults, counters, and recently rendered bodies.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use flate2::Compression;
use lru::LruCache;

use crate::auctions::{self, Snapshot};
use crate::clock::Clock;
use crate::fault::{ChooseFault, Fault};
use crate::item_bytes::gzip;
use crate::resources::Resource;
use crate::{names, profiles};

/// The number of cached bodies: enough for all bodies that clients request repeatedly, about 25 MB.
const BODIES: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// The number of cached snapshots. Pages of one minute come from two refreshes; the third snapshot is for a
/// time in the past.
const SNAPSHOTS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// Only larger bodies are compressed.
const GZIP_FROM_BYTES: usize = 1_024;

/// The interval of an API key's rate limit, in milliseconds.
const LIMIT_WINDOW_MS: i64 = 300_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Resource(Resource),
    Auctions(usize),
    /// The player's UUID, 32 lower-case hexadecimal digits.
    Profiles(String),
    Name(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
    pub(crate) is_gzipped: bool,
}

impl Rendered {
    fn new(status: u16, text: String, accepts_gzip: bool) -> Self {
        let is_gzipped = accepts_gzip && text.len() > GZIP_FROM_BYTES;
        let body = if is_gzipped { gzip(text.as_bytes(), Compression::fast()).into() } else { text.into() };
        Self { status, body, is_gzipped }
    }
}

/// The target, its refresh, and whether the body is gzipped.
type BodyKey = (Target, i64, bool);

/// A value that is computed once, also for concurrent requests.
type Once<T> = Arc<OnceLock<T>>;

pub(crate) struct World {
    seed: u64,
    clock: Clock,
    faults: Mutex<BTreeMap<String, Fault>>,
    choose_fault: Mutex<Option<Arc<ChooseFault>>>,
    seen: Mutex<BTreeMap<String, u64>>,
    bodies: Mutex<LruCache<BodyKey, Once<Rendered>>>,
    snapshots: Mutex<LruCache<i64, Once<Snapshot>>>,
    /// The current interval of the rate limit and the keyed requests in it.
    key_use: Mutex<(i64, u32)>,
}

/// The rate limit in the responses of keyed endpoints.
pub(crate) struct RateLimit {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) reset_seconds: i64,
}

impl RateLimit {
    /// Requests per interval. Responses report the limit, but only a fault enforces it, so that load tests
    /// pass.
    pub(crate) const LIMIT: u32 = 6_000;
}

impl World {
    pub(crate) fn new(seed: u64, clock: Clock) -> Self {
        Self {
            seed,
            clock,
            faults: Mutex::default(),
            choose_fault: Mutex::default(),
            seen: Mutex::default(),
            bodies: Mutex::new(LruCache::new(BODIES)),
            snapshots: Mutex::new(LruCache::new(SNAPSHOTS)),
            key_use: Mutex::default(),
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub(crate) fn set_fault(&self, path: &str, fault: Fault) {
        locked(&self.faults).insert(path.to_owned(), fault);
    }

    pub(crate) fn clear_faults(&self) {
        locked(&self.faults).clear();
    }

    pub(crate) fn set_choice(&self, choose: Arc<ChooseFault>) {
        *locked(&self.choose_fault) = Some(choose);
    }

    pub(crate) fn choice(&self) -> Option<Arc<ChooseFault>> {
        locked(&self.choose_fault).clone()
    }

    pub(crate) fn requests(&self, path: &str) -> u64 {
        let seen = locked(&self.seen);
        match path.strip_suffix('*') {
            Some(start) => {
                seen.iter().filter(|(path, _)| path.starts_with(start)).map(|(_, count)| count).sum()
            }
            None => seen.get(path).copied().unwrap_or_default(),
        }
    }

    /// Counts a request for `path` and returns the fault that is set for it. `target` is the path with the
    /// query. The paths of faults are rules: of all rules that match `path` or `target`, the longest applies.
    pub(crate) fn admit(&self, path: &str, target: &str) -> Option<Fault> {
        *locked(&self.seen).entry(path.to_owned()).or_default() += 1;
        let mut faults = locked(&self.faults);
        let covers = |rule: &str| {
            [path, target].contains(&rule)
                || rule.strip_suffix('*').is_some_and(|start| target.starts_with(start))
        };
        // Of two equally long rules, the rule without a star applies.
        let rank = |rule: &str| (rule.trim_end_matches('*').len(), !rule.ends_with('*'));
        let rule = faults.keys().filter(|rule| covers(rule)).max_by_key(|rule| rank(rule))?.clone();
        let fault = faults.get_mut(&rule)?;
        let applied = fault.clone();
        if let Some(times) = &mut fault.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                faults.remove(&rule);
            }
        }
        Some(applied)
    }

    /// Counts a keyed request.
    pub(crate) fn use_key(&self) -> RateLimit {
        let now_ms = self.now_ms();
        let window = now_ms.div_euclid(LIMIT_WINDOW_MS);
        let mut key_use = locked(&self.key_use);
        if key_use.0 != window {
            *key_use = (window, 0);
        }
        key_use.1 = key_use.1.saturating_add(1);
        RateLimit {
            limit: RateLimit::LIMIT,
            remaining: RateLimit::LIMIT.saturating_sub(key_use.1),
            reset_seconds: ((window + 1) * LIMIT_WINDOW_MS - now_ms) / 1_000 + 1,
        }
    }

    /// The game's response at `now_ms`. Rendering can take tens of milliseconds.
    pub(crate) fn render(&self, target: &Target, now_ms: i64, accepts_gzip: bool) -> Rendered {
        let seed = self.seed;
        let refresh = match target {
            Target::Name(name) => {
                let response = names::lookup(seed, name);
                return Rendered::new(response.status, response.body, accepts_gzip);
            }
            Target::Resource(resource) => (resource.refreshed_at)(now_ms),
            Target::Auctions(page) => auctions::refreshed_at(seed, *page, now_ms),
            Target::Profiles(_) => profiles::refreshed_at(now_ms),
        };
        let key = (target.clone(), refresh, accepts_gzip);
        let body = Arc::clone(locked(&self.bodies).get_or_insert(key, Once::default));
        let text = || match target {
            Target::Resource(resource) => Some((resource.body)(seed, now_ms)),
            Target::Auctions(page) => self.auction_page(refresh, *page),
            Target::Profiles(uuid) => Some(profiles::body(seed, uuid, now_ms)),
            Target::Name(_) => None,
        };
        let render = || match text() {
            Some(text) => Rendered::new(200, text, accepts_gzip),
            None => Rendered::new(404, provider_error(404).to_owned(), accepts_gzip),
        };
        body.get_or_init(render).clone()
    }

    fn auction_page(&self, refresh: i64, page: usize) -> Option<String> {
        let snapshot = Arc::clone(locked(&self.snapshots).get_or_insert(refresh, Once::default));
        snapshot.get_or_init(|| Snapshot::new(self.seed, refresh)).page(page)
    }
}

/// The provider's body for an error status; empty if the provider has no body for it.
pub(crate) fn provider_error(status: u16) -> &'static str {
    match status {
        400 => r#"{"success":false,"cause":"Missing one or more fields [...]"}"#,
        403 => r#"{"success":false,"cause":"Invalid API key"}"#,
        404 => r#"{"success":false,"cause":"Page not found"}"#,
        422 => r#"{"success":false,"cause":"Invalid page"}"#,
        429 => r#"{"success":false,"cause":"Key throttle","throttle":true}"#,
        503 => r#"{"success":false,"cause":"Leaderboard data has not yet been populated"}"#,
        _ => "",
    }
}

/// Locks the data, also after a panic in another thread: no operation leaves the data inconsistent.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
