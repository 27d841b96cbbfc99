//! The usage of an account, and its limits.

use aws::AwsError;
use common::auth::{Account, AccountName, Entitlement, Tier};
use common::config::{Config, ConfigError};
use common::time::UnixSeconds;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::keys::Gateway;

/// The limits of an account in a tier. All keys of the account share them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// The most requests per second in the long run.
    pub requests_per_second: f64,
    /// The most requests at once after a pause.
    pub burst: u32,
    /// The most requests per second for `/v1/profile/{username}` in the long run.
    pub profiles_per_second: f64,
    /// The most requests at once for `/v1/profile/{username}` after a pause.
    pub profiles_burst: u32,
}

/// The limits of all tiers, and the monthly quotas.
#[derive(Debug)]
pub struct PlanLimits([Option<(Limits, Option<u64>)>; 3]);

impl PlanLimits {
    /// Reads the limits of the environment.
    pub fn of_config(config: &Config) -> Result<Self, ConfigError> {
        let profile = |text: &str| match rate_and_burst(text) {
            Some((rate, burst, "")) => Some((rate, burst)),
            _ => None,
        };
        let (variable, form) = ("PROFILE_LIMITS", "a rate and a burst");
        let profile = config.value(variable, form, profile)?.ok_or(ConfigError::new(variable, form))?;
        let of = |variable| config.value(variable, FORM, |text| limits(text, profile));
        let required = |variable| of(variable)?.ok_or(ConfigError::new(variable, FORM)).map(Some);
        Ok(Self([of("FREE_LIMITS")?, required("STARTER_LIMITS")?, required("PRO_LIMITS")?]))
    }

    /// Whether the operator offers the tier.
    #[must_use]
    pub fn has(&self, tier: Tier) -> bool {
        self.of(tier).is_some()
    }

    fn of(&self, tier: Tier) -> Option<(Limits, Option<u64>)> {
        let [free, starter, pro] = self.0;
        match tier {
            Tier::Free => free,
            Tier::Starter => starter,
            Tier::Pro => pro,
        }
    }
}

const FORM: &str = "a rate, a burst and a quota; 0 as the quota for none";

fn rate_and_burst(text: &str) -> Option<(f64, u32, &str)> {
    let mut words = text.splitn(3, ' ');
    let (rate, burst) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((rate, burst, words.next().unwrap_or_default()))
}

fn limits(text: &str, (profiles_per_second, profiles_burst): (f64, u32)) -> Option<(Limits, Option<u64>)> {
    let (requests_per_second, burst, quota) = rate_and_burst(text)?;
    let quota = quota.parse().ok()?;
    let limits = Limits { requests_per_second, burst, profiles_per_second, profiles_burst };
    Some((limits, Some(quota).filter(|quota| *quota > 0)))
}

/// The requests of a day in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DayUsage {
    /// The day, such as `2026-11-20`.
    pub day: String,
    /// The number of requests in the account's tier.
    pub requests: u64,
}

/// What an account has used of its limits in this calendar month (UTC), as API Gateway counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// The tier of the account: `free`, `starter` or `pro`.
    #[schemars(with = "String")]
    pub tier: Tier,
    /// The last second that is paid for.
    pub paid_until: UnixSeconds,
    /// The requests per calendar month. `null` without a quota.
    pub quota: Option<u64>,
    /// The requests that are left in the month. `null` without a quota.
    pub remaining: Option<u64>,
    /// When the next month begins. `null` without a quota.
    pub resets_at: Option<UnixSeconds>,
    /// The requests of the month in this tier.
    pub used: u64,
    /// The limits of the tier.
    pub limits: Limits,
    /// The days of the month with requests, ascending.
    pub days: Vec<DayUsage>,
    /// When API Gateway was asked. Its figures can be an hour older.
    pub asked_at: UnixSeconds,
}

/// Why the usage of an account is unknown.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    #[error(transparent)]
    Aws(#[from] AwsError),
    #[error("the tier {0} is not offered")]
    NoLimits(Tier),
    #[error("the account {0} has no subscription")]
    NoSubscription(AccountName),
    #[error("the time {0} has no month")]
    NoMonth(UnixSeconds),
}

