//! An in-memory cache for the values that a function instance keeps between invocations.
//!
//! A value is fresh for the route's TTL. The cache is bounded in bytes and evicts the least recently used value first. When
//! a refresh fails, it serves the stale value for a while.
//!
//! A process may handle several requests at a time. Those for the same key share one fetch, or its failure, and no request waits
//! for the fetch of another key. `cached` is `false` only for the request that fetched: for those that waited, nothing was
//! fetched. A request waits no longer than it would wait for the source. If the request that fetches is cancelled, the next one
//! fetches for itself.
//!
//! A fetch may look up another cache ([`Cache::get_through`]). This cannot deadlock as long as the caches of a function look each
//! other up in one direction.

mod entries;
mod fetches;

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use self::entries::{Entries, Entry};
use self::fetches::{Fetches, Outcome, Running, TooLate};
use crate::error::chain;
use crate::invocation::Invocation;
use crate::time::UnixMilliseconds;

/// A value may be served stale for this many TTLs after it has expired …
const STALE_TTLS: u32 = 10;
/// … and for this long at most.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// After a timeout, requests with a stale value do not wait for the source for this long.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(5);

/// An error of a source that a cache fetches from.
pub trait SourceError: std::error::Error + Clone {
    /// Whether the source did not respond in time.
    fn is_timeout(&self) -> bool;

    /// The error of a fetch that was not attempted because the source timed out a moment ago.
    fn paused() -> Self;

    /// The error of a request whose time ended while it waited for another request's fetch.
    fn not_shared_in_time() -> Self;
}

/// A value that knows how much memory it takes.
pub trait Weight {
    /// About how many bytes it takes; at least what grows with the input.
    fn bytes(&self) -> usize;
}

impl<T: Weight> Weight for Arc<T> {
    fn bytes(&self) -> usize {
        self.as_ref().bytes()
    }
}

impl<T: Weight> Weight for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Weight::bytes)
    }
}

/// A cache of values of type `V` by keys of type `K`, whose source fails with `E`.
#[derive(Debug)]
pub struct Cache<K: Hash + Eq, V, E> {
    ttl: Duration,
    /// How long a value may be served after it has expired, when refreshes fail.
    stale: Duration,
    /// Never locked while a request waits.
    state: Mutex<State<K, V, E>>,
}

#[derive(Debug)]
struct State<K: Hash + Eq, V, E> {
    entries: Entries<K, V>,
    fetches: Fetches<K, V, E>,
    /// When a refresh last timed out.
    timed_out_at: Option<UnixMilliseconds>,
}

/// What there is for a request for a key.
enum Found<'a, K: Hash + Eq, V, E> {
    /// A value to serve.
    Value(Lookup<V>),
    /// The fetch of another request.
    Running(Running<V, E>),
    /// Neither: this request has to fetch.
    Nothing(Fetch<'a, K, V, E>),
}

/// What a request for a key has to do.
enum Turn<'a, K: Hash + Eq, V, E> {
    /// Serve this.
    Serve(Lookup<V>),
    /// Fetch, from this time on.
    Fetch(Fetch<'a, K, V, E>, UnixMilliseconds),
}

/// The fetch of a request, until it is dropped.
struct Fetch<'a, K: Hash + Eq, V, E> {
    state: &'a Mutex<State<K, V, E>>,
    key: K,
    /// The value to serve if the fetch fails.
    stale: Option<Entry<V>>,
    /// Where requests that wait find the result.
    outcome: Outcome<V, E>,
    /// Dropping it wakes them.
    sender: watch::Sender<()>,
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

impl<V> Lookup<V> {
    /// Returns this lookup with what `map` makes of its value.
    ///
    /// # Errors
    /// The error of `map`.
    pub fn try_map<T, E>(self, map: impl FnOnce(V) -> Result<T, E>) -> Result<Lookup<T>, E> {
        let Self { value, fetched_at, cached, refresh_failure } = self;
        Ok(Lookup { value: map(value)?, fetched_at, cached, refresh_failure })
    }
}

