//! Accounts and API keys. Each account has one row with the `pk` `account#NAME`, and each key one row with the `pk` `key#ID`. The table
//! stores only a key's digest. The index `by-account` lists the keys of an account, and lags about a second behind the table. A row
//! `request#NAME#ID` stores for a day which key a request issued, so that a client can repeat the request.
//!
//! A corrupt row is an error and is not skipped: access must not be granted or denied by a guess.

use std::str::FromStr;
use std::time::Duration;

use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue;
use common::auth::{
    Account, AccountName, KeyDigest, KeyId, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus,
    Tier,
};
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::{Stream, TryStreamExt, stream};

use crate::error::Error;
use crate::item::{Attributes, Corrupt, PARTITION_KEY, TIME_TO_LIVE, integer, number, string, text};
use crate::session::Session;

/// The maximum number of rows in a page.
const PAGE_ROWS: i32 = 1_000;
/// How long a request that issued a key is remembered.
const REQUEST_KEPT: Duration = Duration::from_hours(24);

/// The index of keys by account.
const BY_ACCOUNT: &str = "by-account";

const ACCOUNT_PREFIX: &str = "account#";
const REQUEST_PREFIX: &str = "request#";
const ACCOUNT: &str = "account";
const TIER: &str = "tier";
const STATUS: &str = "status";
const PAID_UNTIL: &str = "paid_until";
const CHANGED_AT: &str = "changed_at";
const DIGEST: &str = "sha256";
const LABEL: &str = "label";
const CREATED_AT: &str = "created_at";
const LAST_FOUR: &str = "last_four";
const PENDING: &str = "pending";
const REVOKED_AT: &str = "revoked_at";
const EXPIRES_AT: &str = "expires_at";
/// The KEY-ID in the row of a request.
const KEY: &str = "key";

fn account_key(name: &AccountName) -> String {
    format!("{ACCOUNT_PREFIX}{name}")
}

fn key_key(id: &KeyId) -> String {
    format!("key#{id}")
}

/// Returns the latest version of the account, if it exists.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn account(table: Session<'_>, name: &AccountName) -> Result<Option<Account>, Error> {
    let row = get(table, account_key(name)).await?;
    row.map(|row| checked(table, &row, read_account(&row, name))).transpose()
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
    let row = get(table, key_key(id)).await?;
    row.map(|row| checked(table, &row, read_key(&row))).transpose()
}

/// Returns the keys of the account, including revoked ones, in no particular order.
///
/// # Errors
/// If the table does not answer in time, or a row is corrupt.
pub fn keys_of<'a>(
    table: Session<'a>,
    name: &AccountName,
) -> impl Stream<Item = Result<KeyRecord, Error>> + use<'a> {
    let query = table
        .query()
        .index_name(BY_ACCOUNT)
        .key_condition_expression("account = :account")
        .expression_attribute_values(":account", string(name.as_str()));
    let read = move |row: Attributes| checked(table, &row, read_key(&row));
    let pages = table.pages(query);
    pages.map_ok(move |rows| stream::iter(rows.into_iter().map(read))).try_flatten()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessRow {
    Account(Account),
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
        |row: &Attributes| text(row, PARTITION_KEY).is_ok_and(|key| key.starts_with(REQUEST_PREFIX));
    let rows = rows.into_iter().filter(|row| !is_request(row));
    Ok(Page {
        rows: rows.map(|row| checked(table, &row, read_row(&row))).collect(),
        next: next.and_then(|key| text(&key, PARTITION_KEY).ok()),
    })
}

fn request_key(name: &AccountName, request: &Label) -> String {
    format!("{REQUEST_PREFIX}{name}#{request}")
}

/// Returns the key that the request last issued, if that was less than a day before `now`.
///
/// # Errors
/// If the table does not answer in time, or the row is corrupt.
pub async fn issued_by(
    table: Session<'_>,
    name: &AccountName,
    request: &Label,
    now: UnixSeconds,
) -> Result<Option<KeyId>, Error> {
    let Some(row) = get(table, request_key(name, request)).await? else { return Ok(None) };
    let read = integer(&row, TIME_TO_LIVE).and_then(|until| Ok((until, parsed(&row, KEY, "a KEY-ID")?)));
    let (until, key) = checked(table, &row, read)?;
    Ok((until > now.get()).then_some(key))
}

