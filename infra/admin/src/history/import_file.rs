//! Reads the lines of a file of any size, one at a time, and reports the bad ones. Lines that are too long are skipped without
//! being kept in memory.

use std::io;
use std::path::Path;

use common::auth::without_keys;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use super::line::BadLine;
use crate::arguments::STANDARD_STREAM;
use crate::console::Console;
use crate::error::Error;

/// The longest line, in bytes. All products of a minute take about 100 kB.
const MAX_LINE: u64 = 16 * 1024 * 1024;
/// How many bytes to read at a time.
const CHUNK: usize = 1024 * 1024;
/// How many bad lines are printed.
const MAX_BAD_LINES: u64 = 100;
/// Some editors write it before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The file of an import, or standard input.
pub(crate) struct ImportFile<'a> {
    /// Its name in messages.
    name: String,
    size: Option<u64>,
    reader: BufReader<Box<dyn AsyncRead + Unpin>>,
    /// The number of the last line, starting at 1, and the offset of its end in bytes.
    number: u64,
    end: u64,
    bad_lines: u64,
    console: &'a Console,
}

impl<'a> ImportFile<'a> {
    /// Opens the file, whose bad lines are reported on the console.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) async fn open(file: &Path, console: &'a Console) -> Result<Self, Error> {
        let name = file.display().to_string();
        let (file, size): (Box<dyn AsyncRead + Unpin>, _) = if file.as_os_str() == STANDARD_STREAM {
            (Box::new(tokio::io::stdin()), None)
        } else {
            let failed = |cause| Error::Read { name: name.clone(), cause };
            let file = File::open(file).await.map_err(failed)?;
            let metadata = file.metadata().await.map_err(failed)?;
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        let reader = BufReader::with_capacity(CHUNK, file);
        Ok(Self { name, size, reader, number: 0, end: 0, bad_lines: 0, console })
    }

    /// Its size in bytes, if it is known.
    pub(crate) const fn size(&self) -> Option<u64> {
        self.size
    }

    /// How many bytes have been read.
    pub(crate) const fn position(&self) -> u64 {
        self.end
    }

    pub(crate) const fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    /// Ends the reports, and returns the number of bad lines.
    pub(crate) fn finish(self) -> u64 {
        if self.bad_lines > MAX_BAD_LINES {
            self.console.print(format_args!("… and {} more", self.bad_lines - MAX_BAD_LINES));
        }
        self.bad_lines
    }

    /// The number and the content of the next line that is neither blank nor bad, or `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) async fn next<T>(
        &mut self,
        parse: impl Fn(&str) -> Result<T, BadLine>,
    ) -> Result<Option<(u64, T)>, Error> {
        loop {
            let bytes = self.next_bytes().await;
            let bytes = bytes.map_err(|cause| Error::Read { name: self.name.clone(), cause })?;
            let Some(bytes) = bytes else { return Ok(None) };
            let text = match &bytes {
                Some(bytes) => str::from_utf8(bytes).map_err(|_| BadLine::new("not UTF-8 text")),
                None => Err(BadLine::new(format!("longer than {MAX_LINE} bytes"))),
            };
            let is_first = self.number == 1;
            let text = text
                .map(|text| if is_first { text.trim_start_matches(BYTE_ORDER_MARK) } else { text }.trim());
            if text.as_ref().is_ok_and(|text| text.is_empty()) {
                continue;
            }
            match text.and_then(&parse) {
                Ok(content) => return Ok(Some((self.number, content))),
                Err(reason) => {
                    self.bad_lines += 1;
                    if self.bad_lines <= MAX_BAD_LINES {
                        let (name, number) = (&self.name, self.number);
                        let reason = without_keys(&reason.to_string());
                        self.console.print(format_args!("{name}:{number}: {reason}"));
                    }
                }
            }
        }
    }

    /// The bytes of the next line, or `None` inside if the line is too long; `None` at the end.
    async fn next_bytes(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            // One byte more than a line may have, for its end.
            let taken = (&mut self.reader).take(MAX_LINE + 1).read_until(b'\n', &mut line).await?;
            self.end = self.end.saturating_add(taken.try_into().unwrap_or(u64::MAX));
            let is_last = taken == 0 || line.ends_with(b"\n");
            if is_last && line.is_empty() && !is_too_long {
                return Ok(None);
            }
            if is_last {
                self.number += 1;
                return Ok(Some((!is_too_long).then_some(line)));
            }
            is_too_long = is_too_long || line.len() as u64 > MAX_LINE;
            if is_too_long {
                line.clear();
            }
        }
    }
}
