//! An in-memory cache for the values that a function instance keeps between invocations.
//!
//! A value is fresh for the route's TTL. The cache is bounded in bytes and evicts the least recently used
//! value first. When a refresh fails, the cache serves the stale value for a while, and requests pause
//! (`pauses.rs`): for a short time, they get the stale value or an error at once, without a fetch.
//!
//! Lambda passes one event at a time to a process, so no request waits for another request.

mod entries;
mod failure;
mod pauses;
mod weight;

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::entries::{Entries, Entry};
pub use self::failure::{Failure, SourceError};
use self::pauses::Pauses;
pub use self::weight::Weight;
use crate::error::chain;
use crate::invocation::Invocation;
use crate::time::UnixMilliseconds;

/// How long a value may be served after it has expired, in TTLs.
const STALE_TTLS: u32 = 10;
/// The longest time for which a value may be served after it has expired.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// Returns how long a value with this TTL may be served after it has expired.
fn longest_stale(ttl: Duration) -> Duration {
    (ttl * STALE_TTLS).min(LONGEST_STALE)
}

/// Added to the duration of a failed fetch before the fraction of the second is dropped, which rounds the
/// duration. A fetch of less than half a second therefore counts as ending at the time of its event.
const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// A cache of values of type `V` by keys of type `K`.
#[derive(Debug)]
pub struct Cache<K: Hash + Eq, V> {
    ttl: Duration,
    /// How long a value may be served after it has expired, when refreshes fail.
    stale: Duration,
    /// Never locked across an `await`.
    state: Mutex<State<K, V>>,
}

#[derive(Debug)]
struct State<K: Hash + Eq, V> {
    entries: Entries<K, V>,
    pauses: Pauses,
}

/// The result of looking for a value in the cache.
enum Found<V> {
    Value(Lookup<V>),
    /// There is no fresh value. Holds the stale value, if there is one, to serve if the request pauses or its
    /// fetch fails.
    Expired(Option<Entry<V>>),
}

/// The result of a lookup: a value from the cache or from its source.
#[derive(Debug, Clone)]
pub struct Lookup<V> {
    pub value: V,
    /// When the value was fetched.
    pub fetched_at: UnixMilliseconds,
    /// How old the source's copy of the value was when it was fetched.
    pub age: Duration,
    /// Whether the value was in the cache before this lookup.
    pub cached: bool,
    /// The failure of the refresh, if the value is stale.
    pub refresh_failure: Option<String>,
}

impl<K: Hash + Eq, V: Weight + Clone> Cache<K, V> {
    /// Returns a cache whose values are fresh for `ttl`. The cache holds at most about `capacity_bytes`, and
    /// does not store a value larger than that.
    #[must_use]
    pub fn new(ttl: Duration, capacity_bytes: usize) -> Self {
        let state = State { entries: Entries::new(capacity_bytes), pauses: Pauses::new(ttl) };
        Self { ttl, stale: longest_stale(ttl), state: Mutex::new(state) }
    }

    /// Returns this cache, changed so that it never serves a stale value.
    #[must_use]
    pub fn never_stale(self) -> Self {
        Self { stale: Duration::ZERO, ..self }
    }

    /// Returns this cache, changed so that all keys pause together, because each value is made of the same
    /// resource of the source.
    #[must_use]
    pub fn of_one_resource(self) -> Self {
        self.lock().pauses.are_shared = true;
        self
    }

