//! Accounts and API keys. Each account has one row with the `pk` `account#NAME`, and each key one row with
//! the `pk` `key#ID`, which has only the key's digest. The account's row lists its valid keys and its
//! subscriptions. Every change of an account or of its keys is one transaction that replaces the account's
//! row if nothing else has replaced it since it was read ([`apply`]), so all rules about an account are
//! checked on one row. A row `subscription#ID` says which account has the subscription.
//!
//! The index `ended` lists the replaced and revoked keys of an account, and lags about a second behind the
//! table. A row `request#NAME#ID` stores for a day which key a request issued, so that a client can repeat
//! the request.
//!
//! A corrupt row is an error and is not skipped: access must not be granted or denied by a guess.

mod account;
mod key;
mod owner;
mod request;

use common::auth::{AccountName, KeyDigest, KeyId, KeyRecord, Label, SubscriptionId};
use common::time::{UnixMilliseconds, UnixSeconds};

pub use self::account::{AccountRecord, Issued, ValidKey};
pub use self::request::IssuedKey;
use crate::error::Error;
use crate::item::{Attributes, Corrupt, PARTITION_KEY, number, string, text};
use crate::session::{Condition, Session, TRANSACTION, Write};

/// The maximum number of rows in a page.
const PAGE_ROWS: i32 = 1_000;

/// Returns the latest version of the account, if it exists.
pub async fn account(table: Session<'_>, name: &AccountName) -> Result<Option<AccountRecord>, Error> {
    let row = get(table, account::partition(name)).await?;
    row.map(|row| checked(table, &row, account::read(&row, name))).transpose()
}

/// Returns the latest version of the key with this digest, if the table has it.
pub async fn key_of_digest(table: Session<'_>, digest: &KeyDigest) -> Result<Option<KeyRecord>, Error> {
    // The id is only a part of the digest, so the whole digest is compared here.
    Ok(key(table, &digest.id()).await?.filter(|key| key.digest == *digest))
}

/// Returns the latest version of the key with this id, if the table has it.
pub async fn key(table: Session<'_>, id: &KeyId) -> Result<Option<KeyRecord>, Error> {
    let row = get(table, key::partition(id)).await?;
    row.map(|row| checked(table, &row, key::read(&row))).transpose()
}

/// Returns at most `limit` replaced and revoked keys of the account that have ended by `now`, the latest
/// first. The index may lack changes of the last second.
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
pub async fn issued_by(
    table: Session<'_>,
    name: &AccountName,
    request: &Label,
    now: UnixSeconds,
) -> Result<Option<IssuedKey>, Error> {
    let Some(row) = get(table, request::partition(name, request)).await? else { return Ok(None) };
    checked(table, &row, request::read(&row, request, now))
}

