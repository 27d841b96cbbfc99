//! API Gateway: from an HTTP request to a route, and on to who may answer it. The order is AWS's: authorizer, usage plan,
//! cache, function.

mod authorizer;
mod compression;
mod event;
mod gateway_response;
mod policy;
mod response;
mod routing;
mod stage_cache;
mod usage;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use common::auth::without_keys;
use common::excerpt::Excerpt;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use simulator::Clock;
use uuid::Uuid;

use self::authorizer::{Authorizers, Permit, Refusal};
use self::event::{Arrival, Caller, Matched};
use self::gateway_response::{GatewayError, Variables};
use self::routing::Routing;
use self::stage_cache::{Cacheable, StageCache};
use self::usage::Usage;
use crate::logs::{Logs, Sink};
use crate::pool::Pool;
use crate::server::{self, Body};
use crate::template::{Api, Route, Template};

/// The gateway's bound on an integration.
const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(29);
/// The gateway's bound on a request's body.
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Lambda's bound on an event.
const MAX_EVENT_BYTES: usize = 6 * 1024 * 1024;
/// Longer paths are cut in the access log.
const LOGGED_PATH_CHARACTERS: usize = 256;
/// Who answers, in the access log, if it is no function.
const GATEWAY: &str = "gateway";
const AUTHORIZER: &str = "authorizer";
const CACHE: &str = "cache";

pub(crate) struct Gateway {
    api: Api,
    routing: Routing,
    /// By logical id.
    pools: BTreeMap<String, Arc<Pool>>,
    authorizers: Authorizers,
    usage: Usage,
    cache: Option<StageCache>,
    clock: Clock,
    logs: Logs,
    access_log: Option<Sink>,
}

impl Gateway {
    pub(crate) fn new(
        template: &Template,
        pools: BTreeMap<String, Arc<Pool>>,
        clock: Clock,
        logs: Logs,
        access_log: Option<Sink>,
    ) -> Self {
        let api = template.api.clone();
        Self {
            routing: Routing::new(&api.routes),
            authorizers: Authorizers::new(&api.authorizers, &pools, clock.clone(), logs.clone()),
            usage: Usage::new(&template.usage_plans, clock.clone()),
            cache: StageCache::of(&api, clock.clone()),
            api,
            pools,
            clock,
            logs,
            access_log,
        }
    }

    pub(crate) async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> Response<Full<Bytes>> {
        let started = Instant::now();
        let request_id = Uuid::new_v4();
        let (parts, body) = request.into_parts();
        let body = server::read(body, MAX_BODY_BYTES).await;
        let arrival = Arrival {
            request: &parts,
            body: if let Body::Whole(body) = &body { body } else { &[] },
            peer,
            request_id,
            now_ms: self.clock.now_ms(),
            stage: &self.api.stage,
        };
        let (response, answered_by) = match body {
            Body::Whole(_) => self.answer(&arrival).await,
            Body::TooLarge => (self.own(GatewayError::RequestTooLarge, &arrival), GATEWAY),
            // Whoever hung up gets to see nothing; the answer is for the access log then.
            Body::Broken => (self.own(GatewayError::BadRequestBody, &arrival), GATEWAY),
        };
        let minimum = self.api.minimum_compression_size;
        let mut response = compression::compress(response, &parts.headers, minimum).await;
        if let Ok(value) = HeaderValue::try_from(request_id.to_string()) {
            response.headers_mut().insert("x-amzn-requestid", value);
        }
        if let Some(access_log) = &self.access_log {
            let bytes = response.body().len();
            let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
            let (method, path) = (printable(parts.method.as_str()), printable(parts.uri.path()));
            let status = response.status().as_u16();
            access_log(&format!("{method} {path} {status} {milliseconds:.1} ms {bytes} bytes {answered_by}"));
        }
        response.map(Full::new)
    }

    /// The answer, and the name of who gave it.
    async fn answer(&self, arrival: &Arrival<'_>) -> (Response<Bytes>, &str) {
        let (method, path) = (arrival.request.method.as_str(), arrival.request.uri.path());
        if method == "OPTIONS"
            && let Some(cors) = self.api.cors.as_ref().filter(|_| self.routing.has_preflight(path))
        {
            return (response::preflight(cors), GATEWAY);
        }
        let Some((route, path_parameters)) = self.routing.find(method, path) else {
            return (self.own(GatewayError::MissingAuthenticationToken, arrival), GATEWAY);
        };
        let query = event::query(arrival.request.uri.query().unwrap_or_default());
        self.answer_route(arrival, &Matched { route, path_parameters, query }).await
    }

