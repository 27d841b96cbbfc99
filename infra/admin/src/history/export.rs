//! `history export`: what `history import` reads.

use std::path::Path;
use std::process::ExitCode;

use futures_util::TryStreamExt;

use super::Kind;
use super::import::Cleared;
use super::output::{Output, Reader};
use crate::console::Console;
use crate::error::Error;
use crate::unless_interrupted;

/// Exports to the file, and says so on the console.
///
/// # Errors
/// If the table cannot be read to its end, or the file cannot be written.
pub(super) async fn run(
    kind: &impl Kind,
    file: &Path,
    replaces: bool,
    console: &Console,
) -> Result<ExitCode, Error> {
    let exported = unless_interrupted(export(kind, file, replaces, console)).await?;
    // Whoever stopped reading does not ask how many there are.
    if let Some(exported) = exported {
        console.say(format_args!("exported {exported}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// How many rows were exported, or `None` if nobody reads them to their end.
async fn export(
    kind: &impl Kind,
    file: &Path,
    replaces: bool,
    console: &Console,
) -> Result<Option<u64>, Error> {
    let mut output = Output::open(file, replaces)?;
    let (total, mut rows) = kind.rows().await?;
    let progress = Cleared(console.progress_in_rows(total));
    let mut exported = 0;
    while let Some(row) = rows.try_next().await? {
        if output.write(&row).await? == Reader::IsGone {
            return Ok(None);
        }
        exported += 1;
        progress.0.inc(1);
    }
    let reader = output.finish().await?;
    Ok((reader == Reader::Reads).then_some(exported))
}
