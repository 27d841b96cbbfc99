//! The two envelopes of response bodies, and the JSON text that goes into them.
//!
//! A proxy response carries its body as a JSON string, so the whole body is escaped once more. A [`Document`]
//! keeps the escaped body with `cached: true` for later requests.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::file::File;
use super::pieces::Pieces;
use crate::cache::Weight;
use crate::error::ApiError;

/// `meta.api_version` of every route.
pub const API_VERSION: &str = "v1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The JSON text of `data`, in the success envelope.
    Data,
    /// A whole response body of this media type, without an envelope.
    Body(&'static str),
}

const JSON: &str = "application/json";

/// The JSON text of a response's `data`, or a whole response body.
#[derive(Debug)]
pub struct Document {
    form: Form,
    data: Pieces,
    /// The envelope with `cached: true`, escaped when it is first needed.
    replay: OnceLock<Arc<RawValue>>,
}

impl Document {
    const fn from_pieces(form: Form, data: Pieces) -> Self {
        Self { form, data, replay: OnceLock::new() }
    }

    /// Returns the document with the JSON text `data`.
    #[must_use]
    pub fn new(data: String) -> Self {
        Self::from_pieces(Form::Data, data.into())
    }

    /// Returns a document that is a whole response body, without an envelope, because another specification
    /// defines the shape of the body.
    #[must_use]
    pub fn bare(body: String) -> Self {
        Self::from_pieces(Form::Body(JSON), body.into())
    }

    /// Returns a document that is a whole response body of CSV.
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

    /// Returns the document with the JSON text of `data`.
    pub fn of(data: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(data).map(Self::new)
    }

    /// Returns the document with the JSON text of `data`. Long parts that `data` borrows from `body` are not
    /// copied.
    pub fn passing(data: &impl Serialize, body: &Arc<String>) -> Result<Self, serde_json::Error> {
        Ok(Self::from_pieces(Form::Data, Pieces::of(data, body)?))
    }

    /// Returns the document that consists of `before`, this range of `body`, and `after`. The body is not
    /// copied.
    #[must_use]
    pub fn around(before: String, (body, range): (&Arc<String>, Range<usize>), after: &str) -> Self {
        Self::from_pieces(Form::Data, Pieces::around(before, (body, range), after))
    }

