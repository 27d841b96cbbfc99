//! What an instance remembers between invocations: values with the moment of their fetch, for the route's TTL, bounded
//! in bytes, the least recently used going first. When a refresh fails, the last good value serves for a while longer.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use tokio::sync::Mutex;

use crate::envelope::{Answer, Document};
use crate::error::chain;
use crate::time::UnixMilliseconds;
use crate::upstream::UpstreamError;

/// How many more TTLs a value may serve after its own when refreshes fail …
const STALE_TTLS: u32 = 10;
/// … and how long at the most.
const LONGEST_STALE: Duration = Duration::from_hours(1);

/// What an entry takes beside its value, roughly.
const ENTRY_BYTES: usize = 128;

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

/// A cache of values of type `V` by keys of type `K`.
#[derive(Debug)]
pub struct Cached<K: Hash + Eq, V> {
    ttl: Duration,
    capacity_bytes: usize,
    entries: Mutex<LruCache<K, Entry<V>>>,
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
    pub refresh_failure: Option<UpstreamError>,
}

impl<V> Served<V> {
    /// The answer with `document`, which was made of this value.
    #[must_use]
    pub fn answer(&self, document: Arc<Document>) -> Answer {
        Answer {
            document,
            cached: self.cached,
            fetched_at: Some(self.fetched_at),
            refresh_failure: self.refresh_failure.as_ref().map(|failure| chain(failure)),
        }
    }
}

impl<K: Hash + Eq, V: Weight + Clone> Cached<K, V> {
    /// A cache whose values are fresh for `ttl` and that holds about `capacity_bytes` at the most. A value larger than
    /// that is kept alone until the next one comes.
    #[must_use]
    pub fn new(ttl: Duration, capacity_bytes: usize) -> Self {
        Self { ttl, capacity_bytes, entries: Mutex::new(LruCache::unbounded()) }
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
        fetch: impl AsyncFnOnce() -> Result<V, UpstreamError>,
    ) -> Result<Served<V>, UpstreamError> {
        let mut entries = self.entries.lock().await;
        let known = entries.get(&key).map(|entry| (entry.value.clone(), entry.fetched_at));
        let known = match known {
            Some((value, fetched_at)) if self.is_fresh(fetched_at, now) => {
                return Ok(Served { value, fetched_at, cached: true, refresh_failure: None });
            }
            known => known,
        };
        match fetch().await {
            Ok(value) => {
                entries.put(key, Entry { value: value.clone(), fetched_at: now });
                self.shrink(&mut entries);
                Ok(Served { value, fetched_at: now, cached: false, refresh_failure: None })
            }
            Err(failure) => match known {
                Some((value, fetched_at)) if self.may_serve_stale(fetched_at, now) => {
                    Ok(Served { value, fetched_at, cached: true, refresh_failure: Some(failure) })
                }
                _ => Err(failure),
            },
        }
    }

    /// Fresh in both directions: an event from far in the future must not freeze its value for those of the present.
    fn is_fresh(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        fetched_at.distance(now) < self.ttl
    }

    fn may_serve_stale(&self, fetched_at: UnixMilliseconds, now: UnixMilliseconds) -> bool {
        fetched_at.distance(now) <= self.ttl + (self.ttl * STALE_TTLS).min(LONGEST_STALE)
    }

    fn shrink(&self, entries: &mut LruCache<K, Entry<V>>) {
        let bytes = |entry: &Entry<V>| entry.value.bytes() + ENTRY_BYTES;
        let mut held: usize = entries.iter().map(|(_, entry)| bytes(entry)).sum();
        while held > self.capacity_bytes && entries.len() > 1 {
            let Some((_, oldest)) = entries.pop_lru() else { return };
            held = held.saturating_sub(bytes(&oldest));
        }
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
        let cache = Cached::new(TTL, 100);
        let just_before = Duration::from_millis(4_999);
        assert_eq!(ask(&cache, 1, Duration::ZERO, Some("a")).await, Some(served("a", false)));
        assert_eq!(ask(&cache, 1, just_before, Some("b")).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, TTL, Some("b")).await, Some(served("b", false)));
    }

    #[tokio::test]
    async fn an_event_from_the_future_does_not_freeze_its_value() {
        let cache = Cached::new(TTL, 100);
        assert_eq!(
            ask(&cache, 1, Duration::from_hours(9_000), Some("future")).await,
            Some(served("future", false))
        );
        assert_eq!(ask(&cache, 1, Duration::ZERO, Some("present")).await, Some(served("present", false)));
    }

    #[tokio::test]
    async fn when_a_refresh_fails_the_last_value_serves_for_ten_more_ttls() {
        let cache = Cached::new(TTL, 100);
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(ask(&cache, 1, TTL * 11, None).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, TTL * 11 + Duration::from_millis(1), None).await, None);
        assert_eq!(ask(&cache, 2, Duration::ZERO, None).await, None);
    }

    #[tokio::test]
    async fn nothing_serves_for_more_than_an_hour_beyond_its_ttl() {
        let ttl = Duration::from_hours(1);
        let cache = Cached::new(ttl, 100);
        ask(&cache, 1, Duration::ZERO, Some("a")).await;
        assert_eq!(ask(&cache, 1, ttl * 2, None).await, Some(served("a", true)));
        assert_eq!(ask(&cache, 1, ttl * 2 + Duration::from_millis(1), None).await, None);
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
    async fn a_value_above_the_capacity_is_kept_alone() {
        let cache = Cached::new(TTL, 3);
        ask(&cache, 1, Duration::ZERO, Some("aaaa")).await;
        assert_eq!(ask(&cache, 1, Duration::ZERO, None).await, Some(served("aaaa", true)));
        ask(&cache, 2, Duration::ZERO, Some("b")).await;
        assert_eq!(ask(&cache, 1, Duration::ZERO, None).await, None);
    }
}
