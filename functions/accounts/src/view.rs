//! Accounts and keys as responses show them. Their field names are part of the interface.

use common::auth::{
    Account, AccountName, AccountStatus, BillingStatus, Decision, Entitlement, KeyDigest, KeyId, KeyRecord,
    KeyState, Label, Subscription, SubscriptionId, Tier, decide,
};
use common::time::UnixSeconds;
use gateway::PlanLimits;
use serde::{Deserialize, Serialize};

/// An account, and whether the service accepts its requests.
#[derive(Debug, Serialize, Deserialize)]
pub struct AccountView {
    pub name: AccountName,
    /// The tier that the account has now; `None` without entries.
    pub tier: Option<Tier>,
    pub status: AccountStatus,
    /// The last second that is paid in this tier.
    pub paid_until: Option<UnixSeconds>,
    pub allowed: bool,
    /// Why the account's requests are rejected; `None` if requests are allowed.
    pub reason: Option<String>,
    /// Until when API Gateway may still refuse the keys of a new account, although they are allowed; `None`
    /// after that time.
    pub usable_from: Option<UnixSeconds>,
    pub subscriptions: Vec<SubscriptionView>,
}

/// What is known about a subscription.
#[derive(Debug, Serialize, Deserialize)]
pub struct SubscriptionView {
    pub id: SubscriptionId,
    /// `None` if only a paid invoice was reported.
    pub status: Option<BillingStatus>,
    /// The highest tier that it pays for; `None` if it pays for nothing.
    pub tier: Option<Tier>,
    /// The last second that is paid in this tier.
    pub paid_until: Option<UnixSeconds>,
    /// The time of the event that reported the status.
    pub reported_at: Option<UnixSeconds>,
}

impl SubscriptionView {
    fn of(id: &SubscriptionId, subscription: &Subscription) -> Self {
        let entitlements = subscription.entitlements();
        let is_active = |of: &Entitlement| of.status == AccountStatus::Active;
        let highest = entitlements.iter().max_by_key(|of| (is_active(of), of.tier, of.paid_until));
        let latest = subscription.latest.as_ref();
        Self {
            id: id.clone(),
            status: latest.map(|latest| latest.status),
            tier: highest.map(|highest| highest.tier),
            paid_until: highest.map(|highest| highest.paid_until),
            reported_at: latest.map(|latest| latest.at),
        }
    }
}

impl AccountView {
    pub(crate) fn at(now: UnixSeconds, account: &Account, limits: &PlanLimits) -> Self {
        let entitlement = account.entitlement_at(now);
        let not_offered = |Entitlement { tier, .. }: Entitlement| {
            (!limits.has(tier)).then(|| format!("the tier {tier} is not offered"))
        };
        let reason = rejection(account, now).or_else(|| entitlement.and_then(not_offered));
        let key = entitlement
            .and_then(|Entitlement { tier, .. }| account.gateway_keys.get(&account.counted_in(tier, now)));
        Self {
            name: account.name.clone(),
            tier: entitlement.map(|entitlement| entitlement.tier),
            status: entitlement.map_or(account.status, |entitlement| entitlement.status),
            paid_until: entitlement.map(|entitlement| entitlement.paid_until),
            allowed: reason.is_none(),
            reason,
            usable_from: key.map(|key| key.usable_from).filter(|from| *from > now),
            subscriptions: account
                .subscriptions
                .iter()
                .map(|(id, of)| SubscriptionView::of(id, of))
                .collect(),
        }
    }
}

/// Returns why the account's requests are rejected even with a valid key: the authorizer's decision about an
/// imaginary key.
fn rejection(account: &Account, now: UnixSeconds) -> Option<String> {
    let digest: KeyDigest = "0".repeat(64).parse().ok()?;
    let key = KeyRecord {
        digest,
        account: account.name.clone(),
        label: "any".parse().ok()?,
        created_at: now,
        last_four: String::new(),
        state: KeyState::Issued,
        expires_at: None,
    };
    reason(&decide(Some(&key), Some(account), now))
}

/// Returns the reason if the decision rejects the request.
pub(crate) fn reason(decision: &Decision) -> Option<String> {
    match decision {
        Decision::Allow { .. } => None,
        Decision::Deny(reason) => Some(reason.to_string()),
        Decision::Refuse(reason) => Some(reason.to_string()),
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct AccountWithKeys {
    #[serde(flatten)]
    pub account: AccountView,
    /// The valid keys and the latest ended ones, newest first.
    pub keys: Vec<KeyView>,
}

/// The valid keys of an account and the latest ended ones, newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Keys {
    pub account: AccountName,
    pub keys: Vec<KeyView>,
}

/// The state of a key in responses and exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Issued,
    Revoked,
}

/// A key record. It does not contain the key itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyView {
    pub id: KeyId,
    pub account: AccountName,
    pub label: Label,
    pub created_at: UnixSeconds,
    pub last_four: String,
    pub state: State,
    pub revoked_at: Option<UnixSeconds>,
    /// When a replaced key expires. From then on it counts as revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixSeconds>,
}

impl KeyView {
    pub(crate) fn at(now: UnixSeconds, key: &KeyRecord) -> Self {
        let (state, revoked_at) = split(key.state_at(now));
        Self {
            id: key.id(),
            account: key.account.clone(),
            label: key.label.clone(),
            created_at: key.created_at,
            last_four: key.last_four.clone(),
            state,
            revoked_at,
            expires_at: key.expires_at,
        }
    }
}

/// Splits a `KeyState` into its plain state and its revocation time.
pub(crate) const fn split(state: KeyState) -> (State, Option<UnixSeconds>) {
    match state {
        KeyState::Issued => (State::Issued, None),
        KeyState::Revoked { at } => (State::Revoked, Some(at)),
    }
}

/// The result of issuing a key. Not `Debug`: it holds the key.
#[derive(Serialize, Deserialize)]
pub struct IssuedKey {
    pub key: String,
    #[serde(flatten)]
    pub view: KeyView,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Deleted {
    pub account: AccountName,
    /// The number of deleted keys, revoked ones included.
    pub keys: usize,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Pruned {
    pub account: AccountName,
    /// The number of keys that were deleted from API Gateway; 0 if the account was paid for in the last 180
    /// days.
    pub gateway_keys: usize,
}

/// A warning about a command that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The account's requests are currently rejected.
    AccountInactive { reason: String },
}
