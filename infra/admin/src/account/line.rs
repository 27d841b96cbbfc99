//! A line of a file of accounts and keys: one JSON object. A key's line holds its SHA-256, from which the key
//! cannot be computed.

use accounts::Row;
use common::time::UnixSeconds;

use crate::row_file::line::{self, BadLine};

pub(super) fn parse(line: &str, now: UnixSeconds) -> Result<Row, BadLine> {
    let row: Row = line::parse(line)?;
    row.check(now).map_err(BadLine::new)?;
    Ok(row)
}