    /// Returns the value of `key` at the time of `invocation`: from the cache while the value is fresh,
    /// otherwise from `fetch`. If the fetch fails, returns the stale value unless it is too old. While
    /// requests for the key pause after a failure, `fetch` is not called.
    pub async fn get<E: SourceError>(
        &self,
        key: K,
        invocation: &Invocation,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, Failure<E>> {
        self.get_revalidated(key, invocation, |_| false, fetch).await
    }

    /// Like [`Cache::get`], but forgets a value that `is_recent` refuses: newer data may have been stored since
    /// it was fetched.
    pub async fn get_recent<E: SourceError>(
        &self,
        key: K,
        invocation: &Invocation,
        is_recent: impl Fn(&V) -> bool,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, Failure<E>> {
        if self.kept(&key, invocation.now()).is_some_and(|kept| !is_recent(&kept.value)) {
            self.forget(&key);
        }
        self.get(key, invocation, fetch).await
    }

    /// Like [`Cache::get`], but first revalidates an expired value: if `is_latest` returns `true`, the value
    /// counts as fetched now.
    pub async fn get_revalidated<E: SourceError>(
        &self,
        key: K,
        invocation: &Invocation,
        is_latest: impl Fn(&V) -> bool,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, Failure<E>> {
        let now = invocation.now();
        let expired = match self.look_at(&key, now) {
            Found::Value(found) => return Ok(found),
            Found::Expired(expired) => expired,
        };
        if let Some(latest) = expired.as_ref().filter(|expired| is_latest(&expired.value)) {
            let latest = Entry { fetched_at: now, ..latest.clone() };
            let found = latest.cached(None);
            self.lock().entries.put(key, latest);
            return Ok(found);
        }
        if let Some(paused) = self.paused(&key, now, E::IS_SPARED || expired.is_some(), invocation) {
            return stale_or(expired, paused);
        }
        let start = Instant::now();
        let fetched = fetch().await;
        let took = start.elapsed();
        match fetched {
            Ok(value) => {
                // A value is fresh from its arrival, even if the source is slow. Only whole seconds are
                // added, because HTTP dates have no fractions of seconds.
                let fetched_at = now.plus(Duration::from_secs(took.as_secs()));
                let entry = Entry { value, fetched_at, age: invocation.latest_age() };
                let found = Lookup { cached: false, ..entry.cached(None) };
                let mut state = self.lock();
                state.pauses.note_success(&key);
                state.entries.put(key, entry);
                Ok(found)
            }
            Err(source) if source.is_failure() => {
                let failed_at = now.plus(Duration::from_secs((took + HALF_A_SECOND).as_secs()));
                // The pause ends at the latest when the stale value may no longer be served: the source may
                // have recovered by then.
                let left = expired.as_ref().map_or(Duration::MAX, |expired| self.left(expired, failed_at));
                let mut state = self.lock();
                state.pauses.note_failure(&key, now, failed_at, left, &chain(&source));
                let rest = state.pauses.rest(&key, failed_at).map(|(rest, _)| rest);
                let pause = if E::IS_SPARED { rest } else { None };
                stale_or(expired, Failure::Fetch { source, pause })
            }
            Err(source) => stale_or(expired, source.into()),
        }
    }

    /// Looks for the value of `key` at the time `now`.
    fn look_at(&self, key: &K, now: UnixMilliseconds) -> Found<V> {
        match self.lock().entries.get(key) {
            Some(entry) if self.is_fresh(entry.fetched_at, now) => Found::Value(entry.cached(None)),
            entry => Found::Expired(
                entry
                    .filter(|entry| entry.value.may_be_stale() && self.may_serve_stale(entry.fetched_at, now))
                    .cloned(),
            ),
        }
    }

    /// Returns a failure if `key` pauses at the time `now` and the request `may_pause`. Otherwise, the
    /// request may fetch. If the key or the whole source failed recently, the fetch is not retried.
    fn paused<E>(
        &self,
        key: &K,
        now: UnixMilliseconds,
        may_pause: bool,
        invocation: &Invocation,
    ) -> Option<Failure<E>> {
        let state = self.lock();
        if may_pause && let Some((wait, cause)) = state.pauses.rest(key, now) {
            return Some(Failure::Paused { wait, cause: cause.to_owned() });
        }
        if state.pauses.is_failing(key, now) {
            invocation.never_retry();
        }
        None
    }

    /// Returns the value of `key` if it may still be served at the time `now`, fresh or stale, and makes it
    /// the most recently used one.
    pub fn kept(&self, key: &K, now: UnixMilliseconds) -> Option<Lookup<V>> {
        let mut state = self.lock();
        let entry = state.entries.get(key)?;
        let may_serve = self.is_fresh(entry.fetched_at, now) || self.may_serve_stale(entry.fetched_at, now);
        may_serve.then(|| entry.cached(None))
    }

    pub fn forget(&self, key: &K) {
        self.lock().entries.remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, State<K, V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the value is fresh. A value that was fetched far in the future is not fresh, so that an event
    /// with a wrong time does not freeze a value.
    fn is_fresh(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        fetched_at.distance(now) < self.ttl
    }

    fn may_serve_stale(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        !self.stale.is_zero() && fetched_at.distance(now) <= self.ttl + self.stale
    }

    /// Returns how long the stale value may still be served.
    fn left(&self, stale: &Entry<V>, now: UnixMilliseconds) -> Duration {
        (self.ttl + self.stale).saturating_sub(stale.fetched_at.distance(now))
    }
}

/// Returns the stale value if there is one, otherwise the failure.
fn stale_or<V: Clone, E: SourceError>(
    stale: Option<Entry<V>>,
    failure: Failure<E>,
) -> Result<Lookup<V>, Failure<E>> {
    stale.map(|stale| stale.cached(Some(chain(&failure)))).ok_or(failure)
}

impl<V: Clone> Entry<V> {
    /// Returns a lookup of this value from the cache.
    fn cached(&self, refresh_failure: Option<String>) -> Lookup<V> {
        let Self { value, fetched_at, age } = self.clone();
        Lookup { value, fetched_at, age, cached: true, refresh_failure }
    }
}

#[cfg(test)]
mod tests;
