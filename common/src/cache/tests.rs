//! Tests of the cache, with the request times of a simulated clock.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::join_all;

use super::entries::ENTRY_BYTES;
use super::*;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum TestError {
    #[error("the source timed out")]
    Timeout,
    #[error("the source was not asked")]
    Paused,
    #[error("the fetch of another request took too long")]
    NotSharedInTime,
}

impl SourceError for TestError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    fn paused() -> Self {
        Self::Paused
    }

    fn not_shared_in_time() -> Self {
        Self::NotSharedInTime
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
    cache: &Cache<u32, String, TestError>,
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
        Ok("a".to_owned())
    };
    let first = cache.get(1, &invocation(Duration::ZERO), slow).await.unwrap();
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
        let invocation = &invocation(Duration::from_secs(seconds));
        let through = async || source.get(1, invocation, fetch).await;
        let lookup = cache.get_through(1, invocation, through).await.ok()?;
        Some((lookup.value, lookup.fetched_at, lookup.cached))
    };
    source.get(1, &invocation(Duration::ZERO), async || Ok("a".to_owned())).await.unwrap();
    assert_eq!(look_up(3, Some("b")).await, Some(("a".to_owned(), at(0), true)));
    assert_eq!(look_up(5, Some("b")).await, Some(("b".to_owned(), at(5), false)));
    assert_eq!(look_up(60, None).await, Some(("b".to_owned(), at(5), true)));
    assert_eq!(look_up(61, None).await, None);
    let kept = |key, seconds| cache.kept(&key, at(seconds)).map(|kept| kept.value);
    assert_eq!(kept(1, 60).as_deref(), Some("b"));
    assert_eq!(kept(1, 61), None);
    assert_eq!(kept(2, 0), None);
}

#[tokio::test]
async fn a_stale_value_from_another_cache_does_not_replace_a_newer_one() {
    let cache = Cache::<u32, String, TestError>::new(TTL, 1_000);
    let stale = |value: &str, fetched_at| {
        let refresh_failure = Some("failed".to_owned());
        Ok(Lookup { value: value.to_owned(), fetched_at, cached: true, refresh_failure })
    };
    look_up(&cache, 1, Duration::from_secs(10), Some("newer")).await;
    let (older, now) = (START, &invocation(Duration::from_secs(20)));
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
    assert!(cache.get(1, &invocation(Duration::from_secs(6)), hanging).await.unwrap().cached);
    let look_up = async |key, after| look_up(&cache, key, Duration::from_secs(after), Some("b")).await;
    assert_eq!(look_up(1, 15).await, Some(found("a", true)));
    assert_eq!(look_up(2, 15).await, Some(found("b", false)));
    assert_eq!(look_up(1, 19).await, Some(found("b", false)));
}

type TestCache = Cache<u32, String, TestError>;

/// How many requests Lambda passes to a process at a time, at most.
const REQUESTS: usize = 64;

