//! Ends a command at SIGINT or SIGTERM.

use tokio::signal::unix::{SignalKind, signal};

use crate::error::Error;

/// Returns the result of `work`, unless SIGINT or SIGTERM arrives first.
///
/// # Errors
/// The errors of `work`, and [`Error::Interrupted`].
pub(crate) async fn unless_interrupted<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    tokio::select! {
        result = work => result,
        interrupted = tokio::signal::ctrl_c() => Err(interrupted.map_or_else(Error::Signals, |()| Error::Interrupted)),
        _ = terminate.recv() => Err(Error::Interrupted),
    }
}
