//! Usage plans: whose key a request comes with, and whether it comes too often. Each key has a bucket of its own, which
//! holds as many requests as its plan's burst and is filled at its plan's rate, by the cloud's clock. It begins full.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use lru::LruCache;
use simulator::Clock;

use super::authorizer::Permit;
use super::gateway_response::GatewayError;
use crate::template::{Throttle, UsagePlan};

/// What API Gateway takes for a key's value.
const IDENTIFIER_CHARACTERS: RangeInclusive<usize> = 20..=128;
/// How many buckets there are at a time; the least recently used go. As many as an account of AWS has API keys.
const BUCKETS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// What the authorizer's function calls the tier of a caller.
const TIER: &str = "tier";
/// How long an empty bucket takes at the most until it is full: 31 years.
const LONGEST_TO_FILL: Duration = Duration::from_secs(1_000_000_000);
/// When the clock is set back farther than this, what buckets hold means nothing any more.
const SET_BACK_MS: i64 = 1_000;

type Bucket = RateLimiter<NotKeyed, InMemoryState, BucketClock, NoOpMiddleware<Duration>>;

/// The cloud's clock as buckets read it.
#[derive(Clone)]
struct BucketClock(Clock);

impl governor::clock::Clock for BucketClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.now_ms()).unwrap_or_default())
    }
}

/// The usage plans of an API.
pub(super) struct Usage {
    /// By tier.
    plans: BTreeMap<String, Option<Throttle>>,
    clock: BucketClock,
    buckets: Mutex<Buckets>,
}

struct Buckets {
    /// By tier and key.
    by_key: LruCache<(String, String), Bucket>,
    latest_ms: i64,
}

impl Usage {
    pub(super) fn new(plans: &[UsagePlan], clock: Clock) -> Self {
        Self {
            plans: plans.iter().map(|plan| (plan.tier.clone(), plan.throttle)).collect(),
            buckets: Mutex::new(Buckets { by_key: LruCache::new(BUCKETS), latest_ms: clock.now_ms() }),
            clock: BucketClock(clock),
        }
    }

    /// The key that the request comes with, which is counted.
    ///
    /// # Errors
    /// `InvalidApiKey` when no plan has the key, `Throttled` when it comes too often.
    pub(super) fn admit<'permit>(
        &self,
        permit: Option<&'permit Permit>,
    ) -> Result<&'permit str, GatewayError> {
        let permit = permit.ok_or(GatewayError::InvalidApiKey)?;
        let identifier = permit.usage_identifier.as_deref().ok_or(GatewayError::InvalidApiKey)?;
        if !IDENTIFIER_CHARACTERS.contains(&identifier.chars().count()) {
            return Err(GatewayError::InvalidApiKey);
        }
        let tier = permit.context.get(TIER).ok_or(GatewayError::InvalidApiKey)?;
        match self.plans.get(tier) {
            None => Err(GatewayError::InvalidApiKey),
            Some(None) => Ok(identifier),
            Some(Some(throttle)) if self.takes_one(tier, identifier, *throttle) => Ok(identifier),
            Some(Some(_)) => Err(GatewayError::Throttled),
        }
    }

    fn takes_one(&self, tier: &str, identifier: &str, throttle: Throttle) -> bool {
        let Some(quota) = quota(throttle) else { return false };
        let now_ms = self.clock.0.now_ms();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if now_ms < buckets.latest_ms - SET_BACK_MS {
            buckets.by_key.clear();
        }
        buckets.latest_ms = now_ms;
        let bucket = buckets.by_key.get_or_insert((tier.to_owned(), identifier.to_owned()), || {
            RateLimiter::direct_with_clock(quota, self.clock.clone())
        });
        bucket.check().is_ok()
    }
}

