//! The stage's cache. It replays a function's response, byte for byte, to every request with the same cache
//! key: the method, the route and the parameters that the template declares. Neither the caller nor
//! `Cache-Control` matters.

use bytes::Bytes;
use hyper::Response;
use simulator::Clock;

use super::expiring_cache::ExpiringCache;
use super::request::MatchedRequest;
use crate::template::CacheKey;

/// The largest body that the stage cache keeps.
const MAX_CACHED_BODY_BYTES: usize = 1_048_576;

/// The key of a cached response. The values are in the order of the route's declaration, in the form that the
/// function gets: path parameters are encoded, query parameters decoded. A missing parameter differs from an
/// empty one. AWS does not document which value of a repeated parameter it uses; here it is the last, as in
/// `queryStringParameters` and `headers`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RequestKey {
    method: String,
    path: String,
    values: Vec<Option<String>>,
}

impl RequestKey {
    fn new(matched: &MatchedRequest<'_>) -> Self {
        let value = |key: &CacheKey| match key {
            CacheKey::Path(name) => matched.path_parameters.get(name).cloned(),
            CacheKey::Query(name) => matched.query.get(name)?.last().cloned(),
            CacheKey::Header(name) => {
                let value = matched.request.parts.headers.get_all(name).iter().next_back()?;
                Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
            }
        };
        Self {
            method: matched.request.method().to_owned(),
            path: matched.route.path.clone(),
            values: matched.route.cache_keys.iter().map(value).collect(),
        }
    }
}

pub(super) struct StageCache {
    responses: ExpiringCache<RequestKey, Response<Bytes>>,
}

impl StageCache {
    pub(super) fn new(clock: Clock) -> Self {
        Self { responses: ExpiringCache::new(clock) }
    }

    /// The cached response, if the route is cached and there is one.
    pub(super) fn get(&self, matched: &MatchedRequest<'_>) -> Option<Response<Bytes>> {
        self.responses.get(&RequestKey::new(matched))
    }

    /// Caches a function's response, with any status, if the route is cached and the body is small enough.
    pub(super) fn put(&self, matched: &MatchedRequest<'_>, response: &Response<Bytes>) {
        if matched.route.caching
            && let Some(ttl) = matched.route.cache_ttl
            && response.body().len() <= MAX_CACHED_BODY_BYTES
        {
            self.responses.put(RequestKey::new(matched), response.clone(), ttl);
        }
    }
}
