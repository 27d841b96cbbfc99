//! Reads the lines of a file of any size, one at a time, and reports the bad ones.

use std::path::Path;

use common::auth::without_keys;
use common::response::excerpt::Excerpt;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use super::line::BadLine;
use crate::arguments::STANDARD_STREAM;
use crate::console::Console;
use crate::error::Error;

/// The longest line, in bytes. All products of a minute take about 100 kB.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// How many bytes to read at a time.
const CHUNK: usize = 1024 * 1024;
/// How many bad lines are printed, and how many characters of each reason.
const MAX_BAD_LINES: u64 = 100;
const MAX_REASON: usize = 600;
/// Some editors write it before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The file of an import, or standard input.
pub(super) struct Reader<'a> {
    /// Its name in messages.
    name: String,
    /// Its size in bytes, if it is known, and how many bytes have been read.
    pub(super) size: Option<u64>,
    pub(super) position: u64,
    input: BufReader<Box<dyn AsyncRead + Unpin>>,
    /// The number of the last line, starting at 1.
    number: u64,
    pub(super) bad_lines: u64,
    console: &'a Console,
}

impl<'a> Reader<'a> {
    /// Opens the file, whose bad lines are reported on the console.
    ///
    /// # Errors
    /// If that fails.
    pub(super) async fn open(file: &Path, console: &'a Console) -> Result<Self, Error> {
        let name = file.display().to_string();
        let (input, size): (Box<dyn AsyncRead + Unpin>, _) = if file.as_os_str() == STANDARD_STREAM {
            (Box::new(tokio::io::stdin()), None)
        } else {
            let failed = |cause| Error::Read { name: name.clone(), cause };
            let file = File::open(file).await.map_err(failed)?;
            let metadata = file.metadata().await.map_err(failed)?;
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        let input = BufReader::with_capacity(CHUNK, input);
        Ok(Self { name, size, position: 0, input, number: 0, bad_lines: 0, console })
    }

    /// Ends the reports, and returns the number of bad lines.
    pub(super) fn finish(self) -> u64 {
        if self.bad_lines > MAX_BAD_LINES {
            self.console.print(format_args!("… and {} more", self.bad_lines - MAX_BAD_LINES));
        }
        self.bad_lines
    }

    /// The number and the content of the next line that is neither blank nor bad, or `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) async fn next<T>(
        &mut self,
        parse: impl Fn(&str) -> Result<T, BadLine>,
    ) -> Result<Option<(u64, T)>, Error> {
        while let Some(line) = self.next_line().await? {
            self.number += 1;
            let text =
                line.and_then(|line| String::from_utf8(line).map_err(|_| BadLine::new("not UTF-8 text")));
            let text = text.as_ref().map(|text| text.trim().trim_start_matches(BYTE_ORDER_MARK).trim_start());
            let parsed = match text {
                Ok("") => continue,
                Ok(text) => parse(text),
                Err(bad) => Err(bad.clone()),
            };
            match parsed {
                Ok(content) => return Ok(Some((self.number, content))),
                Err(bad) => self.report(&bad),
            }
        }
        Ok(None)
    }

    fn report(&mut self, bad: &BadLine) {
        self.bad_lines += 1;
        if self.bad_lines <= MAX_BAD_LINES {
            let reason = without_keys(&bad.to_string());
            let reason = Excerpt::up_to(MAX_REASON, &reason);
            self.console.print(format_args!("{}:{}: {reason}", self.name, self.number));
        }
    }

    /// The next line, unless it is too long: then it is skipped without being kept in memory. `None` at the end.
    async fn next_line(&mut self) -> Result<Option<Result<Vec<u8>, BadLine>>, Error> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let part = (&mut self.input).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).await;
            let length = part.map_err(|cause| Error::Read { name: self.name.clone(), cause })?;
            self.position += length as u64;
            if length <= MAX_LINE || line.ends_with(b"\n") {
                break;
            }
            is_too_long = true;
            line.clear();
        }
        if is_too_long {
            return Ok(Some(Err(BadLine::new(format!("longer than {MAX_LINE} bytes")))));
        }
        Ok((!line.is_empty()).then_some(Ok(line)))
    }
}
