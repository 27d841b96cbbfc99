//! Reads the lines of a file of any size, one at a time, and reports the bad ones.

use std::path::Path;

use common::excerpt::Excerpt;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use super::line::BadLine;
use crate::arguments::STANDARD_STREAM;
use crate::console;
use crate::error::Error;

/// The longest line, in bytes. All products of a minute take about 100 kB.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// How many bytes to read at a time.
const CHUNK: usize = 1024 * 1024;
/// How many bad lines are printed.
const MAX_BAD_LINES: u64 = 100;
/// How many characters of a reason are printed.
const MAX_REASON: usize = 600;
/// Some editors write this character before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The file of an import, or standard input.
pub(super) struct Reader {
    name: String,
    input: BufReader<Box<dyn AsyncRead + Unpin>>,
    /// The number of the latest line that was read, starting at 1.
    number: u64,
    pub(super) bad_lines: u64,
}

impl Reader {
    pub(super) async fn open(file: &Path) -> Result<Self, Error> {
        let name = file.display().to_string();
        let input: Box<dyn AsyncRead + Unpin> = if file.as_os_str() == STANDARD_STREAM {
            Box::new(tokio::io::stdin())
        } else {
            let opened = File::open(file).await;
            Box::new(opened.map_err(|cause| Error::Read { name: name.clone(), cause })?)
        };
        let input = BufReader::with_capacity(CHUNK, input);
        Ok(Self { name, input, number: 0, bad_lines: 0 })
    }

    /// Prints how many bad lines were not printed, and returns the number of all bad lines.
    pub(super) fn finish(self) -> u64 {
        if self.bad_lines > MAX_BAD_LINES {
            console::print(format_args!("… and {} more", self.bad_lines - MAX_BAD_LINES));
        }
        self.bad_lines
    }

    /// Returns the content of the next line that is neither blank nor bad, or `None` at the end.
    pub(super) async fn next<T>(
        &mut self,
        parse: impl Fn(&str) -> Result<T, BadLine>,
    ) -> Result<Option<T>, Error> {
        while let Some(line) = self.next_line().await? {
            self.number += 1;
            let decoded = if line.len() > MAX_LINE {
                Err(BadLine::new(format!("longer than {MAX_LINE} bytes")))
            } else {
                str::from_utf8(&line).map_err(|_| BadLine::new("not UTF-8 text"))
            };
            let text = decoded.map(|text| text.trim().trim_start_matches(BYTE_ORDER_MARK).trim_start());
            match text.and_then(|text| if text.is_empty() { Ok(None) } else { parse(text).map(Some) }) {
                Ok(Some(content)) => return Ok(Some(content)),
                Ok(None) => {}
                Err(bad) => self.report(&bad),
            }
        }
        Ok(None)
    }

    fn report(&mut self, bad: &BadLine) {
        self.bad_lines += 1;
        if self.bad_lines <= MAX_BAD_LINES {
            self.print(&Excerpt::up_to(MAX_REASON, &bad.to_string()).to_string());
        }
    }

    /// Prints a message about the latest line that was read.
    pub(super) fn print(&self, message: &str) {
        console::print(format_args!("{}:{}: {message}", self.name, self.number));
    }

    /// Returns the next line with its line end, or `None` at the end of the file. Cuts a line that is too
    /// long, but to more than [`MAX_LINE`] bytes.
    async fn next_line(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut line = Vec::new();
        loop {
            let mut part = Vec::new();
            let read = (&mut self.input).take(CHUNK as u64).read_until(b'\n', &mut part).await;
            read.map_err(|cause| Error::Read { name: self.name.clone(), cause })?;
            let is_last = part.is_empty() || part.ends_with(b"\n");
            if line.len() <= MAX_LINE {
                line.append(&mut part);
            }
            if is_last {
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }
}
