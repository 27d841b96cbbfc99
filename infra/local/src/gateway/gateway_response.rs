//! The gateway's own responses, for requests that no function responds to. The template may override them.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::response::set_header;
use crate::template::GatewayResponse;

/// Why the gateway responds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GatewayError {
    /// The function failed, or its payload is not a proxy response.
    IntegrationFailure,
    IntegrationTimeout,
    /// There is no such route.
    MissingAuthenticationToken,
    /// The request carries no identity for the authorizer.
    MissingIdentity,
    /// The authorizer does not know the caller.
    Unauthorized,
    /// The caller is known and may not call the route.
    AccessDenied,
    AuthorizerFailure,
    /// The key belongs to no usage plan.
    InvalidApiKey,
    Throttled,
    QuotaExceeded,
    /// The body is incomplete or badly framed.
    BadRequestBody,
    /// The body is larger than the gateway's or Lambda's limit.
    RequestTooLarge,
}

impl GatewayError {
    /// The response type in the template, and AWS's own status and message.
    fn defaults(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::IntegrationFailure => ("INTEGRATION_FAILURE", 504, "Internal server error"),
            Self::IntegrationTimeout => ("INTEGRATION_TIMEOUT", 504, "Endpoint request timed out"),
            Self::MissingAuthenticationToken => {
                ("MISSING_AUTHENTICATION_TOKEN", 403, "Missing Authentication Token")
            }
            Self::MissingIdentity | Self::Unauthorized => ("UNAUTHORIZED", 401, "Unauthorized"),
            Self::AccessDenied => ("ACCESS_DENIED", 403, "User is not authorized to access this resource"),
            Self::AuthorizerFailure => ("AUTHORIZER_FAILURE", 500, "Internal server error"),
            Self::InvalidApiKey => ("INVALID_API_KEY", 403, "Forbidden"),
            Self::Throttled => ("THROTTLED", 429, "Too Many Requests"),
            Self::QuotaExceeded => ("QUOTA_EXCEEDED", 429, "Limit Exceeded"),
            Self::BadRequestBody => ("BAD_REQUEST_BODY", 400, "Invalid request body"),
            Self::RequestTooLarge => ("REQUEST_TOO_LARGE", 413, "Request Too Long"),
        }
    }

    /// The response, with the template's overrides.
    pub(super) fn response(self, overrides: &BTreeMap<String, GatewayResponse>) -> Response<Bytes> {
        let (response_type, status, message) = self.defaults();
        let fallback = if status < 500 { "DEFAULT_4XX" } else { "DEFAULT_5XX" };
        let template = overrides.get(response_type).or_else(|| overrides.get(fallback));
        let body = match template.and_then(|template| template.body.clone()) {
            Some(body) => body,
            None => serde_json::json!({"message": message}).to_string(),
        };
        let mut response = Response::new(Bytes::from(body));
        let status = template.and_then(|template| template.status).unwrap_or(status);
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in template.iter().flat_map(|template| &template.headers) {
            set_header(&mut response, name, value);
        }
        response
    }
}
