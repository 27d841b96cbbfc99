//! Accounts and keys as responses show them. Their field names are part of the interface.

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
    /// Why the account's requests are rejected; `None` if requests are allowed.
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

/// Returns why the account's requests are rejected even with a valid key: the authorizer's decision about an imaginary key.
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
    /// Newest first.
    pub keys: Vec<KeyView>,
}

/// The keys of an account, newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Keys {
    pub account: AccountName,
    pub keys: Vec<KeyView>,
}

/// The state of a key in responses and exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
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

/// Splits a `KeyState` into its plain state and its revocation time.
pub(crate) const fn split(state: KeyState) -> (State, Option<UnixSeconds>) {
    match state {
        KeyState::Pending => (State::Pending, None),
        KeyState::Issued => (State::Issued, None),
        KeyState::Revoked { at } => (State::Revoked, Some(at)),
    }
}

/// The result of issuing a key. Not `Debug`: it holds the key.
#[derive(Serialize, Deserialize)]
pub struct IssuedKey {
    /// The key itself. `None` if an earlier command issued the key, and this command only added the key to API Gateway.
    pub key: Option<String>,
    #[serde(flatten)]
    pub view: KeyView,
}

/// A side effect of a command, or a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The account's requests are currently rejected.
    AccountInactive { reason: String },
    /// The command removed a pending key, which an interrupted command had left.
    IncompleteKeyRemoved { key_id: KeyId },
    /// The command moved a key to the usage plan of this tier.
    KeyMoved { key_id: KeyId, tier: Tier },
    /// API Gateway does not have an issued key. `issue_key` with the label of the key adds it.
    KeyNotInGateway { key_id: KeyId, label: Label },
    /// The command deleted the key from API Gateway.
    KeyDeletedFromGateway,
    /// API Gateway keeps the key, because a usage plan of another stack has it.
    KeySharedInGateway,
    /// There is no API Gateway, so the command changed only the table.
    NoGateway,
}
