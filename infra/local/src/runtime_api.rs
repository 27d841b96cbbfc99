//! The Lambda Runtime API as one function instance sees it: it polls for an event, then posts a response or an error.
//! Every instance has a listener of its own, so `AWS_LAMBDA_RUNTIME_API` is host and port as on AWS, whatever runtime
//! the function brings.

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

use crate::server::{self, Body, Server};

/// Lambda's bound on a response, 6 MB and a little.
pub(crate) const MAX_RESPONSE_BYTES: usize = 6_291_556;

/// What an invocation came to, as the function told it.
#[derive(Debug)]
pub(crate) enum Outcome {
    Response(Bytes),
    /// The function's own description of what went wrong.
    Error(Bytes),
    TooLarge,
}

/// How far the instance has come.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    Initializing,
    /// It has polled for its first event.
    Polled,
    /// It said that it cannot start, and why.
    Failed(Bytes),
}

#[derive(Debug)]
struct Handout {
    request_id: String,
    deadline_ms: u128,
    event: Bytes,
}

#[derive(Debug)]
struct Shared {
    function_arn: String,
    events: tokio::sync::Mutex<mpsc::Receiver<Handout>>,
    pending: Mutex<Option<(String, oneshot::Sender<Outcome>)>>,
    start: watch::Sender<Start>,
}

#[derive(Debug)]
pub(crate) struct RuntimeApi {
    server: Server,
    shared: Arc<Shared>,
    events: mpsc::Sender<Handout>,
}

impl RuntimeApi {
    /// Listens for one instance of the function.
    ///
    /// # Errors
    /// When no port is left.
    pub(crate) async fn start(function_name: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (events, receiver) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            function_arn: crate::function_arn(function_name),
            events: tokio::sync::Mutex::new(receiver),
            pending: Mutex::new(None),
            start: watch::Sender::new(Start::Initializing),
        });
        let state = Arc::clone(&shared);
        // A poll that its function has given up must not take the next event.
        let server = Server::start(listener, false, move |request, _| answer(Arc::clone(&state), request))?;
        Ok(Self { server, shared, events })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Waits for the first poll.
    ///
    /// # Errors
    /// What the function said if it cannot start.
    pub(crate) async fn started(&self) -> Result<(), Bytes> {
        let mut start = self.shared.start.subscribe();
        match start.wait_for(|start| !matches!(start, Start::Initializing)).await.as_deref() {
            Ok(Start::Failed(payload)) => Err(payload.clone()),
            _ => Ok(()),
        }
    }

    /// Offers an event to the next poll; the receiver gets what comes of it.
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
        let handout = Handout { request_id: request_id.to_owned(), deadline_ms, event };
        // There is room: an instance gets its next event after the outcome of the last one.
        let _ = self.events.try_send(handout);
        receiver
    }

    /// Whether the function has fetched the event that was offered last.
    pub(crate) fn is_fetched(&self) -> bool {
        self.events.capacity() > 0
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let route = path.strip_prefix("/2018-06-01/runtime/").unwrap_or_default();
    if request.method() == Method::GET && route == "invocation/next" {
        return next(&shared).await;
    }
    if request.method() != Method::POST {
        return reply(StatusCode::NOT_FOUND, "UnknownPath");
    }
    let body = server::read(request.into_body(), MAX_RESPONSE_BYTES).await;
    if route == "init/error" {
        if let Body::Whole(payload) = body {
            shared.start.send_replace(Start::Failed(payload));
        }
        return reply(StatusCode::ACCEPTED, "");
    }
    match route.strip_prefix("invocation/").and_then(|rest| rest.split_once('/')) {
        Some((request_id, "response")) => match body {
            Body::Whole(payload) => settle(&shared, request_id, Outcome::Response(payload)),
            Body::TooLarge => {
                settle(&shared, request_id, Outcome::TooLarge);
                reply(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge")
            }
            Body::Broken => reply(StatusCode::BAD_REQUEST, "InvalidRequest"),
        },
        Some((request_id, "error")) => match body {
            Body::Whole(payload) => settle(&shared, request_id, Outcome::Error(payload)),
            Body::TooLarge | Body::Broken => reply(StatusCode::BAD_REQUEST, "InvalidRequest"),
        },
        _ => reply(StatusCode::NOT_FOUND, "UnknownPath"),
    }
}

async fn next(shared: &Shared) -> Response<Full<Bytes>> {
    // Only the first poll says something new; a failed start stays failed.
    shared.start.send_if_modified(|start| {
        let first = matches!(start, Start::Initializing);
        if first {
            *start = Start::Polled;
        }
        first
    });
    let Some(handout) = shared.events.lock().await.recv().await else {
        return reply(StatusCode::GONE, "Stopped");
    };
    let trace = Uuid::new_v4().simple().to_string();
    let (root, parent) = trace.split_at(16);
    Response::builder()
        .header("content-type", "application/json")
        .header("lambda-runtime-aws-request-id", handout.request_id)
        .header("lambda-runtime-deadline-ms", handout.deadline_ms.to_string())
        .header("lambda-runtime-invoked-function-arn", &shared.function_arn)
        .header(
            "lambda-runtime-trace-id",
            format!("Root=1-{:08x}-00000000{root};Parent={parent};Sampled=0", handout.deadline_ms / 1000),
        )
        .body(Full::new(handout.event))
        .unwrap_or_default()
}

fn settle(shared: &Shared, request_id: &str, outcome: Outcome) -> Response<Full<Bytes>> {
    let mut pending = shared.pending.lock().unwrap_or_else(PoisonError::into_inner);
    match pending.take_if(|(pending_id, _)| pending_id == request_id) {
        Some((_, sender)) => {
            // Nobody waits any more when the invocation has timed out.
            let _ = sender.send(outcome);
            reply(StatusCode::ACCEPTED, "")
        }
        None => reply(StatusCode::BAD_REQUEST, "InvalidRequestID"),
    }
}

fn reply(status: StatusCode, error_type: &'static str) -> Response<Full<Bytes>> {
    let body = if error_type.is_empty() {
        serde_json::json!({"status": "OK"})
    } else {
        serde_json::json!({"errorType": error_type, "errorMessage": error_type})
    };
    crate::json_response(status, &body)
}