/// Returns the account that has the subscription, if any.
pub async fn owner(table: Session<'_>, id: &SubscriptionId) -> Result<Option<AccountName>, Error> {
    let row = get(table, owner::partition(id)).await?;
    row.map(|row| checked(table, &row, owner::read(&row))).transpose()
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
pub async fn page(table: Session<'_>, after: Option<String>) -> Result<Page, Error> {
    let after = after.map(key_of);
    let (rows, next) = table.scan_page(after, PAGE_ROWS).await?;
    let is_other =
        |key: String| [request::PREFIX, owner::PREFIX].iter().any(|prefix| key.starts_with(prefix));
    let rows = rows.into_iter().filter(|row| !text(row, PARTITION_KEY).is_ok_and(is_other));
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
    pub request: Option<IssuedKey>,
    pub subscriptions: Vec<OwnerChange>,
    /// The account that a subscription leaves, as it was read and as it shall be.
    pub left: Option<(AccountRecord, AccountRecord)>,
}

impl Change {
    /// A change of nothing but the account.
    #[must_use]
    pub const fn of(account: AccountRecord) -> Self {
        Self { account, keys: Vec::new(), request: None, subscriptions: Vec::new(), left: None }
    }
}

/// A subscription that the changed account gets.
#[derive(Debug)]
pub struct OwnerChange {
    pub id: SubscriptionId,
    /// The account that had it, as it was read.
    pub before: Option<AccountName>,
}

impl OwnerChange {
    fn condition(&self) -> Condition {
        match &self.before {
            None => Condition::new("attribute_not_exists(pk)"),
            Some(before) => Condition::new("account = :account").with(":account", string(before.as_str())),
        }
    }
}

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

/// Makes all of the change, or nothing if one of its rows is no longer as it was read (`before` is the
/// account; `None` if it did not exist); the caller must then read them again. Returns whether the change was
/// made. Writes a line with both states of each changed row to the audit trail.
pub async fn apply(
    table: Session<'_>,
    before: Option<&AccountRecord>,
    change: &Change,
) -> Result<bool, Error> {
    let Change { account, keys, request, subscriptions, left } = change;
    let name = &account.account.name;
    let mut rows: Vec<_> = keys.iter().map(|key| (key::row(&key.after), Some(key.condition()))).collect();
    rows.extend(request.as_ref().map(|issued| (request::row(name, issued), None)));
    let owners =
        subscriptions.iter().map(|owner| (owner::row(&owner.id, &account.account), Some(owner.condition())));
    rows.extend(owners);
    let accounts =
        [(before, account)].into_iter().chain(left.iter().map(|(before, after)| (Some(before), after)));
    for (before, after) in accounts {
        rows.push(account_row(before, after)?);
    }
    let is_made = table.put_at_once(rows).await?.is_some();
    if is_made {
        write_trail(before, change);
    }
    Ok(is_made)
}

/// Returns the account's row with the next version, and the condition that it is as it was read.
fn account_row(
    before: Option<&AccountRecord>,
    after: &AccountRecord,
) -> Result<(Attributes, Option<Condition>), Error> {
    let condition = match before {
        None => Condition::new("attribute_not_exists(pk)"),
        Some(before) => Condition::new("version = :version").with(":version", number(before.version)),
    };
    // A new account begins with the time, so that a change of a deleted account of the same name cannot fit.
    let first = || UnixMilliseconds::of_system_clock().get().unsigned_abs();
    let version = before.map_or_else(first, |before| before.version + 1);
    let row = account::row(&AccountRecord { version, ..after.clone() }).map_err(Error::unwritable)?;
    Ok((row, Some(condition)))
}

fn write_trail(before: Option<&AccountRecord>, change: &Change) {
    write_account_trail(before, &change.account);
    if let Some((before, after)) = &change.left {
        write_account_trail(Some(before), after);
    }
    for KeyChange { before, after } in
        change.keys.iter().filter(|key| key.before.as_ref() != Some(&key.after))
    {
        write_key_trail(after, before.as_ref(), Some(after));
    }
}

fn write_account_trail(before: Option<&AccountRecord>, after: &AccountRecord) {
    let name = after.account.name.as_str();
    let before = before.map(|before| before.account.to_string());
    let after = after.account.to_string();
    if before.as_ref() != Some(&after) {
        tracing::info!(account = name, before, after, "changed");
    }
}

/// Writes a line about a key whose state was `before` and is `after`.
fn write_key_trail(key: &KeyRecord, before: Option<&KeyRecord>, after: Option<&KeyRecord>) {
    let (account, key_id, label) = (key.account.as_str(), key.id(), key.label.as_str());
    let [before, after] = [before, after].map(|state| state.map(ToString::to_string));
    tracing::info!(account, key_id = key_id.as_str(), label, before, after, "changed");
}

/// Deletes the rows of the account and of its subscriptions, unless it has changed since it was read. Returns
/// whether they were deleted.
pub async fn delete_account(table: Session<'_>, record: &AccountRecord) -> Result<bool, Error> {
    let account = &record.account;
    let condition = Condition::new("attribute_not_exists(pk) OR version = :version")
        .with(":version", number(record.version));
    let mut rows = vec![(Write::Delete(key_of(account::partition(&account.name))), Some(condition))];
    let owners = account.subscriptions.keys().map(|id| (Write::Delete(key_of(owner::partition(id))), None));
    rows.extend(owners);
    let is_deleted = table.write_at_once(rows).await?.is_some();
    if is_deleted {
        tracing::info!(account = account.name.as_str(), before = account.to_string(), "changed");
    }
    Ok(is_deleted)
}

/// Deletes the rows of keys. Writes a line for each row to the audit trail.
pub async fn delete_keys(table: Session<'_>, keys: &[KeyRecord]) -> Result<(), Error> {
    for keys in keys.chunks(TRANSACTION as usize) {
        let rows = keys.iter().map(|record| (Write::Delete(key_of(key::partition(&record.id()))), None));
        table.write_at_once(rows.collect()).await?;
        for key in keys {
            write_key_trail(key, Some(key), None);
        }
    }
    Ok(())
}

fn key_of(partition: String) -> Attributes {
    Attributes::from([(PARTITION_KEY.to_owned(), string(partition))])
}

async fn get(table: Session<'_>, key: String) -> Result<Option<Attributes>, Error> {
    table.get(key_of(key)).await
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
