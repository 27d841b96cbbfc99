//! `history import`. It can be interrupted at any point and run again: existing rows are skipped, so importing a file twice
//! has the same effect as importing it once.

use std::cell::Cell;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::import_file::{self, Line};
use super::kind::{Kind, Stored, now};
use super::line::BadLine;
use crate::console::{ClearOnDrop, Console};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// How many bad lines are printed.
const MAX_BAD_LINES: u64 = 100;

/// The delays between retries while the table throttles. An on-demand table scales within a minute.
const THROTTLING_DELAYS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

/// How many lines had which result so far.
#[derive(Debug, Default)]
struct Tally {
    imported: Cell<u64>,
    already_there: Cell<u64>,
    too_old: Cell<u64>,
    bad: Cell<u64>,
}

impl Tally {
    fn count(&self, stored: Stored) {
        let count = match stored {
            Stored::Imported => &self.imported,
            Stored::AlreadyThere => &self.already_there,
            Stored::TooOld => &self.too_old,
        };
        count.set(count.get() + 1);
    }

    fn lines(&self) -> u64 {
        self.imported.get() + self.already_there.get() + self.too_old.get() + self.bad.get()
    }

    fn summary(&self) -> String {
        format!(
            "imported {}, already there {}, too old {}, bad lines {}",
            self.imported.get(),
            self.already_there.get(),
            self.too_old.get(),
            self.bad.get()
        )
    }
}

/// Imports the file and prints a summary.
///
/// # Errors
/// If the file cannot be read, or the table cannot be written. Rows that were imported before stay.
pub(super) async fn run(kind: &impl Kind, file: &Path, console: &Console) -> Result<ExitCode, Error> {
    let tally = Tally::default();
    let result = unless_interrupted(import(kind, file, console, &tally)).await;
    let bad = tally.bad.get();
    if bad > MAX_BAD_LINES {
        console.print(format_args!("… and {} more", bad - MAX_BAD_LINES));
    }
    if result.is_ok() || tally.lines() > 0 {
        console.print(tally.summary());
    }
    result.map(|()| if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn import<K: Kind>(kind: &K, file: &Path, console: &Console, tally: &Tally) -> Result<(), Error> {
    let name = file.display().to_string();
    let (lines, size) = import_file::open(file).await?;
    let progress = ClearOnDrop(console.progress_in_bytes(size));
    let lines = stream::try_unfold(lines, async |mut lines| {
        let line = lines.next().await?;
        Ok(line.map(|line| (line, lines)))
    });
    let lines = lines.map_err(|cause| Error::Read { name: name.clone(), cause });
    let results = lines.map(async |line| {
        let Line { number, end, text } = line?;
        let result = match text.and_then(|text| K::parse(&text, now())) {
            Ok(row) => Ok(store(kind, &row).await?),
            Err(bad_line) => Err(bad_line),
        };
        Ok::<(u64, u64, Result<Stored, BadLine>), Error>((number, end, result))
    });
    let mut results = std::pin::pin!(results.buffer_unordered(K::CONCURRENCY));
    while let Some((number, end, result)) = results.try_next().await? {
        match result {
            Ok(stored) => tally.count(stored),
            Err(reason) => {
                tally.bad.set(tally.bad.get() + 1);
                if tally.bad.get() <= MAX_BAD_LINES {
                    console.print(format_args!("{name}:{number}: {reason}"));
                }
            }
        }
        // Lines may complete out of order.
        progress.0.set_position(end.max(progress.0.position()));
        progress.0.set_message(tally.summary());
    }
    Ok(())
}

/// Stores the row, with retries while the table throttles.
async fn store<K: Kind>(kind: &K, row: &K::Row) -> Result<Stored, tables::Error> {
    for delay in THROTTLING_DELAYS {
        match kind.store(row).await {
            Err(error) if error.is_throttled() => tokio::time::sleep(delay).await,
            result => return result,
        }
    }
    kind.store(row).await
}
