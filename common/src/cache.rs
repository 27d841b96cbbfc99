//! What an instance remembers between invocations: values with the moment of their fetch, for the route's TTL, bounded
//! in bytes, the least recently used going first. When a refresh fails, the last good value serves for a while longer.

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::envelope::{Answer, Document};
use crate::error::chain;
use crate::time::UnixMilliseconds;
use crate::upstream::UpstreamError;

/// How many more TTLs a value may serve after its own when refreshes fail …
const STALE_TTLS: u32 = 10;
/// … and how long at the most.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// For how long callers whose value has expired do not wait for an upstream that has just let one wait in vain.
const PAUSE_AFTER_TIMEOUT: Duration = Duration::from_secs(5);

/// What an entry takes beside its value, roughly.
const ENTRY_BYTES: usize = 128;

/// Why a source gave no value, as far as a cache has to know.
pub trait SourceError: std::error::Error {
    /// Whether the source let one wait in vain.
    fn is_timeout(&self) -> bool;

    /// That the source was not asked, because a moment ago it let one wait in vain.
    fn paused() -> Self;
}

/// A value that knows how much memory it holds.
pub trait Weight {
    /// The bytes that it holds, roughly; at least what grows with the input.
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
pub struct Cached<K: Hash + Eq, V, E = UpstreamError> {
    ttl: Duration,
    /// How much longer a value may serve when refreshes fail.
    stale: Duration,
    capacity_bytes: usize,
    kept: Mutex<Kept<K, V>>,
    source: PhantomData<fn() -> E>,
}

#[derive(Debug)]
struct Kept<K: Hash + Eq, V> {
    entries: LruCache<K, Entry<V>>,
    bytes: usize,
    /// When a refresh last ran out of time.
    timed_out_at: Option<UnixMilliseconds>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    fetched_at: UnixMilliseconds,
}

/// A value from a cache or from its source.
#[derive(Debug)]
pub struct Served<V> {
    /// The value.
    pub value: V,
    /// When it was fetched.
    pub fetched_at: UnixMilliseconds,
    /// Whether it was there before this request.
    pub cached: bool,
    /// Why an expired value is served: the refresh that failed.
    pub refresh_failure: Option<String>,
}

impl<V> Served<V> {
    /// The answer with `document`, which was made of this value.
    #[must_use]
    pub fn answer(&self, document: Arc<Document>) -> Answer {
        Answer {
            document,
            cached: self.cached,
            fetched_at: Some(self.fetched_at),
            refresh_failure: self.refresh_failure.clone(),
        }
    }
}

impl<K: Hash + Eq, V: Weight + Clone, E: SourceError + 'static> Cached<K, V, E> {
    /// A cache whose values are fresh for `ttl` and that holds about `capacity_bytes` at the most. A value larger than
    /// that is not kept.
    #[must_use]
    pub fn new(ttl: Duration, capacity_bytes: usize) -> Self {
        Self {
            ttl,
            stale: (ttl * STALE_TTLS).min(LONGEST_STALE),
            capacity_bytes,
            kept: Mutex::new(Kept { entries: LruCache::unbounded(), bytes: 0, timed_out_at: None }),
            source: PhantomData,
        }
    }

    /// The same cache, but when a refresh fails, nothing else serves.
    #[must_use]
    pub fn never_stale(self) -> Self {
        Self { stale: Duration::ZERO, ..self }
    }

