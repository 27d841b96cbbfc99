//! Why an upstream gave no usable response.

use std::time::Duration;

use lambda_http::http::StatusCode;

use crate::cache::SourceError;
use crate::error::ApiError;

/// Why an upstream gave no usable response. For the log: the text contains neither the API key, nor the name
/// or id of the requested player.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamError {
    /// The connection failed, or broke before a response began.
    #[error("cannot reach the upstream for {path}: {cause}")]
    Unreachable {
        path: String,
        /// The error of the HTTP client.
        cause: String,
    },
    /// There was no response in time.
    #[error("the upstream did not respond to {path} in time")]
    Timeout { path: String },
    /// The body ended early, is too large or cannot be decompressed.
    #[error("the body of the upstream response to {path} cannot be read: {cause}")]
    Unreadable {
        path: String,
        /// A description of the defect.
        cause: String,
    },
    /// The status is not among the expected ones.
    #[error("the upstream responded to {path} with {status}: {body}")]
    Status {
        path: String,
        status: StatusCode,
        /// The beginning of the body.
        body: String,
    },
    /// The provider itself does not accept the API key.
    #[error("the upstream refuses the API key: it responded to {path} with {status}: {body}")]
    KeyRefused {
        path: String,
        status: StatusCode,
        /// The beginning of the body.
        body: String,
    },
    /// The response says that the upstream limits the rate of requests.
    #[error(
        "the upstream limits the rate of requests for another {} s: it responded to {path} with {status}: {body}",
        wait.as_secs()
    )]
    TooManyRequests {
        path: String,
        status: StatusCode,
        /// The beginning of the body.
        body: String,
        /// How long to send no request; zero if unknown.
        wait: Duration,
    },
    /// The request was not sent, because an earlier response limits the rate of requests and still holds.
    #[error("the upstream limits the rate of requests for another {} s", wait.as_secs())]
    RateLimited {
        /// How long to send no request.
        wait: Duration,
    },
    /// The body is not of the expected shape.
    #[error("the upstream response to {path} is invalid: {cause}; it begins: {body}")]
    Invalid {
        path: String,
        /// A description of the defect.
        cause: String,
        /// The beginning of the body.
        body: String,
    },
}

impl UpstreamError {
    /// Returns the shortest wait before a retry; `None` if a retry cannot help. Any unexpected status may be
    /// temporary, such as a 404 during a refresh or a 403 of a firewall.
    #[must_use]
    pub fn wait_before_retry(&self) -> Option<Duration> {
        match self {
            Self::TooManyRequests { wait, .. } | Self::RateLimited { wait } => Some(*wait),
            Self::KeyRefused { .. } => None,
            _ => Some(Duration::ZERO),
        }
    }
}

impl SourceError for UpstreamError {
    const IS_SPARED: bool = true;

    /// A rate limit that gives a wait starts no pause, because [`Upstream`](super::Upstream) then blocks all
    /// requests for the wait.
    fn is_failure(&self) -> bool {
        !matches!(self, Self::TooManyRequests { wait, .. } | Self::RateLimited { wait } if !wait.is_zero())
    }
}

impl From<UpstreamError> for ApiError {
    fn from(error: UpstreamError) -> Self {
        let wait = match &error {
            UpstreamError::TooManyRequests { wait, .. } | UpstreamError::RateLimited { wait } => Some(*wait),
            _ => None,
        };
        Self::internal(error).retry_after(wait.filter(|wait| !wait.is_zero()))
    }
}
