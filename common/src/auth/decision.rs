//! The decision whether a request with a key is allowed (`functions/README.md`, Keys).

use super::account::{Account, AccountName};
use super::entitlement::{AccountStatus, Entitlement, Tier};
use super::key::MalformedKey;
use super::record::{KeyId, KeyRecord, KeyState};
use crate::time::UnixSeconds;

/// The decision about a request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Allow {
        account: AccountName,
        key: KeyId,
        tier: Tier,
        /// The tier in which API Gateway counts the request.
        counted_in: Tier,
    },
    /// The key is valid, but its account has no active subscription: 403.
    Deny(Inactive),
    /// The key is not valid: 401.
    Refuse(Refusal),
}

/// Why a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the key is malformed: {0}")]
    Malformed(#[from] MalformedKey),
    #[error("the key is unknown")]
    Unknown,
    #[error("the key was revoked at {at}")]
    Revoked {
        /// When the key was revoked or expired.
        at: UnixSeconds,
    },
}

/// Why an account has no active subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Inactive {
    #[error("the key's account does not exist")]
    NoAccount,
    #[error("the account has no subscription")]
    NoSubscription,
    /// Suspended by an operator or by an event of Stripe.
    #[error("the account's subscription is suspended")]
    Suspended,
    /// The subscription was not renewed.
    #[error("the account's subscription was paid until {paid_until}")]
    Lapsed {
        /// The last second that was paid for.
        paid_until: UnixSeconds,
    },
}

/// Decides whether a request is allowed at the time `now`. `key` and `account` are the records of the key and
/// of its account, if they exist. A revoked key is refused even if `now` is before its revocation: clocks
/// differ, and a revocation is final. A key that has expired at `now` counts as revoked.
#[must_use]
pub fn decide(key: Option<&KeyRecord>, account: Option<&Account>, now: UnixSeconds) -> Decision {
    let Some(key) = key else { return Decision::Refuse(Refusal::Unknown) };
    match key.state_at(now) {
        KeyState::Issued => {}
        KeyState::Revoked { at } => return Decision::Refuse(Refusal::Revoked { at }),
    }
    let Some(account) = account.filter(|account| account.name == key.account) else {
        return Decision::Deny(Inactive::NoAccount);
    };
    if account.status == AccountStatus::Suspended {
        return Decision::Deny(Inactive::Suspended);
    }
    match account.entitlement_at(now) {
        None => Decision::Deny(Inactive::NoSubscription),
        Some(Entitlement { status: AccountStatus::Suspended, .. }) => Decision::Deny(Inactive::Suspended),
        Some(Entitlement { paid_until, .. }) if paid_until < now => {
            Decision::Deny(Inactive::Lapsed { paid_until })
        }
        Some(Entitlement { tier, .. }) => Decision::Allow {
            account: account.name.clone(),
            key: key.id(),
            tier,
            counted_in: account.counted_in(tier, now),
        },
    }
}