    /// The value of `key` at the moment `now`: the one in the cache while it is fresh, else what `fetch` brings, else
    /// the expired one if it is not too old.
    ///
    /// # Errors
    /// What `fetch` failed with, when there is nothing else to serve.
    pub async fn get(
        &self,
        key: K,
        now: UnixMilliseconds,
        fetch: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Served<V>, E> {
        let mut kept = self.kept.lock().await;
        let known = kept.entries.get(&key).map(|entry| (entry.value.clone(), entry.fetched_at));
        let known = match known {
            Some((value, fetched_at)) if self.is_fresh(fetched_at, now) => {
                return Ok(Served { value, fetched_at, cached: true, refresh_failure: None });
            }
            known => known,
        };
        let start = Instant::now();
        let has_stale = known.as_ref().is_some_and(|(_, fetched_at)| self.may_serve_stale(*fetched_at, now));
        let is_paused = kept.timed_out_at.is_some_and(|then| then.distance(now) < PAUSE_AFTER_TIMEOUT);
        let fetched = if has_stale && is_paused { Err(E::paused()) } else { fetch().await };
        match fetched {
            Ok(value) => {
                // In whole seconds, as HTTP dates are. A slow upstream's value must not be old before it is there.
                let fetched_at = now.plus(Duration::from_secs(start.elapsed().as_secs()));
                kept.put(key, Entry { value: value.clone(), fetched_at }, self.capacity_bytes);
                Ok(Served { value, fetched_at, cached: false, refresh_failure: None })
            }
            Err(failure) => {
                if failure.is_timeout() {
                    kept.timed_out_at = Some(now.plus(start.elapsed()));
                }
                match known {
                    Some((value, fetched_at)) if has_stale => {
                        Ok(Served { value, fetched_at, cached: true, refresh_failure: Some(chain(&failure)) })
                    }
                    _ => Err(failure),
                }
            }
        }
    }

    /// Fresh in both directions: an event from far in the future must not freeze its value for those of the present.
    fn is_fresh(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        fetched_at.distance(now) < self.ttl
    }

    fn may_serve_stale(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        !self.stale.is_zero() && fetched_at.distance(now) <= self.ttl + self.stale
    }
}

impl<K: Hash + Eq, V: Weight> Kept<K, V> {
    /// Keeps the entry in place of an earlier one, and as many others as fit beside it.
    fn put(&mut self, key: K, entry: Entry<V>, capacity_bytes: usize) {
        if let Some(replaced) = self.entries.pop(&key) {
            self.bytes = self.bytes.saturating_sub(replaced.bytes());
        }
        if entry.bytes() > capacity_bytes {
            return;
        }
        self.bytes += entry.bytes();
        self.entries.put(key, entry);
        while self.bytes > capacity_bytes {
            let Some((_, oldest)) = self.entries.pop_lru() else { return };
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

    impl Weight for String {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    const START: UnixMilliseconds = UnixMilliseconds::new(1_777_388_600_000);
    const TTL: Duration = Duration::from_secs(5);

    async fn ask(
        cache: &Cached<u32, String>,
        key: u32,
        after: Duration,
        source: Option<&str>,
    ) -> Option<(String, bool)> {
        let fetch = async || source.map(str::to_owned).ok_or(UpstreamError::Timeout { path: "/".to_owned() });
        let served = cache.get(key, START.plus(after), fetch).await.ok()?;
        Some((served.value, served.cached))
    }

    fn served(value: &str, cached: bool) -> (String, bool) {
        (value.to_owned(), cached)
    }

    #[tokio::test]
    async fn a_value_is_fresh_for_its_ttl_and_not_longer() {
        let cache = Cached::new(TTL, 1_000);
        let just_before = Duration::from_millis(4_999);
        assert_eq!(ask(&cache, 1, Duration::ZERO, Some("a")).await, Some(served("a", false)));
        assert_eq!(ask(&cache, 1, just_before, Some("b")).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, TTL, Some("b")).await, Some(served("b", false)));
    }

    #[tokio::test]
    async fn an_event_from_the_future_does_not_freeze_its_value() {
        let cache = Cached::new(TTL, 1_000);
        assert_eq!(
            ask(&cache, 1, Duration::from_hours(9_000), Some("future")).await,
            Some(served("future", false))
        );
        assert_eq!(ask(&cache, 1, Duration::ZERO, Some("present")).await, Some(served("present", false)));
    }

    #[tokio::test]
    async fn when_a_refresh_fails_the_last_value_serves_for_ten_more_ttls() {
        let cache = Cached::new(TTL, 1_000);
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(ask(&cache, 1, TTL * 11, None).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, TTL * 11 + Duration::from_millis(1), None).await, None);
        assert_eq!(ask(&cache, 2, Duration::ZERO, None).await, None);
    }

    #[tokio::test]
    async fn nothing_serves_for_more_than_an_hour_beyond_its_ttl() {
        let ttl = Duration::from_hours(1);
        let cache = Cached::new(ttl, 1_000);
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(ask(&cache, 1, ttl * 2, None).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, ttl * 2 + Duration::from_millis(1), None).await, None);
    }

    #[tokio::test]
    async fn a_cache_that_is_never_stale_serves_nothing_when_a_refresh_fails() {
        let cache = Cached::new(TTL, 1_000).never_stale();
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(ask(&cache, 1, Duration::from_millis(4_999), None).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, TTL, None).await, None);
    }

    #[tokio::test]
    async fn the_least_recently_used_value_goes_first() {
        let cache = Cached::new(TTL, 2 * (4 + ENTRY_BYTES) + 3);
        ask(&cache, 1, Duration::ZERO, Some("aaaa")).await;
        ask(&cache, 2, Duration::ZERO, Some("bbbb")).await;
        ask(&cache, 1, Duration::ZERO, None).await;
        ask(&cache, 3, Duration::ZERO, Some("cccc")).await;
        assert_eq!(ask(&cache, 1, Duration::ZERO, None).await, Some(served("aaaa", true)));
        assert_eq!(ask(&cache, 2, Duration::ZERO, None).await, None);
        assert_eq!(ask(&cache, 3, Duration::ZERO, None).await, Some(served("cccc", true)));
    }

    #[tokio::test]
    async fn a_value_above_the_capacity_is_served_and_costs_no_other_its_place() {
        let cache = Cached::new(TTL, ENTRY_BYTES + 3);
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(ask(&cache, 2, Duration::ZERO, Some("bbbb")).await, Some(served("bbbb", false)));
        assert_eq!(ask(&cache, 2, Duration::ZERO, None).await, None);
        assert_eq!(ask(&cache, 1, Duration::ZERO, None).await, Some(served("a", true)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_slow_upstream_brings_is_fresh_from_then_on() {
        let cache = Cached::new(TTL, 1_000);
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(6_400)).await;
            Ok("a".to_owned())
        };
        let first = cache.get(1, START, slow).await.unwrap();
        assert_eq!(first.fetched_at, START.plus(Duration::from_secs(6)));
        assert_eq!(ask(&cache, 1, Duration::from_secs(10), None).await, Some(served("a", true)));
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_timeout_nobody_with_something_to_serve_waits_for_a_while() {
        let cache = Cached::new(TTL, 1_000);
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        let hanging = async || {
            tokio::time::sleep(Duration::from_secs(8)).await;
            Err(UpstreamError::Timeout { path: "/".to_owned() })
        };
        assert!(cache.get(1, START.plus(Duration::from_secs(6)), hanging).await.unwrap().cached);
        let ask = async |key, after| ask(&cache, key, Duration::from_secs(after), Some("b")).await;
        assert_eq!(ask(1, 15).await, Some(served("a", true)));
        assert_eq!(ask(2, 15).await, Some(served("b", false)));
        assert_eq!(ask(1, 19).await, Some(served("b", false)));
    }
}
