//! The stage's cache: replays a function's response, byte for byte, to every request with the same key. The key is the
//! method, the route and the parameters that the template declares. Neither the caller nor `Cache-Control` matters.

use bytes::Bytes;
use hyper::Response;
use simulator::Clock;

use super::expiring_cache::ExpiringCache;
use super::limits::MAX_CACHED_BODY_BYTES;
use super::request::{GatewayRequest, MatchedRoute};
use crate::template::CacheKey;

/// What distinguishes two cached responses. The values are in the order of the route's declaration, as the function gets them: a
/// path parameter is encoded and a query parameter decoded. A missing parameter differs from an empty one. AWS does not document
/// which value of a repeated parameter it uses; here it is the last, as in `queryStringParameters`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RequestKey {
    method: String,
    path: String,
    values: Vec<Option<String>>,
}

impl RequestKey {
    fn new(request: &GatewayRequest<'_>, matched: &MatchedRoute<'_>) -> Self {
        let value = |key: &CacheKey| match key {
            CacheKey::Path(name) => matched.path_parameters.get(name).cloned(),
            CacheKey::Query(name) => matched.query.get(name)?.last().cloned(),
        };
        Self {
            method: request.method().to_owned(),
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
    pub(super) fn get(
        &self,
        request: &GatewayRequest<'_>,
        matched: &MatchedRoute<'_>,
    ) -> Option<Response<Bytes>> {
        self.responses.get(&RequestKey::new(request, matched))
    }

    /// Caches a function's response, whatever its status, if the route is cached and the body is small enough.
    pub(super) fn put(
        &self,
        request: &GatewayRequest<'_>,
        matched: &MatchedRoute<'_>,
        response: &Response<Bytes>,
    ) {
        if let Some(ttl) = matched.route.cache_ttl.filter(|_| matched.route.caching)
            && response.body().len() <= MAX_CACHED_BODY_BYTES
        {
            self.responses.put(RequestKey::new(request, matched), response.clone(), ttl);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::Request;
    use hyper::http::request::Builder;

    use super::super::request::parse_query;
    use super::*;
    use crate::template::Route;

    fn route() -> Route {
        Route {
            path: "/v1/{kind}".to_owned(),
            caching: true,
            cache_ttl: Some(Duration::from_mins(5)),
            cache_keys: vec![
                CacheKey::Query("a".to_owned()),
                CacheKey::Query("b".to_owned()),
                CacheKey::Path("kind".to_owned()),
            ],
            ..Route::default()
        }
    }

    fn with_request<T>(
        request: Builder,
        route: &Route,
        run: impl FnOnce(&GatewayRequest<'_>, &MatchedRoute<'_>) -> T,
    ) -> T {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let kind = parts.uri.path().rsplit('/').next().unwrap().to_owned();
        let matched = MatchedRoute {
            route,
            path_parameters: [("kind".to_owned(), kind)].into(),
            query: parse_query(parts.uri.query().unwrap_or_default()),
        };
        run(&GatewayRequest::for_tests(&parts), &matched)
    }

    fn key(target: &str) -> RequestKey {
        with_request(Request::get(target), &route(), RequestKey::new)
    }

    #[test]
    fn only_declared_parameters_distinguish_requests() {
        for (one, other) in [
            ("/v1/x?a=1&b=2", "/v1/x?b=2&a=1"),
            ("/v1/x?a=1", "/v1/x?a=0&a=1"),
            ("/v1/x?a=1", "/v1/x?a=1&unread=2"),
            ("/v1/x?a=a+b", "/v1/x?a=%61%20b"),
        ] {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
        for (one, other) in [
            ("/v1/x?a=1&b=2", "/v1/x?a=1%26b=2"),
            ("/v1/x?a=1", "/v1/x?b=1"),
            ("/v1/x?a=", "/v1/x"),
            ("/v1/x?a=1", "/v1/x?A=1"),
            ("/v1/x?a=1", "/v1/x?a=1&a=2"),
            ("/v1/x", "/v1/y"),
            ("/v1/x", "/v1/X"),
        ] {
            assert_ne!(key(one), key(other), "{one} {other}");
        }
        assert_ne!(with_request(Request::post("/v1/x"), &route(), RequestKey::new), key("/v1/x"));
        let private = Request::get("/v1/x").header("x-api-key", "k").header("cache-control", "no-store");
        assert_eq!(with_request(private, &route(), RequestKey::new), key("/v1/x"));
    }

    #[test]
    fn a_large_body_and_a_route_without_caching_are_not_cached() {
        let is_cached = |route: &Route, bytes: usize| {
            let cache = StageCache::new(Clock::system());
            with_request(Request::get("/v1/x"), route, |request, matched| {
                cache.put(request, matched, &Response::new(Bytes::from(vec![b'x'; bytes])));
                cache.get(request, matched).is_some()
            })
        };
        assert!(is_cached(&route(), 1_048_576) && !is_cached(&route(), 1_048_577));
        assert!(!is_cached(&Route { caching: false, ..route() }, 1));
        assert!(!is_cached(&Route { cache_ttl: Some(Duration::ZERO), ..route() }, 1));
    }
}
