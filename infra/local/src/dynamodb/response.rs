//! The error responses of `DynamoDB` that a [`Fault`](super::Fault) can request.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::HeaderValue;
use hyper::{Response, StatusCode};
use serde_json::json;

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
        let mut response = dynamodb::json(status, body.to_string());
        response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(name));
        response.map(Full::new)
    }
}
