//! Accounts and API keys. Each account has one row with the `pk` `account#NAME`, and each key one row with the `pk` `key#ID`, which has
//! only the key's digest. The account's row lists its valid keys. Every change of an account or of its keys is one transaction that replaces
//! the account's row if nothing else has replaced it since it was read ([`apply`]), so all rules about an account are checked on one row.
//!
//! The index `ended` lists the replaced and revoked keys of an account, and lags about a second behind the table. A row
//! `request#NAME#ID` stores for a day which key a request issued, so that a client can repeat the request.
//!
//! A corrupt row is an error and is not skipped: access must not be granted or denied by a guess.

mod account;
mod key;
mod request;

use common::auth::{AccountName, KeyDigest, KeyId, KeyRecord, Label};
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::{StreamExt, TryStreamExt, stream};

pub use self::account::{AccountRecord, Issued, ValidKey};
pub use self::request::IssuedKey;
use crate::error::Error;
use crate::item::{Attributes, Corrupt, PARTITION_KEY, number, string, text};
use crate::session::{Condition, Session};

/// The maximum number of rows in a page.
const PAGE_ROWS: i32 = 1_000;
/// The number of concurrent deletions of keys.
const CONCURRENT_DELETIONS: usize = 8;

/// Returns the latest version of the account, if it exists.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn account(table: Session<'_>, name: &AccountName) -> Result<Option<AccountRecord>, Error> {
    let row = get(table, account::partition(name)).await?;
    row.map(|row| checked(table, &row, account::read(&row, name))).transpose()
}

/// Returns the latest version of the key with this digest, if the table has it.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn key_of_digest(table: Session<'_>, digest: &KeyDigest) -> Result<Option<KeyRecord>, Error> {
    // The id is only a part of the digest, so the whole digest is compared here.
    Ok(key(table, &digest.id()).await?.filter(|key| key.digest == *digest))
}

/// Returns the latest version of the key with this id, if the table has it.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn key(table: Session<'_>, id: &KeyId) -> Result<Option<KeyRecord>, Error> {
    let row = get(table, key::partition(id)).await?;
    row.map(|row| checked(table, &row, key::read(&row))).transpose()
}

/// Returns at most `limit` replaced and revoked keys of the account that have ended by `now`, the latest first. The index may lack changes of
/// the last second.
///
/// # Errors
/// If the table does not answer in time, or a row is corrupt.
pub async fn ended_keys(
    table: Session<'_>,
    name: &AccountName,
    now: UnixSeconds,
    limit: usize,
) -> Result<Vec<KeyRecord>, Error> {
    let query = table
        .query()
        .index_name(key::INDEX)
        .key_condition_expression("account = :account AND ends_at <= :now")
        .expression_attribute_values(":account", string(name.as_str()))
        .expression_attribute_values(":now", number(now.get()))
        .scan_index_forward(false);
    let rows = table.rows(query, limit).await?;
    rows.iter().map(|row| checked(table, row, key::read(row))).collect()
}

