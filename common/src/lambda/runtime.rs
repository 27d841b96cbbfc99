//! The exchange with Lambda's Runtime API.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_http::{Context, Error, LambdaEvent, service_fn};
use lambda_runtime::Diagnostic;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::error::Code;

/// A function stops working on an event this long before Lambda ends the invocation.
const DEADLINE_MARGIN: Duration = Duration::from_secs(1);

/// Runs `function` on the main thread until Lambda ends the process. There is only one event at a time, and
/// starting other threads would take time.
///
/// # Errors
/// Returns the error of `function`, or an error if the runtime cannot be started.
pub fn block_on(function: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    Builder::new_current_thread().enable_all().build()?.block_on(function)
}

/// Passes events to `handler`, one at a time, until Lambda ends the process.
///
/// The futures of the handler are boxed. Inside the future of `main`, they would touch eight more pages of
/// the stack at every start.
///
/// The process grows by about 144 bytes per event, because the library sets `_X_AMZN_TRACE_ID` for each
/// event, and `setenv` of the GNU C library keeps every value. At 50 events a second, the process grows by
/// about 50 MB in two hours, after which Lambda replaces it.
pub async fn serve<E, T, F>(
    handler: impl Fn(LambdaEvent<E>) -> F + Clone + Send + 'static,
) -> Result<(), Error>
where
    E: DeserializeOwned + Send + 'static,
    T: Serialize + Send + 'static,
    F: Future<Output = Result<T, Diagnostic>> + Send + 'static,
{
    let service = service_fn(move |event| Box::pin(handler(event)));
    lambda_runtime::Runtime::new(service).run().await
}

/// Returns the error that the Runtime API receives for an invocation without a response.
pub fn failed_invocation(message: impl fmt::Display) -> Diagnostic {
    Diagnostic { error_type: Code::InternalError.name().to_owned(), error_message: message.to_string() }
}

/// Returns the deadline for an event: the end of the invocation, less a margin. Lambda states the end by the
/// system clock.
#[must_use]
pub fn deadline(context: &Context) -> Instant {
    let end = UNIX_EPOCH + Duration::from_millis(context.deadline);
    let left = end.duration_since(SystemTime::now()).unwrap_or_default();
    Instant::now() + left.saturating_sub(DEADLINE_MARGIN)
}
