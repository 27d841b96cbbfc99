//! An in-memory cache for the values that a function instance keeps between invocations.
//!
//! A value is fresh for the route's TTL. The cache is bounded in bytes and evicts the least recently used value first. When
//! a refresh fails, it serves the stale value for a while.
//!
//! Lambda passes one event at a time to a process, so no request waits for another one.

mod entries;
mod weight;

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::entries::{Entries, Entry};
pub use self::weight::Weight;
use crate::lambda::invocation::Invocation;
use crate::response::error::chain;
use crate::time::UnixMilliseconds;

/// A value may be served stale for this many TTLs after it has expired …
const STALE_TTLS: u32 = 10;
/// … and for this long at most.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// After a timeout, requests with a stale value do not wait for the source for this long.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(5);

/// An error of a source that a cache fetches from.
pub trait SourceError: std::error::Error + 'static {
    /// Whether the source did not respond in time.
    fn is_timeout(&self) -> bool;

    /// The error of a fetch that was not attempted because the source timed out a moment ago.
    fn paused() -> Self;
}

/// A cache of values of type `V` by keys of type `K`.
#[derive(Debug)]
pub struct Cache<K: Hash + Eq, V> {
    ttl: Duration,
    /// How long a value may be served after it has expired, when refreshes fail.
    stale: Duration,
    /// Never locked while a request waits.
    state: Mutex<State<K, V>>,
}

#[derive(Debug)]
struct State<K: Hash + Eq, V> {
    entries: Entries<K, V>,
    /// When a refresh last timed out.
    timed_out_at: Option<UnixMilliseconds>,
}

/// What the cache has for a request.
enum Found<V> {
    /// A value to serve.
    Value(Lookup<V>),
    /// None, so the request has to fetch. With the value to serve if that fails.
    Expired(Option<Entry<V>>),
}

/// The result of a lookup: a value from the cache or from its source.
#[derive(Debug, Clone)]
pub struct Lookup<V> {
    /// The value.
    pub value: V,
    /// When it was fetched.
    pub fetched_at: UnixMilliseconds,
    /// Whether it was not fetched for this lookup.
    pub cached: bool,
    /// Why the value is stale: the refresh that failed.
    pub refresh_failure: Option<String>,
}

impl<K: Hash + Eq, V: Weight + Clone> Cache<K, V> {
    /// A cache whose values are fresh for `ttl` and that holds at most about `capacity_bytes`. It does not keep a value
    /// that is larger.
    #[must_use]
    pub fn new(ttl: Duration, capacity_bytes: usize) -> Self {
        let state = State { entries: Entries::new(capacity_bytes), timed_out_at: None };
        Self { ttl, stale: (ttl * STALE_TTLS).min(LONGEST_STALE), state: Mutex::new(state) }
    }

    /// Turns this cache into one that never serves a stale value.
    #[must_use]
    pub fn never_stale(self) -> Self {
        Self { stale: Duration::ZERO, ..self }
    }

    /// Returns the value of `key` at the time of `invocation`: from the cache while it is fresh, otherwise from `fetch`, and
    /// if that fails, the stale value if it is not too old.
    ///
    /// # Errors
    /// The error of the fetch, if there is no value to serve.
    pub async fn get<E: SourceError>(
        &self,
        key: K,
        invocation: &Invocation,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, E> {
        self.get_revalidated(key, invocation, |_| false, fetch).await
    }

    /// Returns the same as [`Cache::get`], but an expired value is revalidated first: if `is_latest` says that the source has no
    /// newer one, it counts as fetched now.
    ///
    /// # Errors
    /// The error of the fetch, if there is no value to serve.
    pub async fn get_revalidated<E: SourceError>(
        &self,
        key: K,
        invocation: &Invocation,
        is_latest: impl Fn(&V) -> bool,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, E> {
        let now = invocation.now();
        let expired = match self.look_at::<E>(&key, now) {
            Found::Value(found) => return Ok(found),
            Found::Expired(expired) => expired,
        };
        if let Some(latest) = expired.as_ref().filter(|expired| is_latest(&expired.value)) {
            let latest = Entry { value: latest.value.clone(), fetched_at: now };
            let found = latest.cached(None);
            self.put(key, latest.value, now);
            return Ok(found);
        }
        let start = Instant::now();
        match fetch().await {
            Ok(value) => {
                // In whole seconds, as HTTP dates are. The value of a slow source must not be old when it arrives.
                let fetched_at = now.plus(Duration::from_secs(start.elapsed().as_secs()));
                self.put(key, value.clone(), fetched_at);
                Ok(Lookup { value, fetched_at, cached: false, refresh_failure: None })
            }
            Err(failure) => {
                if failure.is_timeout() {
                    self.lock().timed_out_at = Some(now.plus(start.elapsed()));
                }
                expired.map(|expired| expired.cached(Some(chain(&failure)))).ok_or(failure)
            }
        }
    }

    /// Returns what there is for a request for `key` at the time `now`.
    fn look_at<E: SourceError>(&self, key: &K, now: UnixMilliseconds) -> Found<V> {
        let mut state = self.lock();
        let expired = match state.entries.get(key) {
            Some(entry) if self.is_fresh(entry.fetched_at, now) => return Found::Value(entry.cached(None)),
            entry => entry
                .filter(|entry| entry.value.may_be_stale() && self.may_serve_stale(entry.fetched_at, now))
                .cloned(),
        };
        let is_paused = state.timed_out_at.is_some_and(|then| then.distance(now) < PAUSE_AFTER_TIMEOUT);
        match expired {
            Some(expired) if is_paused => Found::Value(expired.cached(Some(chain(&E::paused())))),
            expired => Found::Expired(expired),
        }
    }

    /// Returns the value of `key` if it may still be served at the time `now`, fresh or stale.
    pub fn kept(&self, key: &K, now: UnixMilliseconds) -> Option<Lookup<V>> {
        let state = self.lock();
        let entry = state.entries.peek(key)?;
        let may_serve = self.is_fresh(entry.fetched_at, now) || self.may_serve_stale(entry.fetched_at, now);
        may_serve.then(|| entry.cached(None))
    }

    /// Keeps `value` for `key` as one that was fetched at the time `now`.
    pub fn put(&self, key: K, value: V, now: UnixMilliseconds) {
        self.lock().entries.put(key, Entry { value, fetched_at: now });
    }

    fn lock(&self) -> MutexGuard<'_, State<K, V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The distance counts in both directions: a request from far in the future must not freeze its value for the present.
    fn is_fresh(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        fetched_at.distance(now) < self.ttl
    }

    fn may_serve_stale(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        !self.stale.is_zero() && fetched_at.distance(now) <= self.ttl + self.stale
    }
}

impl<V: Clone> Entry<V> {
    /// The lookup that finds this value.
    fn cached(&self, refresh_failure: Option<String>) -> Lookup<V> {
        Lookup { value: self.value.clone(), fetched_at: self.fetched_at, cached: true, refresh_failure }
    }
}

#[cfg(test)]
mod tests;
