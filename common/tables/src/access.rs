//! Accounts and API keys: one row each, under `pk` `account#NAME` or `key#ID`. Of a key there is its digest only. The
//! index `by-account` lists the keys of an account; it follows the table within a second or so.
//!
//! A row that is corrupt is an error here and not a row to skip: nobody gets in, or loses a key, by a guess.

use std::str::FromStr;
use std::time::Duration;

use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue;
use common::auth::{
    Account, AccountName, KeyDigest, KeyId, KeyRecord, KeyState, Subscription, SubscriptionStatus, Tier,
};
use common::time::UnixSeconds;
use futures_util::{Stream, TryStreamExt, stream};
use tokio::time::Instant;

use crate::item::{Corrupt, Item, PARTITION_KEY, integer, number, string, text};
use crate::{Error, Table};

/// The index of keys by account.
const BY_ACCOUNT: &str = "by-account";

const ACCOUNT: &str = "account";
const TIER: &str = "tier";
const STATUS: &str = "status";
const PAID_UNTIL: &str = "paid_until";
const DIGEST: &str = "sha256";
const LABEL: &str = "label";
const CREATED_AT: &str = "created_at";
const LAST_FOUR: &str = "last_four";
const PENDING: &str = "pending";
const REVOKED_AT: &str = "revoked_at";

fn account_key(name: &AccountName) -> String {
    format!("account#{name}")
}

fn key_key(id: &KeyId) -> String {
    format!("key#{id}")
}

/// The account, if it is there. The latest version, whatever was written a moment ago.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn account(table: &Table, name: &AccountName, deadline: Instant) -> Result<Option<Account>, Error> {
    let row = get(table, account_key(name), deadline).await?;
    row.map(|row| checked(table, &row, read_account(&row, name))).transpose()
}

/// What is kept of the key with this digest, if it was ever issued. The latest version.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn key_of_digest(
    table: &Table,
    digest: &KeyDigest,
    deadline: Instant,
) -> Result<Option<KeyRecord>, Error> {
    let key = key(table, &digest.id(), deadline).await?;
    // The id is a part of the digest; the whole of it decides.
    Ok(key.filter(|key| key.digest == *digest))
}

/// What is kept of the key with this name, if it was ever issued. The latest version.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn key(table: &Table, id: &KeyId, deadline: Instant) -> Result<Option<KeyRecord>, Error> {
    let row = get(table, key_key(id), deadline).await?;
    row.map(|row| checked(table, &row, read_key(&row))).transpose()
}

/// The keys of the account, revoked ones included, in no order. Each page of them may take as long as `patience`.
///
/// # Errors
/// If the table does not answer in time, or a row is corrupt.
pub fn keys_of(
    table: &Table,
    name: &AccountName,
    patience: Duration,
) -> impl Stream<Item = Result<KeyRecord, Error>> {
    let query = table
        .query()
        .index_name(BY_ACCOUNT)
        .key_condition_expression("account = :account")
        .expression_attribute_values(":account", string(name.as_str()));
    let read = |row: Item| checked(table, &row, read_key(&row));
    let pages = table.pages(query, patience);
    pages.map_ok(move |rows| stream::iter(rows.into_iter().map(read))).try_flatten()
}

/// Writes the account if what is there is still `before`, and says whether it did: of two who change it at a time, the
/// second has to look again.
///
/// # Errors
/// If the table does not answer in time.
pub async fn replace_account(
    table: &Table,
    before: Option<&Account>,
    account: &Account,
    deadline: Instant,
) -> Result<bool, Error> {
    let request = putting(table, account);
    let request = match before.map(|account| account.subscription) {
        None => request.condition_expression("attribute_not_exists(pk)"),
        Some(Subscription { tier, status, paid_until }) => request
            .condition_expression("tier = :tier AND #status = :status AND paid_until = :paid_until")
            // A reserved word.
            .expression_attribute_names("#status", STATUS)
            .expression_attribute_values(":tier", string(tier.name()))
            .expression_attribute_values(":status", string(status.name()))
            .expression_attribute_values(":paid_until", number(paid_until.get())),
    };
    table.unless_refused("PutItem", deadline, request.send()).await.map(|written| written.is_some())
}

fn putting(table: &Table, account: &Account) -> PutItemFluentBuilder {
    let Subscription { tier, status, paid_until } = account.subscription;
    table
        .client()
        .put_item()
        .table_name(table.name())
        .item(PARTITION_KEY, string(account_key(&account.name)))
        .item(TIER, string(tier.name()))
        .item(STATUS, string(status.name()))
        .item(PAID_UNTIL, number(paid_until.get()))
}

/// Writes the key, unless one with its name is there, and says whether it did.
///
/// # Errors
/// If the table does not answer in time.
pub async fn put_key(table: &Table, key: &KeyRecord, deadline: Instant) -> Result<bool, Error> {
    let request = table
        .client()
        .put_item()
        .table_name(table.name())
        .item(PARTITION_KEY, string(key_key(&key.id())))
        .item(DIGEST, string(key.digest.to_string()))
        .item(ACCOUNT, string(key.account.as_str()))
        .item(LABEL, string(key.label.as_str()))
        .item(CREATED_AT, number(key.created_at.get()))
        .item(LAST_FOUR, string(&key.last_four))
        .condition_expression("attribute_not_exists(pk)");
    let request = match key.state {
        KeyState::Issued => request,
        KeyState::Pending => request.item(PENDING, AttributeValue::Bool(true)),
        KeyState::Revoked { at } => request.item(REVOKED_AT, number(at.get())),
    };
    table.unless_refused("PutItem", deadline, request.send()).await.map(|written| written.is_some())
}

