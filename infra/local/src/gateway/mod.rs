//! API Gateway: finds the route of an HTTP request, and passes the request on in AWS's order to the
//! authorizer, the usage plan, the cache and the function.

pub(crate) mod api_keys;
mod authorization;
mod authorizer;
pub(crate) mod compression;
pub(crate) mod control_plane;
mod event;
mod expiring_cache;
mod gateway_response;
mod request;
mod response;
mod routing;
pub(crate) mod sample;
mod scalar;
mod stage_cache;
mod usage;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use common::auth::without_keys;
use common::excerpt::Excerpt;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use percent_encoding::percent_decode_str;
use simulator::Clock;
use uuid::Uuid;

use self::api_keys::ApiKeys;
use self::authorizer::Authorizers;
use self::control_plane::ControlPlane;
use self::gateway_response::GatewayError;
use self::request::{Caller, GatewayRequest, INTEGRATION_TIMEOUT, MatchedRequest};
use self::routing::Routing;
use self::stage_cache::StageCache;
use self::usage::Usage;
use crate::logs::LineSink;
use crate::pool::{Pool, Pools};
use crate::server::{self, Body};
use crate::template::{Api, Template};

/// The gateway's limit for a request's body.
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Lambda's limit for an event.
const MAX_EVENT_BYTES: usize = 6 * 1024 * 1024;
/// Longer paths are shortened in the access log.
const MAX_LOGGED_PATH_CHARACTERS: usize = 256;
/// The source of a response in the access log, if it is not a function.
const GATEWAY: &str = "gateway";
const AUTHORIZER: &str = "authorizer";
const CACHE: &str = "cache";

pub(crate) struct Gateway {
    api: Api,
    routing: Routing,
    pools: Arc<Pools>,
    authorizers: Authorizers,
    api_keys: Arc<ApiKeys>,
    usage: Arc<Usage>,
    cache: Option<StageCache>,
    clock: Clock,
    access_log: Option<LineSink>,
}

impl Gateway {
    pub(crate) fn new(
        template: &Template,
        pools: Arc<Pools>,
        api_keys: Arc<ApiKeys>,
        clock: Clock,
        access_log: Option<LineSink>,
    ) -> Self {
        let api = template.api.clone();
        Self {
            routing: Routing::new(&api.routes),
            authorizers: Authorizers::new(api.authorizers.clone(), Arc::clone(&pools), clock.clone()),
            usage: Arc::new(Usage::new(&template.usage_plans, Arc::clone(&api_keys), clock.clone())),
            api_keys,
            cache: api.cache_enabled.then(|| StageCache::new(clock.clone())),
            api,
            pools,
            clock,
            access_log,
        }
    }

    /// Returns the control plane of this gateway's API keys.
    pub(crate) fn control_plane(&self) -> ControlPlane {
        ControlPlane { keys: Arc::clone(&self.api_keys), usage: Arc::clone(&self.usage) }
    }

