//! Responses in `DynamoDB`'s format, and its error responses, which a [`Fault`](super::Fault) can request.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;
use uuid::Uuid;

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

/// An error response of `DynamoDB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A table or a partition exceeds its throughput.
    ProvisionedThroughputExceeded,
    /// There is no such table.
    ResourceNotFound,
    /// Status 500.
    InternalServerError,
}

impl Refusal {
    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let (status, name, message) = match self {
            Self::ProvisionedThroughputExceeded => (
                StatusCode::BAD_REQUEST,
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded.",
            ),
            Self::ResourceNotFound => {
                (StatusCode::BAD_REQUEST, "ResourceNotFoundException", "Requested resource not found")
            }
            Self::InternalServerError => {
                (StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", "Internal server error")
            }
        };
        let body = json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{name}"), "message": message});
        let mut response = json(status, Bytes::from(body.to_string()));
        response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(name));
        response
    }
}