/// Says that the key is issued now, and whether it was there to be issued: not gone, not revoked.
///
/// # Errors
/// If the table does not answer in time.
pub async fn complete_key(table: &Table, id: &KeyId, deadline: Instant) -> Result<bool, Error> {
    let request = updating_unrevoked(table, id).update_expression("REMOVE pending");
    table.unless_refused("UpdateItem", deadline, request.send()).await.map(|written| written.is_some())
}

/// Revokes the key at the moment `at`, unless it is revoked already, and says whether it did. It stays in the table, so
/// that nobody wonders where it went.
///
/// # Errors
/// If the table does not answer in time.
pub async fn revoke_key(
    table: &Table,
    id: &KeyId,
    at: UnixSeconds,
    deadline: Instant,
) -> Result<bool, Error> {
    let request = updating_unrevoked(table, id)
        .update_expression("SET revoked_at = :at REMOVE pending")
        .expression_attribute_values(":at", number(at.get()));
    table.unless_refused("UpdateItem", deadline, request.send()).await.map(|written| written.is_some())
}

/// An update of the key that is carried out only while it is there and not revoked: revoking is for good.
fn updating_unrevoked(table: &Table, id: &KeyId) -> UpdateItemFluentBuilder {
    table
        .client()
        .update_item()
        .table_name(table.name())
        .key(PARTITION_KEY, string(key_key(id)))
        .condition_expression("attribute_exists(pk) AND attribute_not_exists(revoked_at)")
}

/// Removes the key if it is pending, and says whether it did: nobody has seen it.
///
/// # Errors
/// If the table does not answer in time.
pub async fn remove_pending_key(table: &Table, id: &KeyId, deadline: Instant) -> Result<bool, Error> {
    let request = table
        .client()
        .delete_item()
        .table_name(table.name())
        .key(PARTITION_KEY, string(key_key(id)))
        .condition_expression("attribute_exists(pending)");
    table.unless_refused("DeleteItem", deadline, request.send()).await.map(|written| written.is_some())
}

async fn get(table: &Table, key: String, deadline: Instant) -> Result<Option<Item>, Error> {
    let request = table.client().get_item().table_name(table.name()).consistent_read(true);
    let request = request.key(PARTITION_KEY, string(key)).send();
    table.in_time("GetItem", deadline, request).await.map(|answer| answer.item)
}

fn checked<T>(table: &Table, row: &Item, read: Result<T, Corrupt>) -> Result<T, Error> {
    read.map_err(|corrupt| Error::Corrupt {
        table: table.name().to_owned(),
        key: text(row, PARTITION_KEY).unwrap_or_default(),
        cause: corrupt.to_string(),
    })
}

fn read_account(row: &Item, name: &AccountName) -> Result<Account, Corrupt> {
    let tier = Tier::ALL.into_iter().find(|tier| is(row, TIER, tier.name()));
    let status = SubscriptionStatus::ALL.into_iter().find(|status| is(row, STATUS, status.name()));
    Ok(Account {
        name: name.clone(),
        subscription: Subscription {
            tier: tier.ok_or(Corrupt::new(TIER, "a tier"))?,
            status: status.ok_or(Corrupt::new(STATUS, "the status of a subscription"))?,
            paid_until: UnixSeconds::new(integer(row, PAID_UNTIL)?),
        },
    })
}

fn is(row: &Item, attribute: &'static str, word: &str) -> bool {
    text(row, attribute).is_ok_and(|text| text == word)
}

fn read_key(row: &Item) -> Result<KeyRecord, Corrupt> {
    let state = match (row.get(PENDING), row.get(REVOKED_AT)) {
        (_, Some(_)) => KeyState::Revoked { at: UnixSeconds::new(integer(row, REVOKED_AT)?) },
        (Some(_), None) => KeyState::Pending,
        (None, None) => KeyState::Issued,
    };
    let key = KeyRecord {
        digest: parsed(row, DIGEST, "a SHA-256 in hexadecimal")?,
        account: parsed(row, ACCOUNT, "the name of an account")?,
        label: parsed(row, LABEL, "a label")?,
        created_at: UnixSeconds::new(integer(row, CREATED_AT)?),
        last_four: text(row, LAST_FOUR)?,
        state,
    };
    if is(row, PARTITION_KEY, &key_key(&key.id())) {
        Ok(key)
    } else {
        Err(Corrupt::new(DIGEST, "the digest of the key that the row is for"))
    }
}

fn parsed<T: FromStr>(row: &Item, attribute: &'static str, expected: &'static str) -> Result<T, Corrupt> {
    text(row, attribute)?.parse().map_err(|_| Corrupt::new(attribute, expected))
}