impl<K: Hash + Eq + Clone, V: Weight + Clone, E: SourceError + 'static> Cache<K, V, E> {
    /// A cache whose values are fresh for `ttl` and that holds at most about `capacity_bytes`. It does not keep a value
    /// that is larger.
    #[must_use]
    pub fn new(ttl: Duration, capacity_bytes: usize) -> Self {
        let entries = Entries::new(capacity_bytes);
        let state = State { entries, fetches: Fetches::new(), timed_out_at: None };
        Self { ttl, stale: (ttl * STALE_TTLS).min(LONGEST_STALE), state: Mutex::new(state) }
    }

    /// Turns this cache into one that never serves a stale value.
    #[must_use]
    pub fn never_stale(self) -> Self {
        Self { stale: Duration::ZERO, ..self }
    }

    /// Returns the value of `key` at the time of `invocation`: from the cache while it is fresh, otherwise from `fetch` or from the
    /// fetch of another request, and if that fails, the stale value if it is not too old.
    ///
    /// # Errors
    /// The error of the fetch, if there is no value to serve.
    pub async fn get(
        &self,
        key: K,
        invocation: &Invocation,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, E> {
        self.get_news(key, invocation, |_| false, fetch).await
    }

    /// Returns the same as [`Cache::get`], but an expired value for which `is_latest` says that the source has no newer one counts
    /// as fetched now.
    ///
    /// # Errors
    /// The error of the fetch, if there is no value to serve.
    pub async fn get_news(
        &self,
        key: K,
        invocation: &Invocation,
        is_latest: impl Fn(&V) -> bool,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, E> {
        let now = invocation.now();
        let look_up = async |expired: Option<Entry<V>>| {
            if let Some(latest) = expired.filter(|expired| is_latest(&expired.value)) {
                return Ok(Lookup { fetched_at: now, ..latest.cached(None) });
            }
            let start = Instant::now();
            let value = fetch().await?;
            // In whole seconds, as HTTP dates are. The value of a slow source must not be old when it arrives.
            let fetched_at = now.plus(Duration::from_secs(start.elapsed().as_secs()));
            Ok(Lookup { value, fetched_at, cached: false, refresh_failure: None })
        };
        self.get_with(key, invocation, look_up).await
    }

    /// Returns the same as [`Cache::get`], with a lookup in another cache as the source: a value is as old as it is there.
    ///
    /// # Errors
    /// The error of the lookup, if there is no value to serve.
    pub async fn get_through(
        &self,
        key: K,
        invocation: &Invocation,
        look_up: impl AsyncFnOnce() -> Result<Lookup<V>, E>,
    ) -> Result<Lookup<V>, E> {
        self.get_with(key, invocation, async |_| look_up().await).await
    }

    /// Returns the same as [`Cache::get_through`]. `look_up` gets the expired value, if it may be served.
    async fn get_with(
        &self,
        key: K,
        invocation: &Invocation,
        look_up: impl AsyncFnOnce(Option<Entry<V>>) -> Result<Lookup<V>, E>,
    ) -> Result<Lookup<V>, E> {
        match self.turn(key, invocation).await? {
            Turn::Serve(found) => Ok(found),
            Turn::Fetch(fetch, now) => {
                let start = Instant::now();
                let found = look_up(fetch.stale.clone()).await;
                fetch.end(found, now.plus(start.elapsed()))
            }
        }
    }

    /// Waits until there is a value to serve, or until it is the turn of this request to fetch it.
    ///
    /// # Errors
    /// The error of another request's fetch, if there is no value to serve.
    async fn turn(&self, key: K, invocation: &Invocation) -> Result<Turn<'_, K, V, E>, E> {
        let start = Instant::now();
        let mut now = invocation.now();
        loop {
            let running = match self.look_at(&key, now) {
                Found::Value(found) => return Ok(Turn::Serve(found)),
                Found::Nothing(fetch) => return Ok(Turn::Fetch(fetch, now)),
                Found::Running(running) => running,
            };
            let result = running.result(invocation).await;
            // The result is as old as the fetch, so the time of this request must not be that of its start.
            now = invocation.now().plus(start.elapsed());
            match result {
                Ok(Some(Ok(found))) if self.may_share(&found, now) => {
                    return Ok(Turn::Serve(Lookup { cached: true, ..found }));
                }
                Ok(Some(Err(failure))) => return self.stale_or(&key, now, failure).map(Turn::Serve),
                Err(TooLate) => return self.stale_or(&key, now, E::not_shared_in_time()).map(Turn::Serve),
                // The other request was cancelled, or it is of another time.
                Ok(None | Some(Ok(_))) => {}
            }
        }
    }

    /// Returns what there is for a request for `key` at the time `now`.
    fn look_at(&self, key: &K, now: UnixMilliseconds) -> Found<'_, K, V, E> {
        let mut state = self.lock();
        let expired = match state.entries.get(key) {
            Some(entry) if self.is_fresh(entry.fetched_at, now) => return Found::Value(entry.cached(None)),
            entry => entry.filter(|entry| self.may_serve_stale(entry.fetched_at, now)).cloned(),
        };
        let is_paused = state.timed_out_at.is_some_and(|then| then.distance(now) < PAUSE_AFTER_TIMEOUT);
        if let (Some(expired), true) = (&expired, is_paused) {
            return Found::Value(expired.cached(Some(chain(&E::paused()))));
        }
        if let Some(running) = state.fetches.running(key) {
            return Found::Running(running);
        }
        let (outcome, sender) = state.fetches.start(key.clone());
        Found::Nothing(Fetch { state: &self.state, key: key.clone(), stale: expired, outcome, sender })
    }

    /// Whether a request at the time `now` may be served what another request has found.
    fn may_share(&self, found: &Lookup<V>, now: UnixMilliseconds) -> bool {
        match found.refresh_failure {
            None => self.is_fresh(found.fetched_at, now),
            Some(_) => self.may_serve(found.fetched_at, now),
        }
    }

    /// Returns the value of `key` if it may still be served at the time `now`.
    ///
    /// # Errors
    /// `failure`, if it may not.
    fn stale_or(&self, key: &K, now: UnixMilliseconds, failure: E) -> Result<Lookup<V>, E> {
        match self.kept(key, now) {
            Some(kept) => Ok(Lookup { refresh_failure: Some(chain(&failure)), ..kept }),
            None => Err(failure),
        }
    }

    /// Returns the value of `key` if it may still be served at the time `now`, fresh or stale.
    pub fn kept(&self, key: &K, now: UnixMilliseconds) -> Option<Lookup<V>> {
        let state = self.lock();
        let entry = state.entries.peek(key)?;
        self.may_serve(entry.fetched_at, now).then(|| entry.cached(None))
    }

    fn lock(&self) -> MutexGuard<'_, State<K, V, E>> {
        lock(&self.state)
    }
}

