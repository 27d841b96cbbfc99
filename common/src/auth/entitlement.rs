//! What an account may use: a tier, until when.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::UnixSeconds;

/// The tier of an account. The tier determines the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Only if the operator offers the free plan.
    Free,
    Starter,
    Pro,
}

impl Tier {
    /// Every tier, the lowest first.
    pub const ALL: [Self; 3] = [Self::Free, Self::Starter, Self::Pro];

    /// Returns the name of the tier in the table, in tools and in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Starter => "starter",
            Self::Pro => "pro",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Whether an account or a subscription is suspended. [`Entitlement::paid_until`] states separately until
/// when it is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountStatus {
    /// Not suspended: active as long as it is paid.
    Active,
    /// Suspended by an operator or by an event of Stripe, for example because of abuse or a reversed payment.
    Suspended,
}

impl AccountStatus {
    pub const ALL: [Self; 2] = [Self::Active, Self::Suspended];

    /// Returns the name of the status in the table, in tools and in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
        }
    }
}

impl fmt::Display for AccountStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A tier, and until when it is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidTier {
    pub tier: Tier,
    /// The last second that is paid for.
    pub paid_until: UnixSeconds,
}

/// What an account or a subscription may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entitlement {
    pub tier: Tier,
    pub status: AccountStatus,
    /// The last second that is paid for.
    pub paid_until: UnixSeconds,
}

impl Entitlement {
    pub(super) fn allows_at(&self, now: UnixSeconds) -> bool {
        self.status == AccountStatus::Active && now <= self.paid_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_serialises_as_its_name() {
        for tier in Tier::ALL {
            assert_eq!(serde_json::to_value(tier).unwrap(), tier.name());
            assert_eq!(serde_json::from_value::<Tier>(tier.name().into()).unwrap(), tier);
        }
        for status in AccountStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
            assert_eq!(serde_json::from_value::<AccountStatus>(status.name().into()).unwrap(), status);
        }
    }
}
