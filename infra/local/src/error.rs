//! Why the local cloud could not start, and why an invocation failed.

use std::fmt::Display;

use bytes::Bytes;

/// Why the local cloud could not start: a sentence for the terminal that says how to solve the problem.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// The error with this sentence, on one line.
    pub(crate) fn new(sentence: impl Display) -> Self {
        Self(sentence.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The template is invalid at `place`: the logical id and the property, joined by dots.
    pub(crate) fn template(place: &str, reason: impl Display) -> Self {
        Self::new(format!("the template is invalid at {place}: {reason}"))
    }
}

/// Why an invocation has no response.
#[derive(Debug, thiserror::Error)]
pub enum InvocationError {
    #[error("the template has no function {0}")]
    UnknownFunction(String),
    /// The function did not respond, or responded with an error.
    #[error("{function}: {reason}")]
    Failed {
        /// The function's logical id.
        function: String,
        reason: String,
        /// Lambda's response: the function's own error, or else JSON with `errorType` and `errorMessage`.
        payload: Bytes,
    },
}

/// Why a sample event cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error(transparent)]
    Request(#[from] hyper::http::Error),
    /// The request does not match the route.
    #[error("the request does not match {0}")]
    NoRoute(String),
    #[error(transparent)]
    Event(#[from] serde_json::Error),
}
