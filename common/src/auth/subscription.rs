//! What Stripe has reported about a subscription, and which tiers it allows until when.
//!
//! Events repeat and overtake each other, and a period begins before it is paid. So a subscription keeps the
//! newest state, the newest state in which it was active, what its invoices have paid, and which periods have
//! failed since.
//! [`Subscription::merge`] adds events in any order, with the same result.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::entitlement::{AccountStatus, Entitlement, Tier};
use crate::time::UnixSeconds;

/// The id of a subscription: 1 to 255 letters, digits and `_ -`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SubscriptionId(String);

impl SubscriptionId {
    const LONGEST: usize = 255;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SubscriptionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of a subscription has 1 to 255 letters, digits, _ and -")]
pub struct InvalidSubscriptionId;

impl FromStr for SubscriptionId {
    type Err = InvalidSubscriptionId;

    fn from_str(text: &str) -> Result<Self, InvalidSubscriptionId> {
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let is_id = (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(is_legal);
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidSubscriptionId) }
    }
}

/// The state of a subscription. Of two states of one second, the later one in this list is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BillingStatus {
    /// Active, but without a price that pays for a tier.
    Removed,
    /// Active, or in a trial.
    Active,
    /// Active, but its periods are not charged.
    CollectionPaused,
    /// A payment has failed, and is repeated.
    PastDue,
    /// A payment has failed for good.
    Unpaid,
    /// Paused, or its payment is disputed.
    Suspended,
    Ended,
}

impl fmt::Display for BillingStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Period {
    pub start: UnixSeconds,
    pub end: UnixSeconds,
    /// The end with the grace time. The start, if only a paid invoice adds time.
    pub until: UnixSeconds,
}

type Periods = BTreeMap<Tier, Period>;

/// The report of a period whose payment has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedPeriod {
    tier: Tier,
    start: UnixSeconds,
    /// The time of the event.
    at: UnixSeconds,
}

/// Periods whose payment has failed: the time of the last event about each, by tier and start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<FailedPeriod>", into = "Vec<FailedPeriod>")]
pub struct FailedPeriods(BTreeMap<(Tier, UnixSeconds), UnixSeconds>);

impl FailedPeriods {
    fn add(&mut self, reports: impl IntoIterator<Item = ((Tier, UnixSeconds), UnixSeconds)>) {
        for (period, at) in reports {
            let last = self.0.entry(period).or_insert(at);
            *last = at.max(*last);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the start of the first failed period.
    fn first(&self) -> Option<UnixSeconds> {
        self.0.keys().map(|(_, start)| *start).min()
    }

    /// Whether this period of a tier, or an earlier one, has failed.
    fn reach(&self, tier: Tier, period: &Period) -> bool {
        self.0.range(..=(tier, period.start)).next_back().is_some_and(|((failed, _), _)| *failed == tier)
    }
}

impl From<Vec<FailedPeriod>> for FailedPeriods {
    fn from(reports: Vec<FailedPeriod>) -> Self {
        let mut failed = Self::default();
        failed.add(reports.into_iter().map(|FailedPeriod { tier, start, at }| ((tier, start), at)));
        failed
    }
}

impl From<FailedPeriods> for Vec<FailedPeriod> {
    fn from(failed: FailedPeriods) -> Self {
        failed.0.into_iter().map(|((tier, start), at)| FailedPeriod { tier, start, at }).collect()
    }
}

/// A state as an event reports it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The time of the event.
    pub at: UnixSeconds,
    pub status: BillingStatus,
    /// The present periods. If a payment has failed or payments are paused, these end where the present ones
    /// begin.
    pub periods: Periods,
    /// When the subscription is to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_at: Option<UnixSeconds>,
    /// Whether the subscription is cancelled, whatever its status.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// The time of the event that named the account; `None` if only an invoice did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_at: Option<UnixSeconds>,
    /// The newest state; `None` if only invoices were reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<State>,
    /// The newest state in which the subscription was active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<State>,
    /// The newest period of each tier that an invoice has paid. A credit ends the period that it is for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paid: Periods,
    /// The newest period of each tier that was a trial, or that was active because its payment had succeeded.
    /// Its invoice can be missing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trusted: Periods,
    /// The periods whose payment has failed since the newest state in which the subscription was active.
    #[serde(default, skip_serializing_if = "FailedPeriods::is_empty")]
    pub failed: FailedPeriods,
    /// The end of the paid time that was last reported as overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue: Option<UnixSeconds>,
}

impl Subscription {
    /// Returns a subscription with this state, and nothing else known. `is_paid` says whether its periods are
    /// paid for certain.
    #[must_use]
    pub fn of_state(state: State, is_paid: bool) -> Self {
        let active = Some(state.clone()).filter(|state| state.status == BillingStatus::Active);
        let paid = if is_paid { active.as_ref() } else { None };
        let trusted = paid.map(|state| state.periods.clone()).unwrap_or_default();
        let mut failed = FailedPeriods::default();
        if matches!(state.status, BillingStatus::PastDue | BillingStatus::Unpaid) {
            failed.add(state.periods.iter().map(|(tier, period)| ((*tier, period.start), state.at)));
        }
        Self { named_at: Some(state.at), active, trusted, failed, latest: Some(state), ..Self::default() }
    }