/// Stores `key` as the key that the request issued at `now`, if the stored key is still `before`. Returns `false` if a concurrent attempt
/// stored another key first; the caller then starts again.
///
/// # Errors
/// If the table does not answer in time.
pub async fn note_request(
    table: Session<'_>,
    name: &AccountName,
    request: &Label,
    (before, key): (Option<&KeyId>, &KeyId),
    now: UnixSeconds,
) -> Result<bool, Error> {
    // The condition accepts an expired row, which may still exist. It also accepts `key` itself: an earlier attempt of this write may have
    // succeeded, but its response was lost.
    let write = table
        .put_item()
        .item(PARTITION_KEY, string(request_key(name, request)))
        .item(KEY, string(key.as_str()))
        .item(TIME_TO_LIVE, number(now.plus(REQUEST_KEPT).get()))
        .condition_expression("attribute_not_exists(pk) OR #ttl <= :now OR #key IN (:before, :key)")
        .expression_attribute_names("#ttl", TIME_TO_LIVE)
        .expression_attribute_names("#key", KEY)
        .expression_attribute_values(":now", number(now.get()))
        .expression_attribute_values(":before", string(before.unwrap_or(key).as_str()))
        .expression_attribute_values(":key", string(key.as_str()));
    table.write("PutItem", write.send()).await.map(|written| written.is_some())
}

/// Writes `account` if the stored account still has the subscription of `before`, or if there is still no account and `before` is `None`.
/// Returns whether the account was written. If it was not, another change came first, and the caller must start again. The change is dated
/// now, so payments with an earlier date do not undo it.
///
/// # Errors
/// If the table does not answer in time.
pub async fn replace_account(
    table: Session<'_>,
    before: Option<&Account>,
    account: &Account,
) -> Result<bool, Error> {
    // Rounded up, so that a payment in the same second does not undo the change.
    let now = UnixSeconds::from(UnixMilliseconds::of_system_clock()).plus(Duration::from_secs(1));
    let request = put_account(table, account, now);
    let request = match before.map(|account| account.subscription) {
        None => request.condition_expression("attribute_not_exists(pk)"),
        Some(Subscription { tier, status, paid_until }) => request
            .condition_expression("tier = :tier AND #status = :status AND paid_until = :paid_until")
            // `status` is a reserved word.
            .expression_attribute_names("#status", STATUS)
            .expression_attribute_values(":tier", string(tier.name()))
            .expression_attribute_values(":status", string(status.name()))
            .expression_attribute_values(":paid_until", number(paid_until.get())),
    };
    table.write("PutItem", request.send()).await.map(|written| written.is_some())
}

/// Writes the account as changed by a payment at the time `at`, unless the stored account was changed later. Returns whether the account
/// was written. Payments can therefore be reported repeatedly and in any order.
///
/// # Errors
/// If the table does not answer in time.
pub async fn put_paid_account(table: Session<'_>, account: &Account, at: UnixSeconds) -> Result<bool, Error> {
    let request = put_account(table, account, at)
        .condition_expression("attribute_not_exists(changed_at) OR changed_at <= :at")
        .expression_attribute_values(":at", number(at.get()));
    table.write("PutItem", request.send()).await.map(|written| written.is_some())
}

/// Returns a request that writes the account and the time of its change.
fn put_account(table: Session<'_>, account: &Account, changed_at: UnixSeconds) -> PutItemFluentBuilder {
    let Subscription { tier, status, paid_until } = account.subscription;
    table
        .put_item()
        .item(PARTITION_KEY, string(account_key(&account.name)))
        .item(TIER, string(tier.name()))
        .item(STATUS, string(status.name()))
        .item(PAID_UNTIL, number(paid_until.get()))
        .item(CHANGED_AT, number(changed_at.get()))
}

/// Writes the key unless its id exists, and returns whether the key was written.
///
/// # Errors
/// If the table does not answer in time.
pub async fn put_key(table: Session<'_>, key: &KeyRecord) -> Result<bool, Error> {
    let request = table
        .put_item()
        .item(PARTITION_KEY, string(key_key(&key.id())))
        .item(DIGEST, string(key.digest.to_string()))
        .item(ACCOUNT, string(key.account.as_str()))
        .item(LABEL, string(key.label.as_str()))
        .item(CREATED_AT, number(key.created_at.get()))
        .item(LAST_FOUR, string(&key.last_four))
        .condition_expression("attribute_not_exists(pk)");
    let request = match key.expires_at {
        Some(at) => request.item(EXPIRES_AT, number(at.get())),
        None => request,
    };
    let request = match key.state {
        KeyState::Issued => request,
        KeyState::Pending => request.item(PENDING, AttributeValue::Bool(true)),
        KeyState::Revoked { at } => request.item(REVOKED_AT, number(at.get())),
    };
    table.write("PutItem", request.send()).await.map(|written| written.is_some())
}

