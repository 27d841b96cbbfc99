//! A function behind the gateway: a proxy event in, an envelope out. A handler that fails, panics or takes too long ends
//! here, as the 500 envelope and a cause in the log.

use std::future::Future;
use std::time::Duration;

use lambda_http::{Context, LambdaEvent};
use lambda_runtime::Diagnostic;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{
    Error, LoggedAs, StartError, failed_invocation, guarded, milliseconds, own_deadline, serve, set_up,
};
use crate::config::{Config, GatewayCache};
use crate::envelope::{Answer, Body};
use crate::error::{ApiError, Code, INTERNAL_MESSAGE};
use crate::invocation::Invocation;
use crate::request::{ProxyEvent, Request};
use crate::routes::Route;
use crate::time::UnixMilliseconds;

/// How many bytes a body may take in a response: Lambda's 6 MB, less what a response has beside its body.
const LARGEST_BODY: usize = 6 * 1024 * 1024 - 1_024;

/// The stage cache stores nothing larger (API Gateway's documentation).
const LARGEST_STORED_BODY: usize = 1_048_576;

/// One Lambda function: what it keeps between invocations, and how it answers a request.
pub trait Function: Sized {
    /// The route that it answers.
    const ROUTE: &'static Route;

    /// The function as it starts, before its first request.
    ///
    /// # Errors
    /// If it cannot work with this configuration.
    fn new(config: &Config) -> Result<Self, StartError>;

    /// Opens the connections that the first request will need.
    fn warm_up(&self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// The answer to `request`.
    ///
    /// # Errors
    /// Why there is none.
    fn answer(&self, request: &Request) -> impl Future<Output = Result<Answer, ApiError>>;
}

/// Runs the function `F` until Lambda ends the process.
///
/// # Errors
/// If the function cannot start or the Runtime API is gone; the cause is in the log.
pub async fn run<F: Function>() -> Result<(), Error> {
    let instance = set_up(LoggedAs::Route(F::ROUTE.path), |config| {
        let function = F::new(config)?;
        Ok(Instance { function, gateway_cache: config.gateway_cache, is_cold: true.into() })
    })?;
    instance.function.warm_up().await;
    serve(|event| instance.invoke(event)).await
}

/// A function instance: the function, and what every invocation of it needs.
struct Instance<F> {
    function: F,
    gateway_cache: GatewayCache,
    is_cold: std::cell::Cell<bool>,
}

impl<F: Function> Instance<F> {
    /// Answers one event.
    ///
    /// # Errors
    /// Behind a stage cache, instead of the 500 envelope: the gateway would store that for the route's TTL. Its own
    /// answer to a failed invocation it does not store.
    async fn invoke(&self, event: LambdaEvent<Box<RawValue>>) -> Result<ProxyResponse, Diagnostic> {
        let start = Instant::now();
        let deadline = own_deadline(&event.context);
        let payload = Self::proxy_event(&event)?;
        let invocation = Invocation::new(payload.time(), deadline);
        let request = Request::new(payload, F::ROUTE, invocation);

        let result = guarded(deadline, self.function.answer(&request)).await;
        let result = result.unwrap_or_else(|interrupted| Err(ApiError::internal(interrupted)));
        let (response, line) = self.respond(result).map_err(failed_invocation)?;
        line.write(F::ROUTE, &event.context, start.elapsed(), &request, self.is_cold.replace(false));

        if response.status_code == Code::InternalError.status().as_u16()
            && self.gateway_cache == GatewayCache::On
        {
            return Err(failed_invocation(INTERNAL_MESSAGE));
        }
        Ok(response)
    }

    /// The request in the event. Anything else does not come from the gateway, and whoever sent it is told so.
    fn proxy_event(event: &LambdaEvent<Box<RawValue>>) -> Result<ProxyEvent, Diagnostic> {
        serde_json::from_str(event.payload.get()).map_err(|error| {
            let (request_id, cause) = (&event.context.request_id, error.to_string());
            tracing::error!(route = F::ROUTE.path, request_id, cause, "the event is no proxy event");
            failed_invocation(format_args!(
                "the event is no proxy event of a REST API (version 1.0): {error}"
            ))
        })
    }

