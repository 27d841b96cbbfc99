//! The two envelopes of response bodies, and the JSON text that goes into them.
//!
//! A proxy response carries its body as a JSON string, so the whole body is escaped once more. For three megabytes that
//! takes as long as parsing them. A [`Document`] therefore keeps its escaped form for later requests.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::error::ApiError;
use super::pieces::Pieces;
use crate::cache::Weight;
use crate::upstream::Text;

/// `meta.api_version` of every route.
pub const API_VERSION: &str = "v1";

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The JSON text of `data`, in the success envelope.
    Data,
    /// A whole response body of this media type, without an envelope.
    Body(&'static str),
}

/// The media type of JSON.
const JSON: &str = "application/json";

/// The JSON text of a response's `data`, or a whole response body.
#[derive(Debug)]
pub struct Document {
    form: Form,
    data: Pieces,
    /// The envelope with `cached: true`, escaped when it is first needed.
    replay: OnceLock<Box<RawValue>>,
}

impl Document {
    const fn from_pieces(form: Form, data: Pieces) -> Self {
        Self { form, data, replay: OnceLock::new() }
    }

    /// The document with the JSON text `data`.
    #[must_use]
    pub fn new(data: String) -> Self {
        Self::from_pieces(Form::Data, data.into())
    }

    /// The document that is a whole response body, without an envelope: another specification defines its shape.
    #[must_use]
    pub fn bare(body: String) -> Self {
        Self::from_pieces(Form::Body(JSON), body.into())
    }

    /// The document that is a whole response body of CSV.
    #[must_use]
    pub fn csv(body: String) -> Self {
        Self::from_pieces(Form::Body("text/csv; charset=utf-8"), body.into())
    }

    /// The media type of the response body.
    #[must_use]
    pub const fn media_type(&self) -> &'static str {
        match self.form {
            Form::Data => JSON,
            Form::Body(media_type) => media_type,
        }
    }

    /// The document with the JSON text of `data`.
    ///
    /// # Errors
    /// If `data` cannot be written as JSON.
    pub fn of(data: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(data).map(Self::new)
    }

    /// The document with the JSON text of `data`, without a copy of the long parts that `data` borrows from `body`.
    ///
    /// # Errors
    /// If `data` cannot be written as JSON.
    pub fn passing(data: &impl Serialize, body: &Arc<Text>) -> Result<Self, serde_json::Error> {
        Ok(Self::from_pieces(Form::Data, Pieces::of(data, body)?))
    }

    /// The document with the JSON text of `before`, of `body` in this range, and of `after`, without a copy of the body.
    #[must_use]
    pub fn around(before: String, (body, range): (&Arc<Text>, Range<usize>), after: &str) -> Self {
        Self::from_pieces(Form::Data, Pieces::around(before, (body, range), after))
    }

    /// The text of the success envelope in pieces, or of the bare document.
    fn envelope(&self, cached: bool) -> Vec<&str> {
        let data = self.data.iter();
        if self.form != Form::Data {
            return data.collect();
        }
        let cached = if cached { "true" } else { "false" };
        let meta = [r#","meta":{"cached":"#, cached, r#","api_version":""#, API_VERSION, r#""}}"#];
        std::iter::once(r#"{"success":true,"data":"#).chain(data).chain(meta).collect()
    }

    /// How many bytes the success envelope has.
    #[must_use]
    pub fn envelope_bytes(&self, cached: bool) -> usize {
        total(self.envelope(cached))
    }

    /// The success envelope with `cached: true`, escaped.
    fn replay(&self) -> Result<&RawValue, serde_json::Error> {
        if let Some(escaped) = self.replay.get() {
            return Ok(escaped);
        }
        let escaped = serde_json::value::to_raw_value(&Joined(&self.envelope(true)))?;
        Ok(self.replay.get_or_init(|| escaped))
    }
}

impl Weight for Document {
    /// The text, with all of a body that it has parts of, and the escaped text.
    fn bytes(&self) -> usize {
        self.data.kept_bytes() + total(self.data.iter())
    }
}

/// A response body. It serialises as the JSON string that a proxy response carries it in.
#[derive(Debug)]
pub enum Body {
    /// The success envelope around a document.
    Success {
        /// The data.
        document: Arc<Document>,
        /// The value of `meta.cached`.
        cached: bool,
    },
    /// The error envelope as JSON text.
    Error(String),
    /// A file.
    File {
        /// The content as a JSON string.
        json: &'static RawValue,
        /// How many bytes it has, unescaped.
        bytes: usize,
    },
    /// Nothing.
    Empty,
}

impl Body {
    /// The error envelope of `error`.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of_error(error: &ApiError) -> Result<Self, serde_json::Error> {
        let failure = Failure { code: error.code().name(), message: error.message() };
        serde_json::to_string(&ErrorEnvelope { success: false, error: failure }).map(Self::Error)
    }

    /// How many bytes the client receives, before compression.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Success { document, cached } => document.envelope_bytes(*cached),
            Self::Error(text) => text.len(),
            Self::File { bytes, .. } => *bytes,
            Self::Empty => 0,
        }
    }

    /// Whether it takes at most `limit` bytes as a JSON string, quotes included.
    #[must_use]
    pub fn fits(&self, limit: usize) -> bool {
        // In JSON text, whatever is escaped takes two bytes: of the control characters, it has only line breaks and tabs.
        self.bytes() * 2 + "\"\"".len() <= limit || self.escaped_bytes() <= limit
    }

    /// How many bytes it takes as a JSON string, quotes included.
    #[must_use]
    pub fn escaped_bytes(&self) -> usize {
        let escaped_length =
            |pieces: &[&str]| pieces.iter().map(|piece| escaped_length(piece)).sum::<usize>() + 2;
        match self {
            Self::Success { document, cached: true } => {
                let cached = document.replay.get().map(|escaped| escaped.get().len());
                cached.unwrap_or_else(|| escaped_length(&document.envelope(true)))
            }
            Self::Success { document, cached: false } => escaped_length(&document.envelope(false)),
            Self::Error(text) => escaped_length(&[text]),
            Self::File { json, .. } => json.get().len(),
            Self::Empty => escaped_length(&[]),
        }
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // A cached document is likely to be served again, so its escaped form is kept.
            Self::Success { document, cached: true } => {
                document.replay().map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
            Self::Success { document, cached: false } => {
                Joined(&document.envelope(false)).serialize(serializer)
            }
            Self::Error(text) => text.serialize(serializer),
            Self::File { json, .. } => json.serialize(serializer),
            Self::Empty => "".serialize(serializer),
        }
    }
}

