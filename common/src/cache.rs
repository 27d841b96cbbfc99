//! An in-memory cache for the values that a function instance keeps between invocations.
//!
//! A value is fresh for the route's TTL. The cache is bounded in bytes and evicts the least recently used value first. When
//! a refresh fails, it serves the stale value for a while.

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::error::chain;
use crate::time::UnixMilliseconds;

/// A value may be served stale for this many TTLs after it has expired …
const STALE_TTLS: u32 = 10;
/// … and for this long at most.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// After a timeout, requests with a stale value do not wait for the source for this long.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(5);

/// About how many bytes an entry takes in addition to its value.
const ENTRY_BYTES: usize = 128;

/// An error of a source that a cache fetches from.
pub trait SourceError: std::error::Error {
    /// Whether the source did not respond in time.
    fn is_timeout(&self) -> bool;

    /// The error of a fetch that was not attempted because the source timed out a moment ago.
    fn paused() -> Self;
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
    capacity_bytes: usize,
    entries: Mutex<Entries<K, V>>,
    source: PhantomData<fn() -> E>,
}

#[derive(Debug)]
struct Entries<K: Hash + Eq, V> {
    by_key: LruCache<K, Entry<V>>,
    bytes: usize,
    /// When a refresh last timed out.
    timed_out_at: Option<UnixMilliseconds>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    fetched_at: UnixMilliseconds,
}

/// The result of a lookup: a value from the cache or from its source.
#[derive(Debug)]
pub struct Lookup<V> {
    /// The value.
    pub value: V,
    /// When it was fetched.
    pub fetched_at: UnixMilliseconds,
    /// Whether it was cached before this lookup.
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

impl<K: Hash + Eq, V: Weight + Clone, E: SourceError + 'static> Cache<K, V, E> {
    /// A cache whose values are fresh for `ttl` and that holds at most about `capacity_bytes`. It does not keep a value
    /// that is larger.
    #[must_use]
    pub fn new(ttl: Duration, capacity_bytes: usize) -> Self {
        Self {
            ttl,
            stale: (ttl * STALE_TTLS).min(LONGEST_STALE),
            capacity_bytes,
            entries: Mutex::new(Entries { by_key: LruCache::unbounded(), bytes: 0, timed_out_at: None }),
            source: PhantomData,
        }
    }

    /// Turns this cache into one that never serves a stale value.
    #[must_use]
    pub fn never_stale(self) -> Self {
        Self { stale: Duration::ZERO, ..self }
    }

