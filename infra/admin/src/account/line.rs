//! A line of a file of accounts and keys: one JSON object. A key's line holds its SHA-256, from which the key cannot be computed.

use accounts::Row;
use common::time::UnixSeconds;

use crate::row_file::line::{self, BadLine, past};

/// Returns the row in the line.
///
/// # Errors
/// If the line is bad.
pub(super) fn parse(line: &str, now: UnixSeconds) -> Result<Row, BadLine> {
    let row: Row = line::parse(line)?;
    match &row {
        Row::Account(account) => {
            past("changed_at", account.changed_at, now)?;
        }
        Row::Key(key) => {
            past("created_at", key.created_at, now)?;
            past("revoked_at", key.revoked_at.unwrap_or(now), now)?;
            key.key().map_err(BadLine::new)?;
        }
    }
    Ok(row)
}