/// What 64 requests at the same time get for the key that `key` returns for each, from a source that takes a second. And how many
/// of them fetched.
async fn at_once(
    cache: &TestCache,
    key: impl Fn(usize) -> u32,
    result: Result<&str, TestError>,
) -> (Vec<Result<(String, bool), TestError>>, usize) {
    let (fetches, result) = (&AtomicUsize::new(0), &result);
    let requests = (0..REQUESTS).map(async |number| {
        let fetch = async || {
            fetches.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(1)).await;
            result.clone().map(str::to_owned)
        };
        let lookup = cache.get(key(number), &invocation(Duration::ZERO), fetch).await?;
        Ok((lookup.value, lookup.cached))
    });
    let start = Instant::now();
    let results = join_all(requests).await;
    assert_eq!(start.elapsed(), Duration::from_secs(1), "no request waits for the fetch of another key");
    (results, fetches.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn requests_for_one_key_share_one_fetch_that_is_new_for_one_of_them() {
    // Also if the value is too large to be kept.
    for capacity_bytes in [1_000, 0] {
        let (results, fetches) = at_once(&Cache::new(TTL, capacity_bytes), |_| 1, Ok("a")).await;
        assert_eq!(fetches, 1);
        let cached = results.into_iter().map(|result| result.map(|(value, cached)| (value == "a", cached)));
        let [first, others @ ..] = &*cached.collect::<Vec<_>>() else { panic!("64 results") };
        assert_eq!(*first, Ok((true, false)));
        assert!(others.iter().all(|other| *other == Ok((true, true))), "{others:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_for_different_keys_do_not_wait_for_each_other() {
    let key = |number| u32::try_from(number).unwrap();
    let (results, fetches) = at_once(&Cache::new(TTL, 100_000), key, Ok("a")).await;
    assert_eq!(fetches, REQUESTS);
    assert!(results.iter().all(|result| *result == Ok(found("a", false))), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn requests_for_one_key_share_a_failure() {
    let cache = Cache::new(TTL, 1_000);
    let (results, fetches) = at_once(&cache, |_| 1, Err(TestError::Timeout)).await;
    assert_eq!(fetches, 1);
    assert!(results.iter().all(|result| *result == Err(TestError::Timeout)), "{results:?}");
    assert_eq!(
        look_up(&cache, 1, Duration::ZERO, Some("b")).await,
        Some(found("b", false)),
        "the next one fetches"
    );
}

#[tokio::test(start_paused = true)]
async fn a_shared_failure_leaves_every_request_its_stale_value() {
    let cache = Cache::new(TTL, 1_000);
    look_up(&cache, 1, Duration::ZERO, Some("a")).await;
    let hanging = async || {
        tokio::time::sleep(Duration::from_secs(8)).await;
        Err(TestError::Timeout)
    };
    let invocation = &invocation(Duration::from_secs(6));
    let lookups = join_all((0..REQUESTS).map(|_| cache.get(1, invocation, hanging))).await;
    for lookup in lookups {
        let lookup = lookup.unwrap();
        assert_eq!((&*lookup.value, lookup.fetched_at, lookup.cached), ("a", START, true));
        assert_eq!(lookup.refresh_failure.as_deref(), Some("the source timed out"));
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_for_a_slow_source_share_its_value_though_it_takes_longer_than_the_ttl() {
    let cache = TestCache::new(TTL, 1_000);
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(6_400)).await;
        Ok("a".to_owned())
    };
    let (first, second) = (invocation(Duration::ZERO), invocation(Duration::from_millis(1)));
    let (first, second) = tokio::join!(cache.get(1, &first, slow), cache.get(1, &second, slow));
    assert_eq!((first.unwrap().cached, second.unwrap().cached), (false, true));
}

/// How the lookups of three requests end that wait for one which is cancelled or panics: whether they were cached.
async fn after(cancelled: impl Future<Output = ()>, cache: &TestCache) -> Vec<bool> {
    let invocation = invocation(Duration::ZERO);
    let good = async || Ok("a".to_owned());
    let waiting = join_all((0..3).map(|_| cache.get(1, &invocation, good)));
    let ((), lookups) = tokio::join!(cancelled, waiting);
    lookups.into_iter().map(|lookup| lookup.unwrap().cached).collect()
}

#[tokio::test(start_paused = true)]
async fn after_a_fetch_that_was_cancelled_or_panicked_the_next_request_fetches() {
    let first = invocation(Duration::ZERO);
    let cache = TestCache::new(TTL, 1_000);
    let never = async || std::future::pending().await;
    let cancelled = tokio::time::timeout(Duration::from_secs(1), cache.get(1, &first, never));
    assert_eq!(after(cancelled.map(|result| assert!(result.is_err())), &cache).await, [false, true, true]);

    let cache = TestCache::new(TTL, 1_000);
    let panicking = async || {
        tokio::time::sleep(Duration::from_secs(1)).await;
        panic!("the source is broken")
    };
    let panicked = AssertUnwindSafe(cache.get(1, &first, panicking)).catch_unwind();
    assert_eq!(after(panicked.map(|result| assert!(result.is_err())), &cache).await, [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_the_fetch_of_another_until_its_own_deadline() {
    let cache = TestCache::new(TTL, 1_000);
    look_up(&cache, 2, Duration::ZERO, Some("stale")).await;
    let never = async || std::future::pending().await;
    let (start, now) = (Instant::now(), START.plus(TTL));
    let (patient, hasty) = (
        Invocation::new(now, start + Duration::from_mins(1)),
        Invocation::new(now, start + Duration::from_secs(3)),
    );
    for (key, expected) in [(1, Err(TestError::NotSharedInTime)), (2, Ok("stale".to_owned()))] {
        let begun = Instant::now();
        let fetching = cache.get(key, &patient, never);
        let waiting = async {
            let lookup = cache.get(key, &hasty, never).await;
            assert!(begun.elapsed() <= Duration::from_secs(3), "{:?}", begun.elapsed());
            lookup.map(|lookup| lookup.value)
        };
        tokio::select! {
            biased;
            _ = fetching => panic!("it never ends"),
            result = waiting => assert_eq!(result, expected),
        }
    }
    assert!(hasty.upstream_time() >= Duration::from_secs(2), "the wait counts as waiting for the upstream");
}

#[tokio::test(start_paused = true)]
async fn a_request_of_another_time_fetches_for_itself() {
    let cache = TestCache::new(TTL, 1_000);
    let slow = |value: &str| {
        let value = value.to_owned();
        async || {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(value)
        }
    };
    let (present, future) = (invocation(Duration::ZERO), invocation(Duration::from_hours(9_000)));
    let (present, future) =
        tokio::join!(cache.get(1, &present, slow("present")), cache.get(1, &future, slow("future")));
    let lookups = [present.unwrap(), future.unwrap()].map(|lookup| (lookup.value, lookup.cached));
    assert_eq!(lookups, [found("present", false), found("future", false)]);
}

/// As the modes of the bazaar: each has a cache in front of that of the snapshot.
#[tokio::test(start_paused = true)]
async fn requests_through_different_caches_share_the_fetch_of_the_one_behind() {
    let (source, fetches) = (TestCache::new(TTL, 1_000), AtomicUsize::new(0));
    let caches = [(); 4].map(|()| TestCache::new(TTL, 1_000));
    let invocation = &invocation(Duration::ZERO);
    let fetch = async || {
        fetches.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok("a".to_owned())
    };
    let look_up = async || source.get(1, invocation, fetch).await;
    let requests =
        caches.iter().cycle().take(REQUESTS).map(|cache| cache.get_through(1, invocation, look_up));
    let lookups = join_all(requests).await.into_iter().map(|lookup| lookup.unwrap().cached);
    assert_eq!(lookups.filter(|cached| !cached).count(), 1);
    assert_eq!(fetches.load(Ordering::Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_on_several_threads_of_which_some_are_cancelled_all_end() {
    let cache = Arc::new(TestCache::new(Duration::from_millis(2), 500));
    let requests = (0..4_000_u32).map(|number| {
        let cache = Arc::clone(&cache);
        let after = Duration::from_millis(u64::from(number / 8));
        let request = tokio::spawn(async move {
            let fetch = async || {
                tokio::time::sleep(Duration::from_micros(fastrand::u64(0..300))).await;
                if fastrand::u8(..) < 40 {
                    Err(TestError::Timeout)
                } else {
                    Ok("a".repeat(fastrand::usize(..300)))
                }
            };
            let invocation = invocation(after);
            let request = cache.get(number % 3, &invocation, fetch);
            drop(tokio::time::timeout(Duration::from_micros(fastrand::u64(0..2_000)), request).await);
        });
        if number % 7 == 0 {
            request.abort();
        }
        request
    });
    let all = join_all(requests.collect::<Vec<_>>());
    tokio::time::timeout(Duration::from_mins(3), all).await.expect("no request waits for ever");
    let after = invocation(Duration::from_hours(1));
    let last = async |key| cache.get(key, &after, async || Ok("last".to_owned())).await.unwrap().cached;
    assert_eq!([last(0).await, last(1).await, last(2).await], [false; 3], "no fetch is left behind");
}
