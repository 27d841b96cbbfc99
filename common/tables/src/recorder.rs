//! The runner of the recorders: functions on a schedule that fetch something from the provider and record it in the table of
//! histories. It lives here and not in `common`, because every recorder writes to a table.
//!
//! The event names the minute to record. A failure fails the invocation, so that Lambda retries it and finally
//! keeps the event as a dead letter.

use std::error::Error as StandardError;

use common::config::Config;
use common::error::chain;
use common::invocation::Invocation;
use common::lambda::{
    Diagnostic, Error, LambdaEvent, LogName, StartError, deadline, failed_invocation, guard, milliseconds,
    serve, set_up,
};
use common::time::{Tick, UnixMilliseconds};
use common::upstream::Upstream;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::session::Session;
use crate::table::Table;

/// A function that records what the provider shows at a tick.
pub trait Recorder {
    /// The function's name: its crate, its binary, its folder.
    const NAME: &'static str;

    /// What was recorded, for the log and for the response to a manual invocation.
    type Outcome: Serialize;

    /// Records the tick. Recording it twice has the same result as recording it once. The provider's data is fetched for each
    /// tick and never cached.
    ///
    /// # Errors
    /// If the tick is not recorded, or not completely. Recording it again completes it.
    fn record(
        upstream: &Upstream,
        table: Session<'_>,
        tick: Tick,
        invocation: &Invocation,
    ) -> impl Future<Output = Result<Self::Outcome, Box<dyn StandardError + Send + Sync>>>;
}

/// A schedule's event. Other fields are ignored.
#[derive(Debug, Deserialize)]
struct ScheduledEvent {
    /// When the recorder was due.
    time: UnixMilliseconds,
    /// The current time, if it is another one: for a backfill.
    now: Option<UnixMilliseconds>,
}

/// The response to an event.
#[derive(Debug, Serialize)]
struct RecorderResponse<T> {
    tick: Tick,
    recorded: T,
}

/// Runs the recorder `R` until Lambda ends the process.
///
/// # Errors
/// If the recorder cannot start, for which the log has the cause, or the Runtime API cannot be reached.
pub async fn run_recorder<R: Recorder>() -> Result<(), Error> {
    let instance = set_up(LogName::Function(R::NAME), Instance::new)?;
    futures_util::future::join(instance.upstream.warm_up(), instance.table.warm_up()).await;
    serve(|event| instance.invoke::<R>(event)).await
}

struct Instance {
    upstream: Upstream,
    table: Table,
    is_cold: std::cell::Cell<bool>,
}

impl Instance {
    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, table: Table::history(config)?, is_cold: true.into() })
    }

    async fn invoke<R: Recorder>(
        &self,
        event: LambdaEvent<serde_json::Value>,
    ) -> Result<serde_json::Value, Diagnostic> {
        let start = Instant::now();
        let deadline = deadline(&event.context);
        let request_id = &event.context.request_id;
        let event: ScheduledEvent = serde_json::from_value(event.payload).map_err(|error| {
            tracing::error!(
                function = R::NAME,
                request_id,
                cause = error.to_string(),
                "the event is not a schedule's"
            );
            failed_invocation(format_args!(
                "the event must be {{\"time\": \"2026-11-21T15:04:00Z\"}}: {error}"
            ))
        })?;
        let tick = Tick::of(event.time);
        let invocation = Invocation::new(event.now.unwrap_or(event.time), deadline);
        let table = self.table.during_recording(&invocation);
        let result = guard(deadline, R::record(&self.upstream, table, tick, &invocation)).await;
        let result = result.unwrap_or_else(|interrupted| Err(interrupted.into())).and_then(|recorded| {
            let recorded = serde_json::to_value(&recorded)?;
            Ok(serde_json::to_value(RecorderResponse { tick, recorded })?)
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
