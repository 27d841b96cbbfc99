//! What the kinds of history have in common.

use std::fmt;
use std::io::{self, Write as _};
use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::stream::LocalBoxStream;
use serde::Serialize;
use tables::series::{self, Candle, Candles, Recorded, Slot};
use tables::{Error, Session};

use super::line::BadLine;

/// How long one operation on the table may take, with all retries.
pub(super) const OPERATION_TIMEOUT: Duration = Duration::from_mins(1);

/// The delays between retries while the table throttles. An on-demand table scales within a minute.
const THROTTLING_DELAYS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

/// How many lines of an import had which result.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) imported: u64,
    pub(super) already_there: u64,
    pub(super) too_old: u64,
}

impl Tally {
    /// Counts lines that the table has now. `is_new`: it did not have them before.
    pub(super) fn count(&mut self, lines: u64, is_new: bool) {
        *(if is_new { &mut self.imported } else { &mut self.already_there }) += lines;
    }

    pub(super) fn lines(&self) -> u64 {
        self.imported + self.already_there + self.too_old
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { imported, already_there, too_old } = self;
        write!(formatter, "imported {imported}, already there {already_there}, too old {too_old}")
    }
}

/// The number of rows, if it is known, and the rows.
pub(super) type Rows<'a, R> = (Option<u64>, LocalBoxStream<'a, Result<Stored<R>, Error>>);

/// What the table has of a row.
pub(super) struct Stored<R> {
    /// `None` if nothing of it can be exported.
    pub(super) row: Option<R>,
    /// The number of values that cannot be exported, because they are corrupt or missing.
    pub(super) skipped: u64,
}

impl<R> Stored<R> {
    /// A row that is either exported or, if it is `None`, skipped as a whole.
    pub(super) fn of(row: Option<R>) -> Self {
        Self { skipped: row.is_none().into(), row }
    }
}

/// Reads a recorded slot, and makes a row of its candles. Without its last rows, the slot is skipped: it was changed by hand, or it expired.
pub(super) async fn stored<C: Candle, R>(
    table: Session<'_>,
    slot: Slot,
    row: impl FnOnce(Candles<C>) -> R,
) -> Result<Stored<R>, Error> {
    let recorded = series::recorded_candles::<C>(table, slot).await?;
    let Some(Recorded { candles, corrupt }) = recorded else {
        let _ = writeln!(io::stderr(), "{slot} is incomplete in the table and is skipped");
        return Ok(Stored { row: None, skipped: slot.interval.keeps(slot.start, now()).into() });
    };
    let skipped = u64::try_from(corrupt).unwrap_or(u64::MAX);
    Ok(Stored { row: (!candles.is_empty()).then(|| row(candles)), skipped })
}

/// A kind of history.
pub(super) trait Kind {
    /// The content of a line.
    type Row: Serialize;

    /// The content of `line`, if it can be true at the time `now`.
    fn parse(line: &str, now: UnixSeconds) -> Result<Self::Row, BadLine>;

    /// Stores the row and counts its line, unless that must wait for the lines after it. Storing it twice has the same effect as
    /// storing it once.
    async fn store(&mut self, row: Self::Row, tally: &mut Tally) -> Result<(), Error>;

    /// Stores and counts what waits for further lines, after the last one.
    async fn finish(&mut self, tally: &mut Tally) -> Result<(), Error>;

    /// All rows. Those of one sort are in the order of time.
    async fn rows(&self) -> Result<Rows<'_, Self::Row>, Error>;
}

/// The result of the operation, which is retried while the table throttles.
pub(super) async fn patiently<T>(operation: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
    for delay in THROTTLING_DELAYS {
        match operation().await {
            Err(error) if error.is_throttled() => tokio::time::sleep(delay).await,
            result => return result,
        }
    }
    operation().await
}

pub(super) fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}
