//! Faults on demand, for tests and `/__control`.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use serde::{Deserialize, Serialize};

/// A fault that replaces, delays or changes the game's response. Parts can be combined: a delay and a status, headers on
/// the game's own response, and so on. The default does nothing.
///
/// As JSON, every part is optional: `{"status": 503, "times": 2}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// The delay before anything else, in milliseconds.
    pub delay_ms: u64,
    /// Respond with the game of this many milliseconds ago.
    pub back_ms: u32,
    /// Accept the request and never respond.
    pub hang: bool,
    /// Close the connection without a response.
    pub close: bool,
    /// Respond with this HTTP status. Without [`Fault::body`], the body is the provider's own for that status, if it has
    /// one.
    pub status: Option<u16>,
    /// Respond with this body.
    pub body: Option<String>,
    /// Headers to set on the response, also on the game's own.
    pub headers: BTreeMap<String, String>,
    /// Respond with status 200 (or [`Fault::status`]) and an unusable body, or with unusable parts.
    pub garbage: Option<Garbage>,
    /// Respond as to an exhausted API key: 429 with `RateLimit-Remaining: 0`, and this many seconds in `RateLimit-Reset`.
    pub rate_limit: Option<u32>,
    /// Send this many bytes of the body, then close. The body is not compressed; its `Content-Length` is the full size.
    pub truncate: Option<usize>,
    /// The number of requests that it applies to; without it, all until it is cleared.
    pub times: Option<u32>,
}

/// An unusable body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Garbage {
    /// Random bytes.
    Bytes,
    /// An HTML page, as from a proxy in front.
    Html,
    /// Valid JSON of the wrong shape.
    WrongShape,
    /// `{"success":false,...}` with status 200.
    Failure,
    /// A small gzip stream that inflates to 48 MiB. It is sent with `Content-Encoding: gzip` even to clients that do not
    /// accept it.
    GzipBomb,
    /// The game's own response, with an unusable `item_bytes` in every fourth row.
    ItemBytes,
}

impl Fault {
    /// Responds with `status` and the provider's body for it.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Delays the response. Parts of a millisecond are dropped.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        Self { delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), ..Self::default() }
    }

    /// Sends `bytes` bytes of the body and closes.
    #[must_use]
    pub fn truncate(bytes: usize) -> Self {
        Self { truncate: Some(bytes), ..Self::default() }
    }

    /// Responds with an unusable body.
    #[must_use]
    pub fn garbage(garbage: Garbage) -> Self {
        Self { garbage: Some(garbage), ..Self::default() }
    }

    /// Responds as to an API key that is exhausted for another `reset_seconds` seconds.
    #[must_use]
    pub fn rate_limit(reset_seconds: u32) -> Self {
        Self { rate_limit: Some(reset_seconds), ..Self::default() }
    }

    /// Accepts the request and never responds.
    #[must_use]
    pub fn hang() -> Self {
        Self { hang: true, ..Self::default() }
    }

    /// Closes the connection without a response.
    #[must_use]
    pub fn close() -> Self {
        Self { close: true, ..Self::default() }
    }

    /// The same fault with this body.
    #[must_use]
    pub fn with_body(self, body: impl Into<String>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    /// The same fault with one more response header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// The same fault for the next `times` requests only.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }
}

/// A fault and the path it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The path, without `/at/...`, with or without a query. A trailing `*` matches any rest.
    pub path: String,
    pub fault: Fault,
}

/// An invalid fault.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The JSON form is wrong.
    #[error("invalid fault: {0}")]
    Json(#[from] serde_json::Error),
    /// An invalid value, with a sentence.
    #[error("{0}")]
    Value(String),
}

impl FaultRule {
    /// The rule in the JSON form: the parts of a [`Fault`] and `path`.
    ///
    /// # Errors
    ///
    /// If it is no JSON object, has an unknown key or a value of the wrong kind, or lacks a path.
    pub fn from_json(text: &[u8]) -> Result<Self, FaultError> {
        let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(text)?;
        let path = object.remove("path").and_then(|path| Some(path.as_str()?.to_owned()));
        let fault: Fault = serde_json::from_value(serde_json::Value::Object(object))?;
        let invalid = |sentence: String| Err(FaultError::Value(sentence));
        let Some(path) = path.filter(|path| path.starts_with('/')) else {
            return invalid(
                "a fault needs a path that starts with /, such as /v2/skyblock/bazaar".to_owned(),
            );
        };
        if let Some(status) = fault.status.filter(|status| !(200..=599).contains(status)) {
            return invalid(format!("status must be a number from 200 to 599, not `{status}`"));
        }
        if fault.times == Some(0) {
            return invalid("times must be a number from 1, not `0`".to_owned());
        }
        for (name, value) in &fault.headers {
            let valid = HeaderName::try_from(name).ok().filter(|_| HeaderValue::try_from(value).is_ok());
            let Some(header) = valid else {
                return invalid(format!("header must be a header as NAME=VALUE, not `{name}={value}`"));
            };
            // hyper panics if they contradict the body.
            if [CONTENT_LENGTH, TRANSFER_ENCODING].contains(&header) {
                return invalid(format!("{name} cannot be set; truncate cuts a body"));
            }
        }
        Ok(Self { path, fault })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_faults_are_refused_with_a_reason() {
        for (text, word) in [
            (r#"{"status":500}"#, "starts with /"),
            (r#"{"path":"a","status":500}"#, "starts with /"),
            (r#"{"path":"/a","stats":500}"#, "`stats`"),
            (r#"{"path":"/a","status":99}"#, "200 to 599"),
            (r#"{"path":"/a","times":0}"#, "from 1"),
            (r#"{"path":"/a","garbage":"soup"}"#, "wrong_shape"),
            (r#"{"path":"/a","headers":{"b c":"d"}}"#, "NAME=VALUE"),
            (r#"{"path":"/a","headers":{"Content-length":"5"}}"#, "truncate"),
            ("[]", "invalid type"),
        ] {
            let message = FaultRule::from_json(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
