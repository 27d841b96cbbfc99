//! Responses in `DynamoDB`'s format.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;
use uuid::Uuid;

use super::refusal::Refusal;

pub(super) const JSON: &str = "application/x-amz-json-1.0";

pub(super) fn json(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    if let Ok(request_id) = HeaderValue::try_from(Uuid::new_v4().simple().to_string()) {
        headers.insert("x-amzn-requestid", request_id);
    }
    response
}

pub(super) fn refusal(refusal: Refusal) -> Response<Full<Bytes>> {
    let body = json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{}", refusal.name()), "message": refusal.message()});
    let mut response = json(refusal.status(), Bytes::from(body.to_string()));
    response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(refusal.name()));
    response
}
