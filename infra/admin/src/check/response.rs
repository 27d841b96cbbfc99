//! A response, as a client of the service receives it.

use std::time::{Duration, SystemTime};

use conformance::{Mismatch, excerpt, header_text, single_header};
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response.
#[derive(Debug, Clone)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The decoded body.
    pub(super) text: String,
    /// The size of the body before decoding.
    pub(super) encoded_bytes: usize,
}

impl Response {
    /// The value of the header if the response has it exactly once.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        single_header(&self.headers, name)
    }

    /// Every value of the header, for people.
    pub(super) fn header_text(&self, name: &str) -> String {
        header_text(&self.headers, name)
    }

    /// The time in the header.
    pub(super) fn time(&self, name: &str) -> Option<SystemTime> {
        self.header(name).and_then(|text| httpdate::parse_http_date(text).ok())
    }

    /// The value of `Retry-After`.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// If it is not JSON.
    pub(super) fn json(&self) -> Result<Value, Mismatch> {
        serde_json::from_str(&self.text)
            .map_err(|error| Mismatch::new("a JSON body", format!("{error}: {}", self.summary())))
    }

    /// Status, content type and the beginning of the body on one line.
    pub(super) fn summary(&self) -> String {
        let body = excerpt(&self.text);
        let media_type = self.header("content-type").unwrap_or("no Content-Type");
        format!("{} {media_type}: {}", self.status, if body.is_empty() { "an empty body" } else { &body })
    }

    /// The value of `meta.cached`.
    pub(super) fn is_cached(&self) -> Option<bool> {
        let body: Value = serde_json::from_str(&self.text).ok()?;
        at(&body, "/meta/cached").as_bool()
    }
}

/// The value that a JSON pointer, such as `/meta/cached`, leads to; `null` if it leads nowhere.
pub(super) fn at<'a>(document: &'a Value, pointer: &str) -> &'a Value {
    document.pointer(pointer).unwrap_or(&Value::Null)
}
