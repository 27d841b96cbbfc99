//! The failures of a cache, and the errors of its sources.

use std::error::Error;
use std::time::Duration;

use crate::error::ApiError;

/// An error of a source that a cache fetches from.
pub trait SourceError: Error + 'static {
    /// Whether all requests pause after a failure, to spare the source. If `false`, only requests that have a
    /// stale value to serve pause.
    const IS_SPARED: bool;

    /// Whether this error starts a pause.
    fn is_failure(&self) -> bool;
}

/// Why there is no value to serve.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure<E> {
    /// The fetch failed.
    #[error("{source}")]
    Fetch {
        source: E,
        /// How long requests without a stale value pause after this failure; `None` if they do not pause.
        pause: Option<Duration>,
    },
    /// There was no fetch, because an earlier fetch failed and requests pause.
    #[error("{cause} (no request for another {} ms)", wait.as_millis())]
    Paused {
        /// How long the pause still lasts.
        wait: Duration,
        /// The failure of the earlier fetch, for the log.
        cause: String,
    },
}

/// The error of a source that is itself a cache. While this inner cache pauses, the cache that fetches from
/// it does not pause as well.
impl<E: SourceError> SourceError for Failure<E> {
    const IS_SPARED: bool = E::IS_SPARED;

    fn is_failure(&self) -> bool {
        matches!(self, Self::Fetch { source, pause: None } if source.is_failure())
    }
}

impl<E> From<E> for Failure<E> {
    fn from(source: E) -> Self {
        Self::Fetch { source, pause: None }
    }
}

impl<E: SourceError + Into<Self>> From<Failure<E>> for ApiError {
    fn from(failure: Failure<E>) -> Self {
        let text = failure.to_string();
        match failure {
            Failure::Fetch { source, pause } => source.into().retry_after(pause),
            Failure::Paused { wait, .. } => Self::internal(text).retry_after(Some(wait)),
        }
    }
}
