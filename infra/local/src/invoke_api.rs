//! Lambda's Invoke API. It invokes functions without the gateway. Clients are the AWS CLI and SDKs, or `curl
//! -d @event.json`, as for `sam local start-lambda` and `cargo lambda watch`.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde::de::IgnoredAny;
use serde_json::json;
use uuid::Uuid;

use crate::arn::function_arn;
use crate::pool::{self, Pool, Pools};
use crate::server::{self, Body, empty_response, json_response};

/// Lambda's limit for the payload of a synchronous invocation.
const MAX_PAYLOAD_BYTES: usize = 6 * 1024 * 1024;

pub(crate) async fn handle(pools: Arc<Pools>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = server::read(body, MAX_PAYLOAD_BYTES).await;
    let path = parts.uri.path();
    let name = path.strip_prefix("/2015-03-31/functions/").and_then(|path| path.strip_suffix("/invocations"));
    let name = match name {
        Some(name) if parts.method == Method::POST => name,
        _ => {
            let message = "this is Lambda's Invoke API: POST /2015-03-31/functions/NAME/invocations";
            return error(StatusCode::NOT_FOUND, "UnknownOperationException", message);
        }
    };
    let name = percent_decode_str(name).decode_utf8_lossy();
    let Some(pool) = pool::find(&pools, &name) else {
        let message = format!("Function not found: {}", function_arn(&name));
        return error(StatusCode::NOT_FOUND, "ResourceNotFoundException", &message);
    };
    let payload = match body {
        Body::Complete(payload) if payload.is_empty() => Bytes::from_static(b"{}"),
        Body::Complete(payload) => payload,
        Body::TooLarge => {
            let message = format!("the payload must be smaller than {MAX_PAYLOAD_BYTES} bytes");
            return error(StatusCode::PAYLOAD_TOO_LARGE, "RequestTooLargeException", &message);
        }
        // An empty payload is refused below as invalid JSON.
        Body::Incomplete => Bytes::new(),
    };
    if let Err(reason) = serde_json::from_slice::<IgnoredAny>(&payload) {
        let message = format!("Could not parse request body into json: {reason}");
        return error(StatusCode::BAD_REQUEST, "InvalidRequestContentException", &message);
    }
    match parts.headers.get("x-amz-invocation-type").map(HeaderValue::as_bytes) {
        None | Some(b"RequestResponse") => invoke(pool, payload).await,
        Some(b"Event") => {
            let pool = Arc::clone(pool);
            // The pool logs a failure. Lambda would retry twice.
            tokio::spawn(async move { pool.invoke(payload).await.map(drop) });
            empty_response(StatusCode::ACCEPTED)
        }
        Some(_) => {
            let message = "X-Amz-Invocation-Type must be RequestResponse or Event";
            error(StatusCode::BAD_REQUEST, "InvalidParameterValueException", message)
        }
    }
}

async fn invoke(pool: &Arc<Pool>, payload: Bytes) -> Response<Full<Bytes>> {
    let request_id = Uuid::new_v4();
    let invoked = pool.invoke_as(request_id, payload).await;
    let failed = invoked.is_err();
    let payload = invoked.unwrap_or_else(|failure| failure.payload());
    let mut response = Response::new(Full::new(payload));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(request_id) = HeaderValue::try_from(request_id.to_string()) {
        response.headers_mut().insert("x-amzn-requestid", request_id);
    }
    if failed {
        response.headers_mut().insert("x-amz-function-error", HeaderValue::from_static("Unhandled"));
    }
    response
}

fn error(status: StatusCode, error_type: &'static str, message: &str) -> Response<Full<Bytes>> {
    let mut response = json_response(status, &json!({"Type": "User", "Message": message}));
    response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(error_type));
    response
}
