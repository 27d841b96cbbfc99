//! `export_rows` and `import_row`: accounts and keys as rows of a file. An import removes nothing, leaves the
//! tier and the status that a person has set, merges subscriptions with the stored ones, and moves the state
//! of a key only forward, from issued to revoked. The row of a key has the key's SHA-256, from which the key
//! cannot be computed.

use std::collections::BTreeMap;
use std::time::Duration;

use common::auth::{
    Account, AccountName, AccountStatus, KeyDigest, KeyRecord, KeyState, Label, PaidTier, Subscription,
    SubscriptionId, Tier, without_keys,
};
use common::time::{UnixSeconds, now};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tables::access::{AccessRow, AccountRecord, Change, KeyChange, OwnerChange, ValidKey};

use crate::access::{Access, Plan, Planned};
use crate::account::complete;
use crate::error::Error;
use crate::issue::{LONGEST_GRACE, MOST_KEYS};
use crate::response::Response;
use crate::view::{State, split};

/// How far a time may be ahead of the clock.
const CLOCK_SKEW: Duration = Duration::from_mins(1);

/// A row of an exported file. An error of deserialising it names the field.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Row {
    Account(AccountRow),
    Key(KeyRow),
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn of<T: DeserializeOwned, E: serde::de::Error>(row: Value) -> Result<T, E> {
            serde_path_to_error::deserialize(row).map_err(E::custom)
        }
        let row = Value::deserialize(deserializer)?;
        if !row.is_object() {
            return Err(D::Error::custom(
                "a row must be an object with the fields of an account or of a key",
            ));
        }
        // Only keys have this field.
        if row.get("sha256").is_some() { of(row).map(Self::Key) } else { of(row).map(Self::Account) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountRow {
    pub account: AccountName,
    pub status: AccountStatus,
    /// What a person has set, with `paid_until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_until: Option<UnixSeconds>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subscriptions: BTreeMap<SubscriptionId, Subscription>,
}

impl AccountRow {
    /// Returns what a person has set.
    ///
    /// # Errors
    /// If one of two values is missing. The error text names the field.
    fn set_by_person(&self) -> Result<Option<PaidTier>, &'static str> {
        match (self.tier, self.paid_until) {
            (Some(tier), Some(paid_until)) => Ok(Some(PaidTier { tier, paid_until })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err("tier: required with paid_until"),
            (Some(_), None) => Err("paid_until: required with tier"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRow {
    pub sha256: KeyDigest,
    pub account: AccountName,
    pub label: Label,
    pub created_at: UnixSeconds,
    pub last_four: String,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<UnixSeconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixSeconds>,
}

impl KeyRow {
    /// Returns the key that the row describes.
    ///
    /// # Errors
    /// If `last_four` is invalid, or `state` and `revoked_at` contradict each other. The error text names the
    /// field.
    pub fn key(&self) -> Result<KeyRecord, &'static str> {
        let Self { sha256, account, label, created_at, last_four, state, revoked_at, expires_at } =
            self.clone();
        if last_four.len() != 4 || !last_four.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err("last_four: must be the last four letters and digits of the key");
        }
        let state = match (state, revoked_at) {
            (State::Issued, None) => KeyState::Issued,
            (State::Revoked, Some(at)) => KeyState::Revoked { at },
            _ => return Err("revoked_at: required for a revoked key, and not allowed for other keys"),
        };
        Ok(KeyRecord { digest: sha256, account, label, created_at, last_four, state, expires_at })
    }
}

impl Row {
    /// Checks that the state of a key is possible, and that no time of the row is in the future. A replaced
    /// key expires after its grace time.
    ///
    /// # Errors
    /// The text names the field.
    pub fn check(&self, now: UnixSeconds) -> Result<(), String> {
        let times = match self {
            Self::Account(row) => {
                row.set_by_person()?;
                let states = row.subscriptions.values().flat_map(|of| of.latest.iter().chain(&of.active));
                states.map(|state| ("subscriptions", Some(state.at))).collect()
            }
            Self::Key(row) => {
                row.key()?;
                let replaced_at = row.expires_at.map(|at| at.minus(LONGEST_GRACE));
                vec![
                    ("created_at", Some(row.created_at)),
                    ("revoked_at", row.revoked_at),
                    ("expires_at", replaced_at),
                ]
            }
        };
        for (field, time) in times {
            if time.is_some_and(|time| time > now.plus(CLOCK_SKEW)) {
                return Err(format!("{field}: it is too far in the future; the clock shows {now}"));
            }
        }
        Ok(())
    }
}

impl From<AccessRow> for Row {
    fn from(row: AccessRow) -> Self {
        match row {
            AccessRow::Account(AccountRecord { account, .. }) => {
                let Account { name, status, set_by_person, subscriptions, .. } = account;
                let (tier, paid_until) =
                    (set_by_person.map(|set| set.tier), set_by_person.map(|set| set.paid_until));
                Self::Account(AccountRow { account: name, status, tier, paid_until, subscriptions })
            }
            AccessRow::Key(key) => {
                let KeyRecord { digest, account, label, created_at, last_four, state, expires_at } = key;
                let (state, revoked_at) = split(state);
                let sha256 = digest;
                Self::Key(KeyRow {
                    sha256,
                    account,
                    label,
                    created_at,
                    last_four,
                    state,
                    revoked_at,
                    expires_at,
                })
            }
        }
    }
}

/// A page of accounts and keys, in no particular order.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportedRows {
    pub rows: Vec<Row>,
    /// The errors of corrupt rows, which `rows` leaves out.
    pub corrupt: Vec<String>,
    /// `after` of the next page; `None` at the end.
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Imported {
    Imported,
    AlreadyThere,
    /// Not imported: the table has other values, the account has another issued key with the label, or the
    /// key's account is missing.
    Different {
        reason: String,
    },
}

pub(crate) async fn export(access: &Access, after: Option<String>) -> Result<Response, Error> {
    let page = tables::access::page(access.table(), after).await?;
    let mut exported = ExportedRows { rows: Vec::new(), corrupt: Vec::new(), next: page.next };
    for row in page.rows {
        match row {
            Ok(row) => {
                let row = Row::from(row);
                // A row that cannot be parsed again would break the client, and no import would accept it.
                if serde_json::to_value(&row).and_then(serde_json::from_value::<Row>).is_ok() {
                    exported.rows.push(row);
                } else {
                    let (Row::Account(AccountRow { account, .. }) | Row::Key(KeyRow { account, .. })) = &row;
                    let account = without_keys(account.as_str());
                    let rule =
                        "an account must not be named like a key, and times are in the years 2001 to 2286";
                    exported.corrupt.push(format!("a row of the account {account} is invalid: {rule}"));
                }
            }
            Err(error) => exported.corrupt.push(error.to_string()),
        }
    }
    Response::of(&exported)
}

pub(crate) async fn import(access: &Access, row: Row) -> Result<Response, Error> {
    row.check(now()).map_err(Error::InvalidCommand)?;
    match row {
        Row::Account(row) => {
            let imported = access.change(&row.account, &ImportAccount(&row)).await?;
            Ok(Response::of(&imported)?.about(&row.account))
        }
        Row::Key(row) => {
            let key = row.key().map_err(|reason| Error::InvalidCommand(reason.to_owned()))?;
            let imported = access.change(&key.account, &ImportKey(&key)).await?;
            Ok(Response::of(&imported)?.about_key(&key.account, &key.id()))
        }
    }
}

/// Adds the account, or to an account that exists its subscriptions and its keys in API Gateway.
struct ImportAccount<'a>(&'a AccountRow);

impl Plan for ImportAccount<'_> {
    type Result = Imported;

    async fn plan(
        &self,
        access: &Access,
        before: Option<&AccountRecord>,
    ) -> Result<Planned<Imported>, Error> {
        let row = self.0;
        let set = row.set_by_person().map_err(|reason| Error::InvalidCommand(reason.to_owned()))?;
        let mut after = before.cloned().unwrap_or_else(|| AccountRecord::new(row.account.clone()));
        let account = &mut after.account;
        if before.is_none() {
            account.status = row.status;
        }
        let is_other = set.is_some() && account.set_by_person.is_some() && account.set_by_person != set;
        if account.status != row.status || is_other {
            let text = "exists with other values, which stay; `account set` changes them";
            return Ok(different(format!("the account {} {text}", row.account)));
        }
        account.set_by_person = account.set_by_person.or(set);
        let mut subscriptions = Vec::new();
        for (id, imported) in &row.subscriptions {
            let owner = tables::access::owner(access.table(), id).await?;
            if let Some(other) = owner.as_ref().filter(|owner| **owner != row.account) {
                return Ok(different(format!("the subscription {id} belongs to the account {other}")));
            }
            let mut merged = account.subscriptions.get(id).cloned().unwrap_or_default();
            merged.merge(imported.clone());
            let stored = account.store(id.clone(), merged, now());
            stored.map_err(|error| Error::InvalidCommand(format!("subscriptions: {error}")))?;
            subscriptions.push(OwnerChange { id: id.clone(), before: owner });
        }
        let is_known = before.is_some_and(|before| before.account == *account);
        let result = if is_known { Imported::AlreadyThere } else { Imported::Imported };
        complete(access, before, account).await?;
        let change = Some(Change { subscriptions, ..Change::of(after) });
        Ok(Planned { change: change.filter(|change| before != Some(&change.account)), result })
    }
}

const fn different(reason: String) -> Planned<Imported> {
    Planned { change: None, result: Imported::Different { reason } }
}

/// Adds the key to its account, or moves its state forward.
struct ImportKey<'a>(&'a KeyRecord);

