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
async fn an_event_from_the_future_does_not_freeze_its_value() {
    let cache = Cache::new(TTL, 1_000);
    assert_eq!(
        look_up(&cache, 1, Duration::from_hours(9_000), Some("future")).await,
        Some(found("future", false))
    );
    assert_eq!(look_up(&cache, 1, Duration::ZERO, Some("present")).await, Some(found("present", false)));
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
