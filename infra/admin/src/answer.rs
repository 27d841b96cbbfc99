//! What a command answers, on standard output: a table for people, or one JSON document for programs.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::MetadataExt as _;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::error::Error;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Writes the answer: `text`, or `document` where a program reads.
///
/// # Errors
/// If it cannot be written, unless nobody wants to read it.
pub(crate) fn write(
    format: Format,
    text: impl FnOnce() -> String,
    document: &impl Serialize,
) -> Result<(), Error> {
    match write_surely(format, text, document) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|cause| Error::Write { name: "standard output".to_owned(), cause }),
    }
}

/// The same for what cannot be asked for again.
///
/// # Errors
/// If it cannot be written, whatever the reason.
pub(crate) fn write_surely(
    format: Format,
    text: impl FnOnce() -> String,
    document: &impl Serialize,
) -> io::Result<()> {
    let mut written = match format {
        Format::Text => text(),
        Format::Json => serde_json::to_string_pretty(document)?,
    };
    if !written.is_empty() && !written.ends_with('\n') {
        written.push('\n');
    }
    let mut output = io::stdout().lock();
    output.write_all(written.as_bytes())?;
    output.flush()
}

/// Whether standard output is the null device: because somebody wants it so, or because it was closed and Rust put that in
/// its place.
pub(crate) fn goes_nowhere() -> bool {
    let device = |path: &str| std::fs::metadata(path).map(|metadata| (metadata.rdev(), metadata.ino())).ok();
    let output = device("/dev/stdout");
    output.is_some() && output == device("/dev/null")
}

/// Rows in columns: with lines on a terminal, otherwise aligned only.
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