impl Plan for ImportKey<'_> {
    type Result = Imported;

    async fn plan(
        &self,
        access: &Access,
        account: Option<&AccountRecord>,
    ) -> Result<Planned<Imported>, Error> {
        let key = self.0;
        let id = key.id();
        let Some(account) = account else {
            return Ok(different(format!("the account {} of the key {id} does not exist", key.account)));
        };
        let before = tables::access::key(access.table(), &id).await?;
        let same = |before: &KeyRecord| {
            let (state, expires_at) = (key.state, key.expires_at);
            KeyRecord { state, expires_at, ..before.clone() } == *key
        };
        if !before.as_ref().is_none_or(same) {
            return Ok(different(format!("the key {id} exists with other values, which stay")));
        }
        let imported = before.clone().map_or_else(|| key.clone(), |before| merged(before, key));
        if before.as_ref() == Some(&imported) {
            return Ok(Planned { change: None, result: Imported::AlreadyThere });
        }
        let mut after = account.clone();
        after.forget_expired_keys(now());
        if imported.state_at(now()) == KeyState::Issued {
            // One more for a key in its grace time.
            let is_full = after.keys.len() > MOST_KEYS
                || imported.expires_at.is_none() && after.lasting_keys() >= MOST_KEYS;
            if !after.keys.contains_key(&id) && is_full {
                return Ok(different(format!(
                    "the key {id} is not imported: the account {} has {MOST_KEYS} valid keys",
                    key.account
                )));
            }
            if imported.expires_at.is_none()
                && let Some(other) = account.key_with_label(&key.label).filter(|other| **other != id)
            {
                return Ok(different(format!(
                    "the key {id} is not imported: the account {} has the issued key {other} with the label '{}'; revoke one of \
                     them",
                    key.account, key.label
                )));
            }
            let valid = ValidKey { label: imported.label.clone(), expires_at: imported.expires_at };
            after.keys.insert(id, valid);
        } else {
            after.keys.remove(&id);
        }
        let keys = vec![KeyChange { before, after: imported }];
        Ok(Planned { change: Some(Change { keys, ..Change::of(after) }), result: Imported::Imported })
    }
}

/// Returns the stored key with the state that is further ahead, and the earlier of two expiries.
fn merged(stored: KeyRecord, key: &KeyRecord) -> KeyRecord {
    let expires_at = [stored.expires_at, key.expires_at].into_iter().flatten().min();
    match (stored.state, key.state) {
        (KeyState::Revoked { .. }, _) => stored,
        (KeyState::Issued, KeyState::Revoked { .. }) => key.clone(),
        (KeyState::Issued, KeyState::Issued) => KeyRecord { expires_at, ..stored },
    }
}
