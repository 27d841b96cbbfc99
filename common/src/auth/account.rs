//! Accounts and their entitlements.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::entitlement::{AccountStatus, Entitlement, PaidTier, Tier};
use super::hexadecimal::hexadecimal;
use super::subscription::{Subscription, SubscriptionId};
use crate::time::UnixSeconds;

/// The name of an account: 1 to 64 letters, digits and `. _ - @ +`, beginning with a letter or digit. This
/// includes e-mail addresses, but no text that starts with `-`, which a tool would read as an option.
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

/// An account. Its entitlement is computed from its entries, and not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: AccountName,
    /// The status that a person has set. A suspension is above all entries.
    pub status: AccountStatus,
    /// The entry of a person, beside the subscriptions.
    pub set_by_person: Option<PaidTier>,
    pub subscriptions: BTreeMap<SubscriptionId, Subscription>,
    /// The keys in API Gateway of the tiers that the account has had.
    pub gateway_keys: BTreeMap<Tier, GatewayKey>,
}

/// An account has as many subscriptions as it can have, and none has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the account has {} subscriptions that have not ended", Account::MOST_SUBSCRIPTIONS)]
pub struct TooManySubscriptions;

impl Account {
    const MOST_SUBSCRIPTIONS: usize = 10;
    /// How long a subscription is kept after its end.
    pub const ENDED_KEPT: Duration = Duration::from_hours(365 * 24);

    /// Returns an account without entries.
    #[must_use]
    pub const fn new(name: AccountName) -> Self {
        Self {
            name,
            status: AccountStatus::Active,
            set_by_person: None,
            subscriptions: BTreeMap::new(),
            gateway_keys: BTreeMap::new(),
        }
    }

    fn entitlements(&self) -> Vec<Entitlement> {
        let set = self.set_by_person.map(|PaidTier { tier, paid_until }| Entitlement {
            tier,
            status: AccountStatus::Active,
            paid_until,
        });
        set.into_iter().chain(self.subscriptions.values().flat_map(Subscription::entitlements)).collect()
    }

    /// Returns the account's entitlement at the time `now`: the highest tier that an entry allows then, until
    /// the latest end in this tier. If no entry allows anything, the entitlement that ended last; `None`
    /// without entries.
    #[must_use]
    pub fn entitlement_at(&self, now: UnixSeconds) -> Option<Entitlement> {
        let all = self.entitlements();
        let allowed = all.iter().filter(|entitlement| entitlement.allows_at(now));
        let highest = allowed.max_by_key(|allowed| (allowed.tier, allowed.paid_until));
        let last = || all.iter().max_by_key(|last| (last.paid_until, last.status, last.tier));
        let Entitlement { tier, status, paid_until } = *highest.or_else(last)?;
        Some(Entitlement { tier, status: status.max(self.status), paid_until })
    }

    /// Returns the tiers of all entries, except for subscriptions that have ended.
    #[must_use]
    pub fn tiers(&self) -> BTreeSet<Tier> {
        let going_on = self.subscriptions.values().filter(|subscription| subscription.ended_at().is_none());
        let paid = going_on.flat_map(Subscription::entitlements).map(|entitlement| entitlement.tier);
        self.set_by_person.map(|set| set.tier).into_iter().chain(paid).collect()
    }

    /// Returns until when any entry was paid; `None` without entries.
    #[must_use]
    pub fn last_paid(&self) -> Option<UnixSeconds> {
        self.entitlements().into_iter().map(|entitlement| entitlement.paid_until).max()
    }

    /// Stores the subscription. If there is no room, it replaces the subscription that ended first.
    ///
    /// # Errors
    /// If there is no room, and no subscription has ended.
    pub fn store(
        &mut self,
        id: SubscriptionId,
        subscription: Subscription,
        now: UnixSeconds,
    ) -> Result<(), TooManySubscriptions> {
        let earliest = now.minus(Self::ENDED_KEPT);
        self.subscriptions.retain(|_, kept| kept.ended_at().is_none_or(|at| at > earliest));
        if !self.subscriptions.contains_key(&id) && self.subscriptions.len() >= Self::MOST_SUBSCRIPTIONS {
            let ended = self.subscriptions.iter().filter_map(|(id, ended)| Some((ended.ended_at()?, id)));
            let (_, first) = ended.min().ok_or(TooManySubscriptions)?;
            let first = first.clone();
            self.subscriptions.remove(&first);
        }
        self.subscriptions.insert(id, subscription);
        Ok(())
    }

    /// Returns the tier in which API Gateway counts a request of the account in the tier `own` at the time
    /// `now`. After an upgrade, this is the highest earlier tier until the new tier's key is usable. A new
    /// account has no other tier, so API Gateway refuses its requests until then.
    #[must_use]
    pub fn counted_in(&self, own: Tier, now: UnixSeconds) -> Tier {
        if self.gateway_keys.get(&own).is_some_and(|key| key.is_usable_at(now)) {
            return own;
        }
        let usable = self.gateway_keys.iter().filter(|(_, key)| key.is_usable_at(now));
        usable.map(|(tier, _)| *tier).max().unwrap_or(own)
    }
}

/// All entries, such as `active; pro until 2026-12-01T00:00:00Z; sub_1 active, pro until
/// 2027-01-01T00:00:00Z`.
impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.status)?;
        if let Some(PaidTier { tier, paid_until }) = self.set_by_person {
            write!(formatter, "; {tier} until {paid_until}")?;
        }
        self.subscriptions
            .iter()
            .try_for_each(|(id, subscription)| write!(formatter, "; {id} {subscription}"))
    }
}

/// The value of an account's key in API Gateway for one tier: 40 hexadecimal digits. The authorizer returns
/// it, and API Gateway counts requests under it. It is not secret, because the service does not accept it as
/// a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageIdentifier(String);

impl UsageIdentifier {
    const LENGTH: usize = 40;

    /// Returns the identifier of the account in this stack. Two stacks never have the same one, so they never
    /// share a key.
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
            let gateway_keys = keys.iter().map(|(tier, from)| (*tier, key(*from))).collect();
            let account = Account { gateway_keys, ..Account::new("bots".parse().unwrap()) };
            account.counted_in(Tier::Pro, UnixSeconds::new(now))
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