/// Returns which key the request last issued, if that was less than a day before `now`.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn issued_by(
    table: Session<'_>,
    name: &AccountName,
    request: &Label,
    now: UnixSeconds,
) -> Result<Option<IssuedKey>, Error> {
    let Some(row) = get(table, request::partition(name, request)).await? else { return Ok(None) };
    checked(table, &row, request::read(&row, request, now))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessRow {
    Account(AccountRecord),
    Key(KeyRecord),
}

/// A page of accounts and keys.
#[derive(Debug)]
pub struct Page {
    /// The rows. A corrupt row is an error.
    pub rows: Vec<Result<AccessRow, Error>>,
    /// The partition key after which the next page begins; `None` at the end.
    pub next: Option<String>,
}

/// Returns the accounts and keys after the row with this partition key, in no particular order.
///
/// # Errors
/// If the table does not answer in time.
pub async fn page(table: Session<'_>, after: Option<String>) -> Result<Page, Error> {
    let after = after.map(|key| Attributes::from([(PARTITION_KEY.to_owned(), string(key))]));
    let (rows, next) = table.scan_page(after, PAGE_ROWS).await?;
    let is_request =
        |row: &Attributes| text(row, PARTITION_KEY).is_ok_and(|key| key.starts_with(request::PREFIX));
    let rows = rows.into_iter().filter(|row| !is_request(row));
    Ok(Page {
        rows: rows.map(|row| checked(table, &row, read_row(&row))).collect(),
        next: next.and_then(|key| text(&key, PARTITION_KEY).ok()),
    })
}

/// A change of an account and its keys.
#[derive(Debug)]
pub struct Change {
    /// The account as it shall be.
    pub account: AccountRecord,
    pub keys: Vec<KeyChange>,
    /// The request that issued one of the keys.
    pub request: Option<IssuedKey>,
}

/// A change of a key.
#[derive(Debug)]
pub struct KeyChange {
    /// `None` for a new key.
    pub before: Option<KeyRecord>,
    pub after: KeyRecord,
}

impl KeyChange {
    /// A key never changes its account. The version of this account guards a key that exists.
    fn condition(&self) -> Condition {
        match &self.before {
            None => Condition::new("attribute_not_exists(pk)"),
            Some(before) => {
                let owner = string(before.account.as_str());
                Condition::new("attribute_not_exists(pk) OR account = :account").with(":account", owner)
            }
        }
    }
}

/// Makes all of the change, or nothing if the account is no longer as it was read (`before`; `None` if it did not exist); the caller must
/// then read it again. Returns whether the change was made. Writes a line with both states of each changed row to the audit trail.
///
/// # Errors
/// If the table does not answer in time.
pub async fn apply(
    table: Session<'_>,
    before: Option<&AccountRecord>,
    change: &Change,
) -> Result<bool, Error> {
    let Change { account, keys, request } = change;
    let mut rows: Vec<_> = keys.iter().map(|key| (key::row(&key.after), Some(key.condition()))).collect();
    rows.extend(request.as_ref().map(|issued| (request::row(&account.account.name, issued), None)));
    let condition = match before {
        None => Condition::new("attribute_not_exists(pk)"),
        Some(before) => Condition::new("version = :version").with(":version", number(before.version)),
    };
    // A new account begins with the time, so that a change of a deleted account of the same name cannot fit.
    let first = || UnixMilliseconds::of_system_clock().get().unsigned_abs();
    let version = before.map_or_else(first, |before| before.version + 1);
    rows.push((account::row(&AccountRecord { version, ..account.clone() }), Some(condition)));
    let is_made = table.put_at_once(rows).await?.is_some();
    if is_made {
        write_trail(before, change);
    }
    Ok(is_made)
}

fn write_trail(before: Option<&AccountRecord>, change: &Change) {
    let after = &change.account.account;
    let name = after.name.as_str();
    let before = before.map(|before| before.account.subscription);
    if before != Some(after.subscription) {
        let before = before.map(|before| before.to_string());
        let after = after.subscription.to_string();
        tracing::info!(account = name, before, after, "changed");
    }
    for KeyChange { before, after } in
        change.keys.iter().filter(|key| key.before.as_ref() != Some(&key.after))
    {
        write_key_trail(after, before.as_ref(), Some(after));
    }
}

/// Writes a line about a key whose state was `before` and is `after`.
fn write_key_trail(key: &KeyRecord, before: Option<&KeyRecord>, after: Option<&KeyRecord>) {
    let (account, key_id, label) = (key.account.as_str(), key.id(), key.label.as_str());
    let [before, after] = [before, after].map(|state| state.map(ToString::to_string));
    tracing::info!(account, key_id = key_id.as_str(), label, before, after, "changed");
}

/// Deletes the row of the account, unless it has changed since it was read. Returns whether the row was deleted.
///
/// # Errors
/// If the table does not answer in time.
pub async fn delete_account(table: Session<'_>, account: &AccountRecord) -> Result<bool, Error> {
    let name = &account.account.name;
    let request = table
        .delete_item()
        .key(PARTITION_KEY, string(account::partition(name)))
        .condition_expression("attribute_not_exists(pk) OR version = :version")
        .expression_attribute_values(":version", number(account.version));
    let is_deleted = table.write("DeleteItem", request.send()).await?.is_some();
    if is_deleted {
        let before = account.account.subscription.to_string();
        tracing::info!(account = name.as_str(), before, "changed");
    }
    Ok(is_deleted)
}

/// Deletes the rows of keys. Writes a line for each row to the audit trail.
///
/// # Errors
/// If the table does not answer in time.
pub async fn delete_keys(table: Session<'_>, keys: Vec<KeyRecord>) -> Result<(), Error> {
    let delete = |key| delete_key(table, key);
    stream::iter(keys).map(delete).buffer_unordered(CONCURRENT_DELETIONS).try_collect().await
}

async fn delete_key(table: Session<'_>, key: KeyRecord) -> Result<(), Error> {
    let request = table.delete_item().key(PARTITION_KEY, string(key::partition(&key.id())));
    table.write("DeleteItem", request.send()).await?;
    write_key_trail(&key, Some(&key), None);
    Ok(())
}

async fn get(table: Session<'_>, key: String) -> Result<Option<Attributes>, Error> {
    table.get(Attributes::from([(PARTITION_KEY.to_owned(), string(key))])).await
}

fn checked<T>(table: Session<'_>, row: &Attributes, read: Result<T, Corrupt>) -> Result<T, Error> {
    read.map_err(|corrupt| Error::Corrupt {
        table: table.table_name().to_owned(),
        key: text(row, PARTITION_KEY).unwrap_or_default(),
        cause: corrupt.to_string(),
    })
}

fn read_row(row: &Attributes) -> Result<AccessRow, Corrupt> {
    let partition = text(row, PARTITION_KEY)?;
    if let Some(name) = partition.strip_prefix(account::PREFIX) {
        let name = name.parse().map_err(|_| Corrupt::new(PARTITION_KEY, "the key of an account"))?;
        return account::read(row, &name).map(AccessRow::Account);
    }
    key::read(row).map(AccessRow::Key)
}
