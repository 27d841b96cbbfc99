//! A function on a schedule: the event says which minute it is for, and nobody reads the answer but operators. A failure
//! fails the invocation, so that the platform tries again and, in the end, keeps the event as a dead letter.

use std::error::Error as StandardError;
use std::future::Future;

use lambda_http::LambdaEvent;
use lambda_runtime::Diagnostic;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    Error, LoggedAs, StartError, failed_invocation, guarded, milliseconds, own_deadline, serve, set_up,
};
use crate::config::Config;
use crate::error::chain;
use crate::invocation::Invocation;
use crate::time::{Tick, UnixMilliseconds};

/// A function that records what the provider says at a tick.
pub trait Recorder: Sized {
    /// The function's name: its crate, its binary, its folder.
    const NAME: &'static str;

    /// What it did, for the log and for whoever invoked it by hand.
    type Outcome: Serialize;

    /// The recorder as it starts, before its first event.
    ///
    /// # Errors
    /// If it cannot work with this configuration.
    fn new(config: &Config) -> Result<Self, StartError>;

    /// Opens the connections that the first event will need.
    fn warm_up(&self) -> impl Future<Output = ()>;

    /// Records the tick. Doing so twice leaves what doing so once leaves.
    ///
    /// # Errors
    /// Why the tick is not, or not wholly, recorded. Recording it again completes it.
    fn record(
        &self,
        tick: Tick,
        invocation: &Invocation,
    ) -> impl Future<Output = Result<Self::Outcome, Box<dyn StandardError + Send + Sync>>>;
}

/// A schedule's event. Other fields are not read.
#[derive(Debug, Deserialize)]
struct ScheduledEvent {
    /// When it was due.
    time: UnixMilliseconds,
    /// The moment that counts as now, if it is another: for those who make up for the past.
    now: Option<UnixMilliseconds>,
}

/// The answer to an event.
#[derive(Debug, Serialize)]
struct Response<T> {
    tick: Tick,
    recorded: T,
}

/// Runs the recorder `R` until Lambda ends the process.
///
/// # Errors
/// If the recorder cannot start or the Runtime API is gone; the cause is in the log.
pub async fn run_recorder<R: Recorder>() -> Result<(), Error> {
    let instance = set_up(LoggedAs::Function(R::NAME), |config| {
        Ok(Instance { recorder: R::new(config)?, is_cold: true.into() })
    })?;
    instance.recorder.warm_up().await;
    serve(|event| instance.invoke(event)).await
}

struct Instance<R> {
    recorder: R,
    is_cold: std::cell::Cell<bool>,
}

impl<R: Recorder> Instance<R> {
    async fn invoke(&self, event: LambdaEvent<serde_json::Value>) -> Result<serde_json::Value, Diagnostic> {
        let start = Instant::now();
        let deadline = own_deadline(&event.context);
        let request_id = &event.context.request_id;
        let event: ScheduledEvent = serde_json::from_value(event.payload).map_err(|error| {
            tracing::error!(
                function = R::NAME,
                request_id,
                cause = error.to_string(),
                "the event is no schedule's"
            );
            failed_invocation(format_args!(
                "the event must be {{\"time\": \"2026-11-21T15:04:00Z\"}}: {error}"
            ))
        })?;
        let tick = Tick::of(event.time);
        let invocation = Invocation::new(event.now.unwrap_or(event.time), deadline);
        let result = guarded(deadline, self.recorder.record(tick, &invocation)).await;
        let result = result.unwrap_or_else(|interrupted| Err(interrupted.into())).and_then(|recorded| {
            let recorded = serde_json::to_value(&recorded)?;
            Ok(serde_json::to_value(Response { tick, recorded })?)
        });
        macro_rules! line {
            ($level:ident, $message:literal, $($field:tt)*) => {
                tracing::$level!(
                    function = R::NAME,
                    tick = tick.to_string(),
                    duration_ms = milliseconds(start.elapsed()),
                    upstream_ms = milliseconds(invocation.upstream_time()),
                    cold_start = self.is_cold.replace(false),
                    request_id,
                    retried = invocation.retried(),
                    $($field)*,
                    $message
                )
            };
        }
        match result {
            Ok(response) => {
                let recorded = response.get("recorded").map(ToString::to_string);
                line!(info, "recorded", recorded = recorded);
                Ok(response)
            }
            Err(error) => {
                let cause = chain(error.as_ref());
                line!(error, "not recorded", cause = cause);
                Err(failed_invocation(cause))
            }
        }
    }
}
