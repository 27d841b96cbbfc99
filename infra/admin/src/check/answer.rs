//! An answer, as a client gets it.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::report::Failure;

/// How much of a body is shown.
const SHOWN: usize = 160;

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The body, decoded.
    pub(super) text: String,
    /// How large the body was on its way.
    pub(super) sent_bytes: usize,
    /// From the request's first byte to the answer's last one.
    pub(super) elapsed: Duration,
}

impl Answer {
    /// The value of the header, if it is there, once, and a text. Of two values a client takes either, both, or none.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none())?.to_str().ok()
    }

    /// Every value of the header, for people.
    pub(super) fn shown_header(&self, name: &str) -> String {
        let values = self.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        let values: Vec<_> = values.collect();
        if values.is_empty() { "none".to_owned() } else { shortened(&values.join(", and ")) }
    }

    /// The moment in the header.
    pub(super) fn moment(&self, name: &str) -> Option<SystemTime> {
        self.header(name).and_then(|text| httpdate::parse_http_date(text).ok())
    }

    /// After how many seconds to ask again.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn json(&self) -> Result<Value, Failure> {
        serde_json::from_str(&self.text)
            .map_err(|error| Failure::new("a JSON body", format!("{error}: {}", self.shown())))
    }

    /// The answer in a line.
    pub(super) fn shown(&self) -> String {
        let body = shortened(&self.text);
        let kind = self.header("content-type").unwrap_or("no Content-Type");
        format!("{} {kind}: {}", self.status, if body.is_empty() { "an empty body" } else { &body })
    }

    /// What `meta.cached` says.
    pub(super) fn cached(&self) -> Option<bool> {
        let body: Value = serde_json::from_str(&self.text).ok()?;
        body.pointer("/meta/cached").and_then(Value::as_bool)
    }
}

/// The beginning of the text, on one line.
pub(super) fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut line: String = characters
        .by_ref()
        .take(SHOWN)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_shown_on_one_line_that_ends() {
        assert_eq!(shortened("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(shortened(&"ü".repeat(1_000)).chars().count(), SHOWN + 1);
    }
}
