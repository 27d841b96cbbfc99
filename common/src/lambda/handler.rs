//! A function behind the gateway: a proxy event in, an envelope out. If the handler fails, panics or exceeds
//! its deadline, the client gets the 500 envelope and the log gets the cause.

use std::borrow::Cow;
use std::time::Duration;

use lambda_http::{Context, Error, LambdaEvent};
use lambda_runtime::Diagnostic;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::guard::guard;
use super::log::milliseconds;
use super::runtime::{block_on, deadline, failed_invocation, serve};
use super::start::{IsCold, LogName, StartError, set_up};
use crate::auth::without_keys;
use crate::config::{Config, GatewayCache};
use crate::error::ApiError;
use crate::invocation::Invocation;
use crate::request::route::Route;
use crate::request::{ProxyEvent, Request};
use crate::response::envelope::Body;
use crate::response::file::File;
use crate::response::{Data, Response};

/// The maximum size of an escaped body in bytes: Lambda's limit of 6 MB for a response, less room for the
/// headers and other fields.
const LARGEST_BODY: usize = 6 * 1024 * 1024 - 1_024;

/// The maximum size of a body that the stage cache of API Gateway stores, in bytes.
const LARGEST_STORED_BODY: usize = 1_048_576;

/// A function behind the gateway. A value of this type is the function's state between invocations.
pub trait Handler: Sized + Send + Sync + 'static {
    /// The route that the function handles.
    const ROUTE: &'static Route;

    /// Builds the state, before the first request.
    fn new(config: &Config) -> Result<Self, StartError>;

    /// Opens the connections that the first request needs.
    fn warm_up(&self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Returns the response to `request`.
    fn handle(&self, request: &Request) -> impl Future<Output = Result<Response, ApiError>> + Send;
}

/// Runs the handler `H` until Lambda ends the process.
///
/// # Errors
/// If the function cannot start (the log has the cause), or the Runtime API cannot be reached.
pub fn run<H: Handler>() -> Result<(), Error> {
    let instance = set_up(LogName::Route(H::ROUTE.path), |config| {
        let (handler, gateway_cache) = (H::new(config)?, GatewayCache::of(config)?);
        Ok(Instance { handler, gateway_cache, is_cold: IsCold::default() })
    })?;
    block_on(async {
        instance.handler.warm_up().await;
        serve(|event| instance.invoke(event)).await
    })
}

/// An instance of the function: the handler, and the state that all invocations share.
struct Instance<H> {
    handler: H,
    gateway_cache: GatewayCache,
    is_cold: IsCold,
}

impl<H: Handler> Instance<H> {
    /// Handles one event.
    ///
    /// # Errors
    /// If the event is not a proxy event. Behind a stage cache, also if the envelope must not be stored, such
    /// as the envelope of a 500: the gateway would cache the envelope for the route's TTL, but it does not
    /// cache its own response to a failed invocation.
    async fn invoke(&self, event: LambdaEvent<Box<RawValue>>) -> Result<ProxyResponse, Diagnostic> {
        let start = Instant::now();
        let deadline = deadline(&event.context);
        let proxy_event = Self::proxy_event(&event)?;
        let invocation = Invocation::new(proxy_event.time(), deadline);
        let request = Request::new(proxy_event, event.payload, H::ROUTE, invocation);

        let handled = async {
            request.refuse_conflicts()?;
            self.handler.handle(&request).await
        };
        let result =
            guard(deadline, handled).await.unwrap_or_else(|interrupted| Err(ApiError::internal(interrupted)));
        let (full, mut line) = self.respond(result).map_err(failed_invocation)?;
        let response = full.map(|response| {
            // `HEAD` gets the response of `GET` without its content.
            let body = if request.method() == "HEAD" { Body::of_text("") } else { response.body };
            line.bytes = body.bytes();
            ProxyResponse { body, ..response }
        });
        line.write(H::ROUTE, &event.context, start.elapsed(), &request, self.is_cold.take());
        response
    }

