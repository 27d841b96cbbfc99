//! What the kinds of history have in common.

use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::stream::LocalBoxStream;
use serde::Serialize;

use super::line::BadLine;

/// How long one operation on the table may take, with all retries.
pub(super) const OPERATION_TIMEOUT: Duration = Duration::from_mins(1);

/// What the import of a line did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Imported,
    AlreadyThere,
    TooOld,
}

/// The number of rows, if it is known, and the rows.
pub(super) type Rows<'a, R> = (Option<u64>, LocalBoxStream<'a, Result<R, tables::Error>>);

/// A kind of history.
pub(super) trait Kind {
    /// The content of a line.
    type Row: Serialize;

    /// How many rows may be written concurrently.
    const CONCURRENCY: usize;

    /// The content of `line`, if it can be true at the time `now`.
    fn parse(line: &str, now: UnixSeconds) -> Result<Self::Row, BadLine>;

    /// Writes the row if the table needs it. Writing it twice has the same effect as writing it once.
    async fn store(&self, row: &Self::Row) -> Result<Stored, tables::Error>;

    /// All rows, oldest first.
    async fn rows(&self) -> Result<Rows<'_, Self::Row>, tables::Error>;
}

pub(super) fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}
