//! Faults on demand, for tests, `/__control` and the command line.

use std::collections::BTreeMap;
use std::time::Duration;

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
    /// Respond with status 200 (or [`Fault::status`]) and an unusable body.
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

/// A fault and the path it applies to, as the command line spells it: `PATH=KEY:VALUE,KEY:VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The path, without query and without `/at/...`. A trailing `*` matches any rest.
    pub path: String,
    /// The fault.
    pub fault: Fault,
}

/// An invalid fault.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The path is missing or does not start with a slash.
    #[error("a fault needs a path that starts with /, such as /v2/skyblock/bazaar")]
    Path,
    /// The command line form is not `PATH=KEY:VALUE,...`.
    #[error("a fault has the form PATH=KEY:VALUE,KEY:VALUE, such as /v2/skyblock/bazaar=status:503,times:2")]
    Form,
    /// A key that no fault has.
    #[error(
        "unknown fault key `{0}`; known are status, body, header, delay_ms, truncate, garbage, rate_limit, hang, close \
         and times"
    )]
    Key(String),
    /// An invalid value.
    #[error("{key} must be {takes}, not `{value}`")]
    Value {
        /// The key.
        key: String,
        /// The value that was given.
        value: String,
        /// The allowed values.
        takes: &'static str,
    },
    /// The JSON form is wrong.
    #[error("invalid fault: {0}")]
    Json(#[from] serde_json::Error),
}

impl FaultRule {
    /// The rule in the JSON form: the parts of a [`Fault`] and `path`.
    ///
    /// # Errors
    ///
    /// If it is no JSON object, has an unknown key or a value of the wrong kind, or lacks a path.
    pub fn from_json(text: &[u8]) -> Result<Self, FaultError> {
        let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(text)?;
        let Some(serde_json::Value::String(path)) = object.remove("path") else {
            return Err(FaultError::Path);
        };
        let fault: Fault = serde_json::from_value(serde_json::Value::Object(object))?;
        Self { path, fault }.checked()
    }

    fn checked(self) -> Result<Self, FaultError> {
        let invalid =
            |key: &str, value: String, takes| Err(FaultError::Value { key: key.into(), value, takes });
        if !self.path.starts_with('/') {
            return Err(FaultError::Path);
        }
        if let Some(status) = self.fault.status.filter(|status| !(200..=599).contains(status)) {
            return invalid("status", status.to_string(), STATUS);
        }
        if self.fault.times == Some(0) {
            return invalid("times", String::from("0"), COUNT);
        }
        for (name, value) in &self.fault.headers {
            let is_header = hyper::header::HeaderName::try_from(name).is_ok();
            if !is_header || hyper::header::HeaderValue::try_from(value).is_err() {
                return invalid("header", format!("{name}={value}"), HEADER);
            }
            // hyper panics if they contradict the body.
            if ["content-length", "transfer-encoding"]
                .iter()
                .any(|framing| name.eq_ignore_ascii_case(framing))
            {
                return invalid("header", format!("{name}={value}"), UNFRAMED);
            }
        }
        Ok(self)
    }
}

const STATUS: &str = "a number from 200 to 599";
const COUNT: &str = "a number from 1";
const NUMBER: &str = "a whole number from 0";
const HEADER: &str = "a header as NAME=VALUE";
const UNFRAMED: &str = "any header but Content-Length and Transfer-Encoding; truncate cuts a body";
const GARBAGE: &str = "bytes, html, wrong_shape, failure or gzip_bomb";
const NOTHING: &str = "without a value";

