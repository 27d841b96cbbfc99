//! The responses to requests as SDKs send them over HTTP.

use bytes::Bytes;
use dynoxide::Database;
use dynoxide::auth_material::{self, AuthMaterial};
use http::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use http::{Method, Response, StatusCode, request};
use uuid::Uuid;

use crate::operations;

const JSON: &str = "application/x-amz-json-1.0";
/// The response to `GET /`, like that of AWS.
const HEALTHY: &str = "healthy: dynamodb";
const UNKNOWN_OPERATION: &str = r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#;

/// Returns the response to a request. A long operation blocks a separate thread, not the runtime's threads.
pub async fn respond(database: &Database, head: &request::Parts, body: Bytes) -> Response<Bytes> {
    let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let is_operation = head.method == Method::POST && text(CONTENT_TYPE.as_str()) == Some(JSON);
    if head.uri.path() != "/" || !is_operation && head.method != Method::GET {
        return plain(StatusCode::NOT_FOUND, "");
    }
    if !is_operation {
        return plain(StatusCode::OK, HEALTHY);
    }
    let material = AuthMaterial {
        authorization: text(AUTHORIZATION.as_str()),
        query: head.uri.query().unwrap_or_default(),
        has_date_header: head.headers.contains_key("x-amz-date") || head.headers.contains_key(DATE),
    };
    if let Some(refusal) = auth_material::validate(material) {
        return json(StatusCode::BAD_REQUEST, refusal);
    }
    let operation = operation(&head.headers).to_owned();
    let database = database.clone();
    let carry_out = move || operations::carry_out(&database, &operation, &body);
    match tokio::task::spawn_blocking(carry_out).await {
        Ok(None) => json(StatusCode::BAD_REQUEST, UNKNOWN_OPERATION),
        Ok(Some(Ok(response))) => json(StatusCode::OK, response),
        Ok(Some(Err(error))) => {
            let status = StatusCode::from_u16(error.status_code());
            json(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error.to_json())
        }
        // The operation has panicked.
        Err(_) => json(StatusCode::INTERNAL_SERVER_ERROR, "{}"),
    }
}

/// The operation of a request, or an empty text.
#[must_use]
pub fn operation(headers: &HeaderMap) -> &str {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    target.rsplit_once('.').map_or("", |(_, operation)| operation)
}

fn plain(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
}

pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = plain(status, body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    if let Ok(request_id) = HeaderValue::try_from(Uuid::new_v4().simple().to_string()) {
        headers.insert("x-amzn-requestid", request_id);
    }
    response
}