    /// Returns a subscription with these paid periods, and nothing else known.
    #[must_use]
    pub fn of_paid(periods: impl IntoIterator<Item = (Tier, Period)>) -> Self {
        let mut paid = Periods::new();
        add(&mut paid, periods);
        Self { paid, ..Self::default() }
    }

    /// Adds what is known about the same subscription from other events.
    pub fn merge(&mut self, other: Self) {
        self.named_at = self.named_at.max(other.named_at);
        self.latest = self.latest.take().max(other.latest);
        self.active = self.active.take().max(other.active);
        add(&mut self.paid, other.paid);
        add(&mut self.trusted, other.trusted);
        self.failed.add(other.failed.0);
        // A subscription becomes active again when its failed payments are made.
        self.failed.0.retain(|_, at| self.active.as_ref().is_none_or(|active| active.at <= *at));
        self.overdue = self.overdue.max(other.overdue);
    }

    /// Returns when the subscription ended; `None` if it has not ended.
    #[must_use]
    pub fn ended_at(&self) -> Option<UnixSeconds> {
        self.latest.as_ref().filter(|latest| latest.is_over).map(|latest| latest.at)
    }

    /// Returns what the subscription allows, per tier. If it allows nothing, the entitlements say why.
    #[must_use]
    pub fn entitlements(&self) -> Vec<Entitlement> {
        use AccountStatus::{Active, Suspended};

        let Some(latest) = &self.latest else { return listed([(Active, self.paid.clone())], None) };
        let none = Periods::new;
        let parts = match latest.status {
            BillingStatus::Active => [(Active, self.valid(&self.paid)), (Active, latest.periods.clone())],
            BillingStatus::CollectionPaused | BillingStatus::PastDue => {
                [(Active, self.reached(latest)), (Active, none())]
            }
            BillingStatus::Removed => [(Active, without_grace(self.reached(latest))), (Active, none())],
            BillingStatus::Unpaid => {
                let failed = without_grace(latest.periods.clone());
                [(Active, without_grace(self.reached(latest))), (Suspended, failed)]
            }
            BillingStatus::Suspended => {
                [(Active, none()), (Suspended, without_grace(latest.periods.clone()))]
            }
            BillingStatus::Ended => [(Active, none()), (Active, latest.periods.clone())],
        };
        listed(parts, latest.cancel_at)
    }

    /// Returns what paid periods still pay for. A change to a lower tier or to a shorter period credits the
    /// rest of an earlier payment, which then pays for no more than the period after the change.
    fn valid(&self, paid: &Periods) -> Periods {
        let mut valid = Periods::new();
        for (tier, paid) in paid {
            let earlier = self.active.as_ref().filter(|active| paid.start < active.at);
            let now = earlier.map_or((*tier, *paid), |active| limited(*tier, *paid, &active.periods));
            add(&mut valid, [now]);
        }
        valid
    }

