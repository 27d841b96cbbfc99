//! Imports and exports of tables as files with one JSON object per line, which people and other programs can read and write. A kind
//! says what a line is and how it is stored; everything else is the same for all kinds.
//!
//! An import can be interrupted at any point and run again: existing rows stay, so importing a file twice has the same effect as
//! importing it once. The file of an export is complete or not there.

pub(crate) mod line;
mod reader;
mod writer;

use std::fmt;
use std::path::Path;

use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::TryStreamExt as _;
use futures_util::stream::LocalBoxStream;
use serde::Serialize;

use self::line::BadLine;
use self::reader::Reader;
use self::writer::Writer;
use crate::console::{ClearOnDrop, Console};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// A kind of rows.
pub(crate) trait Kind {
    /// The content of a line.
    type Row: Serialize;

    /// The content of `line`, if it can be true at the time `now`.
    fn parse(line: &str, now: UnixSeconds) -> Result<Self::Row, BadLine>;

    /// Stores the row of the line with this number and counts it, unless that must wait for the lines after it. Storing it twice has
    /// the same effect as storing it once.
    async fn store(&mut self, number: u64, row: Self::Row) -> Result<(), Error>;

    /// Stores and counts what waits for further lines, after the last one.
    async fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// How many lines had which result, up to the number of bad lines.
    fn summary(&self) -> String;

    /// All rows, in the order of the file.
    async fn rows(&mut self) -> Result<Rows<'_, Self::Row>, Error>;
}

/// The rows of an export.
pub(crate) type Rows<'a, R> = LocalBoxStream<'a, Result<Stored<R>, Error>>;

/// What a table has of a row.
pub(crate) struct Stored<R> {
    /// `None` if nothing of it can be exported.
    pub(crate) row: Option<R>,
    /// The number of values that cannot be exported, because they are corrupt or missing.
    pub(crate) skipped: u64,
}

impl<R> Stored<R> {
    /// A row that is either exported or, if it is `None`, skipped as a whole.
    pub(crate) fn of(row: Option<R>) -> Self {
        Self { skipped: row.is_none().into(), row }
    }
}

/// How many lines of an import had which result.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) imported: u64,
    pub(crate) already_there: u64,
    /// Accounts and keys of which the table keeps other values; history that is too old.
    #[serde(rename = "different")]
    pub(crate) left_out: u64,
}

impl Tally {
    /// Counts lines that the table has now. `is_new`: it did not have them before.
    pub(crate) fn count(&mut self, lines: u64, is_new: bool) {
        *(if is_new { &mut self.imported } else { &mut self.already_there }) += lines;
    }

    /// The counts for people, with a word for what was left out.
    pub(crate) fn text(&self, left_out: &str) -> impl fmt::Display {
        let Self { imported, already_there, left_out: count } = self;
        format!("imported {imported}, already there {already_there}, {left_out} {count}")
    }
}

/// Imports the file, prints a summary, and returns the number of bad lines.
///
/// # Errors
/// If the file cannot be read, or the table cannot be written. What was imported before stays.
pub(crate) async fn import<K: Kind>(kind: &mut K, file: &Path, console: &Console) -> Result<u64, Error> {
    let mut reader = unless_interrupted(Reader::open(file, console)).await?;
    let result = unless_interrupted(import_lines(kind, &mut reader, console)).await;
    let bad_lines = reader.finish();
    console.print(format_args!("{}bad lines {bad_lines}", kind.summary()));
    result.map(|()| bad_lines)
}

async fn import_lines<K: Kind>(
    kind: &mut K,
    reader: &mut Reader<'_>,
    console: &Console,
) -> Result<(), Error> {
    let progress = ClearOnDrop(console.progress_in_bytes(reader.size));
    while let Some((number, row)) = reader.next(|line| K::parse(line, now())).await? {
        kind.store(number, row).await?;
        progress.0.set_position(reader.position);
        progress.0.set_message(format!("{}bad lines {}", kind.summary(), reader.bad_lines));
    }
    kind.finish().await
}

/// The number of rows in the file of an export, and of values that are not.
pub(crate) struct Exported {
    pub(crate) rows: u64,
    pub(crate) skipped: u64,
}

/// Exports all rows. Only its owner can read a private file.
///
/// # Errors
/// If the table cannot be read, or the file cannot be written; also if the reader of standard output closes it, because a part of a backup
/// must not look like a whole one. Then there is no file, or the former one.
pub(crate) async fn export<K: Kind>(
    kind: &mut K,
    file: &Path,
    replaces: bool,
    is_private: bool,
    console: &Console,
) -> Result<Exported, Error> {
    let mut writer = Writer::create(file, replaces, is_private)?;
    let work = async {
        let mut rows = kind.rows().await?;
        let progress = ClearOnDrop(console.progress_in_rows(rows.size_hint().1.map(|rows| rows as u64)));
        let mut exported = Exported { rows: 0, skipped: 0 };
        while let Some(Stored { row, skipped }) = rows.try_next().await? {
            exported.skipped += skipped;
            if let Some(row) = row {
                writer.write(&row).await?;
                exported.rows += 1;
            }
            progress.0.inc(1);
        }
        writer.finish().await?;
        Ok(exported)
    };
    unless_interrupted(work).await
}

pub(crate) fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}
