//! The result of a command, on standard output: text for people, or one JSON document for programs.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::MetadataExt as _;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Writes a result: `text` for people, or `document` for programs.
///
/// # Errors
/// If the result cannot be written. A closed pipe is not an error.
pub(crate) fn write(
    format: Format,
    text: impl FnOnce() -> String,
    document: &impl Serialize,
) -> Result<(), Error> {
    match write_all(format, text, document) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|cause| Error::Write { name: "standard output".to_owned(), cause }),
    }
}

/// Writes a result that the operator cannot get a second time.
///
/// # Errors
/// If the result cannot be written. A closed pipe is an error.
pub(crate) fn write_all(
    format: Format,
    text: impl FnOnce() -> String,
    document: &impl Serialize,
) -> io::Result<()> {
    let mut result = match format {
        Format::Text => text(),
        Format::Json => serde_json::to_string_pretty(document)?,
    };
    if !result.is_empty() && !result.ends_with('\n') {
        result.push('\n');
    }
    let mut output = io::stdout().lock();
    output.write_all(result.as_bytes())?;
    output.flush()
}

/// Whether standard output is the null device. Rust opens that device in place of a closed standard output.
pub(crate) fn is_discarded() -> bool {
    let device = |path: &str| std::fs::metadata(path).map(|metadata| (metadata.rdev(), metadata.ino())).ok();
    let output = device("/dev/stdout");
    output.is_some() && output == device("/dev/null")
}

/// Formats a table: with lines on a terminal, otherwise only with aligned columns.
pub(crate) fn table<const COLUMNS: usize>(
    header: Option<[&str; COLUMNS]>,
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let mut table = Table::new();
    table.set_content_arrangement(ContentArrangement::Disabled);
    let has_lines = io::stdout().is_terminal();
    table.load_style(if has_lines { presets::UTF8_FULL_CONDENSED } else { presets::NOTHING });
    if let Some(header) = header {
        table.set_header(header);
    }
    table.add_rows(rows);
    if !has_lines {
        table.column_iter_mut().for_each(|column| {
            column.set_padding((0, 2));
        });
    }
    table.trim_fmt()
}
