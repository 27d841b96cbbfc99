//! The Lambda Runtime API of one function instance, which polls for an event, then posts a response or an
//! error. Each instance has its own listener, because `AWS_LAMBDA_RUNTIME_API` is only a host and a port. The
//! host is random, not only the port: a process that briefly outlives its listener must not reach a later
//! listener of another function on the same port.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use crate::arn::function_arn;
use crate::server::{self, Body, Server, json_response};

/// Lambda's limit for a response: 6 MB and a little.
pub(crate) const MAX_RESPONSE_BYTES: usize = 6_291_556;

/// The outcome of an invocation, as the function posted it.
#[derive(Debug)]
pub(crate) enum Outcome {
    Response(Bytes),
    /// The function's own error.
    Error(Bytes),
    TooLarge,
}

#[derive(Debug)]
struct Offer {
    request_id: String,
    deadline_ms: u128,
    event: Bytes,
}

#[derive(Debug)]
struct Shared {
    function_arn: String,
    events: tokio::sync::Mutex<mpsc::Receiver<Offer>>,
    pending: Mutex<Option<(String, oneshot::Sender<Outcome>)>>,
    /// The result of the start: success at the first poll, or the function's error. `None` until the first of
    /// the two.
    start: watch::Sender<Option<Result<(), Bytes>>>,
}

#[derive(Debug)]
pub(crate) struct RuntimeApi {
    server: Server,
    shared: Arc<Shared>,
    events: mpsc::Sender<Offer>,
}

impl RuntimeApi {
    /// Listens for one instance of the function.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) async fn start(function_name: &str) -> io::Result<Self> {
        let listener = listen().await?;
        let (events, receiver) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            function_arn: function_arn(function_name),
            events: tokio::sync::Mutex::new(receiver),
            pending: Mutex::new(None),
            start: watch::Sender::new(None),
        });
        let state = Arc::clone(&shared);
        // Without half_close: an abandoned poll must not receive the next event.
        let server = Server::start(listener, false, move |request, _| respond(Arc::clone(&state), request))?;
        Ok(Self { server, shared, events })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Waits for the first poll.
    ///
    /// # Errors
    /// Returns the function's error, if the function cannot start.
    pub(crate) async fn started(&self) -> Result<(), Bytes> {
        let mut start = self.shared.start.subscribe();
        let started = start.wait_for(Option::is_some).await.ok().and_then(|start| start.clone());
        started.unwrap_or(Ok(()))
    }

    /// Offers an event to the next poll. The receiver gets the outcome.
    pub(crate) fn offer(
        &self,
        request_id: &str,
        event: Bytes,
        timeout: Duration,
    ) -> oneshot::Receiver<Outcome> {
        let (sender, receiver) = oneshot::channel();
        *self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((request_id.to_owned(), sender));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let deadline_ms = (now + timeout).as_millis();
        let offer = Offer { request_id: request_id.to_owned(), deadline_ms, event };
        // The channel has room: an instance gets its next event after the outcome of the previous event.
        let _ = self.events.try_send(offer);
        receiver
    }

    /// Whether the function has fetched the last offered event.
    pub(crate) fn is_fetched(&self) -> bool {
        self.events.capacity() > 0
    }
}

/// Listens on a random loopback address, or on `127.0.0.1` if the system has no other, as on macOS.
async fn listen() -> io::Result<TcpListener> {
    let [second, third, fourth, ..] = Uuid::new_v4().into_bytes();
    // Excludes the addresses of the network (127.0.0.0) and of its broadcast (127.255.255.255).
    let random = Ipv4Addr::new(127, second, third, fourth.clamp(1, 254));
    match TcpListener::bind((random, 0)).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await,
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let route = path.strip_prefix("/2018-06-01/runtime/").unwrap_or_default();
    if request.method() == Method::GET && route == "invocation/next" {
        return next(&shared).await;
    }
    if request.method() != Method::POST {
        return status_response(StatusCode::NOT_FOUND, "UnknownPath");
    }
    let body = server::read(request.into_body(), MAX_RESPONSE_BYTES).await;
    if route == "init/error" {
        if let Body::Complete(payload) = body {
            shared.start.send_replace(Some(Err(payload)));
        }
        return status_response(StatusCode::ACCEPTED, "");
    }
    match route.strip_prefix("invocation/").and_then(|rest| rest.split_once('/')) {
        Some((request_id, "response")) => match body {
            Body::Complete(payload) => settle(&shared, request_id, Outcome::Response(payload)),
            Body::TooLarge => {
                settle(&shared, request_id, Outcome::TooLarge);
                status_response(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge")
            }
            Body::Incomplete => status_response(StatusCode::BAD_REQUEST, "InvalidRequest"),
        },
        Some((request_id, "error")) => match body {
            Body::Complete(payload) => settle(&shared, request_id, Outcome::Error(payload)),
            Body::TooLarge | Body::Incomplete => status_response(StatusCode::BAD_REQUEST, "InvalidRequest"),
        },
        _ => status_response(StatusCode::NOT_FOUND, "UnknownPath"),
    }
}

async fn next(shared: &Shared) -> Response<Full<Bytes>> {
    // Only the first poll matters; a failed start stays failed.
    shared.start.send_if_modified(|start| {
        let is_first = start.is_none();
        start.get_or_insert(Ok(()));
        is_first
    });
    let Some(offer) = shared.events.lock().await.recv().await else {
        return status_response(StatusCode::GONE, "Stopped");
    };
    let trace = Uuid::new_v4().simple().to_string();
    let (root, parent) = trace.split_at(16);
    Response::builder()
        .header("content-type", "application/json")
        .header("lambda-runtime-aws-request-id", offer.request_id)
        .header("lambda-runtime-deadline-ms", offer.deadline_ms.to_string())
        .header("lambda-runtime-invoked-function-arn", &shared.function_arn)
        .header(
            "lambda-runtime-trace-id",
            format!("Root=1-{:08x}-00000000{root};Parent={parent};Sampled=0", offer.deadline_ms / 1000),
        )
        .body(Full::new(offer.event))
        .unwrap_or_default()
}

fn settle(shared: &Shared, request_id: &str, outcome: Outcome) -> Response<Full<Bytes>> {
    let mut pending = shared.pending.lock().unwrap_or_else(PoisonError::into_inner);
    match pending.take_if(|(pending_id, _)| pending_id == request_id) {
        Some((_, sender)) => {
            // An error means that the invocation has timed out.
            let _ = sender.send(outcome);
            status_response(StatusCode::ACCEPTED, "")
        }
        None => status_response(StatusCode::BAD_REQUEST, "InvalidRequestID"),
    }
}

fn status_response(status: StatusCode, error_type: &'static str) -> Response<Full<Bytes>> {
    let body = if error_type.is_empty() {
        serde_json::json!({"status": "OK"})
    } else {
        serde_json::json!({"errorType": error_type, "errorMessage": error_type})
    };
    json_response(status, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_process_that_outlives_its_listener_does_not_reach_a_later_one_with_the_same_port() {
        let earlier = RuntimeApi::start("Earlier").await.unwrap().address();
        // The first API is dropped, so the system may give its port to another listener.
        let later = RuntimeApi::start("Later").await.unwrap().address();
        assert!(earlier.ip().is_loopback() && later.ip().is_loopback(), "{earlier} {later}");
        assert_ne!(earlier.ip(), later.ip());
        let stale = SocketAddr::new(earlier.ip(), later.port());
        assert!(tokio::net::TcpStream::connect(stale).await.is_err());
    }
}