    /// Parses the event as a proxy event. Any other event does not come from the gateway.
    fn proxy_event(event: &LambdaEvent<Box<RawValue>>) -> Result<ProxyEvent, Diagnostic> {
        serde_json::from_str(event.payload.get()).map_err(|error| {
            let request_id = &event.context.request_id;
            let cause = error.to_string();
            tracing::error!(route = H::ROUTE.path, request_id, cause, "the event is not a proxy event");
            failed_invocation(format_args!(
                "the event is not a proxy event of a REST API (version 1.0): {error}"
            ))
        })
    }

    /// Returns the result of the invocation, and its line for the log.
    fn respond(
        &self,
        result: Result<Response, ApiError>,
    ) -> Result<(Result<ProxyResponse, Diagnostic>, LogLine), serde_json::Error> {
        match result.and_then(|response| self.success(&response)) {
            Ok((response, line)) => Ok((Ok(response), line)),
            Err(error) => {
                let body = Body::of_error(&error)?;
                let mut line = LogLine::of_error(&error, body.bytes());
                if self.gateway_cache == GatewayCache::Off || error.may_be_stored() {
                    return Ok((Ok(ProxyResponse::error(&error, body)), line));
                }
                // The message goes into the log, and can repeat the client's input, such as a key in a
                // parameter.
                let message = without_keys(error.message());
                line.cause.get_or_insert_with(|| message.clone());
                Ok((Err(failed_invocation(message)), line))
            }
        }
    }

