//! `export_rows` and `import_row`: accounts and keys as rows of a file. An import removes nothing, leaves an existing account unchanged, and
//! moves the state of a key only forward, from issued to revoked. The row of a key has the key's SHA-256, from which the key cannot be
//! computed.

use std::time::Duration;

use common::auth::{
    Account, AccountName, KeyDigest, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus, Tier,
    without_keys,
};
use common::time::UnixSeconds;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tables::access::{AccessRow, AccountRecord, Change, KeyChange, ValidKey};

use crate::access::{Access, Plan, Planned, now};
use crate::account::store;
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
    pub tier: Tier,
    pub status: SubscriptionStatus,
    pub paid_until: UnixSeconds,
    /// When the subscription was last changed. Payments that were made before do not change it.
    pub changed_at: UnixSeconds,
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
    /// If `last_four` is invalid, or `state` and `revoked_at` contradict each other. The error text names the field.
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
    /// Checks that the state of a key is possible, and that no time of the row is in the future. A replaced key expires after its grace time.
    ///
    /// # Errors
    /// The text names the field.
    pub fn check(&self, now: UnixSeconds) -> Result<(), String> {
        let times = match self {
            Self::Account(row) => vec![("changed_at", Some(row.changed_at))],
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
            AccessRow::Account(AccountRecord { account, changed_at, .. }) => {
                let Account { name, subscription: Subscription { tier, status, paid_until }, .. } = account;
                Self::Account(AccountRow { account: name, tier, status, paid_until, changed_at })
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

/// The result of importing a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Imported {
    Imported,
    AlreadyThere,
    /// Not imported: the table has other values, the account has another issued key with the label, or the key's account is missing.
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
        Row::Account(AccountRow { account: name, tier, status, paid_until, changed_at }) => {
            let subscription = Subscription { tier, status, paid_until };
            let command = ImportAccount { name: &name, subscription, changed_at };
            let imported = access.change(&name, &command).await?;
            Ok(Response::of(&imported)?.about(&name))
        }
        Row::Key(row) => {
            let key = row.key().map_err(|reason| Error::InvalidCommand(reason.to_owned()))?;
            let imported = access.change(&key.account, &ImportKey(&key)).await?;
            Ok(Response::of(&imported)?.about_key(&key.account, &key.id()))
        }
    }
}

/// Adds the account, or only its key in API Gateway if the account exists.
struct ImportAccount<'a> {
    name: &'a AccountName,
    subscription: Subscription,
    changed_at: UnixSeconds,
}

impl Plan for ImportAccount<'_> {
    type Result = Imported;

    async fn plan(
        &self,
        access: &Access,
        before: Option<&AccountRecord>,
    ) -> Result<Planned<Imported>, Error> {
        let Self { name, subscription, changed_at } = *self;
        let stored = before.map(|before| before.account.subscription);
        if stored.is_some_and(|stored| stored != subscription) {
            let text = "exists with other values, which stay; `account set` changes them";
            return Ok(different(format!("the account {name} {text}")));
        }
        let at = Some(changed_at).filter(|_| before.is_none());
        let Planned { change, .. } = store(access, name, before, subscription, at).await?;
        let result = if before.is_none() { Imported::Imported } else { Imported::AlreadyThere };
        Ok(Planned { change, result })
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
        let change = Change { account: after, keys, request: None };
        Ok(Planned { change: Some(change), result: Imported::Imported })
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
