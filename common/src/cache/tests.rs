//! Tests of the cache, with the request times of a simulated clock.

use std::cell::Cell;

use super::entries::ENTRY_BYTES;
use super::*;

#[derive(Debug, thiserror::Error)]
#[error("the source failed")]
struct TestError<const IS_SPARED: bool = true> {
    is_failure: bool,
}

impl<const IS_SPARED: bool> SourceError for TestError<IS_SPARED> {
    const IS_SPARED: bool = IS_SPARED;

    fn is_failure(&self) -> bool {
        self.is_failure
    }
}

impl Weight for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

const START: UnixMilliseconds = UnixMilliseconds::new(1_777_388_600_000);
const TTL: Duration = Duration::from_secs(5);

/// Returns an invocation whose event has the time `after` later than `START`.
fn invocation(after: Duration) -> Invocation {
    Invocation::new(START.plus(after), Instant::now() + Duration::from_secs(10))
}

async fn look_up(
    cache: &Cache<u32, String>,
    key: u32,
    after: Duration,
    source: Option<&str>,
) -> Option<(String, bool)> {
    let fetch = async || source.map(str::to_owned).ok_or(TestError::<true> { is_failure: true });
    let lookup = cache.get(key, &invocation(after), fetch).await.ok()?;
    Some((lookup.value, lookup.cached))
}

/// Whether a request for `key` at this time fetches. The source fails.
async fn fetches(cache: &Cache<u32, String>, key: u32, after: Duration) -> bool {
    fetches_from(cache, key, after, TestError::<true> { is_failure: true }).await
}

