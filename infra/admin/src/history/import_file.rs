//! Reads the lines of a file of any size, one at a time. Lines that are too long are skipped without being kept in memory.

use std::io;
use std::path::Path;

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::line::BadLine;
use crate::arguments::STANDARD_STREAM;
use crate::error::Error;

/// The longest line, in bytes. All products of a tick take about 100 kB.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// How many bytes to read at a time.
const CHUNK: usize = 1024 * 1024;
/// Some editors write it before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its number, starting at 1.
    pub(crate) number: u64,
    /// The offset of its end in the file, in bytes.
    pub(crate) end: u64,
    /// Its text, without white space around it.
    pub(crate) text: Result<String, BadLine>,
}

/// The lines of a file.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    number: u64,
    end: u64,
}

/// The lines of `file`, and its size in bytes, if it is known.
pub(crate) async fn open(file: &Path) -> Result<(Lines<Box<dyn AsyncRead + Unpin>>, Option<u64>), Error> {
    if file.as_os_str() == STANDARD_STREAM {
        return Ok((Lines::of(Box::new(tokio::io::stdin())), None));
    }
    let failed = |cause| Error::Read { name: file.display().to_string(), cause };
    let opened = File::open(file).await.map_err(failed)?;
    let metadata = opened.metadata().await.map_err(failed)?;
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Lines::of(Box::new(opened)), size))
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn of(file: R) -> Self {
        Self { reader: BufReader::with_capacity(CHUNK, file), number: 0, end: 0 }
    }

    /// The next line that is not blank, or `None` at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        while let Some(bytes) = self.next_bytes().await? {
            let text = match bytes {
                Some(bytes) => String::from_utf8(bytes).map_err(|_| BadLine::new("not UTF-8 text")),
                None => Err(BadLine::new(format!("longer than {MAX_LINE} bytes"))),
            };
            let text = text.map(|text| {
                let text = if self.number == 1 { text.trim_start_matches(BYTE_ORDER_MARK) } else { &text };
                text.trim().to_owned()
            });
            if text.as_ref().is_ok_and(String::is_empty) {
                continue;
            }
            return Ok(Some(Line { number: self.number, end: self.end, text }));
        }
        Ok(None)
    }

    /// The bytes of the next line, or `None` inside if the line is too long; `None` at the end.
    async fn next_bytes(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        let mut has_bytes = false;
        loop {
            let chunk = self.reader.fill_buf().await?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let (taken, is_last) =
                (part.len() + usize::from(end.is_some()), end.is_some() || chunk.is_empty());
            is_too_long = is_too_long || line.len() + part.len() > MAX_LINE;
            if is_too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            has_bytes = has_bytes || taken > 0;
            self.reader.consume(taken);
            self.end = self.end.saturating_add(taken.try_into().unwrap_or(u64::MAX));
            if is_last {
                self.number += u64::from(has_bytes);
                return Ok(has_bytes.then_some((!is_too_long).then_some(line)));
            }
        }
    }
}
