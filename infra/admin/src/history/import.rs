//! `history import`. It can be interrupted at any point and run again: existing rows stay, so importing a file twice has the
//! same effect as importing it once.

use std::path::Path;
use std::process::ExitCode;

use super::import_file::ImportFile;
use super::kind::{Kind, Tally, now};
use crate::console::{ClearOnDrop, Console};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// Imports the file and prints a summary.
///
/// # Errors
/// If the file cannot be read, or the table cannot be written. Rows that were imported before stay.
pub(super) async fn run(kind: &mut impl Kind, file: &Path, console: &Console) -> Result<ExitCode, Error> {
    let mut file = unless_interrupted(ImportFile::open(file, console)).await?;
    let mut tally = Tally::default();
    let result = unless_interrupted(import(kind, &mut file, &mut tally, console)).await;
    let bad = file.finish();
    if result.is_ok() || tally.lines() + bad > 0 {
        console.print(format_args!("{tally}, bad lines {bad}"));
    }
    result.map(|()| if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn import<K: Kind>(
    kind: &mut K,
    file: &mut ImportFile<'_>,
    tally: &mut Tally,
    console: &Console,
) -> Result<(), Error> {
    let progress = ClearOnDrop(console.progress_in_bytes(file.size()));
    while let Some((_, row)) = file.next(|line| K::parse(line, now())).await? {
        kind.store(row, tally).await?;
        progress.0.set_position(file.position());
        progress.0.set_message(format!("{tally}, bad lines {}", file.bad_lines()));
    }
    Ok(kind.finish(tally).await?)
}
