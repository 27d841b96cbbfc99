//! A line of a file of accounts and keys: one JSON object. A key's line holds its SHA-256, from which the key cannot be computed.

use accounts::{AccountRow, KeyRow, Row};
use common::time::UnixSeconds;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::row_file::line::{self, BadLine, past};

/// The field that only keys have.
#[derive(Deserialize)]
struct Distinction {
    sha256: Option<IgnoredAny>,
}

/// Returns the row in the line.
///
/// # Errors
/// If the line is bad.
pub(super) fn parse(line: &str, now: UnixSeconds) -> Result<Row, BadLine> {
    let Distinction { sha256 } = line::parse(line)?;
    if sha256.is_none() {
        return line::parse::<AccountRow>(line).map(Row::Account);
    }
    let row: KeyRow = line::parse(line)?;
    past("created_at", row.created_at, now)?;
    past("revoked_at", row.revoked_at.unwrap_or(now), now)?;
    row.key().map_err(BadLine::new)?;
    Ok(Row::Key(row))
}