    async fn answer_route(&self, arrival: &Arrival<'_>, matched: &Matched<'_>) -> (Response<Bytes>, &str) {
        let route = matched.route;
        let permit = match &route.authorizer {
            None => None,
            Some(name) => match self.authorizers.check(name, arrival, matched).await {
                Ok(permit) => Some(permit),
                Err(refusal) => return self.refused(arrival, route, &refusal),
            },
        };
        let mut caller = Caller { permit: permit.as_deref(), api_key: None };
        if route.key_required {
            match self.usage.admit(caller.permit) {
                Ok(identifier) => caller.api_key = Some(identifier),
                Err(error) => return (self.own_to(error, arrival, route, caller.permit), GATEWAY),
            }
        }
        let cacheable = self.cache.as_ref().and_then(|cache| Some((cache, Cacheable::of(arrival, matched)?)));
        if let Some((cache, cacheable)) = &cacheable
            && let Some(response) = cache.get(cacheable)
        {
            return (response, CACHE);
        }
        let own = |error| self.own_to(error, arrival, route, caller.permit);
        let Some(pool) = self.pools.get(&route.function) else {
            return (own(GatewayError::IntegrationFailure), GATEWAY);
        };
        let name = pool.function().binary.as_str();
        let Ok(event) = event::for_integration(arrival, matched, caller) else {
            return (own(GatewayError::IntegrationFailure), name);
        };
        if event.len() > MAX_EVENT_BYTES {
            return (own(GatewayError::RequestTooLarge), name);
        }
        match self.ask(pool, event, arrival.request_id).await {
            Ok(response) => {
                if let Some((cache, cacheable)) = cacheable {
                    cache.put(cacheable, &response);
                }
                (response, name)
            }
            Err(error) => (own(error), name),
        }
    }

    /// What the function answers.
    ///
    /// # Errors
    /// What the gateway has to say instead; the log says why.
    async fn ask(
        &self,
        pool: &Arc<Pool>,
        event: Bytes,
        request_id: Uuid,
    ) -> Result<Response<Bytes>, GatewayError> {
        let log = |reason: &str| {
            let name = &pool.function().binary;
            self.logs.push(&format!("local: {name}: request {request_id}: {reason}"));
        };
        match tokio::time::timeout(INTEGRATION_TIMEOUT, pool.invoke(event)).await {
            Ok(Ok(payload)) => response::from_payload(&payload).map_err(|reason| {
                log(&reason);
                GatewayError::IntegrationFailure
            }),
            // The pool has logged why.
            Ok(Err(_)) => Err(GatewayError::IntegrationFailure),
            Err(_) => {
                log(&format!("no answer within the gateway's {} s", INTEGRATION_TIMEOUT.as_secs()));
                Err(GatewayError::IntegrationTimeout)
            }
        }
    }

    fn refused(&self, arrival: &Arrival<'_>, route: &Route, refusal: &Refusal) -> (Response<Bytes>, &str) {
        let (error, permit, answered_by) = match refusal {
            Refusal::Anonymous => (GatewayError::Unauthorized, None, GATEWAY),
            Refusal::Unknown => (GatewayError::Unauthorized, None, AUTHORIZER),
            Refusal::Denied(permit) => (GatewayError::AccessDenied, Some(permit.as_ref()), AUTHORIZER),
            Refusal::Failed => (GatewayError::AuthorizerFailure, None, AUTHORIZER),
        };
        (self.own_to(error, arrival, route, permit), answered_by)
    }

    /// The gateway's own answer to a request that is for no route.
    fn own(&self, error: GatewayError, arrival: &Arrival<'_>) -> Response<Bytes> {
        let variables = Variables { arrival, resource_path: None, permit: None };
        error.response(&self.api.gateway_responses, &variables)
    }

    fn own_to(
        &self,
        error: GatewayError,
        arrival: &Arrival<'_>,
        route: &Route,
        permit: Option<&Permit>,
    ) -> Response<Bytes> {
        let variables = Variables { arrival, resource_path: Some(&route.path), permit };
        error.response(&self.api.gateway_responses, &variables)
    }
}

/// Whether what has been known since then still counts. What comes from the future, because the clock was set back, does
/// not.
fn is_fresh(since_ms: i64, counts_for: Duration, now_ms: i64) -> bool {
    let age_ms = u64::try_from(now_ms.saturating_sub(since_ms)).ok();
    age_ms.is_some_and(|age_ms| Duration::from_millis(age_ms) < counts_for)
}

/// The text on one line, whatever a client sent, not endless, and without keys.
fn printable(text: &str) -> String {
    Excerpt::up_to(LOGGED_PATH_CHARACTERS, &without_keys(text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logged_path_stays_on_its_line() {
        assert_eq!(printable("/a\r\nb\u{1b}[31m"), "/a\\r\\nb\\u{1b}[31m");
        assert_eq!(printable("/v1/profile/gd_LocalCloudPro0"), "/v1/profile/gd_…");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), LOGGED_PATH_CHARACTERS + 1);
    }
}
