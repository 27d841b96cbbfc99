//! Usage plans limit the rate and the quota of each API key that is attached to them. Each key has a separate
//! bucket, which holds the plan's burst, starts full, and is refilled at the plan's rate, by the cloud's
//! clock. A method with a separate throttle has a separate bucket for each key. Admitted requests are counted
//! per key and day in UTC; a quota limits their number in a calendar month.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use simulator::Clock;

use super::api_keys::ApiKeys;
use super::authorization::Authorization;
use super::gateway_response::GatewayError;
use crate::template::{Route, Throttle, UsagePlan};

/// The longest time until a bucket gets its next request: 31 years, so that no sum overflows.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1_000_000_000);
/// When the clock is set back by more than this, all buckets and quotas start again.
const MAX_CLOCK_SKEW_MS: i64 = 1_000;
/// How many days with requests are kept for each key.
const KEPT_DAYS: usize = 100;

pub(super) struct Usage {
    /// By id.
    plans: BTreeMap<String, UsagePlan>,
    keys: Arc<ApiKeys>,
    clock: Clock,
    admitted: Mutex<Admitted>,
}

/// How much of their limits the keys have used.
#[derive(Default)]
struct Admitted {
    /// When a bucket is full again, as the time since 1970. By plan, API key, and method if the method has
    /// its own throttle.
    full_at: HashMap<(String, String, Option<String>), Duration>,
    /// The number of requests in each day, by plan and key.
    requests: HashMap<(String, String), Days>,
    latest_ms: i64,
}

/// The number of requests of each day in UTC that has any.
type Days = BTreeMap<Date, u64>;

impl Usage {
    pub(super) fn new(plans: &[UsagePlan], keys: Arc<ApiKeys>, clock: Clock) -> Self {
        let by_id = plans.iter().map(|plan| (plan.logical_id.clone(), plan.clone())).collect();
        Self { plans: by_id, keys, clock, admitted: Mutex::default() }
    }

    /// Counts the request, and returns the caller's key.
    ///
    /// # Errors
    /// `InvalidApiKey` when there is no such key or it has no plan yet, `Throttled` when its bucket is empty,
    /// `QuotaExceeded` when its quota is used up.
    pub(super) fn admit<'caller>(
        &self,
        authorization: Option<&'caller Authorization>,
        route: &Route,
    ) -> Result<&'caller str, GatewayError> {
        let authorization = authorization.ok_or(GatewayError::InvalidApiKey)?;
        let key = authorization.usage_identifier.as_deref().ok_or(GatewayError::InvalidApiKey)?;
        let plan = self.keys.plan_of(key).and_then(|plan| self.plans.get(&plan));
        let plan = plan.ok_or(GatewayError::InvalidApiKey)?;
        let mut admitted = self.lock();
        let now_ms = self.clock.now_ms();
        if now_ms < admitted.latest_ms - MAX_CLOCK_SKEW_MS {
            *admitted = Admitted::default();
        }
        admitted.latest_ms = now_ms;
        let now = Duration::from_millis(u64::try_from(now_ms).unwrap_or_default());
        if !admitted.take_one(plan, key, route, now) {
            return Err(GatewayError::Throttled);
        }
        if admitted.use_up_one(plan, key, day(now_ms)) { Ok(key) } else { Err(GatewayError::QuotaExceeded) }
    }

    /// Returns a pair for each day from `first` to `last`: the requests of the key in the plan, and the rest
    /// of the quota at the end of the day, which is 0 without a quota. `None` if there were no requests in
    /// these days.
    pub(super) fn by_day(&self, plan: &str, key: &str, first: Date, last: Date) -> Option<Vec<[u64; 2]>> {
        let quota = self.plans.get(plan)?.monthly_quota.unwrap_or_default();
        let admitted = self.lock();
        let days = admitted.requests.get(&(plan.to_owned(), key.to_owned()))?;
        if !days.keys().any(|day| (first..=last).contains(day)) {
            return None;
        }
        let of_day = |day: Date| {
            [days.get(&day).copied().unwrap_or_default(), quota.saturating_sub(used_in_month(days, day))]
        };
        Some(first.series(1.day()).take_while(|day| *day <= last).map(of_day).collect())
    }

    /// Forgets everything that was counted for the key.
    pub(super) fn forget(&self, key: &str) {
        let mut admitted = self.lock();
        admitted.full_at.retain(|(_, of_key, _), _| of_key != key);
        admitted.requests.retain(|(_, of_key), _| of_key != key);
    }

    fn lock(&self) -> MutexGuard<'_, Admitted> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admitted {
    /// Takes a request from the key's bucket. Returns false if the bucket is empty.
    fn take_one(&mut self, plan: &UsagePlan, key: &str, route: &Route, now: Duration) -> bool {
        let method = format!("{}/{}", route.path, route.method);
        let own = plan.method_throttles.get(&method).copied();
        let Some(throttle) = own.or(plan.throttle) else { return true };
        let bucket = (plan.logical_id.clone(), key.to_owned(), own.map(|_| method));
        take_from(self.full_at.entry(bucket).or_default(), throttle, now)
    }

    /// Counts a request of the day. Returns false if the quota of the month is used up.
    fn use_up_one(&mut self, plan: &UsagePlan, key: &str, today: Date) -> bool {
        let days = self.requests.entry((plan.logical_id.clone(), key.to_owned())).or_default();
        if plan.monthly_quota.is_some_and(|quota| used_in_month(days, today) >= quota) {
            return false;
        }
        *days.entry(today).or_default() += 1;
        if days.len() > KEPT_DAYS {
            days.pop_first();
        }
        true
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

/// Returns the number of requests from the first day of the month up to this day.
fn used_in_month(days: &Days, day: Date) -> u64 {
    days.range(day.first_of_month()..=day).map(|(_, requests)| requests).sum()
}

fn day(now_ms: i64) -> Date {
    Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_hundred_days_are_kept_and_a_quota_is_per_month() {
        let plan = UsagePlan {
            logical_id: "Plan".to_owned(),
            tier: "pro".to_owned(),
            throttle: None,
            method_throttles: BTreeMap::new(),
            monthly_quota: Some(30),
        };
        let mut admitted = Admitted::default();
        let days: Vec<_> = Date::constant(2026, 1, 1).series(1.day()).take(150).collect();
        let refused: Vec<_> = days.iter().filter(|day| !admitted.use_up_one(&plan, "key", **day)).collect();
        assert_eq!(refused, [&days[30], &days[89]], "the last days of January and March");
        let kept = &admitted.requests[&("Plan".to_owned(), "key".to_owned())];
        assert_eq!((kept.len(), kept.keys().next_back()), (KEPT_DAYS, days.last()));
    }

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
