//! The rows of requests that have issued a key.

use std::time::Duration;

use common::auth::{AccountName, KeyId, Label};
use common::time::UnixSeconds;

use crate::item::{Attributes, Corrupt, PARTITION_KEY, TIME_TO_LIVE, integer, number, parsed, string, text};

pub(super) const PREFIX: &str = "request#";
/// How long a request that issued a key is remembered.
const KEPT: Duration = Duration::from_hours(24);

/// The KEY-ID of the issued key.
const KEY: &str = "key";
const COMMAND: &str = "command";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedKey {
    /// The id of the request.
    pub request: Label,
    pub key: KeyId,
    /// The command with its values. Another command cannot have the same id.
    pub command: String,
    /// When the request was last sent.
    pub at: UnixSeconds,
}

pub(super) fn partition(name: &AccountName, request: &Label) -> String {
    format!("{PREFIX}{name}#{request}")
}

pub(super) fn row(name: &AccountName, issued: &IssuedKey) -> Attributes {
    Attributes::from([
        (PARTITION_KEY.to_owned(), string(partition(name, &issued.request))),
        (KEY.to_owned(), string(issued.key.as_str())),
        (COMMAND.to_owned(), string(&issued.command)),
        (TIME_TO_LIVE.to_owned(), number(issued.at.plus(KEPT).get())),
    ])
}

/// Reads the row; `None` if it has expired by `now`. DynamoDB deletes expired rows later.
pub(super) fn read(
    row: &Attributes,
    request: &Label,
    now: UnixSeconds,
) -> Result<Option<IssuedKey>, Corrupt> {
    let expires_at = UnixSeconds::new(integer(row, TIME_TO_LIVE)?);
    if expires_at <= now {
        return Ok(None);
    }
    Ok(Some(IssuedKey {
        request: request.clone(),
        key: parsed(row, KEY, "a KEY-ID")?,
        command: text(row, COMMAND)?,
        at: expires_at.minus(KEPT),
    }))
}