/// Marks the pending key as issued. Returns `false` if the key does not exist or is revoked.
///
/// # Errors
/// If the table does not answer in time.
pub async fn complete_key(table: Session<'_>, id: &KeyId) -> Result<bool, Error> {
    let request = update_unrevoked(table, id).update_expression("REMOVE pending");
    table.write("UpdateItem", request.send()).await.map(|written| written.is_some())
}

/// Revokes the key at the time `at`. Returns `false` if the key does not exist or was revoked before. The row stays, so that operators
/// can see what happened to the key.
///
/// # Errors
/// If the table does not answer in time.
pub async fn revoke_key(table: Session<'_>, id: &KeyId, at: UnixSeconds) -> Result<bool, Error> {
    let request = update_unrevoked(table, id)
        .update_expression("SET revoked_at = :at REMOVE pending")
        .expression_attribute_values(":at", number(at.get()));
    table.write("UpdateItem", request.send()).await.map(|written| written.is_some())
}

/// Sets the key's expiry to the time `at`. Returns `false` if the key does not exist, is revoked, or already expires by then.
///
/// # Errors
/// If the table does not answer in time.
pub async fn expire_key(table: Session<'_>, id: &KeyId, at: UnixSeconds) -> Result<bool, Error> {
    let request = table
        .update_item()
        .key(PARTITION_KEY, string(key_key(id)))
        .condition_expression(
            "attribute_exists(pk) AND attribute_not_exists(revoked_at) \
             AND (attribute_not_exists(expires_at) OR expires_at > :at)",
        )
        .update_expression("SET expires_at = :at")
        .expression_attribute_values(":at", number(at.get()));
    table.write("UpdateItem", request.send()).await.map(|written| written.is_some())
}

/// Returns an update that fails if the key is missing or revoked: a revocation is final.
fn update_unrevoked(table: Session<'_>, id: &KeyId) -> UpdateItemFluentBuilder {
    table
        .update_item()
        .key(PARTITION_KEY, string(key_key(id)))
        .condition_expression("attribute_exists(pk) AND attribute_not_exists(revoked_at)")
}

/// Removes the key if it is pending, and returns whether the key was removed. A pending key has not been shown to its owner.
///
/// # Errors
/// If the table does not answer in time.
pub async fn remove_pending_key(table: Session<'_>, id: &KeyId) -> Result<bool, Error> {
    let request = table
        .delete_item()
        .key(PARTITION_KEY, string(key_key(id)))
        .condition_expression("attribute_exists(pending)");
    table.write("DeleteItem", request.send()).await.map(|written| written.is_some())
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
    let key = text(row, PARTITION_KEY)?;
    if let Some(name) = key.strip_prefix(ACCOUNT_PREFIX) {
        let account = name.parse().map_err(|_| Corrupt::new(PARTITION_KEY, "the key of an account"))?;
        return read_account(row, &account).map(AccessRow::Account);
    }
    read_key(row).map(AccessRow::Key)
}

fn read_account(row: &Attributes, name: &AccountName) -> Result<Account, Corrupt> {
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

fn is(row: &Attributes, attribute: &'static str, word: &str) -> bool {
    text(row, attribute).is_ok_and(|text| text == word)
}

fn read_key(row: &Attributes) -> Result<KeyRecord, Corrupt> {
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
        expires_at: row
            .get(EXPIRES_AT)
            .map(|_| integer(row, EXPIRES_AT).map(UnixSeconds::new))
            .transpose()?,
    };
    if is(row, PARTITION_KEY, &key_key(&key.id())) {
        Ok(key)
    } else {
        Err(Corrupt::new(DIGEST, "the digest of the key in `pk`"))
    }
}

fn parsed<T: FromStr>(
    row: &Attributes,
    attribute: &'static str,
    expected: &'static str,
) -> Result<T, Corrupt> {
    text(row, attribute)?.parse().map_err(|_| Corrupt::new(attribute, expected))
}
