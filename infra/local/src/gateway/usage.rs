//! Usage plans limit the rate and the quota of each key. Each key has a separate bucket, which holds the plan's burst, starts full,
//! and is refilled at the plan's rate, by the cloud's clock. A method with a separate throttle has a separate bucket
//! for each key. A quota counts the admitted requests of a calendar month in UTC.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
/// The longest time until a bucket gets its next request: 31 years, so that no sum overflows.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1_000_000_000);
/// When the clock is set back by more than this, all buckets and quotas start again.
const MAX_CLOCK_SKEW_MS: i64 = 1_000;

pub(super) struct Usage {
    /// By tier.
    plans: BTreeMap<String, UsagePlan>,
    clock: Clock,
    admitted: Mutex<Admitted>,
}

/// How much of their limits the keys have used.
#[derive(Default)]
struct Admitted {
    /// When a bucket is full again, as the time since 1970. By tier, API key, and method if the method has its own throttle.
    full_at: HashMap<(String, String, Option<String>), Duration>,
    /// The number of requests in a month, by tier and key.
    requests: HashMap<(String, String), (Month, u64)>,
    latest_ms: i64,
}

/// A year and a month, in UTC.
type Month = (i16, i8);

impl Usage {
    pub(super) fn new(plans: &[UsagePlan], clock: Clock) -> Self {
        let by_tier = plans.iter().map(|plan| (plan.tier.clone(), plan.clone())).collect();
        Self { plans: by_tier, clock, admitted: Mutex::default() }
    }

    /// Counts the request, and returns the caller's key.
    ///
    /// # Errors
    /// `InvalidApiKey` when the key belongs to no plan, `Throttled` when its bucket is empty, `QuotaExceeded` when its quota is used up.
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
        let mut admitted = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = self.clock.now_ms();
        if now_ms < admitted.latest_ms - MAX_CLOCK_SKEW_MS {
            *admitted = Admitted::default();
        }
        admitted.latest_ms = now_ms;
        let now = Duration::from_millis(u64::try_from(now_ms).unwrap_or_default());
        if !admitted.take_one(plan, key, route, now) {
            return Err(GatewayError::Throttled);
        }
        if admitted.use_up_one(plan, key, month(now_ms)) { Ok(key) } else { Err(GatewayError::QuotaExceeded) }
    }
}

impl Admitted {
    /// Takes a request from the key's bucket. Returns false if the bucket is empty.
    fn take_one(&mut self, plan: &UsagePlan, key: &str, route: &Route, now: Duration) -> bool {
        let method = format!("{}/{}", route.path, route.method);
        let own = plan.method_throttles.get(&method).copied();
        let Some(throttle) = own.or(plan.throttle) else { return true };
        let bucket = (plan.tier.clone(), key.to_owned(), own.map(|_| method));
        take_from(self.full_at.entry(bucket).or_default(), throttle, now)
    }

    /// Counts a request of the month. Returns false if the quota is used up.
    fn use_up_one(&mut self, plan: &UsagePlan, key: &str, month: Month) -> bool {
        let Some(quota) = plan.monthly_quota else { return true };
        let (of, used) = self.requests.entry((plan.tier.clone(), key.to_owned())).or_insert((month, 0));
        if *of != month {
            (*of, *used) = (month, 0);
        }
        let is_left = *used < quota;
        *used += u64::from(is_left);
        is_left
    }
}

/// Takes a request from the bucket that is full again at `full_at`. Returns false if the bucket is empty.
fn take_from(full_at: &mut Duration, throttle: Throttle, now: Duration) -> bool {
    let spacing = Duration::try_from_secs_f64(1.0 / throttle.rate).unwrap_or(LONGEST_INTERVAL);
    let interval = spacing.min(LONGEST_INTERVAL);
    let full_after = now.max(*full_at) + interval;
    let is_left = throttle.rate > 0.0 && throttle.burst > 0 && full_after <= now + interval * throttle.burst;
    if is_left {
        *full_at = full_after;
    }
    is_left
}

fn month(now_ms: i64) -> Month {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(TimeZone::UTC);
    (now.year(), now.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_limits_are_accepted() {
        let now = Duration::from_secs(1_795_273_510);
        for (rate, burst, expected) in
            [(0.0, 5, 0), (5.0, 0, 0), (1e12, u32::MAX, 1_000), (1e-300, 1, 1), (1e-5, u32::MAX, 1_000)]
        {
            let mut full_at = Duration::ZERO;
            let takes = |_: &i32| take_from(&mut full_at, Throttle { rate, burst }, now);
            assert_eq!((0..1_000).take_while(takes).count(), expected, "{rate} {burst}");
        }
    }
}