    /// Returns the value of `key` at the time `now`: from the cache while it is fresh, otherwise from `fetch`, and if that
    /// fails, the stale value if it is not too old.
    ///
    /// # Errors
    /// The error of `fetch`, if there is no value to serve.
    pub async fn get(
        &self,
        key: K,
        now: UnixMilliseconds,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Lookup<V>, E> {
        let look_up = async || {
            let start = Instant::now();
            let value = fetch().await?;
            // In whole seconds, as HTTP dates are. The value of a slow source must not be old when it arrives.
            let fetched_at = now.plus(Duration::from_secs(start.elapsed().as_secs()));
            Ok(Lookup { value, fetched_at, cached: false, refresh_failure: None })
        };
        self.get_through(key, now, look_up).await
    }

    /// Returns the same as [`Cache::get`], with a lookup in another cache as the source: a value is as old as it is there.
    ///
    /// # Errors
    /// The error of `look_up`, if there is no value to serve.
    pub async fn get_through(
        &self,
        key: K,
        now: UnixMilliseconds,
        look_up: impl AsyncFnOnce() -> Result<Lookup<V>, E>,
    ) -> Result<Lookup<V>, E> {
        let mut entries = self.entries.lock().await;
        let cached = entries.by_key.get(&key).map(|entry| (entry.value.clone(), entry.fetched_at));
        let stale = match cached {
            Some((value, fetched_at)) if self.is_fresh(fetched_at, now) => {
                return Ok(Lookup { value, fetched_at, cached: true, refresh_failure: None });
            }
            stale => stale.filter(|(_, fetched_at)| self.may_serve_stale(*fetched_at, now)),
        };
        let start = Instant::now();
        let is_paused = entries.timed_out_at.is_some_and(|then| then.distance(now) < PAUSE_AFTER_TIMEOUT);
        let found = if stale.is_some() && is_paused { Err(E::paused()) } else { look_up().await };
        match (found, stale) {
            // The other cache has only a stale value, and this one has a newer one.
            (Ok(Lookup { fetched_at, refresh_failure: Some(failure), .. }), Some((value, newer)))
                if fetched_at < newer =>
            {
                Ok(Lookup { value, fetched_at: newer, cached: true, refresh_failure: Some(failure) })
            }
            (Ok(found), _) => {
                let entry = Entry { value: found.value.clone(), fetched_at: found.fetched_at };
                entries.put(key, entry, self.capacity_bytes);
                Ok(found)
            }
            (Err(failure), stale) => {
                if failure.is_timeout() {
                    entries.timed_out_at = Some(now.plus(start.elapsed()));
                }
                let Some((value, fetched_at)) = stale else { return Err(failure) };
                Ok(Lookup { value, fetched_at, cached: true, refresh_failure: Some(chain(&failure)) })
            }
        }
    }

    /// Returns the value of `key` if it may still be served at the time `now`, fresh or stale.
    pub async fn kept(&self, key: &K, now: UnixMilliseconds) -> Option<Lookup<V>> {
        let entries = self.entries.lock().await;
        let Entry { value, fetched_at } = entries.by_key.peek(key)?;
        let (value, fetched_at) = (value.clone(), *fetched_at);
        let kept = Lookup { value, fetched_at, cached: true, refresh_failure: None };
        self.may_serve(fetched_at, now).then_some(kept)
    }

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

impl<K: Hash + Eq, V: Weight> Entries<K, V> {
    /// Replaces the entry of `key`, and evicts others until the rest fits into the capacity.
    fn put(&mut self, key: K, entry: Entry<V>, capacity_bytes: usize) {
        if let Some(replaced) = self.by_key.pop(&key) {
            self.bytes = self.bytes.saturating_sub(replaced.bytes());
        }
        if entry.bytes() > capacity_bytes {
            return;
        }
        self.bytes += entry.bytes();
        self.by_key.put(key, entry);
        while self.bytes > capacity_bytes {
            let Some((_, oldest)) = self.by_key.pop_lru() else { return };
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
        }
    }
}

impl<V: Weight> Entry<V> {
    fn bytes(&self) -> usize {
        self.value.bytes().saturating_add(ENTRY_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum TestError {
        #[error("the source timed out")]
        Timeout,
        #[error("the source was not asked")]
        Paused,
    }

    impl SourceError for TestError {
        fn is_timeout(&self) -> bool {
            matches!(self, Self::Timeout)
        }

        fn paused() -> Self {
            Self::Paused
        }
    }

    impl Weight for String {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    const START: UnixMilliseconds = UnixMilliseconds::new(1_777_388_600_000);
    const TTL: Duration = Duration::from_secs(5);

    async fn look_up(
        cache: &Cache<u32, String, TestError>,
        key: u32,
        after: Duration,
        source: Option<&str>,
    ) -> Option<(String, bool)> {
        let fetch = async || source.map(str::to_owned).ok_or(TestError::Timeout);
        let lookup = cache.get(key, START.plus(after), fetch).await.ok()?;
        Some((lookup.value, lookup.cached))
    }

    fn found(value: &str, cached: bool) -> (String, bool) {
        (value.to_owned(), cached)
    }

    #[tokio::test]
    async fn a_value_is_fresh_for_its_ttl_and_not_longer() {
        let cache = Cache::new(TTL, 1_000);
        let just_before = Duration::from_millis(4_999);
        assert_eq!(look_up(&cache, 1, Duration::ZERO, Some("a")).await, Some(found("a", false)));
        assert_eq!(look_up(&cache, 1, just_before, Some("b")).await, Some(found("a", true)));
        assert_eq!(look_up(&cache, 1, TTL, Some("b")).await, Some(found("b", false)));
    }

    #[tokio::test]
    async fn an_event_from_the_future_does_not_freeze_its_value() {
        let cache = Cache::new(TTL, 1_000);
        assert_eq!(
            look_up(&cache, 1, Duration::from_hours(9_000), Some("future")).await,
            Some(found("future", false))
        );
        assert_eq!(look_up(&cache, 1, Duration::ZERO, Some("present")).await, Some(found("present", false)));
    }

    #[tokio::test]
    async fn when_a_refresh_fails_the_stale_value_is_served_for_ten_more_ttls() {
        let cache = Cache::new(TTL, 1_000);
        look_up(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(look_up(&cache, 1, TTL * 11, None).await, Some(found("a", true)));
        assert_eq!(look_up(&cache, 1, TTL * 11 + Duration::from_millis(1), None).await, None);
        assert_eq!(look_up(&cache, 2, Duration::ZERO, None).await, None);
    }

    #[tokio::test]
    async fn no_value_is_served_for_more_than_an_hour_after_it_has_expired() {
        let ttl = Duration::from_hours(1);
        let cache = Cache::new(ttl, 1_000);
        look_up(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(look_up(&cache, 1, ttl * 2, None).await, Some(found("a", true)));
        assert_eq!(look_up(&cache, 1, ttl * 2 + Duration::from_millis(1), None).await, None);
    }

    #[tokio::test]
    async fn a_cache_that_is_never_stale_returns_the_error_of_a_failed_refresh() {
        let cache = Cache::new(TTL, 1_000).never_stale();
        look_up(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(look_up(&cache, 1, Duration::from_millis(4_999), None).await, Some(found("a", true)));
        assert_eq!(look_up(&cache, 1, TTL, None).await, None);
    }

    #[tokio::test]
    async fn the_least_recently_used_value_is_evicted_first() {
        let cache = Cache::new(TTL, 2 * (4 + ENTRY_BYTES) + 3);
        look_up(&cache, 1, Duration::ZERO, Some("aaaa")).await;
        look_up(&cache, 2, Duration::ZERO, Some("bbbb")).await;
        look_up(&cache, 1, Duration::ZERO, None).await;
        look_up(&cache, 3, Duration::ZERO, Some("cccc")).await;
        assert_eq!(look_up(&cache, 1, Duration::ZERO, None).await, Some(found("aaaa", true)));
        assert_eq!(look_up(&cache, 2, Duration::ZERO, None).await, None);
        assert_eq!(look_up(&cache, 3, Duration::ZERO, None).await, Some(found("cccc", true)));
    }

    #[tokio::test]
    async fn a_value_above_the_capacity_is_returned_and_evicts_no_other() {
        let cache = Cache::new(TTL, ENTRY_BYTES + 3);
        look_up(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(look_up(&cache, 2, Duration::ZERO, Some("bbbb")).await, Some(found("bbbb", false)));
        assert_eq!(look_up(&cache, 2, Duration::ZERO, None).await, None);
        assert_eq!(look_up(&cache, 1, Duration::ZERO, None).await, Some(found("a", true)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_value_of_a_slow_source_is_fresh_from_its_arrival_on() {
        let cache = Cache::new(TTL, 1_000);
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(6_400)).await;
            Ok("a".to_owned())
        };
        let first = cache.get(1, START, slow).await.unwrap();
        assert_eq!(first.fetched_at, START.plus(Duration::from_secs(6)));
        assert_eq!(look_up(&cache, 1, Duration::from_secs(10), None).await, Some(found("a", true)));
    }

    #[tokio::test]
    async fn a_value_from_another_cache_is_as_old_as_it_is_there() {
        let source = Cache::<u32, String, TestError>::new(TTL, 1_000);
        let cache = Cache::<u32, String, TestError>::new(TTL, 1_000);
        let at = |seconds| START.plus(Duration::from_secs(seconds));
        let look_up = async |seconds, value: Option<&str>| {
            let fetch = async || value.map(str::to_owned).ok_or(TestError::Timeout);
            let through = async || source.get(1, at(seconds), fetch).await;
            let lookup = cache.get_through(1, at(seconds), through).await.ok()?;
            Some((lookup.value, lookup.fetched_at, lookup.cached))
        };
        source.get(1, at(0), async || Ok("a".to_owned())).await.unwrap();
        assert_eq!(look_up(3, Some("b")).await, Some(("a".to_owned(), at(0), true)));
        assert_eq!(look_up(5, Some("b")).await, Some(("b".to_owned(), at(5), false)));
        assert_eq!(look_up(60, None).await, Some(("b".to_owned(), at(5), true)));
        assert_eq!(look_up(61, None).await, None);
        let kept = async |key, seconds| cache.kept(&key, at(seconds)).await.map(|kept| kept.value);
        assert_eq!(kept(1, 60).await.as_deref(), Some("b"));
        assert_eq!(kept(1, 61).await, None);
        assert_eq!(kept(2, 0).await, None);
    }

    #[tokio::test]
    async fn a_stale_value_from_another_cache_does_not_replace_a_newer_one() {
        let cache = Cache::<u32, String, TestError>::new(TTL, 1_000);
        let stale = |value: &str, fetched_at| {
            let refresh_failure = Some("failed".to_owned());
            Ok(Lookup { value: value.to_owned(), fetched_at, cached: true, refresh_failure })
        };
        look_up(&cache, 1, Duration::from_secs(10), Some("newer")).await;
        let (older, now) = (START, START.plus(Duration::from_secs(20)));
        let lookup = cache.get_through(1, now, async || stale("older", older)).await.unwrap();
        assert_eq!((&*lookup.value, lookup.cached), ("newer", true));
        assert_eq!(lookup.refresh_failure.as_deref(), Some("failed"));
        let newest = START.plus(Duration::from_secs(12));
        let lookup = cache.get_through(1, now, async || stale("newest", newest)).await.unwrap();
        assert_eq!((&*lookup.value, lookup.fetched_at), ("newest", newest));
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_timeout_stale_values_are_served_without_waiting() {
        let cache = Cache::new(TTL, 1_000);
        look_up(&cache, 1, Duration::ZERO, Some("a")).await;
        let hanging = async || {
            tokio::time::sleep(Duration::from_secs(8)).await;
            Err(TestError::Timeout)
        };
        assert!(cache.get(1, START.plus(Duration::from_secs(6)), hanging).await.unwrap().cached);
        let look_up = async |key, after| look_up(&cache, key, Duration::from_secs(after), Some("b")).await;
        assert_eq!(look_up(1, 15).await, Some(found("a", true)));
        assert_eq!(look_up(2, 15).await, Some(found("b", false)));
        assert_eq!(look_up(1, 19).await, Some(found("b", false)));
    }
}
