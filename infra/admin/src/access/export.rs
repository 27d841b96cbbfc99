//! `account export`: writes files that `account import` reads. A file has the hashes of keys, and the time until which each
//! account is paid, so only its owner can read it.

use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use futures_util::StreamExt as _;
use serde::Serialize;
use tables::access::Row;

use super::Access;
use super::line::{self, Line};
use crate::arguments::STANDARD_STREAM;
use crate::console::Console;
use crate::error::Error;
use crate::history::export_file::{ExportFile, Reader};
use crate::output::{Format, write};

/// The result as a JSON document.
#[derive(Debug, Default, Serialize)]
struct Document {
    accounts: u64,
    keys: u64,
    /// Rows that are not in the file because they are corrupt.
    skipped: u64,
}

/// Exports the table: accounts by name, then keys by account and age. Corrupt rows are reported and skipped.
///
/// # Errors
/// If the table cannot be read, or the file cannot be written.
pub(super) async fn run(
    access: &Access,
    file: &Path,
    replaces: bool,
    format: Format,
    console: &Console,
) -> Result<ExitCode, Error> {
    let mut output = ExportFile::create(file, replaces, true)?;
    let mut document = Document::default();
    for row in rows(access, &mut document, console).await? {
        let line = Line::from(&row);
        if output.write(&line).await? == Reader::Disconnected {
            return Ok(ExitCode::SUCCESS);
        }
        match row {
            Row::Account(_) => document.accounts += 1,
            Row::Key(_) => document.keys += 1,
        }
    }
    if output.finish().await? == Reader::Connected {
        let Document { accounts, keys, skipped } = document;
        console.print(format_args!("exported accounts {accounts}, keys {keys}; skipped {skipped}"));
        if format == Format::Json && file.as_os_str() != STANDARD_STREAM {
            write(format, String::new, &document)?;
        }
    }
    Ok(if document.skipped == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every row that an import accepts, in the order of the file.
async fn rows(access: &Access, document: &mut Document, console: &Console) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    let mut stream = pin!(tables::access::rows(access.table()));
    while let Some(row) = stream.next().await {
        let reason = match row {
            Ok(row) => match serde_json::to_string(&Line::from(&row)) {
                Ok(text) => match line::parse(&text) {
                    Ok(_) => {
                        rows.push(row);
                        continue;
                    }
                    Err(bad_line) => format!("{bad_line}: {text}"),
                },
                Err(error) => error.to_string(),
            },
            Err(error @ tables::Error::Corrupt { .. }) => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        console.print(format_args!("skipped: {reason}"));
        document.skipped += 1;
    }
    rows.sort_by_cached_key(|row| match row {
        Row::Account(account) => (false, account.name.clone(), 0, None),
        Row::Key(key) => (true, key.account.clone(), key.created_at.get(), Some(key.id())),
    });
    Ok(rows)
}
