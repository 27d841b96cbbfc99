//! The lines of a file of any size, one at a time. A line that is too long is passed over without being kept.

use std::io;
use std::path::Path;

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::line::BadLine;
use super::{STANDARD, display};
use crate::error::Error;

/// The longest line that is read, in bytes. All products at a tick take about a hundred kilobytes.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// How much is read at a time.
const CHUNK: usize = 1024 * 1024;
/// What some editors write before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number, counted from 1.
    pub(super) number: u64,
    /// Where it ends, in bytes from the beginning of the file.
    pub(super) end: u64,
    /// What stands in it, without white space around it, if it is text.
    pub(super) text: Result<String, BadLine>,
}

/// The lines of a file.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    number: u64,
    end: u64,
}

/// The lines of `file`, and how many bytes it has, if that is known.
pub(super) async fn open(file: &Path) -> Result<(Lines<Box<dyn AsyncRead + Unpin>>, Option<u64>), Error> {
    if file.as_os_str() == STANDARD {
        return Ok((Lines::of(Box::new(tokio::io::stdin())), None));
    }
    let failed = |cause| Error::Read { name: display(file), cause };
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
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        while let Some(bytes) = self.next_bytes().await? {
            let text = match bytes {
                Some(bytes) => String::from_utf8(bytes).map_err(|_| BadLine::because("it is not UTF-8 text")),
                None => Err(BadLine::because(format!("it has more than {LONGEST_LINE} bytes"))),
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

    /// The next line, which is `None` if it is too long; nothing at the end.
    async fn next_bytes(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        let mut has_begun = false;
        loop {
            let chunk = self.reader.fill_buf().await?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let (taken, is_last) =
                (part.len() + usize::from(end.is_some()), end.is_some() || chunk.is_empty());
            is_too_long = is_too_long || line.len() + part.len() > LONGEST_LINE;
            if is_too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            has_begun = has_begun || taken > 0;
            self.reader.consume(taken);
            self.end = self.end.saturating_add(taken.try_into().unwrap_or(u64::MAX));
            if is_last {
                self.number += u64::from(has_begun);
                return Ok(has_begun.then_some((!is_too_long).then_some(line)));
            }
        }
    }
}