/// Whether a request for `key` at this time fetches. The source fails with this error.
async fn fetches_from(
    cache: &Cache<u32, String>,
    key: u32,
    after: Duration,
    error: impl SourceError,
) -> bool {
    let fetched = Cell::new(false);
    let fetch = async || {
        fetched.set(true);
        Err(error)
    };
    match cache.get(key, &invocation(after), fetch).await {
        Ok(stale) => assert!(stale.refresh_failure.unwrap().contains("the source failed")),
        Err(failure) => assert!(failure.to_string().contains("the source failed")),
    }
    fetched.get()
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
        Ok::<_, TestError<true>>("a".to_owned())
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

#[tokio::test]
async fn a_key_pauses_for_a_second_and_twice_as_long_after_each_further_failure() {
    for (ttl, pauses) in [(5, [1, 2, 4, 8, 10, 10]), (3_600, [1, 2, 4, 8, 16, 30])] {
        for value in [None, Some("a")] {
            let cache = Cache::new(Duration::from_secs(ttl), 1_000);
            if value.is_some() {
                look_up(&cache, 1, Duration::ZERO, value).await;
            }
            let mut now = Duration::from_secs(ttl);
            assert!(fetches(&cache, 1, now).await);
            for pause in pauses.map(Duration::from_secs) {
                // A pause is shortened by at most a quarter.
                for after in [Duration::ZERO, pause * 74 / 100] {
                    assert!(!fetches(&cache, 1, now + after).await, "{after:?} into {pause:?}");
                }
                now += pause;
                assert!(fetches(&cache, 1, now).await, "after {pause:?}");
            }
            // After a time without requests, a new row of failures begins.
            now += Duration::from_secs(61);
            assert!(fetches(&cache, 1, now).await && fetches(&cache, 1, now + Duration::from_secs(1)).await);
        }
    }
}

#[tokio::test]
async fn a_broken_key_pauses_no_other_and_three_in_a_row_pause_all() {
    let cache = Cache::new(TTL, 1_000);
    let second = Duration::from_secs(1);
    for after in [0, 1, 3, 7] {
        assert!(fetches(&cache, 1, second * after).await);
    }
    assert_eq!(look_up(&cache, 2, second * 7, Some("a")).await, Some(found("a", false)));
    assert!(fetches(&cache, 3, second * 7).await && fetches(&cache, 4, second * 7).await);
    assert_eq!(look_up(&cache, 5, second * 7, Some("a")).await, Some(found("a", false)), "two in a row");
    for key in [6, 7, 8] {
        assert!(fetches(&cache, key, second * 7).await, "a success ends the row");
    }
    assert!(!fetches(&cache, 9, second * 7).await, "three in a row");
    assert_eq!(look_up(&cache, 2, second * 7, None).await, Some(found("a", true)), "a fresh value");
    assert!(fetches(&cache, 9, second * 8).await);
    assert!(!fetches(&cache, 10, second * 9).await, "the second pause is twice as long");
    assert_eq!(look_up(&cache, 10, second * 10, Some("a")).await, Some(found("a", false)));
    assert_eq!(
        look_up(&cache, 11, second * 10, Some("a")).await,
        Some(found("a", false)),
        "the source has recovered"
    );
}

#[tokio::test]
async fn a_pause_ends_with_the_stale_value_and_with_a_success() {
    let cache = Cache::new(TTL, 1_000);
    let second = Duration::from_secs(1);
    look_up(&cache, 1, Duration::ZERO, Some("a")).await;
    for after in [50, 51, 53] {
        assert!(fetches(&cache, 1, second * after).await);
    }
    assert_eq!(look_up(&cache, 1, second * 54, Some("b")).await, Some(found("a", true)));
    let end = second * 55 + Duration::from_millis(1);
    assert_eq!(look_up(&cache, 1, end, Some("b")).await, Some(found("b", false)));
    assert!(fetches(&cache, 1, second * 61).await && fetches(&cache, 1, second * 62).await, "a short pause");
}

#[tokio::test]
async fn a_failure_of_an_event_from_another_time_pauses_nothing() {
    let cache = Cache::new(TTL, 1_000);
    let minute = Duration::from_mins(1);
    assert!(fetches(&cache, 1, minute * 100_000).await);
    assert!(fetches(&cache, 1, minute).await);
    assert!(fetches(&cache, 1, Duration::ZERO).await, "the clock went back");
    assert!(!fetches(&cache, 1, Duration::from_millis(100)).await);
}

#[tokio::test]
async fn the_first_fetch_after_a_failure_is_sent_once() {
    let cache = Cache::new(TTL, 1_000);
    for (after, value, may_retry) in
        [(0, None, true), (1, None, false), (3, Some("a"), false), (8, None, true), (100, None, true)]
    {
        let invocation = invocation(Duration::from_secs(after));
        let value = value.map(str::to_owned);
        let fetch = async || value.ok_or(TestError::<true> { is_failure: true });
        let _ = cache.get(1, &invocation, fetch).await;
        assert_eq!(invocation.may_retry(), may_retry, "{after} s");
    }
}

#[tokio::test]
async fn a_source_that_is_not_spared_pauses_only_for_stale_values() {
    let cache = Cache::new(TTL, 1_000);
    look_up(&cache, 1, Duration::ZERO, Some("a")).await;
    for (key, again) in [(1, false), (2, true)] {
        assert!(fetches_from(&cache, key, TTL, TestError::<false> { is_failure: true }).await);
        assert_eq!(fetches_from(&cache, key, TTL, TestError::<false> { is_failure: true }).await, again);
    }
}

#[tokio::test]
async fn nothing_pauses_after_an_error_that_is_no_failure_of_the_source() {
    let cache = Cache::new(TTL, 1_000);
    for _ in 0..2 {
        assert!(fetches_from(&cache, 1, TTL, TestError::<true> { is_failure: false }).await);
        let paused = Failure::Fetch { source: TestError::<true> { is_failure: true }, pause: Some(TTL) };
        assert!(fetches_from(&cache, 1, TTL, paused).await, "another cache pauses");
    }
}

#[tokio::test]
async fn the_parts_of_one_resource_pause_together_and_recover_together() {
    let second = Duration::from_secs(1);
    let cache = Cache::new(TTL, 1_000).of_one_resource();
    assert!(fetches(&cache, 1, Duration::ZERO).await);
    for key in [1, 2] {
        assert!(!fetches(&cache, key, Duration::ZERO).await, "{key}");
    }
    assert!(fetches(&cache, 2, second).await && !fetches(&cache, 1, second * 2).await, "twice as long");
    assert_eq!(look_up(&cache, 2, second * 3, Some("a")).await, Some(found("a", false)));
    assert!(fetches(&cache, 1, second * 3).await, "the resource has recovered");
}

#[tokio::test]
async fn a_value_keeps_the_age_of_the_response_that_it_was_made_of() {
    let cache = Cache::new(TTL, 1_000);
    let invocation = invocation(Duration::ZERO);
    invocation.note_age(Some(500));
    for (key, noted, age) in [(1, Some(7), 7), (2, None, 0), (1, Some(9), 7)] {
        let fetch = async || {
            invocation.note_age(Some(300));
            invocation.note_age(noted);
            Ok::<_, TestError<true>>("a".to_owned())
        };
        assert_eq!(cache.get(key, &invocation, fetch).await.unwrap().age, Duration::from_secs(age));
    }
    assert_eq!(invocation.upstream_age(), Some(500), "the log has the largest age");
}
