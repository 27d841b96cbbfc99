//! The two envelopes (`interface.md`, part 1), and the JSON text of an answer on its way into one.
//!
//! A proxy response carries its body as a JSON string, so the whole body is escaped once more. For three megabytes that
//! costs as much as reading them; a [`Document`] therefore keeps its escaped form for the requests that it is served
//! to again.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::cache::Weight;
use crate::error::ApiError;
use crate::time::UnixMilliseconds;

/// What `meta.api_version` says on every route.
pub const API_VERSION: &str = "v1";

/// The JSON text of an answer's `data`. A part that passes through from an upstream body is not copied.
#[derive(Debug)]
pub struct Document {
    head: String,
    passed: Option<(Arc<String>, Range<usize>)>,
    tail: &'static str,
    /// The envelope with `cached: true`, escaped when it is first needed.
    replay: OnceLock<Arc<Body>>,
}

impl Document {
    /// The document with the JSON text `data`.
    #[must_use]
    pub const fn new(data: String) -> Self {
        Self { head: data, passed: None, tail: "", replay: OnceLock::new() }
    }

    /// The document with the JSON text of `data`.
    ///
    /// # Errors
    /// If `data` cannot be written as JSON.
    pub fn of(data: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(data).map(Self::new)
    }

    /// The document that consists of `head`, of what stands at `range` of `body`, and of `tail`.
    #[must_use]
    pub const fn passing(head: String, body: Arc<String>, range: Range<usize>, tail: &'static str) -> Self {
        Self { head, passed: Some((body, range)), tail, replay: OnceLock::new() }
    }

    /// The text, in the pieces that it is kept in.
    #[must_use]
    pub fn pieces(&self) -> [&str; 3] {
        let passed = self.passed.as_ref().and_then(|(body, range)| body.get(range.clone()));
        [&self.head, passed.unwrap_or_default(), self.tail]
    }

    /// The text of the success envelope, in pieces.
    fn envelope(&self, cached: bool) -> [&str; 9] {
        let [head, passed, tail] = self.pieces();
        let cached = if cached { "true" } else { "false" };
        [
            r#"{"success":true,"data":"#,
            head,
            passed,
            tail,
            r#","meta":{"cached":"#,
            cached,
            r#","api_version":""#,
            API_VERSION,
            r#""}}"#,
        ]
    }

    fn body(&self, cached: bool) -> Result<Arc<Body>, serde_json::Error> {
        if !cached {
            return Body::new(&self.envelope(false)).map(Arc::new);
        }
        if let Some(body) = self.replay.get() {
            return Ok(Arc::clone(body));
        }
        let body = Arc::new(Body::new(&self.envelope(true))?);
        Ok(Arc::clone(self.replay.get_or_init(|| body)))
    }
}

impl Weight for Document {
    /// Twice the text: once as it is, once escaped.
    fn bytes(&self) -> usize {
        total(&self.pieces()) * 2
    }
}

/// A handler's answer.
#[derive(Debug)]
pub struct Answer {
    /// The answer's data.
    pub document: Arc<Document>,
    /// Whether it was there before this request.
    pub cached: bool,
    /// When its data was fetched; `None` where nothing was.
    pub fetched_at: Option<UnixMilliseconds>,
    /// Why an expired answer is served, for the log.
    pub refresh_failure: Option<String>,
}

impl Answer {
    /// The success envelope, `meta.cached` as it is, or `true` where the gateway will store and replay the body.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn body(&self, is_replayed: impl Fn(usize) -> bool) -> Result<Arc<Body>, serde_json::Error> {
        let length = total(&self.document.envelope(true));
        self.document.body(self.cached || is_replayed(length))
    }
}

/// A response body: plain text of so many bytes, kept as the JSON string that a proxy response carries it in.
#[derive(Debug)]
pub struct Body {
    escaped: Box<RawValue>,
    bytes: usize,
}

impl Body {
    fn new(pieces: &[&str]) -> Result<Self, serde_json::Error> {
        let escaped = serde_json::value::to_raw_value(&Joined(pieces))?;
        Ok(Self { escaped, bytes: total(pieces) })
    }

    /// The error envelope of `error`.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of_error(error: &ApiError) -> Result<Self, serde_json::Error> {
        let failure = Failure { code: error.code().name(), message: error.message() };
        Self::new(&[&serde_json::to_string(&ErrorEnvelope { success: false, error: failure })?])
    }

    /// How many bytes the caller receives, before compression.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many bytes it takes in a proxy response.
    #[must_use]
    pub fn escaped_bytes(&self) -> usize {
        self.escaped.get().len()
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.escaped.serialize(serializer)
    }
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

/// How many bytes the pieces have together.
fn total(pieces: &[&str]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

/// Writes pieces of text as one JSON string, without putting them together first.
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
    use super::*;

    fn text(body: &Body) -> String {
        let text: String = serde_json::from_str(body.escaped.get()).unwrap();
        assert_eq!(text.len(), body.bytes());
        text
    }

    #[test]
    fn the_pieces_of_a_document_make_one_envelope() {
        let upstream = Arc::new(r#"{"products":{"A":"\u0027"},"x":1}"#.to_owned());
        let document = Document::passing(r#"{"products":"#.to_owned(), upstream, 12..26, "}");
        let fresh = text(&document.body(false).unwrap());
        let expected = r#"{"success":true,"data":{"products":{"A":"\u0027"}},"meta":{"cached":false,"api_version":"v1"}}"#;
        assert_eq!(fresh, expected);
        for _ in 0..2 {
            assert_eq!(text(&document.body(true).unwrap()), expected.replace("false", "true"));
        }
    }

    #[test]
    fn an_error_envelope_holds_any_message() {
        let error = ApiError::not_found("no \"route\" \u{7} <script>");
        let body: serde_json::Value = serde_json::from_str(&text(&Body::of_error(&error).unwrap())).unwrap();
        assert_eq!(body["error"]["message"], "no \"route\" \u{7} <script>");
        assert_eq!(body["error"]["code"], "NOT_FOUND");
        assert_eq!(body["success"], false);
    }

    #[test]
    fn a_body_that_the_gateway_replays_never_claims_to_be_fresh() {
        let document = Arc::new(Document::new("{}".to_owned()));
        let answer = Answer { document, cached: false, fetched_at: None, refresh_failure: None };
        assert!(text(&answer.body(|_| true).unwrap()).contains(r#""cached":true"#));
        assert!(text(&answer.body(|_| false).unwrap()).contains(r#""cached":false"#));
    }
}
