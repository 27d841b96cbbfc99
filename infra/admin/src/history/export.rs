//! `history export`: writes files that `history import` reads.

use std::path::Path;
use std::process::ExitCode;

use futures_util::TryStreamExt;

use super::export_file::{ExportFile, Reader};
use super::kind::Kind;
use crate::console::{ClearOnDrop, Console};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// Exports the table and prints how many rows it had.
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
    if let Some(exported) = exported {
        console.print(format_args!("exported {exported}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The number of exported rows, or `None` if the reader of standard output closed it.
async fn export(
    kind: &impl Kind,
    file: &Path,
    replaces: bool,
    console: &Console,
) -> Result<Option<u64>, Error> {
    let mut output = ExportFile::create(file, replaces, false)?;
    let (total, mut rows) = kind.rows().await?;
    let progress = ClearOnDrop(console.progress_in_rows(total));
    let mut exported = 0;
    while let Some(row) = rows.try_next().await? {
        if output.write(&row).await? == Reader::Disconnected {
            return Ok(None);
        }
        exported += 1;
        progress.0.inc(1);
    }
    let reader = output.finish().await?;
    Ok((reader == Reader::Connected).then_some(exported))
}