/// How many bytes `text` takes inside a JSON string.
fn escaped_length(text: &str) -> usize {
    let [quotes, controls] = count(text, |byte| [byte == b'"' || byte == b'\\', byte < b' ']);
    if controls == 0 {
        return text.len() + quotes;
    }
    // Line breaks, such as in a body that is indented, take two bytes, and others six: `\u001f`.
    let [short] = count(text, |byte| [matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0c)]);
    text.len() + quotes + short + (controls - short) * (r"\u001f".len() - 1)
}

/// How many bytes of `text` match each of the conditions. The sums are bytes, so that the compiler uses vector instructions.
fn count<const N: usize>(text: &str, matches: impl Fn(u8) -> [bool; N]) -> [usize; N] {
    let mut totals = [0; N];
    for chunk in text.as_bytes().chunks(usize::from(u8::MAX)) {
        let mut sums = [0_u8; N];
        for &byte in chunk {
            for (sum, matches) in sums.iter_mut().zip(matches(byte)) {
                *sum += u8::from(matches);
            }
        }
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total += usize::from(sum);
        }
    }
    totals
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    success: bool,
    error: Failure<'a>,
}

#[derive(Serialize)]
struct Failure<'a> {
    code: &'static str,
    message: &'a str,
}

/// How many bytes the pieces have in total.
fn total<'a>(pieces: impl IntoIterator<Item = &'a str>) -> usize {
    pieces.into_iter().map(str::len).sum()
}

/// Serialises pieces of text as one JSON string, without joining them first.
struct Joined<'a>(&'a [&'a str]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| formatter.write_str(piece))
    }
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(body: &Body) -> String {
        let escaped = serde_json::to_string(body).unwrap();
        assert_eq!(body.escaped_bytes(), escaped.len(), "{escaped}");
        assert!(body.fits(escaped.len()) && !body.fits(escaped.len() - 1), "{escaped}");
        let text: String = serde_json::from_str(&escaped).unwrap();
        assert_eq!(text.len(), body.bytes());
        text
    }

    #[test]
    fn the_pieces_of_a_document_make_one_envelope() {
        let document = Arc::new(Document::new(r#"{"products":{"A":"\u0027"}}"#.to_owned()));
        let body = |cached| Body::Success { document: Arc::clone(&document), cached };
        let fresh = text(&body(false));
        let expected = r#"{"success":true,"data":{"products":{"A":"\u0027"}},"meta":{"cached":false,"api_version":"v1"}}"#;
        assert_eq!(fresh, expected);
        for _ in 0..2 {
            assert_eq!(text(&body(true)), expected.replace("false", "true"));
        }
    }

    #[test]
    fn a_bare_document_has_no_envelope() {
        let document = Arc::new(Document::bare(r#"{"openapi":"3.1.1"}"#.to_owned()));
        for cached in [false, true] {
            let body = Body::Success { document: Arc::clone(&document), cached };
            assert_eq!(text(&body), r#"{"openapi":"3.1.1"}"#);
        }
    }

    proptest! {
        #[test]
        fn the_escaped_length_is_known_before_escaping(text in any::<String>()) {
            prop_assert_eq!(escaped_length(&text) + 2, serde_json::to_string(&text).unwrap().len());
        }

        #[test]
        fn escaping_at_most_doubles_json_text(texts in any::<Vec<String>>()) {
            let json = serde_json::to_string_pretty(&texts).unwrap();
            prop_assert!(escaped_length(&json) <= json.len() * 2);
        }
    }
}
