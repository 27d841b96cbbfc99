//! Runs a function, of whatever kind: a [`Function`] answers requests, a [`Recorder`] acts on a schedule, an [`Authorizer`]
//! says who may ask. What all of them need is here: start-up, the log, a deadline of their own, and an end for panics.

mod authorizer;
mod log;
mod recorder;
mod route;

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use lambda_http::{Context, LambdaEvent, service_fn};
use lambda_runtime::Diagnostic;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

pub use lambda_http::Error;

pub use self::authorizer::{Authorizer, run_authorizer};
pub use self::recorder::{Recorder, run_recorder};
pub use self::route::{Function, run};
use crate::config::{Config, ConfigError};
use crate::error::{Code, chain};
use crate::http::ClientError;

/// How long before Lambda ends the invocation the function gives up by itself.
const DEADLINE_MARGIN: Duration = Duration::from_secs(1);

/// Why a function cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The environment is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no way to ask anybody.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// As what a function stands in the log.
#[derive(Clone, Copy)]
enum LoggedAs {
    /// One behind the gateway, by its path.
    Route(&'static str),
    /// Another, by its name.
    Function(&'static str),
}

/// What every function begins with: its log, and itself as the environment wants it.
fn set_up<T>(
    logged_as: LoggedAs,
    start: impl FnOnce(&Config) -> Result<T, StartError>,
) -> Result<T, StartError> {
    log::to_standard_output();
    remember_panics();
    let started = Config::from_environment().map_err(StartError::from).and_then(|config| start(&config));
    started.inspect_err(|error| match logged_as {
        LoggedAs::Route(route) => tracing::error!(route, cause = chain(error), "cannot start"),
        LoggedAs::Function(function) => tracing::error!(function, cause = chain(error), "cannot start"),
    })
}

/// Lets `handler` answer event after event, until Lambda ends the process.
///
/// What the handler keeps while it works lies on the heap: as a part of `main`'s own future it would take eight more pages
/// of the stack at every start.
///
/// # Errors
/// If the Runtime API is gone.
async fn serve<E, T, F>(handler: impl Fn(LambdaEvent<E>) -> F) -> Result<(), Error>
where
    E: DeserializeOwned,
    T: Serialize,
    F: Future<Output = Result<T, Diagnostic>>,
{
    lambda_runtime::Runtime::new(service_fn(|event| Box::pin(handler(event)))).run().await
}

/// Why a handler came to no end of its own.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error("the handler panicked: {0}")]
    Panic(String),
    #[error("the handler ran into the function's own deadline")]
    Deadline,
}

/// What the handler returns, unless it panics or takes too long.
async fn guarded<T>(deadline: Instant, handler: impl Future<Output = T>) -> Result<T, Interrupted> {
    let handler = AssertUnwindSafe(handler).catch_unwind();
    match tokio::time::timeout_at(deadline, handler).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_)) => Err(Interrupted::Panic(last_panic())),
        Err(_) => Err(Interrupted::Deadline),
    }
}

/// What the Runtime API is told of an invocation that has no response.
fn failed_invocation(message: impl fmt::Display) -> Diagnostic {
    Diagnostic { error_type: Code::InternalError.name().to_owned(), error_message: message.to_string() }
}

/// The end of the invocation, less the margin. Lambda gives it by the wall clock.
fn own_deadline(context: &Context) -> Instant {
    let end = UNIX_EPOCH + Duration::from_millis(context.deadline);
    let left = end.duration_since(SystemTime::now()).unwrap_or_default();
    Instant::now() + left.saturating_sub(DEADLINE_MARGIN)
}

/// As the log writes durations: milliseconds, to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// What the last panic said, and where. The hook cannot know the request, so it leaves the text to whoever does.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

fn remember_panics() {
    std::panic::set_hook(Box::new(|panic| {
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic.to_string());
    }));
}

fn last_panic() -> String {
    let text = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    text.unwrap_or_else(|| "it did not say why".to_owned())
}