impl<K: Hash + Eq, V, E> Cache<K, V, E> {
    /// Whether a value that was fetched at this time may still be served at the time `now`, fresh or stale.
    #[must_use]
    pub fn may_serve(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        self.is_fresh(fetched_at, now) || self.may_serve_stale(fetched_at, now)
    }

    /// The distance counts in both directions: a request from far in the future must not freeze its value for the present.
    fn is_fresh(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        fetched_at.distance(now) < self.ttl
    }

    fn may_serve_stale(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        !self.stale.is_zero() && fetched_at.distance(now) <= self.ttl + self.stale
    }
}

impl<K: Hash + Eq + Clone, V: Weight + Clone, E: SourceError + 'static> Fetch<'_, K, V, E> {
    /// Ends this fetch at the time `now`, at which the source returned `found`. Returns the result for this request and all that
    /// wait for it.
    fn end(mut self, found: Result<Lookup<V>, E>, now: UnixMilliseconds) -> Result<Lookup<V>, E> {
        let expired = self.stale.take();
        let mut state = lock(self.state);
        let result = match (found, expired) {
            // The other cache has only a stale value, and this one has a newer one.
            (Ok(Lookup { fetched_at, refresh_failure: Some(failure), .. }), Some(newer))
                if fetched_at < newer.fetched_at =>
            {
                Ok(newer.cached(Some(failure)))
            }
            (Ok(found), _) => {
                let entry = Entry { value: found.value.clone(), fetched_at: found.fetched_at };
                state.entries.put(self.key.clone(), entry);
                Ok(found)
            }
            (Err(failure), expired) => {
                if failure.is_timeout() {
                    state.timed_out_at = Some(now);
                }
                expired.map(|expired| expired.cached(Some(chain(&failure)))).ok_or(failure)
            }
        };
        drop(state);
        // One receiver is in the list of fetches. Others belong to requests that wait.
        if self.sender.receiver_count() > 1 {
            // It is empty, because there is one result.
            let _ = self.outcome.set(result.clone());
        }
        result
    }
}

impl<K: Hash + Eq, V, E> Drop for Fetch<'_, K, V, E> {
    /// After this, the next request looks at the cache and fetches for itself.
    fn drop(&mut self) {
        lock(self.state).fetches.end(&self.key);
    }
}

impl<V: Clone> Entry<V> {
    /// The lookup that finds this value.
    fn cached(&self, refresh_failure: Option<String>) -> Lookup<V> {
        Lookup { value: self.value.clone(), fetched_at: self.fetched_at, cached: true, refresh_failure }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