impl std::str::FromStr for FaultRule {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (path, mut rest) = text.split_once('=').ok_or(FaultError::Form)?;
        let mut fault = Fault::default();
        if rest.is_empty() {
            return Err(FaultError::Form);
        }
        while !rest.is_empty() {
            // A body may contain commas, so it must be the last part.
            let (part, behind) = match rest.split_once(',') {
                Some(halves) if !rest.starts_with("body:") => halves,
                _ => (rest, ""),
            };
            rest = behind;
            let (key, value) = part.split_once(':').unwrap_or((part, ""));
            let invalid = |takes| FaultError::Value { key: key.into(), value: value.into(), takes };
            match key {
                "status" => fault.status = Some(value.parse().map_err(|_| invalid(STATUS))?),
                "body" => fault.body = Some(value.to_owned()),
                "header" => {
                    let (name, value) = value.split_once('=').ok_or_else(|| invalid(HEADER))?;
                    fault.headers.insert(name.to_owned(), value.to_owned());
                }
                "delay_ms" => fault.delay_ms = value.parse().map_err(|_| invalid(NUMBER))?,
                "truncate" => fault.truncate = Some(value.parse().map_err(|_| invalid(NUMBER))?),
                "garbage" => {
                    let garbage = serde_json::from_value(value.into()).map_err(|_| invalid(GARBAGE))?;
                    fault.garbage = Some(garbage);
                }
                "rate_limit" => fault.rate_limit = Some(value.parse().map_err(|_| invalid(NUMBER))?),
                "hang" | "close" if !value.is_empty() => return Err(invalid(NOTHING)),
                "hang" => fault.hang = true,
                "close" => fault.close = true,
                "times" => fault.times = Some(value.parse().map_err(|_| invalid(COUNT))?),
                _ => return Err(FaultError::Key(key.to_owned())),
            }
        }
        Self { path: path.to_owned(), fault }.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Fault, String> {
        text.parse().map(|rule: FaultRule| rule.fault).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_has_all_parts() {
        let rule: FaultRule = "/v2/skyblock/bazaar=status:503,times:2".parse().unwrap();
        assert_eq!(
            rule,
            FaultRule { path: "/v2/skyblock/bazaar".into(), fault: Fault::status(503).times(2) }
        );
        let text = "/a=delay_ms:5,status:429,header:Retry-After=7,truncate:3,body:{\"a\":1,\"b\":\"c=d\"}";
        let expected = Fault { delay_ms: 5, truncate: Some(3), ..Fault::status(429) }
            .with_header("Retry-After", "7")
            .with_body("{\"a\":1,\"b\":\"c=d\"}");
        assert_eq!(parse(text), Ok(expected));
        assert_eq!(parse("/a=hang"), Ok(Fault::hang()));
        assert_eq!(parse("/a=close"), Ok(Fault::close()));
        assert_eq!(parse("/a=garbage:gzip_bomb"), Ok(Fault::garbage(Garbage::GzipBomb)));
        assert_eq!(parse("/a=rate_limit:30"), Ok(Fault::rate_limit(30)));
    }

    #[test]
    fn invalid_faults_are_refused_with_a_reason() {
        for (text, word) in [
            ("/a", "PATH=KEY:VALUE"),
            ("/a=", "PATH=KEY:VALUE"),
            ("a=status:500", "starts with /"),
            ("/a=stats:500", "`stats`"),
            ("/a=status:abc", "`abc`"),
            ("/a=status:99", "200 to 599"),
            ("/a=times:0", "from 1"),
            ("/a=garbage:soup", "wrong_shape"),
            ("/a=header:Retry-After", "NAME=VALUE"),
            ("/a=header:b c=d", "NAME=VALUE"),
            ("/a=header:Content-length=5", "truncate"),
            ("/a=hang:yes", "without a value"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }

    #[test]
    fn the_json_form_has_the_same_parts() {
        let rule =
            FaultRule::from_json(br#"{"path":"/a","status":503,"headers":{"X":"y"},"garbage":"html"}"#)
                .unwrap();
        assert_eq!(
            rule.fault,
            Fault { garbage: Some(Garbage::Html), ..Fault::status(503).with_header("X", "y") }
        );
        assert!(FaultRule::from_json(br#"{"status":503}"#).unwrap_err().to_string().contains("path"));
        assert!(
            FaultRule::from_json(br#"{"path":"/a","file":"x"}"#).unwrap_err().to_string().contains("file")
        );
        assert!(FaultRule::from_json(b"[]").is_err());
    }
}
