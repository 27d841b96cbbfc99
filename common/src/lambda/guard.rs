//! Ends a future that panics or takes too long, so that every invocation has a result and a log line.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use tokio::time::Instant;

/// Why a future did not return.
#[derive(Debug, thiserror::Error)]
pub enum Interrupted {
    #[error("the handler panicked: {0}")]
    Panic(String),
    /// The future did not return before the deadline.
    #[error("the handler exceeded the function's deadline")]
    Deadline,
}

/// Returns the result of `future`.
///
/// # Errors
/// If `future` panics or exceeds the deadline.
pub async fn guard<T>(deadline: Instant, future: impl Future<Output = T>) -> Result<T, Interrupted> {
    let future = AssertUnwindSafe(future).catch_unwind();
    match tokio::time::timeout_at(deadline, future).await {
        Ok(Ok(result)) => Ok(result),
        // The panic was in this thread, which has just polled the future.
        Ok(Err(_)) => Err(Interrupted::Panic(last_panic())),
        Err(_) => Err(Interrupted::Deadline),
    }
}

thread_local! {
    /// The message and place of the last panic of this thread. The panic hook does not know the request, so
    /// it stores the message here for [`guard`].
    static LAST_PANIC: Cell<Option<String>> = const { Cell::new(None) };
}

pub(super) fn remember_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // `try_with` fails only while the thread ends.
        let _ = LAST_PANIC.try_with(|last| last.set(Some(panic.to_string())));
    }));
}

fn last_panic() -> String {
    LAST_PANIC.take().unwrap_or_else(|| "it gave no message".to_owned())
}
