//! Accounts and keys as the commands show them. Programs read the JSON documents: the names of their fields do not change.

use common::auth::{Account, AccountName, ApiKey, Decision, KeyId, KeyRecord, KeyState, Label, decide};
use common::time::UnixSeconds;
use serde::Serialize;

use crate::output::table;

/// An account, and whether the service accepts its requests.
#[derive(Serialize)]
pub(crate) struct AccountView<'a> {
    #[serde(flatten)]
    account: &'a Account,
    allowed: bool,
    /// Why its requests are rejected.
    reason: Option<String>,
}

impl<'a> AccountView<'a> {
    /// The account at the time `now`.
    pub(crate) fn at(now: UnixSeconds, account: &'a Account) -> Self {
        let reason = rejection(account, now);
        Self { account, allowed: reason.is_none(), reason }
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub(crate) fn text(&self) -> String {
        let subscription = &self.account.subscription;
        table(
            None,
            [
                ["account".to_owned(), self.account.name.to_string()],
                ["tier".to_owned(), subscription.tier.to_string()],
                ["status".to_owned(), subscription.status.to_string()],
                ["paid until".to_owned(), subscription.paid_until.to_string()],
                ["allowed".to_owned(), yes_or_no(self.reason.as_deref())],
            ],
        )
    }
}

/// Why the account's requests are rejected even with a valid key: the authorizer's decision about an imaginary key.
fn rejection(account: &Account, now: UnixSeconds) -> Option<String> {
    let key = ApiKey::of_random_part(&"0".repeat(32))?;
    let key = KeyRecord {
        digest: key.digest(),
        account: account.name.clone(),
        label: "any".parse().ok()?,
        created_at: now,
        last_four: key.last_four().to_owned(),
        state: KeyState::Issued,
    };
    match decide(Some(&key), Some(account), now) {
        Decision::Allow { .. } => None,
        Decision::Deny(reason) => Some(reason.to_string()),
        Decision::Refuse(reason) => Some(reason.to_string()),
    }
}

/// `yes`, or `no` with the reason.
pub(crate) fn yes_or_no(reason: Option<&str>) -> String {
    reason.map_or_else(|| "yes".to_owned(), |reason| format!("no: {reason}"))
}

/// A key, without what is secret.
#[derive(Serialize)]
pub(crate) struct KeyView<'a> {
    id: KeyId,
    account: &'a AccountName,
    label: &'a Label,
    created_at: UnixSeconds,
    last_four: &'a str,
    state: KeyState,
    revoked_at: Option<UnixSeconds>,
}

impl<'a> From<&'a KeyRecord> for KeyView<'a> {
    fn from(key: &'a KeyRecord) -> Self {
        let revoked_at = if let KeyState::Revoked { at } = key.state { Some(at) } else { None };
        Self {
            id: key.id(),
            account: &key.account,
            label: &key.label,
            created_at: key.created_at,
            last_four: &key.last_four,
            state: key.state,
            revoked_at,
        }
    }
}

/// The state of a key, for people.
pub(crate) fn state(state: KeyState) -> String {
    match state {
        KeyState::Pending => "pending".to_owned(),
        KeyState::Issued => "issued".to_owned(),
        KeyState::Revoked { at } => format!("revoked since {at}"),
    }
}

pub(crate) fn keys(keys: &[KeyRecord]) -> String {
    let row = |key: &KeyRecord| {
        [
            key.id().to_string(),
            key.label.to_string(),
            key.created_at.to_string(),
            key.last_four.clone(),
            state(key.state),
        ]
    };
    table(Some(["KEY-ID", "LABEL", "CREATED", "LAST FOUR", "STATE"]), keys.iter().map(row))
}

/// One key, with a line for each of its properties.
pub(crate) fn key_lines(key: &KeyRecord) -> Vec<[String; 2]> {
    vec![
        ["KEY-ID".to_owned(), key.id().to_string()],
        ["account".to_owned(), key.account.to_string()],
        ["label".to_owned(), key.label.to_string()],
        ["created".to_owned(), key.created_at.to_string()],
        ["last four".to_owned(), key.last_four.clone()],
        ["state".to_owned(), state(key.state)],
    ]
}