    /// Returns the time that was paid before the state `latest`, in which the present period is not paid.
    fn reached(&self, latest: &State) -> Periods {
        let mut trusted = self.trusted.clone();
        trusted.retain(|tier, period| !self.failed.reach(*tier, period));
        let mut trusted = self.valid(&trusted);
        trusted.retain(|tier, period| !self.failed.reach(*tier, period));
        let mut reached = self.valid(&self.paid);
        add(&mut reached, trusted);
        if !reached.is_empty() || latest.status == BillingStatus::CollectionPaused {
            return reached;
        }
        // The events about earlier payments are missing. The paid time ends where the first failed period begins.
        let mut periods = latest.periods.clone();
        if let Some(first) = self.failed.first() {
            for period in periods.values_mut() {
                let unpaid = seconds_between(first, period.start);
                (period.end, period.until) = (period.end.minus(unpaid), period.until.minus(unpaid));
            }
        }
        periods
    }

    /// Returns the end of the paid time, if it has passed although the subscription continues: then no event
    /// has reported its next payment.
    #[must_use]
    pub fn overdue_since(&self, now: UnixSeconds) -> Option<UnixSeconds> {
        let latest = self.latest.as_ref()?;
        if latest.status != BillingStatus::Active {
            return None;
        }
        let paid = self.valid(&self.paid);
        let periods = latest.periods.values().chain(paid.values());
        let until = periods.filter(|period| period.start < period.until).map(|period| period.until).max()?;
        let ends_before = latest.cancel_at.is_some_and(|at| at <= until);
        (until < now && !ends_before).then_some(until)
    }
}

/// Adds periods, and keeps the newest of each tier.
fn add(periods: &mut Periods, added: impl IntoIterator<Item = (Tier, Period)>) {
    for (tier, period) in added {
        let newest = periods.entry(tier).or_insert(period);
        *newest = period.max(*newest);
    }
}

/// Returns the time from `start` to `end`, zero if `end` is earlier.
fn seconds_between(start: UnixSeconds, end: UnixSeconds) -> Duration {
    Duration::from_secs(end.get().saturating_sub(start.get()).try_into().unwrap_or(0))
}

/// Returns the tier and the period of a payment after a change to other periods: at most the highest tier of
/// these, and at most until the last end in its own tier or a higher one.
fn limited(tier: Tier, paid: Period, changed: &Periods) -> (Tier, Period) {
    let same = changed.range(tier..).map(|(_, period)| (tier, period.end)).max_by_key(|(_, end)| *end);
    let lower = || changed.last_key_value().map(|(tier, period)| (*tier, period.end));
    let Some((tier, end)) = same.or_else(lower) else { return (tier, paid) };
    let credited = seconds_between(end, paid.end);
    (tier, Period { end: paid.end.minus(credited), until: paid.until.minus(credited), ..paid })
}

/// Returns the entitlements of the periods: the last end for each tier and status, at most `cancel_at`.
fn listed(
    parts: impl IntoIterator<Item = (AccountStatus, Periods)>,
    cancel_at: Option<UnixSeconds>,
) -> Vec<Entitlement> {
    let mut ends = BTreeMap::new();
    for (status, periods) in parts {
        for (tier, period) in periods {
            let end = cancel_at.map_or(period.until, |at| period.until.min(at));
            let last = ends.entry((tier, status)).or_insert(end);
            *last = end.max(*last);
        }
    }
    ends.into_iter().map(|((tier, status), paid_until)| Entitlement { tier, status, paid_until }).collect()
}

fn without_grace(mut periods: Periods) -> Periods {
    for period in periods.values_mut() {
        period.until = period.until.min(period.end);
    }
    periods
}

/// The status and the end of the paid time, such as `active, pro until 2026-12-01T00:00:00Z`.
impl fmt::Display for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.latest {
            Some(latest) => write!(formatter, "{}", latest.status)?,
            None => formatter.write_str("paid")?,
        }
        for Entitlement { tier, paid_until, .. } in self.entitlements() {
            write!(formatter, ", {tier} until {paid_until}")?;
        }
        Ok(())
    }
}
