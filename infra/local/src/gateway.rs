//! API Gateway: from an HTTP request to a route, an event, a function, and back.

mod event;
mod response;
mod routing;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use simulator::Clock;
use uuid::Uuid;

use self::event::Arrival;
use self::response::GatewayError;
use self::routing::Routing;
use crate::logs::{Logs, Sink};
use crate::pool::Pool;
use crate::server::{self, Body};
use crate::template::Api;

/// The gateway's bound on an integration.
const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(29);
/// The gateway's bound on a request's body.
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Lambda's bound on an event.
const MAX_EVENT_BYTES: usize = 6 * 1024 * 1024;
/// Longer paths are cut in the access log.
const LOGGED_PATH_CHARACTERS: usize = 256;

pub(crate) struct Gateway {
    api: Api,
    routing: Routing,
    /// By logical id.
    pools: BTreeMap<String, Arc<Pool>>,
    clock: Clock,
    logs: Logs,
    access_log: Option<Sink>,
}

impl Gateway {
    pub(crate) fn new(
        api: Api,
        pools: BTreeMap<String, Arc<Pool>>,
        clock: Clock,
        logs: Logs,
        access_log: Option<Sink>,
    ) -> Self {
        Self { routing: Routing::new(&api.routes), api, pools, clock, logs, access_log }
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
        let (mut response, answered_by) = match body {
            Body::Whole(body) => {
                let arrival = Arrival {
                    request: &parts,
                    body: &body,
                    peer,
                    request_id,
                    now_ms: self.clock.now_ms(),
                    stage: &self.api.stage,
                };
                self.answer(&arrival).await
            }
            Body::TooLarge => (self.own(GatewayError::RequestTooLarge), "gateway"),
            // Whoever hung up gets to see nothing; the answer is for the access log then.
            Body::Broken => (self.own(GatewayError::BadRequestBody), "gateway"),
        };
        if let Ok(value) = HeaderValue::try_from(request_id.to_string()) {
            response.headers_mut().insert("x-amzn-requestid", value);
        }
        if let Some(access_log) = &self.access_log {
            let bytes = response.body().size_hint().lower();
            let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
            let (method, path) = (printable(parts.method.as_str()), printable(parts.uri.path()));
            let status = response.status().as_u16();
            access_log(&format!("{method} {path} {status} {milliseconds:.1} ms {bytes} bytes {answered_by}"));
        }
        response
    }

    /// The answer, and the name of who gave it.
    async fn answer(&self, arrival: &Arrival<'_>) -> (Response<Full<Bytes>>, &str) {
        let (method, path) = (arrival.request.method.as_str(), arrival.request.uri.path());
        if method == "OPTIONS"
            && let Some(cors) = self.api.cors.as_ref().filter(|_| self.routing.has_preflight(path))
        {
            return (response::preflight(cors), "gateway");
        }
        let Some((route, parameters)) = self.routing.find(method, path) else {
            return (self.own(GatewayError::MissingAuthenticationToken), "gateway");
        };
        let Some(pool) = self.pools.get(&route.function) else {
            return (self.own(GatewayError::IntegrationFailure), "gateway");
        };
        let name = pool.function().binary.as_str();
        let Ok(event) = event::build(arrival, route, &parameters) else {
            return (self.own(GatewayError::IntegrationFailure), name);
        };
        if event.len() > MAX_EVENT_BYTES {
            return (self.own(GatewayError::RequestTooLarge), name);
        }
        let response = match tokio::time::timeout(INTEGRATION_TIMEOUT, pool.invoke(event)).await {
            Ok(Ok(payload)) => response::from_payload(&payload).unwrap_or_else(|reason| {
                self.logs.push(&format!("local: {name}: request {}: {reason}", arrival.request_id));
                self.own(GatewayError::IntegrationFailure)
            }),
            // The pool has logged why.
            Ok(Err(_)) => self.own(GatewayError::IntegrationFailure),
            Err(_) => {
                let seconds = INTEGRATION_TIMEOUT.as_secs();
                self.logs.push(&format!(
                    "local: {name}: request {}: no answer within the gateway's {seconds} s",
                    arrival.request_id
                ));
                self.own(GatewayError::IntegrationTimeout)
            }
        };
        (response, name)
    }

    fn own(&self, error: GatewayError) -> Response<Full<Bytes>> {
        error.response(&self.api.gateway_responses)
    }
}

/// The text on one line, whatever a client sent, and not endless.
fn printable(text: &str) -> String {
    let mut printable = String::new();
    for (position, character) in text.chars().enumerate() {
        if position == LOGGED_PATH_CHARACTERS {
            printable.push('…');
            break;
        }
        if character.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(printable, "{}", character.escape_default());
        } else {
            printable.push(character);
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logged_path_stays_on_its_line() {
        assert_eq!(printable("/a\r\nb\u{1b}[31m"), "/a\\r\\nb\\u{1b}[31m");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), LOGGED_PATH_CHARACTERS + 1);
    }
}