    /// Returns the response and its line for the log.
    ///
    /// # Errors
    /// If the body is larger than Lambda allows.
    fn success(&self, response: &Response) -> Result<(ProxyResponse, LogLine), ApiError> {
        let (response, mut line) = match response {
            Response::Data(data) => {
                let is_stored = self.gateway_cache == GatewayCache::On && !H::ROUTE.cache.is_zero();
                let body = data.body(|bytes| is_stored && bytes <= LARGEST_STORED_BODY);
                let body = body.map_err(ApiError::internal)?;
                let line = LogLine {
                    cached: data.cached,
                    cause: data.refresh_failure.clone(),
                    ..LogLine::of(200, &body)
                };
                (ProxyResponse::data(body, data, H::ROUTE), line)
            }
            Response::File(file) => {
                ProxyResponse::file(file, Body::of_file(file).map_err(ApiError::internal)?).with_line()
            }
            Response::Redirect(location) => ProxyResponse::redirect(location).with_line(),
            Response::Preflight => ProxyResponse::preflight().with_line(),
        };
        // Escapes at most double a body, so most bodies are far below the limit without a count of their
        // escapes.
        if response.body.bytes() >= LARGEST_BODY / 4 {
            let bytes = response.body.escaped_bytes();
            if bytes > LARGEST_BODY {
                let cause = format!("the body takes {bytes} bytes of at most {LARGEST_BODY}");
                return Err(ApiError::internal(cause));
            }
            line.payload_bytes = Some(bytes);
        }
        Ok((response, line))
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

/// The headers of a response: names and values. Times in headers are absolute, so that they stay correct when
/// the gateway replays the response.
struct Headers(Vec<(&'static str, Cow<'static, str>)>);

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl ProxyResponse {
    /// The headers of every response with JSON.
    const JSON: [(&'static str, Cow<'static, str>); 3] = Self::data_headers("application/json");

    /// The headers of every response with data.
    const fn data_headers(media_type: &'static str) -> [(&'static str, Cow<'static, str>); 3] {
        [
            ("Content-Type", Cow::Borrowed(media_type)),
            ("Access-Control-Allow-Origin", Cow::Borrowed("*")),
            // Lets scripts in browsers read `Retry-After`.
            ("Access-Control-Expose-Headers", Cow::Borrowed("Retry-After")),
        ]
    }

    fn data(body: Body, data: &Data, route: &Route) -> Self {
        let mut headers = Self::data_headers(data.document.media_type()).to_vec();
        // The stage cache ignores this header. The cache is behind the authorizer, so it may store private
        // responses.
        headers.push(("Cache-Control", route.cache_control().into()));
        if let Some(fetched_at) = data.fetched_at {
            headers.push(("Last-Modified", fetched_at.minus(data.age).http_date().into()));
            headers.push(("Expires", fetched_at.plus(route.cache).http_date().into()));
        }
        Self { status_code: 200, headers: Headers(headers), is_base64_encoded: false, body }
    }

    fn error(error: &ApiError, body: Body) -> Self {
        let mut headers = Self::JSON.to_vec();
        headers.push(("Cache-Control", "no-store".into()));
        if let Some(wait) = error.wait_seconds() {
            headers.push(("Retry-After", wait.to_string().into()));
        }
        let status_code = error.code().status().as_u16();
        Self { status_code, headers: Headers(headers), is_base64_encoded: false, body }
    }

    fn file(file: &'static File, body: Body) -> Self {
        let headers = vec![
            ("Content-Type", file.content_type.into()),
            ("Cache-Control", file.cache_control.into()),
            ("Content-Security-Policy", file.content_security_policy.into()),
            ("X-Content-Type-Options", "nosniff".into()),
            ("Referrer-Policy", "no-referrer".into()),
            // Without TLS, as on a laptop, browsers ignore this header.
            ("Strict-Transport-Security", "max-age=31536000".into()),
        ];
        Self { status_code: 200, headers: Headers(headers), is_base64_encoded: false, body }
    }

    /// Returns the response and its line for the log.
    fn with_line(self) -> (Self, LogLine) {
        let line = LogLine::of(self.status_code, &self.body);
        (self, line)
    }

    fn redirect(location: &str) -> Self {
        let headers = vec![("Location", location.to_owned().into()), ("Cache-Control", "no-store".into())];
        Self {
            status_code: 308,
            headers: Headers(headers),
            is_base64_encoded: false,
            body: Body::of_text(""),
        }
    }

    fn preflight() -> Self {
        let mut headers = Self::JSON.to_vec();
        headers.extend([
            ("Access-Control-Allow-Methods", "GET".into()),
            ("Access-Control-Allow-Headers", "X-API-Key".into()),
            // One day. A browser shortens it to its own maximum, such as two hours in Chromium.
            ("Access-Control-Max-Age", "86400".into()),
        ]);
        let body = Body::of_text("{}");
        Self { status_code: 200, headers: Headers(headers), is_base64_encoded: false, body }
    }
}

/// The fields of a log line that depend on the result.
struct LogLine {
    status: u16,
    bytes: usize,
    /// How many bytes of Lambda's limit a large body takes.
    payload_bytes: Option<usize>,
    cached: bool,
    cause: Option<String>,
}

impl LogLine {
    fn of(status: u16, body: &Body) -> Self {
        Self { status, bytes: body.bytes(), payload_bytes: None, cached: false, cause: None }
    }

    fn of_error(error: &ApiError, bytes: usize) -> Self {
        let status = error.code().status().as_u16();
        Self { status, bytes, payload_bytes: None, cached: false, cause: error.cause() }
    }

    fn write(
        self,
        route: &Route,
        context: &Context,
        duration: Duration,
        request: &Request,
        cold_start: bool,
    ) {
        let Self { status, bytes, payload_bytes, cached, cause } = self;
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    route = route.path,
                    status,
                    duration_ms = milliseconds(duration),
                    upstream_ms = milliseconds(request.invocation().upstream_time()),
                    upstream_age_s = request.invocation().upstream_age(),
                    bytes,
                    payload_bytes,
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
            (400.., Some(_)) => line!(warn, "failed: the gateway's cache must not store the response"),
            (_, Some(_)) => line!(warn, "served a stale value: the refresh failed"),
            _ => line!(info, "answered"),
        }
    }
}
