//! Imports and exports tables as files that people and other programs can read and write: one JSON object per
//! line. A [`Kind`] defines the content of a line and how it is stored; everything else is the same for all
//! kinds.
//!
//! An import can be interrupted at any point and run again: existing rows stay, so importing a file twice has
//! the same effect as importing it once. The file of an export is complete or absent.

pub(crate) mod line;
mod reader;
pub(crate) mod writer;

use std::fmt;
use std::path::Path;

use common::time::{UnixSeconds, now};
use serde::Serialize;

use self::line::BadLine;
use self::reader::Reader;
use self::writer::{Exported, Writer};
use crate::console::{self, Progress};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

pub(crate) trait Kind {
    /// The content of a line.
    type Record;

    /// Parses `line`. A line about an event after `now` is bad.
    fn parse(line: &str, now: UnixSeconds) -> Result<Self::Record, BadLine>;

    /// Stores and counts the row, now or together with later rows. Storing a row twice has the same effect as
    /// storing it once. If the row is left out, returns the reason for operators, unless the summary says
    /// enough.
    async fn store(&mut self, row: Self::Record) -> Result<Option<String>, Error>;

    /// Stores and counts the rows that still wait for later rows. Called after the last line.
    async fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The number of lines for each result, as text. The caller appends the number of bad lines.
    fn summary(&self) -> String;

    /// Writes all rows of the table to `writer`.
    async fn export(&mut self, writer: &mut Writer) -> Result<(), Error>;
}

/// The number of imported lines for each result.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) imported: u64,
    pub(crate) already_there: u64,
    /// Accounts and keys for which the table keeps other values; history that is too old.
    #[serde(rename = "different")]
    pub(crate) left_out: u64,
}

impl Tally {
    /// Counts lines whose rows are now in the table. `is_new`: the rows were not in the table before.
    pub(crate) fn count(&mut self, lines: u64, is_new: bool) {
        let count = if is_new { &mut self.imported } else { &mut self.already_there };
        *count += lines;
    }

    /// The counts as text. `left_out` is the word for lines that were left out.
    pub(crate) fn text(&self, left_out: &str) -> impl fmt::Display {
        let Self { imported, already_there, left_out: count } = self;
        format!("imported {imported}, already there {already_there}, {left_out} {count}")
    }
}

/// Imports the file, prints a summary, and returns the number of bad lines.
///
/// # Errors
/// If the file cannot be read, or the table cannot be written. Lines that were imported before stay.
pub(crate) async fn import<K: Kind>(kind: &mut K, file: &Path) -> Result<u64, Error> {
    let mut reader = unless_interrupted(Reader::open(file)).await?;
    let result = unless_interrupted(import_lines(kind, &mut reader)).await;
    let bad_lines = reader.finish();
    console::print(format_args!("{}bad lines {bad_lines}", kind.summary()));
    result.map(|()| bad_lines)
}

async fn import_lines<K: Kind>(kind: &mut K, reader: &mut Reader) -> Result<(), Error> {
    let mut progress = Progress::new();
    while let Some(row) = reader.next(|line| K::parse(line, now())).await? {
        if let Some(reason) = kind.store(row).await? {
            reader.print(&reason);
        }
        progress.show(format_args!("{}bad lines {}", kind.summary(), reader.bad_lines));
    }
    kind.finish().await
}

/// Exports all rows. If `is_private`, only the file's owner can read the file.
///
/// # Errors
/// If the table cannot be read, or the file cannot be written. A closed pipe is also an error, because part
/// of a backup must not look complete. After an error, an existing file is unchanged, and no new file
/// appears.
pub(crate) async fn export(
    kind: &mut impl Kind,
    file: &Path,
    replaces: bool,
    is_private: bool,
) -> Result<Exported, Error> {
    let mut writer = Writer::create(file, replaces, is_private)?;
    let work = async {
        kind.export(&mut writer).await?;
        writer.finish().await
    };
    unless_interrupted(work).await
}
