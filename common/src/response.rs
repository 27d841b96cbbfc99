//! What a handler returns: a document, and where it comes from.

use std::sync::Arc;

use crate::cache::Lookup;
use crate::envelope::{Body, Document};
use crate::time::UnixMilliseconds;

/// A successful response of a handler.
#[derive(Debug)]
pub struct Response {
    /// The data.
    pub document: Arc<Document>,
    /// Whether the data was cached before this request.
    pub cached: bool,
    /// When the data was fetched; `None` if nothing was.
    pub fetched_at: Option<UnixMilliseconds>,
    /// Why the data is stale, for the log.
    pub refresh_failure: Option<String>,
}

impl Response {
    /// A response that no cache and no upstream takes part in.
    #[must_use]
    pub fn uncached(document: Document) -> Self {
        Self { document: Arc::new(document), cached: false, fetched_at: None, refresh_failure: None }
    }

    /// The response with `document`, which was made of the value of `lookup`.
    #[must_use]
    pub fn of_lookup<V>(lookup: &Lookup<V>, document: Arc<Document>) -> Self {
        Self {
            document,
            cached: lookup.cached,
            fetched_at: Some(lookup.fetched_at),
            refresh_failure: lookup.refresh_failure.clone(),
        }
    }

    /// The success envelope. `meta.cached` is also `true` if `is_stored` says that the gateway stores and replays a body of
    /// this many bytes.
    #[must_use]
    pub fn body(&self, is_stored: impl Fn(usize) -> bool) -> Body {
        let cached = self.cached || is_stored(self.document.envelope_bytes(true));
        Body::Success { document: Arc::clone(&self.document), cached }
    }
}

impl From<Lookup<Arc<Document>>> for Response {
    fn from(lookup: Lookup<Arc<Document>>) -> Self {
        Self::of_lookup(&lookup, Arc::clone(&lookup.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_the_gateway_replays_never_claims_to_be_fresh() {
        let response = Response::uncached(Document::new("{}".to_owned()));
        let is_cached =
            |is_stored| matches!(response.body(|_| is_stored), Body::Success { cached: true, .. });
        assert!(is_cached(true));
        assert!(!is_cached(false));
    }
}