    fn respond(
        &self,
        result: Result<Answer, ApiError>,
    ) -> Result<(ProxyResponse, LogLine), serde_json::Error> {
        let answered = result.and_then(|answer| {
            let is_stored = self.gateway_cache == GatewayCache::On && !F::ROUTE.cache.is_zero();
            let body = answer.body(|bytes| is_stored && bytes <= LARGEST_STORED_BODY);
            let bytes = body.escaped_bytes();
            if bytes > LARGEST_BODY {
                let cause =
                    format!("the answer takes {bytes} bytes of the {LARGEST_BODY} that a response may have");
                return Err(ApiError::internal(cause));
            }
            Ok((answer, body))
        });
        match answered {
            Ok((answer, body)) => {
                let line = LogLine::of_answer(&answer, &body);
                let expiry =
                    answer.fetched_at.map(|fetched_at| (fetched_at, fetched_at.plus(F::ROUTE.cache)));
                Ok((ProxyResponse::success(body, expiry), line))
            }
            Err(error) => {
                let body = Body::of_error(&error)?;
                let line = LogLine::of_error(&error, body.bytes());
                Ok((ProxyResponse::error(&error, body), line))
            }
        }
    }
}

/// A proxy response (REST, version 1.0).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProxyResponse {
    status_code: u16,
    headers: Headers,
    is_base64_encoded: bool,
    body: Body,
}

/// The headers of an answer. Times are absolute, so that they stay true when the gateway replays them.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "a header's name, not the struct's")]
#[serde(rename_all = "PascalCase")]
struct Headers {
    #[serde(rename = "Content-Type")]
    content_type: &'static str,
    #[serde(rename = "Access-Control-Allow-Origin")]
    access_control_allow_origin: &'static str,
    /// What scripts in browsers may read besides the headers that they always may.
    #[serde(rename = "Access-Control-Expose-Headers")]
    access_control_expose_headers: &'static str,
    #[serde(rename = "Cache-Control")]
    cache_control: &'static str,
    #[serde(rename = "Last-Modified", skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(rename = "Retry-After", skip_serializing_if = "Option::is_none")]
    retry_after: Option<String>,
}

impl ProxyResponse {
    const HEADERS: Headers = Headers {
        content_type: "application/json",
        access_control_allow_origin: "*",
        access_control_expose_headers: "Retry-After",
        // Who asked has a key. A cache between us that many use knows nothing of keys, and would give the answer to all.
        // (The gateway's own stands behind the check, and does not look at this.)
        cache_control: "private",
        last_modified: None,
        expires: None,
        retry_after: None,
    };

    /// `expiry`: when the answer's data was fetched, and when it expires.
    fn success(body: Body, expiry: Option<(UnixMilliseconds, UnixMilliseconds)>) -> Self {
        let headers = Headers {
            last_modified: expiry.map(|(fetched_at, _)| fetched_at.http_date()),
            expires: expiry.map(|(_, expires)| expires.http_date()),
            ..Self::HEADERS
        };
        Self { status_code: 200, headers, is_base64_encoded: false, body }
    }

    fn error(error: &ApiError, body: Body) -> Self {
        let headers = Headers {
            cache_control: "no-store",
            retry_after: error.wait_seconds().map(|wait| wait.to_string()),
            ..Self::HEADERS
        };
        let status_code = error.code().status().as_u16();
        Self { status_code, headers, is_base64_encoded: false, body }
    }
}

/// What the log says of a request beside its frame.
struct LogLine {
    status: u16,
    bytes: usize,
    cached: bool,
    cause: Option<String>,
}

impl LogLine {
    fn of_answer(answer: &Answer, body: &Body) -> Self {
        Self {
            status: 200,
            bytes: body.bytes(),
            cached: answer.cached,
            cause: answer.refresh_failure.clone(),
        }
    }

    fn of_error(error: &ApiError, bytes: usize) -> Self {
        Self { status: error.code().status().as_u16(), bytes, cached: false, cause: error.cause() }
    }

    fn write(
        self,
        route: &Route,
        context: &Context,
        duration: Duration,
        request: &Request,
        cold_start: bool,
    ) {
        let Self { status, bytes, cached, cause } = self;
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    route = route.path,
                    status,
                    duration_ms = milliseconds(duration),
                    upstream_ms = milliseconds(request.invocation().upstream_time()),
                    bytes,
                    cached,
                    cold_start,
                    request_id = context.request_id,
                    retried = request.invocation().retried(),
                    cause,
                    $message
                )
            };
        }
        match (status, &cause) {
            (500.., _) => line!(error, "failed"),
            (_, Some(_)) => line!(warn, "answered with an expired value: the refresh failed"),
            _ => line!(info, "answered"),
        }
    }
}
