//! The response of a service, and its errors.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;

use crate::error::AwsError;
use crate::service::Service;

/// The header with the error code. AWS may append a colon and a URL to the code.
const ERROR_TYPE: &str = "x-amzn-errortype";
/// An error code, in a header or in a body, contains one of these words if a request was throttled.
const THROTTLED: [&str; 3] = ["Throttl", "TooManyRequests", "RequestLimitExceeded"];

/// A response of any status.
#[derive(Debug)]
pub struct Response {
    pub(crate) service: &'static Service,
    pub(crate) operation: &'static str,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

#[derive(Default, Deserialize)]
struct ErrorBody {
    #[serde(alias = "Message")]
    message: Option<String>,
}

impl Response {
    /// Returns the body of a successful response.
    ///
    /// # Errors
    /// The error that the service reports in JSON, as API Gateway and Lambda do.
    pub fn into_body(self) -> Result<Bytes, AwsError> {
        if self.status.is_success() {
            return Ok(self.body);
        }
        let body: ErrorBody = serde_json::from_slice(&self.body).unwrap_or_default();
        let message = body.message.unwrap_or_else(|| String::from_utf8_lossy(&self.body).into_owned());
        let code = self.code().map_or_else(|| self.status.to_string(), str::to_owned);
        Err(self.error(code, &message))
    }

    #[must_use]
    pub fn error(&self, code: String, message: &str) -> AwsError {
        let cause = format!("{code}: {message}");
        AwsError { code: Some(code), ..self.service.failed(self.operation, cause) }
    }

    /// The error of a response without the expected contents.
    #[must_use]
    pub fn invalid(&self, cause: String) -> AwsError {
        self.service.failed(self.operation, cause)
    }

    /// The error code in the headers.
    fn code(&self) -> Option<&str> {
        self.headers.get(ERROR_TYPE)?.to_str().ok()?.split(':').next()
    }

    /// Whether a repeated request may succeed.
    pub(crate) fn is_temporary(&self) -> bool {
        if self.status.is_success() {
            return false;
        }
        let code = self.code().unwrap_or_default();
        let body = String::from_utf8_lossy(&self.body);
        self.status.is_server_error()
            || self.status == StatusCode::TOO_MANY_REQUESTS
            || self.service.temporary.contains(&code)
            || THROTTLED.iter().any(|word| code.contains(word) || body.contains(word))
    }
}
