//! What a caller is told when there is no answer, kept apart from what the log is told. The codes are contract
//! (`interface.md`, part 7); a message says what was wrong, what was allowed and what to do. A cause is for the log only.

use std::error::Error;
use std::time::Duration;

use lambda_http::http::StatusCode;

/// What a caller reads when the service itself is at a loss.
pub const INTERNAL_MESSAGE: &str =
    "The service could not get this answer right now. Try again in a few seconds.";

/// How long a caller is asked to wait when nothing better is known.
const USUAL_WAIT: Duration = Duration::from_secs(5);

/// The kinds of error, each one that a client would act on differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A missing or invalid parameter: mend the request.
    BadRequest,
    /// No such route, page, item or player.
    NotFound,
    /// The service or its provider failed: try again later.
    InternalError,
}

impl Code {
    /// The word in the envelope.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "BAD_REQUEST",
            Self::NotFound => "NOT_FOUND",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }

    /// The HTTP status that goes with it.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    code: Code,
    message: String,
    retry_after: Option<Duration>,
    #[source]
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl ApiError {
    /// 400: `message` names the parameter, what was allowed and what came.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self { code: Code::BadRequest, message: message.into(), retry_after: None, cause: None }
    }

    /// 404: `message` names what does not exist and where to look instead.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self { code: Code::NotFound, message: message.into(), retry_after: None, cause: None }
    }

    /// 500: the caller reads a fixed sentence, the log reads `cause`.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            code: Code::InternalError,
            message: INTERNAL_MESSAGE.to_owned(),
            retry_after: Some(USUAL_WAIT),
            cause: Some(cause.into()),
        }
    }

    /// The same error, asking the caller to wait for `wait` (whole seconds, at least one) if it is given.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait.or(self.retry_after);
        self
    }

    /// The kind of error.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// What the caller reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How many seconds the caller should wait, rounded up, if waiting helps.
    #[must_use]
    pub fn wait_seconds(&self) -> Option<u64> {
        self.retry_after.map(|wait| wait.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX).max(1))
    }

    /// The whole chain of causes in one line, for the log.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        self.cause.as_deref().map(|cause| chain(cause))
    }
}

/// An error and what lies under it, in one line.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let cause_text = cause.to_string();
        // Many errors repeat their source in their own text.
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
    fn a_cause_reaches_the_log_and_never_the_caller() {
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
