//! The rows of keys.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::auth::{KeyId, KeyRecord, KeyState};
use common::time::UnixSeconds;

use crate::item::{Attributes, Corrupt, PARTITION_KEY, TIME_TO_LIVE, integer, number, parsed, string, text};

/// The index of the keys that have an end, by account and end.
pub(super) const INDEX: &str = "ended";

/// How long the row of a key is kept after its end.
const KEPT: Duration = Duration::from_hours(90 * 24);

const DIGEST: &str = "sha256";
const ACCOUNT: &str = "account";
const LABEL: &str = "label";
const CREATED_AT: &str = "created_at";
const LAST_FOUR: &str = "last_four";
/// When the key was revoked, or when it expires.
const ENDS_AT: &str = "ends_at";
const REVOKED: &str = "revoked";

pub(super) fn partition(id: &KeyId) -> String {
    format!("key#{id}")
}

pub(super) fn row(key: &KeyRecord) -> Attributes {
    let mut row = Attributes::from([
        (PARTITION_KEY.to_owned(), string(partition(&key.id()))),
        (DIGEST.to_owned(), string(key.digest.to_string())),
        (ACCOUNT.to_owned(), string(key.account.as_str())),
        (LABEL.to_owned(), string(key.label.as_str())),
        (CREATED_AT.to_owned(), number(key.created_at.get())),
        (LAST_FOUR.to_owned(), string(&key.last_four)),
    ]);
    let end = match key.state {
        KeyState::Issued => key.expires_at,
        KeyState::Revoked { at } => {
            row.insert(REVOKED.to_owned(), AttributeValue::Bool(true));
            Some(at)
        }
    };
    if let Some(at) = end {
        row.insert(ENDS_AT.to_owned(), number(at.get()));
        row.insert(TIME_TO_LIVE.to_owned(), number(at.plus(KEPT).get()));
    }
    row
}

pub(super) fn read(row: &Attributes) -> Result<KeyRecord, Corrupt> {
    let end = row.get(ENDS_AT).map(|_| integer(row, ENDS_AT).map(UnixSeconds::new)).transpose()?;
    let (state, expires_at) = match (row.contains_key(REVOKED), end) {
        (true, Some(at)) => (KeyState::Revoked { at }, None),
        (true, None) => return Err(Corrupt::new(ENDS_AT, "the time of the revocation")),
        (false, end) => (KeyState::Issued, end),
    };
    let key = KeyRecord {
        digest: parsed(row, DIGEST, "a SHA-256 in hexadecimal")?,
        account: parsed(row, ACCOUNT, "the name of an account")?,
        label: parsed(row, LABEL, "a label")?,
        created_at: UnixSeconds::new(integer(row, CREATED_AT)?),
        last_four: text(row, LAST_FOUR)?,
        state,
        expires_at,
    };
    if text(row, PARTITION_KEY)? == partition(&key.id()) {
        Ok(key)
    } else {
        Err(Corrupt::new(DIGEST, "the digest of the key in `pk`"))
    }
}
