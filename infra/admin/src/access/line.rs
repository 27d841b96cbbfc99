//! A line of a file of accounts and keys: one JSON object. It has the SHA-256 of a key, from which the key cannot be computed.

use std::str::FromStr;

use common::auth::{
    Account, AccountName, KeyDigest, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus, Tier,
};
use common::time::UnixSeconds;
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use tables::access::Row;

use crate::arguments;
use crate::history::line::{self, BadLine};

/// How many characters of a key tell it apart.
const LAST_FOUR: usize = 4;

/// The content of a line.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Line {
    Account(AccountLine),
    Key(KeyLine),
}

/// An account.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountLine {
    #[serde(deserialize_with = "account_name")]
    account: AccountName,
    tier: Tier,
    status: SubscriptionStatus,
    paid_until: UnixSeconds,
}

/// A key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyLine {
    #[serde(serialize_with = "serialize_digest", deserialize_with = "digest")]
    sha256: KeyDigest,
    #[serde(deserialize_with = "account_name")]
    account: AccountName,
    #[serde(deserialize_with = "label")]
    label: Label,
    created_at: UnixSeconds,
    #[serde(deserialize_with = "last_four")]
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
struct Kind {
    sha256: Option<IgnoredAny>,
}

impl From<&Row> for Line {
    fn from(row: &Row) -> Self {
        match row {
            Row::Account(Account { name, subscription: Subscription { tier, status, paid_until } }) => {
                Self::Account(AccountLine {
                    account: name.clone(),
                    tier: *tier,
                    status: *status,
                    paid_until: *paid_until,
                })
            }
            Row::Key(key) => {
                let (state, revoked_at) = match key.state {
                    KeyState::Pending => (State::Pending, None),
                    KeyState::Issued => (State::Issued, None),
                    KeyState::Revoked { at } => (State::Revoked, Some(at)),
                };
                Self::Key(KeyLine {
                    sha256: key.digest,
                    account: key.account.clone(),
                    label: key.label.clone(),
                    created_at: key.created_at,
                    last_four: key.last_four.clone(),
                    state,
                    revoked_at,
                })
            }
        }
    }
}

/// The row that the line describes.
///
/// # Errors
/// If the line is bad.
pub(super) fn parse(line: &str) -> Result<Row, BadLine> {
    let kind: Kind = line::parse(line)?;
    if kind.sha256.is_none() {
        let AccountLine { account, tier, status, paid_until } = line::parse(line)?;
        let subscription = Subscription { tier, status, paid_until };
        return Ok(Row::Account(Account { name: account, subscription }));
    }
    let KeyLine { sha256, account, label, created_at, last_four, state, revoked_at } = line::parse(line)?;
    let state = match (state, revoked_at) {
        (State::Pending, None) => KeyState::Pending,
        (State::Issued, None) => KeyState::Issued,
        (State::Revoked, Some(at)) => KeyState::Revoked { at },
        _ => return Err(BadLine::new("revoked_at: revoked keys have it, and no others")),
    };
    Ok(Row::Key(KeyRecord { digest: sha256, account, label, created_at, last_four, state }))
}

fn account_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AccountName, D::Error> {
    arguments::account_name(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn label<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Label, D::Error> {
    arguments::label(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyDigest, D::Error> {
    KeyDigest::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn serialize_digest<S: serde::Serializer>(digest: &KeyDigest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(digest)
}

fn last_four<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.len() == LAST_FOUR && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        Ok(text)
    } else {
        Err(D::Error::custom("it must be the last four letters and digits of the key"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIGEST: &str = "95f291419f81e24891fed21a80a0fd7257ff4b302889026618c65d4d2d2e11b1";

    #[track_caller]
    fn assert_same(row: &Row) {
        let line = serde_json::to_string(&Line::from(row)).unwrap();
        assert_eq!(parse(&line).as_ref(), Ok(row), "{line}");
    }

    fn time() -> impl Strategy<Value = UnixSeconds> {
        (1_000_000_000_i64..9_000_000_000).prop_map(UnixSeconds::new)
    }

    proptest! {
        #[test]
        fn a_row_is_read_as_it_was_written(
            name in "[a-z0-9][a-z0-9._@+-]{0,63}",
            label in "[A-Za-zë0-9]([ -~]{0,30}[!-~])?",
            last_four in "[0-9A-Za-z]{4}",
            kinds in (0..2_usize, 0..2_usize, 0..3_usize),
            times in (time(), time(), time()),
        ) {
            let name: AccountName = name.parse().unwrap();
            let (paid_until, created_at, at) = times;
            let (tier, status) = (Tier::ALL[kinds.0], SubscriptionStatus::ALL[kinds.1]);
            let subscription = Subscription { tier, status, paid_until };
            assert_same(&Row::Account(Account { name: name.clone(), subscription }));
            let state = [KeyState::Pending, KeyState::Issued, KeyState::Revoked { at }][kinds.2];
            let (digest, label) = (DIGEST.parse().unwrap(), label.parse().unwrap());
            assert_same(&Row::Key(KeyRecord { digest, account: name, label, created_at, last_four, state }));
        }

        #[test]
        fn arbitrary_text_is_a_bad_line(text in any::<String>(), object in "\\{\"(sha256|account|tier)\":.*\\}") {
            prop_assert!(parse(&text).is_err());
            prop_assert!(parse(&object).is_err());
        }
    }
}
