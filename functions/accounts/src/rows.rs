//! `export_rows`, `import_row` and `add_to_gateway`: accounts and keys as rows of a file. An import removes nothing, leaves an existing
//! account unchanged, and moves the state of a key only forward, from pending to issued to revoked. The row of a key has the key's SHA-256,
//! from which the key cannot be computed.

use common::auth::{
    Account, AccountName, KeyDigest, KeyId, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus,
    Tier, without_keys,
};
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};
use tables::access::AccessRow;

use crate::access::{Access, now};
use crate::error::Error;
use crate::response::Response;
use crate::view::{State, split};

/// A row of an exported file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    Account(AccountRow),
    Key(KeyRow),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountRow {
    pub account: AccountName,
    pub tier: Tier,
    pub status: SubscriptionStatus,
    pub paid_until: UnixSeconds,
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
            (State::Pending, None) => KeyState::Pending,
            (State::Issued, None) => KeyState::Issued,
            (State::Revoked, Some(at)) => KeyState::Revoked { at },
            _ => return Err("revoked_at: required for a revoked key, and not allowed for other keys"),
        };
        Ok(KeyRecord { digest: sha256, account, label, created_at, last_four, state, expires_at })
    }
}

impl From<AccessRow> for Row {
    fn from(row: AccessRow) -> Self {
        match row {
            AccessRow::Account(Account { name, subscription: Subscription { tier, status, paid_until } }) => {
                Self::Account(AccountRow { account: name, tier, status, paid_until })
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
    /// Not imported: the table has other values, or the account has another issued key with the label.
    Different {
        reason: String,
    },
}

/// The result of `add_to_gateway`: how many keys it added or moved.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayTally {
    pub added: u64,
    pub moved: u64,
    pub already_there: u64,
    /// Keys of accounts that are not in the table.
    pub without_account: Vec<(AccountName, KeyId)>,
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

pub(crate) async fn import(access: &Access, row: Row, others: &[KeyId]) -> Result<Response, Error> {
    match row {
        Row::Account(AccountRow { account, tier, status, paid_until }) => {
            let account = Account { name: account, subscription: Subscription { tier, status, paid_until } };
            Ok(Response::of(&store_account(access, &account).await?)?.about(&account.name))
        }
        Row::Key(row) => {
            let key = row.key().map_err(|reason| Error::InvalidCommand(reason.to_owned()))?;
            let imported = store_key(access, &key, others).await?;
            Ok(Response::of(&imported)?.about_key(&key.account, &key.id()))
        }
    }
}

const fn imported(is_new: bool) -> Imported {
    if is_new { Imported::Imported } else { Imported::AlreadyThere }
}

async fn store_account(access: &Access, account: &Account) -> Result<Imported, Error> {
    let is_new = tables::access::replace_account(access.table(), None, account).await?;
    if is_new || access.account(&account.name).await?.as_ref() == Some(account) {
        return Ok(imported(is_new));
    }
    let text = "exists with other values, which stay; `account set` changes them";
    Ok(Imported::Different { reason: format!("the account {} {text}", account.name) })
}

async fn store_key(access: &Access, key: &KeyRecord, others: &[KeyId]) -> Result<Imported, Error> {
    let table = access.table();
    let id = key.id();
    let existing = tables::access::key(table, &id).await?;
    let same = |existing: &KeyRecord| {
        let (state, expires_at) = (key.state, key.expires_at);
        KeyRecord { state, expires_at, ..existing.clone() } == *key
    };
    if !existing.as_ref().is_none_or(same) {
        return Ok(Imported::Different {
            reason: format!("the key {id} exists with other values, which stay"),
        });
    }
    let before = existing.map(|existing| existing.state);
    if let (None | Some(KeyState::Pending), KeyState::Issued) = (before, key.state)
        && let Some(other) = other_with_label(access, key, others).await?
    {
        return Ok(Imported::Different {
            reason: format!(
                "the key {id} is not imported: the account {} has the issued key {other} with the label '{}'; revoke one of \
                 them",
                key.account, key.label
            ),
        });
    }
    let mut is_new = match (before, key.state) {
        (None, _) => tables::access::put_key(table, key).await?,
        (Some(KeyState::Pending), KeyState::Issued) => tables::access::complete_key(table, &id).await?,
        (Some(KeyState::Pending | KeyState::Issued), KeyState::Revoked { at }) => {
            tables::access::revoke_key(table, &id, at).await?
        }
        _ => false,
    };
    // The earlier of two expiries wins.
    if let (Some(_), Some(at)) = (before, key.expires_at) {
        is_new |= tables::access::expire_key(table, &id, at).await?;
    }
    Ok(imported(is_new))
}

/// Returns another issued key of the account with the same label. An account has at most one issued key per label, not counting keys with
/// an expiry.
async fn other_with_label(
    access: &Access,
    key: &KeyRecord,
    others: &[KeyId],
) -> Result<Option<KeyId>, Error> {
    let is_other = |other: &KeyRecord| {
        other.state == KeyState::Issued
            && other.expires_at.is_none()
            && (&other.account, &other.label) == (&key.account, &key.label)
            && other.digest != key.digest
    };
    if key.expires_at.is_some() {
        return Ok(None);
    }
    let listed = access.keys_of(&key.account).await?.into_iter().filter(is_other).map(|other| other.id());
    // The index may have an old version of a key, and may lack a new key.
    for id in others.iter().cloned().chain(listed) {
        let current = tables::access::key(access.table(), &id).await?;
        if current.as_ref().is_some_and(is_other) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Adds the keys to the usage plans of their accounts' tiers. Skips keys that are not issued.
pub(crate) async fn add_to_gateway(access: &Access, ids: &[KeyId]) -> Result<Response, Error> {
    let Some(gateway) = &access.gateway else { return Response::of(&None::<GatewayTally>) };
    let mut tally = GatewayTally::default();
    let existing = gateway.keys().await?;
    for id in ids {
        let key = tables::access::key(access.table(), id).await?;
        let Some(key) = key.filter(|key| key.state_at(now()) == KeyState::Issued) else { continue };
        let Some(account) = access.account(&key.account).await? else {
            tally.without_account.push((key.account, id.clone()));
            continue;
        };
        if let Some(known) = existing.get(id.as_str()) {
            let is_moved = access.move_to_plan(gateway, account, known).await?;
            *(if is_moved { &mut tally.moved } else { &mut tally.already_there }) += 1;
        } else {
            let created = gateway.create(&key).await?;
            access.move_to_plan(gateway, account, &created).await?;
            tally.added += 1;
        }
    }
    Response::of(&tally)
}