/// `None` where nothing is let through.
fn quota(throttle: Throttle) -> Option<Quota> {
    let burst = NonZeroU32::new(throttle.burst).filter(|_| throttle.rate > 0.0)?;
    let interval = Duration::try_from_secs_f64(1.0 / throttle.rate).unwrap_or(Duration::MAX);
    let interval = interval.clamp(Duration::from_nanos(1), LONGEST_TO_FILL);
    // Buckets reckon in nanoseconds, of which 64 bits hold no more.
    let most = LONGEST_TO_FILL.as_nanos() / interval.as_nanos();
    let most = u32::try_from(most).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX);
    Some(Quota::with_period(interval)?.allow_burst(burst.min(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdefghij";
    const OTHER_KEY: &str = "abcdefghij0123456789";
    /// Some moment.
    const NOW_MS: i64 = 1_795_273_510_000;

    fn plan(tier: &str, throttle: Option<(f64, u32)>) -> UsagePlan {
        let throttle = throttle.map(|(rate, burst)| Throttle { rate, burst });
        UsagePlan { logical_id: tier.to_owned(), tier: tier.to_owned(), throttle }
    }

    /// Usage plans by a clock that practically stands still.
    fn usage(plans: &[UsagePlan]) -> (Usage, Clock) {
        let clock = Clock::system();
        clock.set(NOW_MS);
        (Usage::new(plans, clock.clone()), clock)
    }

    fn permit(tier: &str) -> Permit {
        Permit::for_tests(Some(tier), Some(KEY))
    }

    /// How many of the requests come through that are made at four times the rate for a minute.
    fn admitted_in_a_minute(usage: &Usage, clock: &Clock, tier: &str, rate: f64) -> f64 {
        let permit = permit(tier);
        let pause = Duration::from_secs_f64(0.25 / rate);
        let begun_ms = clock.now_ms();
        let (mut admitted, mut asked) = (0.0, 0_u32);
        while clock.now_ms() < begun_ms + 60_000 {
            if usage.admit(Some(&permit)).is_ok() {
                admitted += 1.0;
            }
            asked += 1;
            // Parts of a millisecond are dropped, so that the moment is counted from the beginning.
            let due_ms = begun_ms + i64::try_from((pause * asked).as_millis()).unwrap();
            clock.set(due_ms.max(clock.now_ms()));
        }
        admitted
    }

    #[test]
    fn at_four_times_the_rate_a_minute_lets_the_rate_through_and_what_was_saved_up() {
        for (rate, burst) in [(2.0, 60), (5.0, 150), (0.5, 3), (50.0, 1)] {
            let (usage, clock) = usage(&[plan("pro", Some((rate, burst)))]);
            let minute = rate * 60.0;
            let at_first = admitted_in_a_minute(&usage, &clock, "pro", rate);
            let saved_up = at_first - f64::from(burst);
            assert!((minute * 0.95..=minute * 1.05).contains(&saved_up), "{rate}: {at_first}");
            // Nothing is saved up now.
            let afterwards = admitted_in_a_minute(&usage, &clock, "pro", rate);
            assert!((minute * 0.95..=minute * 1.05).contains(&afterwards), "{rate}: {afterwards}");
        }
    }

    fn admitted_at_once(usage: &Usage, permit: &Permit) -> usize {
        (0..1_000).take_while(|_| usage.admit(Some(permit)).is_ok()).count()
    }

    #[test]
    fn a_burst_is_let_through_at_once_and_comes_back_with_time() {
        // A request in a hundred seconds, so that the test's own time does not count.
        let (usage, clock) = usage(&[plan("pro", Some((0.01, 4)))]);
        assert_eq!(admitted_at_once(&usage, &permit("pro")), 4);
        clock.advance(Duration::from_secs(250));
        assert_eq!(admitted_at_once(&usage, &permit("pro")), 2);
        clock.advance(Duration::from_hours(24));
        assert_eq!(admitted_at_once(&usage, &permit("pro")), 4);
        clock.set(NOW_MS);
        assert_eq!(admitted_at_once(&usage, &permit("pro")), 4, "after the clock was set back");
    }

    #[test]
    fn every_key_and_every_tier_has_a_bucket_of_its_own() {
        let (usage, _) = usage(&[plan("pro", Some((0.01, 4))), plan("starter", Some((0.01, 2)))]);
        assert_eq!(admitted_at_once(&usage, &permit("pro")), 4);
        assert_eq!(admitted_at_once(&usage, &permit("starter")), 2);
        assert_eq!(admitted_at_once(&usage, &Permit::for_tests(Some("pro"), Some(OTHER_KEY))), 4);
    }

    #[test]
    fn a_limit_may_be_missing_nought_or_huge() {
        let plans = [
            plan("free", None),
            plan("closed", Some((0.0, 5))),
            plan("shut", Some((5.0, 0))),
            plan("huge", Some((1e12, u32::MAX))),
            plan("tiny", Some((1e-300, 1))),
            plan("deep", Some((1e-5, u32::MAX))),
        ];
        let (usage, _) = usage(&plans);
        for (tier, expected) in
            [("free", 1_000), ("closed", 0), ("shut", 0), ("huge", 1_000), ("tiny", 1), ("deep", 1_000)]
        {
            assert_eq!(admitted_at_once(&usage, &permit(tier)), expected, "{tier}");
        }
    }

    #[test]
    fn a_key_that_no_plan_has_is_invalid() {
        let (usage, _) = usage(&[plan("pro", None)]);
        assert_eq!(usage.admit(Some(&permit("pro"))), Ok(KEY));
        assert_eq!(usage.admit(None), Err(GatewayError::InvalidApiKey));
        for (tier, key) in [
            (Some("starter"), Some(KEY)),
            (None, Some(KEY)),
            (Some("pro"), None),
            (Some("pro"), Some("too short")),
            (Some("pro"), Some("x".repeat(129).as_str())),
        ] {
            let permit = Permit::for_tests(tier, key);
            assert_eq!(usage.admit(Some(&permit)), Err(GatewayError::InvalidApiKey), "{tier:?} {key:?}");
        }
    }

    #[test]
    fn buckets_are_bounded() {
        let (usage, _) = usage(&[plan("pro", Some((1.0, 1)))]);
        for number in 0..BUCKETS.get() + 10 {
            let permit = Permit::for_tests(Some("pro"), Some(&format!("{number:020}")));
            assert!(usage.admit(Some(&permit)).is_ok());
        }
        assert_eq!(usage.buckets.lock().unwrap().by_key.len(), BUCKETS.get());
    }
}
