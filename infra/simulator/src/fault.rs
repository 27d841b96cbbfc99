//! Faults on demand, for tests.

use std::collections::BTreeMap;
use std::time::Duration;

/// Returns the fault of a request with this path and query.
pub(crate) type ChooseFault = dyn Fn(&str, &str) -> Fault + Send + Sync;

/// A fault that replaces, delays or changes the game's response. Parts can be combined: a delay and a status,
/// headers on the game's own response, and so on. The default does nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The delay before anything else, in milliseconds.
    pub delay_ms: u64,
    /// Respond with the game's state from this many milliseconds ago.
    pub back_ms: u32,
    /// Accept the request and never respond.
    pub hang: bool,
    /// Close the connection without a response.
    pub close: bool,
    /// Respond with this HTTP status. Without [`Fault::body`], the body is the provider's body for this
    /// status, if the provider has one.
    pub status: Option<u16>,
    pub body: Option<Vec<u8>>,
    /// Headers to set on the response, also on the game's own response. Must not have `Content-Length` or
    /// `Transfer-Encoding`, which hyper compares with the body.
    pub headers: BTreeMap<String, String>,
    /// Respond with status 200 (or [`Fault::status`]) and an unusable body.
    pub garbage: Option<Garbage>,
    /// Respond as if the API key's requests were used up: 429 with `RateLimit-Remaining: 0`, and this many
    /// seconds in `RateLimit-Reset`.
    pub rate_limit: Option<u32>,
    /// Send this many bytes of the body, then close the connection. The body is not compressed; its
    /// `Content-Length` is the full size.
    pub truncate: Option<usize>,
    /// The number of requests that the fault applies to; `None` for all until the fault is cleared.
    pub times: Option<u32>,
}

/// An unusable body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Garbage {
    Bytes,
    /// An HTML page, as from a proxy in front.
    Html,
    /// Valid JSON of the wrong shape.
    WrongShape,
    /// `{"success":false,...}` with status 200.
    Failure,
    /// A small gzip stream that inflates to 48 MiB. It is sent with `Content-Encoding: gzip` even to clients
    /// that do not accept it.
    GzipBomb,
}

impl Fault {
    /// Responds with `status` and the provider's body for this status.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Delays the response. Parts of a millisecond are dropped.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        Self { delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), ..Self::default() }
    }

    /// Sends `bytes` bytes of the body, then closes the connection.
    #[must_use]
    pub fn truncate(bytes: usize) -> Self {
        Self { truncate: Some(bytes), ..Self::default() }
    }

    /// Responds with an unusable body.
    #[must_use]
    pub fn garbage(garbage: Garbage) -> Self {
        Self { garbage: Some(garbage), ..Self::default() }
    }

    /// Responds as if the API key's requests were used up for another `reset_seconds` seconds.
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
    pub fn with_body(self, body: impl Into<Vec<u8>>) -> Self {
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
