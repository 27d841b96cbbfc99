//! The response of a handler: data and its origin, a file for browsers, a redirect, or the response to a
//! preflight request.

pub mod envelope;
pub mod file;
mod pieces;

use std::sync::Arc;
use std::time::Duration;

use self::envelope::{Body, Document};
use self::file::File;
use crate::cache::Lookup;
use crate::time::UnixMilliseconds;

/// A successful response of a handler.
#[derive(Debug)]
pub enum Response {
    Data(Data),
    /// A file for browsers.
    File(&'static File),
    /// A redirect to this address, relative to the address of the request.
    Redirect(String),
    /// The response to a CORS preflight request: scripts of any origin may send `GET` with a key.
    Preflight,
}

/// Data and its origin.
#[derive(Debug)]
pub struct Data {
    pub document: Arc<Document>,
    /// Whether the data was cached before this request.
    pub cached: bool,
    /// When the data was fetched; `None` if nothing was fetched.
    pub fetched_at: Option<UnixMilliseconds>,
    /// How old the provider's copy of the data was when it was fetched.
    pub age: Duration,
    /// Why the data is stale, for the log.
    pub refresh_failure: Option<String>,
}

impl Response {
    /// Returns a response with a document that was neither cached nor fetched.
    #[must_use]
    pub fn uncached(document: Document) -> Self {
        Self::Data(Data {
            document: Arc::new(document),
            cached: false,
            fetched_at: None,
            age: Duration::ZERO,
            refresh_failure: None,
        })
    }

    /// Returns `document`, built from `lookup`'s value, with the origin of that value.
    #[must_use]
    pub fn of_lookup<V>(lookup: &Lookup<V>, document: Arc<Document>) -> Self {
        Self::Data(Data {
            document,
            cached: lookup.cached,
            fetched_at: Some(lookup.fetched_at),
            age: lookup.age,
            refresh_failure: lookup.refresh_failure.clone(),
        })
    }
}

impl From<Lookup<Arc<Document>>> for Response {
    fn from(lookup: Lookup<Arc<Document>>) -> Self {
        Self::of_lookup(&lookup, Arc::clone(&lookup.value))
    }
}

impl Data {
    /// Returns the success envelope. `is_stored` returns whether the gateway stores and replays a body of
    /// this many bytes. If it does, `meta.cached` is `true` even if the data was not cached.
    pub fn body(&self, is_stored: impl Fn(usize) -> bool) -> Result<Body, serde_json::Error> {
        let cached = self.cached || is_stored(self.document.envelope_bytes(true));
        Body::success(&self.document, cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_the_gateway_replays_never_claims_to_be_fresh() {
        let document = Arc::new(Document::new("{}".to_owned()));
        let data =
            Data { document, cached: false, fetched_at: None, age: Duration::ZERO, refresh_failure: None };
        let body = |is_stored| serde_json::to_string(&data.body(|_| is_stored).unwrap()).unwrap();
        assert!(body(true).contains(r#"\"cached\":true"#));
        assert!(body(false).contains(r#"\"cached\":false"#));
    }
}
