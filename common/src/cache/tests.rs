//! Tests of the cache, with the request times of a simulated clock.

use super::entries::ENTRY_BYTES;
use super::*;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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

/// An invocation whose event is from `after` the start.
fn invocation(after: Duration) -> Invocation {
    Invocation::new(START.plus(after), Instant::now() + Duration::from_secs(10))
}

async fn look_up(
    cache: &Cache<u32, String>,
    key: u32,
    after: Duration,
    source: Option<&str>,
) -> Option<(String, bool)> {
    let fetch = async || source.map(str::to_owned).ok_or(TestError::Timeout);
    let lookup = cache.get(key, &invocation(after), fetch).await.ok()?;
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
        Ok::<_, TestError>("a".to_owned())
    };
    let first = cache.get(1, &invocation(Duration::ZERO), slow).await.unwrap();
    assert_eq!(first.fetched_at, START.plus(Duration::from_secs(6)));
    assert_eq!(look_up(&cache, 1, Duration::from_secs(10), None).await, Some(found("a", true)));
}

#[tokio::test]
async fn a_value_is_kept_for_as_long_as_it_may_be_served() {
    let cache = Cache::new(TTL, 1_000);
    look_up(&cache, 1, Duration::ZERO, Some("a")).await;
    let kept = |key, after| cache.kept(&key, START.plus(after)).map(|kept| kept.value);
    assert_eq!(kept(1, TTL * 11).as_deref(), Some("a"));
    assert_eq!(kept(1, TTL * 11 + Duration::from_millis(1)), None);
    assert_eq!(kept(2, Duration::ZERO), None);
}

#[tokio::test(start_paused = true)]
async fn after_a_timeout_stale_values_are_served_without_waiting() {
    let cache = Cache::new(TTL, 1_000);
    look_up(&cache, 1, Duration::ZERO, Some("a")).await;
    let hanging = async || {
        tokio::time::sleep(Duration::from_secs(8)).await;
        Err(TestError::Timeout)
    };
    assert!(cache.get(1, &invocation(Duration::from_secs(6)), hanging).await.unwrap().cached);
    let look_up = async |key, after| look_up(&cache, key, Duration::from_secs(after), Some("b")).await;
    assert_eq!(look_up(1, 15).await, Some(found("a", true)));
    assert_eq!(look_up(2, 15).await, Some(found("b", false)));
    assert_eq!(look_up(1, 19).await, Some(found("b", false)));
}
