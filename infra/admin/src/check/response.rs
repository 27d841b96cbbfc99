//! A response, as a client of the service receives it.

use std::time::{Duration, SystemTime};

use conformance::{Mismatch, excerpt, header_text, single_header};
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The decoded body.
    pub(super) text: String,
    /// The size of the body before decoding.
    pub(super) encoded_bytes: usize,
    /// The time from the first byte of the request to the last byte of the response.
    pub(super) elapsed: Duration,
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

    /// The value of `Last-Modified`: when the service fetched the data.
    pub(super) fn fetched_at(&self) -> Option<SystemTime> {
        self.time("last-modified")
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

    /// Whether the body is a success or an error of the service.
    pub(super) fn has_envelope(&self) -> bool {
        let body: Result<Value, _> = serde_json::from_str(&self.text);
        body.is_ok_and(|body| body.get("success").is_some_and(Value::is_boolean))
    }

    /// The value of `meta.cached`.
    pub(super) fn is_cached(&self) -> Option<bool> {
        let body: Value = serde_json::from_str(&self.text).ok()?;
        body.pointer("/meta/cached").and_then(Value::as_bool)
    }
}
