//! Accounts and their subscriptions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::hexadecimal::hexadecimal;
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

/// The subscription of an account. As text: `pro, active, paid until 2026-12-01T00:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    pub tier: Tier,
    pub status: SubscriptionStatus,
    /// The last second that is paid for.
    pub paid_until: UnixSeconds,
}

impl fmt::Display for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tier, status, paid_until } = self;
        write!(formatter, "{tier}, {status}, paid until {paid_until}")
    }
}

/// The key in API Gateway that counts the requests of an account in a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayKey {
    /// Its id in API Gateway.
    pub id: String,
    /// The id of its usage plan.
    pub plan: String,
    /// From when on API Gateway accepts the key: not at once after it is attached to the plan.
    pub usable_from: UnixSeconds,
    /// Whether the key is being deleted, and is no longer used.
    pub is_being_deleted: bool,
}

impl GatewayKey {
    fn is_usable_at(&self, now: UnixSeconds) -> bool {
        self.usable_from <= now && !self.is_being_deleted
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: AccountName,
    pub subscription: Subscription,
    /// The keys in API Gateway of the tiers that the account has had.
    pub gateway_keys: BTreeMap<Tier, GatewayKey>,
}

impl Account {
    /// Returns the tier in which API Gateway counts a request at the time `now`. After an upgrade, this is the highest earlier tier until
    /// the new tier's key is usable. A new account has no other tier, so API Gateway refuses its requests until then.
    #[must_use]
    pub fn counted_in(&self, now: UnixSeconds) -> Tier {
        let own = self.subscription.tier;
        if self.gateway_keys.get(&own).is_some_and(|key| key.is_usable_at(now)) {
            return own;
        }
        let usable = self.gateway_keys.iter().filter(|(_, key)| key.is_usable_at(now));
        usable.map(|(tier, _)| *tier).max().unwrap_or(own)
    }
}

/// The value of an account's key in API Gateway for one tier: 40 hexadecimal digits. The authorizer returns it, and API Gateway counts
/// requests under it. It is not secret, because the service does not accept it as a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageIdentifier(String);

impl UsageIdentifier {
    const LENGTH: usize = 40;

    /// Returns the identifier of the account in this stack. Two stacks never have the same one, so they never share a key.
    #[must_use]
    pub fn new(stack: &str, account: &AccountName, tier: Tier) -> Self {
        let mut text = hexadecimal(&Sha256::digest(format!("{stack}\n{account}\n{tier}")));
        text.truncate(Self::LENGTH);
        Self(text)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
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

    /// The expected value was computed with Python's `hashlib.sha256`.
    #[test]
    fn an_identifier_depends_on_stack_account_and_tier() {
        let of = |stack: &str, name: &str, tier| UsageIdentifier::new(stack, &name.parse().unwrap(), tier);
        let one = of("game", "bots", Tier::Pro);
        assert_eq!(one.as_str(), "e30ad8a7f7ee898e810148b29b513d091d6cbbd8");
        for other in
            [of("game2", "bots", Tier::Pro), of("game", "bot", Tier::Pro), of("game", "bots", Tier::Free)]
        {
            assert_ne!(other, one);
        }
    }

    #[test]
    fn a_request_is_counted_in_the_highest_usable_tier_until_the_own_one_is_usable() {
        let key = |usable_from| GatewayKey {
            id: "id".to_owned(),
            plan: "plan".to_owned(),
            usable_from: UnixSeconds::new(usable_from),
            is_being_deleted: false,
        };
        let counted = |keys: &[(Tier, i64)], now| {
            let subscription = Subscription {
                tier: Tier::Pro,
                status: SubscriptionStatus::Active,
                paid_until: UnixSeconds::new(1_000),
            };
            let gateway_keys = keys.iter().map(|(tier, from)| (*tier, key(*from))).collect();
            let account = Account { name: "bots".parse().unwrap(), subscription, gateway_keys };
            account.counted_in(UnixSeconds::new(now))
        };
        assert_eq!(counted(&[], 100), Tier::Pro);
        assert_eq!(counted(&[(Tier::Pro, 101)], 100), Tier::Pro);
        // A payment changes the tier before the key exists.
        assert_eq!(counted(&[(Tier::Starter, 50)], 100), Tier::Starter);
        let all = [(Tier::Free, 0), (Tier::Starter, 50), (Tier::Pro, 101)];
        assert_eq!(
            [49, 50, 100, 101].map(|now| counted(&all, now)),
            [Tier::Free, Tier::Starter, Tier::Starter, Tier::Pro]
        );
    }
}
