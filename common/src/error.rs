//! Errors that clients see. The codes are part of the contract (`functions/README.md`, Errors). A message
//! states the mistake, the allowed values and the remedy. The cause of an error is for the log only.

use std::error::Error;
use std::time::Duration;

use lambda_http::http::StatusCode;

pub const INTERNAL_MESSAGE: &str =
    "The service could not get this answer right now. Try again in a few seconds.";

/// `Retry-After` of an internal error, unless the upstream asks for another wait.
const USUAL_WAIT: Duration = Duration::from_secs(5);

/// The codes of errors. A client reacts differently to each code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A parameter is missing or invalid. The client must change the request.
    BadRequest,
    /// The route, page, item or player does not exist.
    NotFound,
    /// The service or its provider failed. The client may retry later.
    InternalError,
}

impl Code {
    /// The code in the envelope.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "BAD_REQUEST",
            Self::NotFound => "NOT_FOUND",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }

    /// The HTTP status of the code.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// An error that a client gets.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    code: Code,
    message: String,
    retry_after: Option<Duration>,
    may_be_stored: bool,
    #[source]
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl ApiError {
    /// 400. `message` names the parameter, the allowed values and the received value.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::lasting(Code::BadRequest, message.into())
    }

    /// 404. `message` names the missing thing, and where to look instead.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::lasting(Code::NotFound, message.into())
    }

    /// Returns an error that the same request would get again.
    const fn lasting(code: Code, message: String) -> Self {
        Self { code, message, retry_after: None, may_be_stored: true, cause: None }
    }

    /// 500. The client gets a fixed message, the log gets `cause`.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            code: Code::InternalError,
            message: INTERNAL_MESSAGE.to_owned(),
            retry_after: Some(USUAL_WAIT),
            may_be_stored: false,
            cause: Some(cause.into()),
        }
    }

    /// Sets `Retry-After` to `wait`, if it is given.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait.or(self.retry_after);
        self
    }

    /// Forbids a gateway's cache to store the response.
    #[must_use]
    pub const fn never_stored(mut self) -> Self {
        self.may_be_stored = false;
        self
    }

    /// Whether a gateway's cache may store the response and replay it to requests with the same parameters.
    #[must_use]
    pub const fn may_be_stored(&self) -> bool {
        self.may_be_stored
    }

    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// `Retry-After` in seconds, rounded up, at least 1; `None` if a retry is useless.
    #[must_use]
    pub fn wait_seconds(&self) -> Option<u64> {
        self.retry_after.map(|wait| wait.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX).max(1))
    }

    /// The chain of causes in one line, for the log.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        self.cause.as_deref().map(|cause| chain(cause))
    }
}

/// Returns an error and its sources in one line.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let cause_text = cause.to_string();
        // Many errors repeat the text of their source.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        below = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_in_the_log_and_never_in_the_message() {
        let error = ApiError::internal("the provider said: secret");
        assert!(!error.message().contains("secret"));
        assert_eq!(error.cause().as_deref(), Some("the provider said: secret"));
    }

    #[test]
    fn a_wait_is_rounded_up_to_whole_seconds() {
        let wait = |milliseconds| {
            ApiError::internal("x").retry_after(Some(Duration::from_millis(milliseconds))).wait_seconds()
        };
        assert_eq!(wait(0), Some(1));
        assert_eq!(wait(1_001), Some(2));
        assert_eq!(ApiError::internal("x").retry_after(None).wait_seconds(), Some(5));
    }
}
