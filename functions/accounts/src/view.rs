//! Accounts and keys as responses show them. The names of their fields do not change.

use common::auth::{
    Account, AccountName, Decision, KeyDigest, KeyId, KeyRecord, KeyState, Label, SubscriptionStatus, Tier,
    decide,
};
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

/// An account, and whether the service accepts its requests.
#[derive(Debug, Serialize, Deserialize)]
pub struct AccountView {
    pub name: AccountName,
    pub tier: Tier,
    pub status: SubscriptionStatus,
    /// The last second that is paid.
    pub paid_until: UnixSeconds,
    pub allowed: bool,
    /// Why its requests are rejected.
    pub reason: Option<String>,
}

impl AccountView {
    /// The account at the time `now`.
    pub(crate) fn at(now: UnixSeconds, account: &Account) -> Self {
        let subscription = account.subscription;
        let reason = rejection(account, now);
        Self {
            name: account.name.clone(),
            tier: subscription.tier,
            status: subscription.status,
            paid_until: subscription.paid_until,
            allowed: reason.is_none(),
            reason,
        }
    }
}

/// Why the account's requests are rejected even with a valid key: the authorizer's decision about an imaginary key.
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

/// Why the decision is to reject a request.
pub(crate) fn reason(decision: &Decision) -> Option<String> {
    match decision {
        Decision::Allow { .. } => None,
        Decision::Deny(reason) => Some(reason.to_string()),
        Decision::Refuse(reason) => Some(reason.to_string()),
    }
}

/// An account with its keys.
#[derive(Debug, Serialize, Deserialize)]
pub struct AccountWithKeys {
    #[serde(flatten)]
    pub account: AccountView,
    /// The newest first.
    pub keys: Vec<KeyView>,
}

/// The keys of an account, the newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Keys {
    pub account: AccountName,
    pub keys: Vec<KeyView>,
}

/// The word for the state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Issued,
    Revoked,
}

/// A key, without what is secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyView {
    pub id: KeyId,
    pub account: AccountName,
    pub label: Label,
    pub created_at: UnixSeconds,
    pub last_four: String,
    pub state: State,
    pub revoked_at: Option<UnixSeconds>,
    /// When it counts as revoked, if another key replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixSeconds>,
}

impl KeyView {
    /// The key at the time `now`.
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

/// The word for the state, and the time of a revocation.
pub(crate) const fn split(state: KeyState) -> (State, Option<UnixSeconds>) {
    match state {
        KeyState::Pending => (State::Pending, None),
        KeyState::Issued => (State::Issued, None),
        KeyState::Revoked { at } => (State::Revoked, Some(at)),
    }
}

/// A key that was just issued. Not `Debug`: it holds the key.
#[derive(Serialize, Deserialize)]
pub struct IssuedKey {
    /// The key itself; `None` if it was issued before, and was only added to API Gateway.
    pub key: Option<String>,
    #[serde(flatten)]
    pub view: KeyView,
}

/// What a command has done besides its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The account's requests are rejected for now.
    AccountInactive { reason: String },
    /// A key that was not issued completely is removed.
    IncompleteKeyRemoved { key_id: KeyId },
    /// A key is now in the usage plan of this tier.
    KeyMoved { key_id: KeyId, tier: Tier },
    /// API Gateway lacks an issued key: `issue_key` with its label adds it.
    KeyNotInGateway { key_id: KeyId, label: Label },
    /// The key is deleted from API Gateway.
    KeyDeletedFromGateway,
    /// API Gateway keeps the key, which is in a usage plan of another stack.
    KeySharedInGateway,
    /// There is no API Gateway, which the command would have changed.
    NoGateway,
}
