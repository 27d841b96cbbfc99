//! A line of a file of accounts and keys: one JSON object. It has the SHA-256 of a key, from which the key cannot be computed.

use std::str::FromStr;

use common::auth::{
    Account, AccountName, KeyDigest, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus, Tier,
};
use common::time::UnixSeconds;
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tables::access::AccessRow;

use crate::arguments::parse_unless_key;
use crate::row_file::line::{self, BadLine, past};

/// The content of a line.
pub(super) struct Line(pub(super) AccessRow);

/// An account.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountLine {
    #[serde(deserialize_with = "parsed")]
    account: AccountName,
    tier: Tier,
    status: SubscriptionStatus,
    paid_until: UnixSeconds,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyLine {
    #[serde(serialize_with = "displayed", deserialize_with = "parsed")]
    sha256: KeyDigest,
    #[serde(deserialize_with = "parsed")]
    account: AccountName,
    #[serde(deserialize_with = "parsed")]
    label: Label,
    created_at: UnixSeconds,
    last_four: String,
    state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_at: Option<UnixSeconds>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Pending,
    Issued,
    Revoked,
}

/// The field that only keys have.
#[derive(Deserialize)]
struct Distinction {
    sha256: Option<IgnoredAny>,
}

fn parsed<'de, T: FromStr<Err: ToString>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    parse_unless_key(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn displayed<S: Serializer>(digest: &KeyDigest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(digest)
}

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.clone() {
            AccessRow::Account(Account { name, subscription: Subscription { tier, status, paid_until } }) => {
                AccountLine { account: name, tier, status, paid_until }.serialize(serializer)
            }
            AccessRow::Key(KeyRecord { digest, account, label, created_at, last_four, state }) => {
                let (state, revoked_at) = match state {
                    KeyState::Pending => (State::Pending, None),
                    KeyState::Issued => (State::Issued, None),
                    KeyState::Revoked { at } => (State::Revoked, Some(at)),
                };
                let line =
                    KeyLine { sha256: digest, account, label, created_at, last_four, state, revoked_at };
                line.serialize(serializer)
            }
        }
    }
}

/// The row that the line describes.
///
/// # Errors
/// If the line is bad.
pub(super) fn parse(line: &str, now: UnixSeconds) -> Result<Line, BadLine> {
    let Distinction { sha256 } = line::parse(line)?;
    if sha256.is_none() {
        let AccountLine { account, tier, status, paid_until } = line::parse(line)?;
        let subscription = Subscription { tier, status, paid_until };
        return Ok(Line(AccessRow::Account(Account { name: account, subscription })));
    }
    let KeyLine { sha256, account, label, created_at, last_four, state, revoked_at } = line::parse(line)?;
    if last_four.len() != 4 || !last_four.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(BadLine::new("last_four: it must be the last four letters and digits of the key"));
    }
    past("created_at", created_at, now)?;
    past("revoked_at", revoked_at.unwrap_or(now), now)?;
    let state = match (state, revoked_at) {
        (State::Pending, None) => KeyState::Pending,
        (State::Issued, None) => KeyState::Issued,
        (State::Revoked, Some(at)) => KeyState::Revoked { at },
        _ => return Err(BadLine::new("revoked_at: revoked keys have it, and no others")),
    };
    Ok(Line(AccessRow::Key(KeyRecord { digest: sha256, account, label, created_at, last_four, state })))
}