    pub(crate) async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        client: SocketAddr,
    ) -> Response<Full<Bytes>> {
        let started = Instant::now();
        let request_id = Uuid::new_v4();
        let (parts, body) = request.into_parts();
        let (response, source) = match server::read(body, MAX_BODY_BYTES).await {
            Body::Complete(body) => {
                let request = GatewayRequest {
                    parts: &parts,
                    body: &body,
                    client,
                    request_id,
                    now_ms: self.clock.now_ms(),
                    stage: &self.api.stage,
                };
                self.respond(&request).await
            }
            Body::TooLarge => self.refusal(GatewayError::RequestTooLarge),
            // If the client is gone, only the access log gets this response.
            Body::Incomplete => self.refusal(GatewayError::BadRequestBody),
        };
        let minimum = self.api.minimum_compression_size;
        let mut response = compression::compress(response, &parts.headers, minimum).await;
        if let Ok(value) = HeaderValue::try_from(request_id.to_string()) {
            response.headers_mut().insert("x-amzn-requestid", value);
        }
        if let Some(access_log) = &self.access_log {
            let bytes = response.body().len();
            let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
            let method = printable(parts.method.as_str());
            let path = printable(parts.uri.path());
            let status = response.status().as_u16();
            access_log(&format!("{method} {path} {status} {milliseconds:.1} ms {bytes} bytes {source}"));
        }
        response.map(Full::new)
    }

    /// The response, and its source for the access log.
    async fn respond(&self, request: &GatewayRequest<'_>) -> (Response<Bytes>, &str) {
        let Some((route, path_parameters)) = self.routing.find(request.method(), request.path()) else {
            return self.refusal(GatewayError::MissingAuthenticationToken);
        };
        let query = request::parse_query(request.parts.uri.query().unwrap_or_default());
        let matched = MatchedRequest { request, route, path_parameters, query };
        let authorization = match &route.authorizer {
            None => None,
            Some(name) => match self.authorizers.authorize(name, &matched).await {
                Ok(authorization) => Some(authorization),
                Err(error) => return self.refusal(error),
            },
        };
        let mut caller = Caller { authorization: authorization.as_deref(), api_key: None };
        if route.key_required {
            match self.usage.admit(caller.authorization, route) {
                Ok(key) => caller.api_key = Some(key),
                Err(error) => return self.refusal(error),
            }
        }
        if let Some(response) = self.cache.as_ref().and_then(|cache| cache.get(&matched)) {
            return (response, CACHE);
        }
        let Some(pool) = self.pools.get(&route.function) else {
            return self.refusal(GatewayError::IntegrationFailure);
        };
        let response = match self.invoke(pool, &matched, caller).await {
            Ok(response) => {
                if let Some(cache) = &self.cache {
                    cache.put(&matched, &response);
                }
                response
            }
            Err(error) => self.error(error),
        };
        (response, &pool.function().binary)
    }

    /// Invokes the function and returns its response.
    ///
    /// # Errors
    /// Returns the error to respond with; the reason is logged.
    async fn invoke(
        &self,
        pool: &Arc<Pool>,
        matched: &MatchedRequest<'_>,
        caller: Caller<'_>,
    ) -> Result<Response<Bytes>, GatewayError> {
        let event = event::for_integration(matched, caller);
        if event.len() > MAX_EVENT_BYTES {
            return Err(GatewayError::RequestTooLarge);
        }
        let log = |reason: &str| pool.log(&format!("request {}: {reason}", matched.request.request_id));
        match tokio::time::timeout(INTEGRATION_TIMEOUT, pool.invoke_as(matched.request.request_id, event))
            .await
        {
            Ok(Ok(payload)) => response::from_payload(&payload).map_err(|reason| {
                log(&reason);
                GatewayError::IntegrationFailure
            }),
            // The pool has logged the reason.
            Ok(Err(_)) => Err(GatewayError::IntegrationFailure),
            Err(_) => {
                log(&format!("no response within the gateway's {} s", INTEGRATION_TIMEOUT.as_secs()));
                Err(GatewayError::IntegrationTimeout)
            }
        }
    }

    /// The gateway's own response, and its source for the access log.
    fn refusal(&self, error: GatewayError) -> (Response<Bytes>, &'static str) {
        let is_authorizers = matches!(
            error,
            GatewayError::Unauthorized | GatewayError::AccessDenied | GatewayError::AuthorizerFailure
        );
        (self.error(error), if is_authorizers { AUTHORIZER } else { GATEWAY })
    }

    fn error(&self, error: GatewayError) -> Response<Bytes> {
        error.response(&self.api.gateway_responses)
    }
}

/// The text on one line, shortened, and without keys. It stays percent-encoded, unless that would hide a key.
fn printable(text: &str) -> String {
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    let decoded_without_keys = without_keys(&decoded);
    let text = if decoded_without_keys == decoded { text } else { &decoded_without_keys };
    Excerpt::up_to(MAX_LOGGED_PATH_CHARACTERS, text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logged_path_is_one_short_line_without_keys() {
        assert_eq!(printable("/a\r\nb\u{1b}[31m"), "/a\\r\\nb\\u{1b}[31m");
        for key in ["gd_LocalCloudPro0", "%67d_LocalCloudPro0", "gd%5FLocal%43loudPro0"] {
            assert_eq!(printable(&format!("/v1/profile/{key}")), "/v1/profile/gd_…", "{key}");
        }
        assert_eq!(printable("/a%2Fb%00%FF"), "/a%2Fb%00%FF");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), MAX_LOGGED_PATH_CHARACTERS + 1);
    }
}
