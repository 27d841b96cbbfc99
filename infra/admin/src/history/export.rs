//! `history export`: writes files that `history import` reads.

use std::path::Path;
use std::process::ExitCode;

use futures_util::TryStreamExt;

use super::export_file::{ExportFile, Reader};
use super::kind::{Kind, Stored};
use crate::console::{ClearOnDrop, Console};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// Exports the table and prints how many rows it had. Fails if some of its values are not in the file.
///
/// # Errors
/// If the table cannot be read, or the file cannot be written.
pub(super) async fn run(
    kind: &impl Kind,
    file: &Path,
    replaces: bool,
    console: &Console,
) -> Result<ExitCode, Error> {
    let exported = unless_interrupted(export(kind, file, replaces, console)).await?;
    let Some(Exported { rows, skipped }) = exported else { return Ok(ExitCode::SUCCESS) };
    if skipped > 0 {
        console.print(format_args!(
            "{skipped} corrupt or missing values are not in the file; the lines above name them"
        ));
    }
    console.print(format_args!("exported {rows}"));
    Ok(if skipped == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of rows in the file, and of values that are not.
struct Exported {
    rows: u64,
    skipped: u64,
}

/// Returns how much was exported, or `None` if the reader of standard output closed it.
async fn export(
    kind: &impl Kind,
    file: &Path,
    replaces: bool,
    console: &Console,
) -> Result<Option<Exported>, Error> {
    let mut output = ExportFile::create(file, replaces, false)?;
    let (total, mut rows) = kind.rows().await?;
    let progress = ClearOnDrop(console.progress_in_rows(total));
    let mut exported = Exported { rows: 0, skipped: 0 };
    while let Some(Stored { row, skipped }) = rows.try_next().await? {
        exported.skipped += skipped;
        if let Some(row) = row {
            if output.write(&row).await? == Reader::Disconnected {
                return Ok(None);
            }
            exported.rows += 1;
        }
        progress.0.inc(1);
    }
    let reader = output.finish().await?;
    Ok((reader == Reader::Connected).then_some(exported))
}
