//! Accounts and their subscriptions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::UnixSeconds;

/// The name of an account: 1 to 64 letters, digits and `. _ - @ +`, beginning with a letter or digit. This includes e-mail
/// addresses, but no text that starts with `-`, which a tool would read as an option.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct AccountName(String);

impl AccountName {
    const LONGEST: usize = 64;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A text that is not the name of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of an account has 1 to 64 letters, digits and . _ - @ +, and begins with a letter or digit"
)]
pub struct InvalidAccountName;

impl FromStr for AccountName {
    type Err = InvalidAccountName;

    fn from_str(text: &str) -> Result<Self, InvalidAccountName> {
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
        let is_name = text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.len() <= Self::LONGEST
            && text.bytes().all(is_legal);
        if is_name { Ok(Self(text.to_owned())) } else { Err(InvalidAccountName) }
    }
}

/// The tier that an account pays for. The tier determines the rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Starter,
    Pro,
}

impl Tier {
    /// Every tier, the lowest first.
    pub const ALL: [Self; 2] = [Self::Starter, Self::Pro];

    /// Returns the name of the tier in the table, in tools and in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
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

/// Whether a subscription is suspended. [`Subscription::paid_until`] states separately until when it is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubscriptionStatus {
    /// Not suspended: active as long as the subscription is paid.
    Active,
    /// Suspended by an operator or by an event of Stripe, for example because of abuse or a reversed payment.
    Suspended,
}

impl SubscriptionStatus {
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

impl fmt::Display for SubscriptionStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The subscription of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Subscription {
    pub tier: Tier,
    pub status: SubscriptionStatus,
    /// The last second that is paid for.
    pub paid_until: UnixSeconds,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    pub name: AccountName,
    #[serde(flatten)]
    pub subscription: Subscription,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_account_has_plain_characters() {
        for name in ["a", "price-bot_2", "zoe+bots@example.com", &"x".repeat(64)] {
            assert_eq!(name.parse::<AccountName>().unwrap().as_str(), name);
        }
        for name in ["", " ", "a b", "a#b", "-a", "@a", "zoë", "a\n", "a/b", &"x".repeat(65)] {
            assert!(name.parse::<AccountName>().is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_word_serialises_as_its_name() {
        for tier in Tier::ALL {
            assert_eq!(serde_json::to_value(tier).unwrap(), tier.name());
            assert_eq!(serde_json::from_value::<Tier>(tier.name().into()).unwrap(), tier);
        }
        for status in SubscriptionStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
            assert_eq!(serde_json::from_value::<SubscriptionStatus>(status.name().into()).unwrap(), status);
        }
    }
}