    /// Returns the text of the success envelope, or of the bare document, in pieces.
    fn envelope(&self, cached: bool) -> Joined<'_> {
        let data = self.data.iter();
        if self.form != Form::Data {
            return Joined(data.collect());
        }
        let cached = if cached { "true" } else { "false" };
        let meta = [r#","meta":{"cached":"#, cached, r#","api_version":""#, API_VERSION, r#""}}"#];
        Joined(std::iter::once(r#"{"success":true,"data":"#).chain(data).chain(meta).collect())
    }

    /// Returns the number of bytes of the success envelope.
    #[must_use]
    pub fn envelope_bytes(&self, cached: bool) -> usize {
        self.envelope(cached).bytes()
    }

    /// Returns the envelope with `cached: true` as a JSON string. The document keeps it, because it is likely
    /// to be served again.
    fn replay(&self) -> Result<Arc<RawValue>, serde_json::Error> {
        if let Some(replay) = self.replay.get() {
            return Ok(Arc::clone(replay));
        }
        let replay = to_raw_value(&self.envelope(true))?.into();
        Ok(Arc::clone(self.replay.get_or_init(|| replay)))
    }
}

/// A text in pieces. It serialises as one string.
struct Joined<'a>(Vec<&'a str>);

impl Joined<'_> {
    fn bytes(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// Returns how many bytes of the text take two bytes in a JSON string. Control characters that take six
    /// bytes do not occur in JSON or CSV.
    fn escapes(&self) -> usize {
        let is_escaped = |byte: &u8| u8::from(matches!(byte, b'"' | b'\\' | ..b' '));
        // The count of each chunk fits into a byte, so that the compiler uses vector instructions.
        let chunks = self.0.iter().flat_map(|piece| piece.as_bytes().chunks(u8::MAX.into()));
        chunks.map(|chunk| usize::from(chunk.iter().map(is_escaped).sum::<u8>())).sum()
    }
}

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

impl Weight for Document {
    /// The bytes of the text and of the escaped text. If the text has parts of an upstream's body, the whole
    /// body counts.
    fn bytes(&self) -> usize {
        self.data.kept_bytes() + self.data.iter().map(str::len).sum::<usize>()
    }
}

/// A response body. It serialises as the JSON string that a proxy response carries it in.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Body {
    content: Content,
    #[serde(skip)]
    bytes: usize,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content {
    /// The document is escaped while the response is written, so its megabytes are not copied.
    #[serde(serialize_with = "fresh")]
    Fresh(Arc<Document>),
    Replay(Arc<RawValue>),
    File(&'static RawValue),
}

fn fresh<S: Serializer>(document: &Document, serializer: S) -> Result<S::Ok, S::Error> {
    document.envelope(false).serialize(serializer)
}

impl Body {
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let document = Document::bare(text.to_owned());
        Self { content: Content::Fresh(Arc::new(document)), bytes: text.len() }
    }

    /// Returns the success envelope around the document, with this value of `meta.cached`. A document without
    /// an envelope is returned unchanged.
    pub fn success(document: &Arc<Document>, cached: bool) -> Result<Self, serde_json::Error> {
        let content =
            if cached { Content::Replay(document.replay()?) } else { Content::Fresh(Arc::clone(document)) };
        Ok(Self { content, bytes: document.envelope_bytes(cached) })
    }

    pub fn of_error(error: &ApiError) -> Result<Self, serde_json::Error> {
        let failure = ErrorContent { code: error.code().name(), message: error.message() };
        Ok(Self::of_text(&serde_json::to_string(&ErrorEnvelope { success: false, error: failure })?))
    }

    /// Returns the file as a body.
    pub fn of_file(file: &File) -> Result<Self, serde_json::Error> {
        Ok(Self { content: Content::File(file.json()?), bytes: file.bytes })
    }

    /// Returns how many bytes the client receives, before compression.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many bytes the body takes as a JSON string, including quotes.
    #[must_use]
    pub fn escaped_bytes(&self) -> usize {
        match &self.content {
            Content::Fresh(document) => r#""""#.len() + self.bytes + document.envelope(false).escapes(),
            Content::Replay(json) => json.get().len(),
            Content::File(json) => json.get().len(),
        }
    }
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    success: bool,
    error: ErrorContent<'a>,
}

#[derive(Serialize)]
struct ErrorContent<'a> {
    code: &'static str,
    message: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &Arc<Document>, cached: bool) -> String {
        let body = Body::success(document, cached).unwrap();
        let escaped = serde_json::to_string(&body).unwrap();
        assert_eq!(body.escaped_bytes(), escaped.len(), "{escaped}");
        let text: String = serde_json::from_str(&escaped).unwrap();
        assert_eq!(text.len(), body.bytes());
        text
    }

    #[test]
    fn the_pieces_of_a_document_make_one_envelope() {
        let document = Arc::new(Document::new(r#"{"products":{"A":"\u0027"}}"#.to_owned()));
        let fresh = text(&document, false);
        let expected = r#"{"success":true,"data":{"products":{"A":"\u0027"}},"meta":{"cached":false,"api_version":"v1"}}"#;
        assert_eq!(fresh, expected);
        for _ in 0..2 {
            assert_eq!(text(&document, true), expected.replace("false", "true"));
        }
    }

    #[test]
    fn a_body_counts_its_escapes_wherever_they_are() {
        for lines in [0, 1, 30, 500] {
            let csv = "id,\"name\\\",ü\t\r\n".repeat(lines);
            let document = Arc::new(Document::csv(csv.clone()));
            for cached in [false, true] {
                assert_eq!(text(&document, cached), csv);
            }
        }
    }

    #[test]
    fn a_bare_document_has_no_envelope() {
        let document = Arc::new(Document::bare(r#"{"openapi":"3.1.1"}"#.to_owned()));
        for cached in [false, true] {
            assert_eq!(text(&document, cached), r#"{"openapi":"3.1.1"}"#);
        }
    }
}
