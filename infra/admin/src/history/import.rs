//! `history import`. It can be stopped at any point and run again: what is there is skipped, so the same file imported
//! twice leaves what it leaves when it is imported once.

use std::cell::Cell;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;

use super::input::{self, Line};
use super::line::BadLine;
use super::{Kind, Stored, display, now};
use crate::console::Console;
use crate::error::Error;
use crate::unless_interrupted;

/// How many bad lines are shown: whoever gave the wrong file need not see all of it.
const SHOWN: u64 = 100;

/// How long it waits when the table has to be spared, one after the other: a table on demand grows within a minute.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

/// What has become of the lines so far.
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

/// Imports the file, and says so on the console.
///
/// # Errors
/// If the file cannot be read to its end, or the table does not take what is in it. What was imported until then stays.
pub(super) async fn run(kind: &impl Kind, file: &Path, console: &Console) -> Result<ExitCode, Error> {
    let tally = Tally::default();
    let result = unless_interrupted(import(kind, file, console, &tally)).await;
    let bad = tally.bad.get();
    if bad > SHOWN {
        console.say(format_args!("… and {} more", bad - SHOWN));
    }
    if result.is_ok() || tally.lines() > 0 {
        console.say(tally.summary());
    }
    result.map(|()| if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn import<K: Kind>(kind: &K, file: &Path, console: &Console, tally: &Tally) -> Result<(), Error> {
    let name = display(file);
    let (lines, size) = input::open(file).await?;
    let progress = Cleared(console.progress_in_bytes(size));
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
    let mut results = std::pin::pin!(results.buffer_unordered(K::AT_A_TIME));
    while let Some((number, end, result)) = results.try_next().await? {
        match result {
            Ok(stored) => tally.count(stored),
            Err(reason) => {
                tally.bad.set(tally.bad.get() + 1);
                if tally.bad.get() <= SHOWN {
                    console.say(format_args!("{name}:{number}: {reason}"));
                }
            }
        }
        // Lines may overtake each other.
        progress.0.set_position(end.max(progress.0.position()));
        progress.0.set_message(tally.summary());
    }
    Ok(())
}

/// Stores the row, however busy the table is for a while.
async fn store<K: Kind>(kind: &K, row: &K::Row) -> Result<Stored, tables::Error> {
    for pause in PAUSES {
        match kind.store(row).await {
            Err(error) if error.is_throttled() => tokio::time::sleep(pause).await,
            result => return result,
        }
    }
    kind.store(row).await
}

/// A progress bar that goes away with whatever it is about.
pub(super) struct Cleared(pub(super) ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