impl PlanLimits {
    /// Asks API Gateway for the account's usage at the time `now`.
    ///
    /// # Errors
    /// If API Gateway refuses the request or cannot be reached, the account has no subscription, or the
    /// operator does not offer its tier.
    pub async fn usage(
        &self,
        gateway: &Gateway,
        account: &Account,
        now: UnixSeconds,
    ) -> Result<Usage, UsageError> {
        let entitlement = account.entitlement_at(now);
        let Entitlement { tier, paid_until, .. } =
            entitlement.ok_or_else(|| UsageError::NoSubscription(account.name.clone()))?;
        let (limits, quota) = self.of(tier).ok_or(UsageError::NoLimits(tier))?;
        let month = Month::of(now).ok_or(UsageError::NoMonth(now))?;
        let counts = match account.gateway_keys.get(&tier) {
            Some(key) => {
                let [first, last] = [month.first, month.today].map(|day| day.to_string());
                gateway.operations.get_usage(&key.plan, &key.id, &first, &last).await?
            }
            None => Vec::new(),
        };
        let natural = |count: i64| u64::try_from(count).unwrap_or_default();
        let days = month.first.series(1.day()).zip(&counts);
        let days = days.map(|(day, [used, _])| DayUsage { day: day.to_string(), requests: natural(*used) });
        let days: Vec<_> = days.filter(|day| day.requests > 0).collect();
        let left = counts.last().map(|[_, remaining]| natural(*remaining));
        Ok(Usage {
            tier,
            paid_until,
            quota,
            remaining: quota.map(|quota| left.unwrap_or(quota)),
            resets_at: quota.map(|_| month.next),
            used: days.iter().map(|day| day.requests).sum(),
            limits,
            days,
            asked_at: now,
        })
    }
}

/// A calendar month in UTC.
struct Month {
    first: Date,
    today: Date,
    /// When the next month begins.
    next: UnixSeconds,
}

impl Month {
    fn of(now: UnixSeconds) -> Option<Self> {
        let today = Timestamp::from_second(now.get()).ok()?.to_zoned(TimeZone::UTC).date();
        let first = today.first_of_month();
        let next = first.checked_add(1.month()).ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(Self { first, today, next: UnixSeconds::new(next.timestamp().as_second()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_next_one_begins() {
        // 2026-12-31T23:59:59Z and 2027-01-01T00:00:00Z
        let month = Month::of(UnixSeconds::new(1_798_761_599)).unwrap();
        assert_eq!([month.first, month.today].map(|day| day.to_string()), ["2026-12-01", "2026-12-31"]);
        assert_eq!(month.next, UnixSeconds::new(1_798_761_600));
    }

    #[test]
    fn limits_have_a_rate_a_burst_and_a_quota() {
        let config = |name: &'static str, text: &'static str| {
            let of = move |variable: &str| match variable {
                _ if variable == name => Some(text.to_owned()),
                "STARTER_LIMITS" => Some("5 50 0".to_owned()),
                "PRO_LIMITS" => Some("15 150 70000".to_owned()),
                "PROFILE_LIMITS" => Some("0.5 20".to_owned()),
                _ => None,
            };
            PlanLimits::of_config(&Config::from_lookup(of))
        };
        let limits = config("", "").unwrap();
        let (pro, quota) = limits.of(Tier::Pro).unwrap();
        assert_eq!(
            (pro.requests_per_second, pro.burst, pro.profiles_per_second, quota),
            (15.0, 150, 0.5, Some(70_000))
        );
        assert_eq!(limits.of(Tier::Starter).unwrap().1, None);
        assert_eq!(limits.of(Tier::Free), None);
        for (name, text) in
            [("PRO_LIMITS", ""), ("PRO_LIMITS", "1 2"), ("FREE_LIMITS", "x"), ("PROFILE_LIMITS", "1 2 3")]
        {
            assert!(config(name, text).unwrap_err().to_string().contains(name), "{name} {text}");
        }
    }
}
