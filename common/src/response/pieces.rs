//! JSON text in pieces, so that long parts of an upstream's body are not copied.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Error;

/// The smallest part of the body that is not copied, in bytes. An additional piece takes as long as copying a
/// few hundred bytes.
const SHORTEST_PASSED: usize = 4096;

/// JSON text in pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    /// The upstream's body, if it contains a piece.
    body: Option<Arc<String>>,
}

#[derive(Debug)]
enum Piece {
    Written(String),
    /// A part of the body: its range.
    Passed(Range<usize>),
}

impl Pieces {
    /// Returns the JSON text of `data`. The long parts that `data` borrows from `body` are not copied.
    pub(crate) fn of(data: &impl Serialize, body: &Arc<String>) -> Result<Self, Error> {
        let mut writer = Writer { body, pieces: Vec::new(), written: Vec::new() };
        serde_json::to_writer(&mut writer, data)?;
        writer.end_piece().map_err(Error::io)?;
        let has_passed = writer.pieces.iter().any(|piece| matches!(piece, Piece::Passed(_)));
        Ok(Self { pieces: writer.pieces, body: has_passed.then(|| Arc::clone(body)) })
    }

    /// Returns `before`, the part of `body` in this range, and `after`.
    pub(crate) fn around(before: String, (body, range): (&Arc<String>, Range<usize>), after: &str) -> Self {
        let pieces = vec![Piece::Written(before), Piece::Passed(range), Piece::Written(after.to_owned())];
        Self { pieces, body: Some(Arc::clone(body)) }
    }

    /// Returns the pieces in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let body = self.body.as_deref().map_or("", |body| body);
        self.pieces.iter().map(|piece| match piece {
            Piece::Written(text) => text,
            Piece::Passed(range) => body.get(range.clone()).unwrap_or_default(),
        })
    }

    /// Returns how many bytes the pieces take in memory. If a piece is a part of the body, the whole body
    /// counts.
    pub(crate) fn kept_bytes(&self) -> usize {
        let written = self.pieces.iter().map(|piece| match piece {
            Piece::Written(text) => text.capacity(),
            Piece::Passed(_) => 0,
        });
        written.sum::<usize>() + self.body.as_ref().map_or(0, |body| body.capacity())
    }
}

impl From<String> for Pieces {
    fn from(text: String) -> Self {
        Self { pieces: vec![Piece::Written(text)], body: None }
    }
}

/// Collects the written JSON in pieces. A text is recognised as a part of the body by its address.
struct Writer<'a> {
    body: &'a str,
    pieces: Vec<Piece>,
    /// The piece that is being written.
    written: Vec<u8>,
}

impl Writer<'_> {
    fn end_piece(&mut self) -> io::Result<()> {
        if !self.written.is_empty() {
            let text = String::from_utf8(std::mem::take(&mut self.written)).map_err(io::Error::other)?;
            self.pieces.push(Piece::Written(text));
        }
        Ok(())
    }

    /// Returns the range of `text` in the body, if it is part of the body.
    fn range_in_body(&self, text: &[u8]) -> Option<Range<usize>> {
        let start = text.as_ptr().addr().checked_sub(self.body.as_ptr().addr())?;
        let range = start..start.checked_add(text.len())?;
        self.body.get(range.clone()).is_some().then_some(range)
    }
}

impl io::Write for Writer<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let passed = if text.len() < SHORTEST_PASSED { None } else { self.range_in_body(text) };
        if let Some(range) = passed {
            self.end_piece()?;
            self.pieces.push(Piece::Passed(range));
        } else {
            self.written.extend_from_slice(text);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::json::{ObjectText, StringText};
    use crate::upstream::UpstreamResponse;

    #[derive(Deserialize, Serialize)]
    struct Data<'a> {
        #[serde(borrow)]
        first: ObjectText<'a>,
        short: u8,
        text: StringText<'a>,
        #[serde(borrow)]
        last: ObjectText<'a>,
    }

    #[test]
    fn only_the_long_parts_of_the_body_stay_there() {
        let long = |letter: &str| letter.repeat(SHORTEST_PASSED);
        let text = format!(
            r#"{{"first":{{"ü":"{}"}},"short":7,"text":"\u00e4","last":{{"b":"{}"}}}}"#,
            long("a"),
            long("b")
        );
        let body = UpstreamResponse::new("/", format!(" {text} ")).body;
        let data: Data<'_> = serde_json::from_str(&body).unwrap();
        let pieces = Pieces::of(&data, &body).unwrap();
        assert_eq!(pieces.iter().collect::<String>(), text);
        let in_body = body.as_bytes().as_ptr_range();
        let passed: Vec<_> = pieces.iter().map(|piece| in_body.contains(&piece.as_ptr())).collect();
        assert_eq!(passed, [false, true, false, true, false]);
        assert!(pieces.kept_bytes() >= body.len());

        let other = UpstreamResponse::new("/", body.to_string()).body;
        let pieces = Pieces::of(&data, &other).unwrap();
        assert_eq!(pieces.iter().collect::<Vec<_>>(), [&text]);
        assert!(pieces.body.is_none(), "a body without parts is not kept");
    }
}
