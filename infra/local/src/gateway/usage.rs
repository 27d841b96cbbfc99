//! Usage plans: the key of a request, and whether its rate or its quota is used up. Each key has a bucket of its own that holds
//! its plan's burst and is refilled at its plan's rate, by the cloud's clock. It starts full. A method with a throttle of its own
//! has a bucket of its own for each key. A quota counts the admitted requests of a calendar month in UTC.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use simulator::Clock;

use super::authorization::Authorization;
use super::gateway_response::GatewayError;
use crate::template::{Route, Throttle, UsagePlan};

/// The length of a key that API Gateway accepts.
const KEY_CHARACTERS: RangeInclusive<usize> = 20..=128;
/// The entry of the authorizer's context that names the caller's tier.
const TIER: &str = "tier";
/// The longest time that an empty bucket takes to fill: 31 years. Buckets count nanoseconds in 64 bits.
const MAX_FILL_TIME: Duration = Duration::from_secs(1_000_000_000);
/// When the clock is set back by more than this, all buckets start again.
const MAX_CLOCK_SKEW_MS: i64 = 1_000;

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
    plans: BTreeMap<String, UsagePlan>,
    clock: BucketClock,
    buckets: Mutex<Buckets>,
}

#[derive(Default)]
struct Buckets {
    /// By tier, key and, if it has a throttle of its own, method.
    by_key: HashMap<(String, String, Option<String>), Bucket>,
    /// The admitted requests of a month by tier and key.
    used: HashMap<(String, String), (Month, u64)>,
    latest_ms: i64,
}

/// A year and a month of it, in UTC.
type Month = (i16, i8);

impl Usage {
    pub(super) fn new(plans: &[UsagePlan], clock: Clock) -> Self {
        Self {
            plans: plans.iter().map(|plan| (plan.tier.clone(), plan.clone())).collect(),
            buckets: Mutex::default(),
            clock: BucketClock(clock),
        }
    }

    /// Counts the request, and returns the caller's key.
    ///
    /// # Errors
    /// `InvalidApiKey` when the key belongs to no plan, `Throttled` when its rate is used up, `QuotaExceeded` when its quota is.
    pub(super) fn admit<'caller>(
        &self,
        authorization: Option<&'caller Authorization>,
        route: &Route,
    ) -> Result<&'caller str, GatewayError> {
        let authorization = authorization.ok_or(GatewayError::InvalidApiKey)?;
        let key = authorization.usage_identifier.as_deref().ok_or(GatewayError::InvalidApiKey)?;
        if !KEY_CHARACTERS.contains(&key.chars().count()) {
            return Err(GatewayError::InvalidApiKey);
        }
        let tier = authorization.context(TIER).ok_or(GatewayError::InvalidApiKey)?;
        let plan = self.plans.get(&tier).ok_or(GatewayError::InvalidApiKey)?;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = self.clock.0.now_ms();
        if now_ms < buckets.latest_ms - MAX_CLOCK_SKEW_MS {
            *buckets = Buckets::default();
        }
        buckets.latest_ms = now_ms;
        if !self.take_one(&mut buckets, plan, key, route) {
            return Err(GatewayError::Throttled);
        }
        if buckets.use_up_one(plan, key, month(now_ms)) { Ok(key) } else { Err(GatewayError::QuotaExceeded) }
    }

    fn take_one(&self, buckets: &mut Buckets, plan: &UsagePlan, key: &str, route: &Route) -> bool {
        let method = format!("{}/{}", route.path, route.method);
        let own = plan.method_throttles.get(&method).copied();
        let Some(throttle) = own.or(plan.throttle) else { return true };
        let Some(quota) = quota(throttle) else { return false };
        let bucket = (plan.tier.clone(), key.to_owned(), own.map(|_| method));
        let new_bucket = || RateLimiter::direct_with_clock(quota, self.clock.clone());
        buckets.by_key.entry(bucket).or_insert_with(new_bucket).check().is_ok()
    }
}

impl Buckets {
    /// Counts a request of the month, unless the quota is used up.
    fn use_up_one(&mut self, plan: &UsagePlan, key: &str, month: Month) -> bool {
        let Some(quota) = plan.monthly_quota else { return true };
        let (of, used) = self.used.entry((plan.tier.clone(), key.to_owned())).or_insert((month, 0));
        if *of != month {
            (*of, *used) = (month, 0);
        }
        let is_left = *used < quota;
        *used += u64::from(is_left);
        is_left
    }
}

fn month(now_ms: i64) -> Month {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(TimeZone::UTC);
    (now.year(), now.month())
}

/// `None` if the plan allows no requests.
fn quota(throttle: Throttle) -> Option<Quota> {
    let burst = NonZeroU32::new(throttle.burst).filter(|_| throttle.rate > 0.0)?;
    let interval = Duration::try_from_secs_f64(1.0 / throttle.rate).unwrap_or(Duration::MAX);
    let interval = interval.clamp(Duration::from_nanos(1), MAX_FILL_TIME);
    let max_burst = u32::try_from(MAX_FILL_TIME.as_nanos() / interval.as_nanos()).unwrap_or(u32::MAX);
    Some(Quota::with_period(interval)?.allow_burst(burst.min(NonZeroU32::new(max_burst)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdefghij";
    const NOW_MS: i64 = 1_795_273_510_000;

    /// Usage plans by a clock that practically stands still.
    fn usage(plans: &[(&str, Option<(f64, u32)>)]) -> Usage {
        let plans: Vec<_> = plans
            .iter()
            .map(|(tier, throttle)| UsagePlan {
                logical_id: (*tier).to_owned(),
                tier: (*tier).to_owned(),
                throttle: throttle.map(|(rate, burst)| Throttle { rate, burst }),
                method_throttles: BTreeMap::new(),
                monthly_quota: None,
            })
            .collect();
        let clock = Clock::system();
        clock.set(NOW_MS);
        Usage::new(&plans, clock)
    }

    fn admitted_at_once(usage: &Usage, tier: &str, key: &str) -> usize {
        let authorization = Authorization::for_tests(Some(tier), Some(key));
        (0..1_000).take_while(|_| usage.admit(Some(&authorization), &Route::default()).is_ok()).count()
    }

    #[test]
    fn extreme_limits_are_accepted() {
        for (throttle, expected) in [
            (None, 1_000),
            (Some((0.0, 5)), 0),
            (Some((5.0, 0)), 0),
            (Some((1e12, u32::MAX)), 1_000),
            (Some((1e-300, 1)), 1),
            (Some((1e-5, u32::MAX)), 1_000),
        ] {
            let usage = usage(&[("pro", throttle)]);
            assert_eq!(admitted_at_once(&usage, "pro", KEY), expected, "{throttle:?}");
        }
    }

    #[test]
    fn a_key_without_a_plan_is_invalid() {
        let (usage, route) = (usage(&[("pro", None)]), Route::default());
        assert_eq!(usage.admit(Some(&Authorization::for_tests(Some("pro"), Some(KEY))), &route), Ok(KEY));
        assert_eq!(usage.admit(None, &route), Err(GatewayError::InvalidApiKey));
        for (tier, key) in [
            (Some("starter"), Some(KEY)),
            (None, Some(KEY)),
            (Some("pro"), None),
            (Some("pro"), Some("too short")),
            (Some("pro"), Some("x".repeat(129).as_str())),
        ] {
            let authorization = Authorization::for_tests(tier, key);
            let admitted = usage.admit(Some(&authorization), &route);
            assert_eq!(admitted, Err(GatewayError::InvalidApiKey), "{tier:?} {key:?}");
        }
    }
}
