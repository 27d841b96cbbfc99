//! The runner of the recorders.
//!
//! A recorder records the present. Most recorders fetch data from the provider and file it under a minute
//! (`tables::Ticks`). Delays of the scheduler and of Lambda add up, so the recorder itself refuses an event
//! that is not of the present. Only a backfill always records the minute of its event, because its provider
//! is simulated and serves the past.
//!
//! After each run of the present, the runner updates the heartbeat of the feed, and the recorder writes the
//! public files that the run changed. If a file cannot be written, the run still succeeds, and the next run
//! writes the file. A backfill of the past updates no heartbeat and writes no files.
//!
//! A failure fails the invocation. Recorders that run every minute retry at the next tick. Lambda retries the
//! other recorders, and keeps an event that fails again as a dead letter.

use std::error::Error as StandardError;
use std::time::Duration;

use common::config::Config;
use common::error::chain;
use common::invocation::Invocation;
use common::lambda::{
    Diagnostic, Error, IsCold, LambdaEvent, LogName, StartError, block_on, deadline, failed_invocation,
    guard, milliseconds, serve, set_up,
};
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use serde::{Deserialize, Serialize};
use tables::series::Written;
use tables::{Session, Table, Ticks};
use tokio::time::{Instant, timeout_at};

use crate::feed::Feed;
use crate::heartbeat::{self, Heartbeat, Refresh};

/// The maximum difference between the time of an event and the clock. It does not apply to backfills.
const LARGEST_DISTANCE: Duration = Duration::from_mins(2);

/// The time limit of writing the public files.
const PUBLISHING_TIME: Duration = Duration::from_secs(8);

type BoxedError = Box<dyn StandardError + Send + Sync>;

/// A function that records data at each tick. A value of this type is the function's state between
/// invocations.
pub trait Recorder: Sized + Send + Sync + 'static {
    /// The name of the function, its crate, its binary and its folder.
    const NAME: &'static str;

    /// The feed that the function records.
    const FEED: &'static Feed;

    /// The result of a run, for the log and for the response to a manual invocation.
    type Outcome: Serialize + Send;

    /// The data of a run for the public files; `()` if the recorder has none.
    type Public: Send + Sync;

    /// Builds the state, before the first event.
    fn new(config: &Config) -> Result<Self, StartError>;

    /// Opens the connections that the first event needs, besides the one to the table.
    fn warm_up(&self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Records the current data under a tick that `ticks` decides. Recording a tick twice has the same result
    /// as recording it once. The provider's data is fetched for each tick and never cached.
    ///
    /// # Errors
    /// If the tick was not recorded completely. Recording it again completes it.
    fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> impl Future<Output = Result<Attempt<Self::Outcome, Self::Public>, BoxedError>> + Send;

    /// Writes the public files that the run has changed, if the recorder has any, and other data of the
    /// present that is not recorded. A later run makes up for a failure.
    fn publish(
        &self,
        _table: Session<'_>,
        _invocation: &Invocation,
        _public: &Self::Public,
    ) -> impl Future<Output = Result<(), BoxedError>> + Send {
        std::future::ready(Ok(()))
    }
}

/// A run that succeeded, at least in part.
#[derive(Debug)]
pub struct Attempt<Outcome, Public = ()> {
    /// The tick under which the data is recorded, for the log and the response.
    pub tick: Tick,
    /// The result, for the log and for the response to a manual invocation.
    pub outcome: Outcome,
    pub effect: Effect,
    /// The ticks that are certainly recorded. A run may also record ticks that earlier runs missed.
    pub recorded: Vec<Tick>,
    /// The refresh of the provider's data that the run read; `None` if it read no data, or data without a
    /// time.
    pub refresh: Option<Refresh>,
    /// The number of the provider's rows that the run read, for the log; `None` if the recorder does not
    /// count them.
    pub rows_read: Option<RowsRead>,
    /// Why parts of the run failed. The run then fails at its end, after the heartbeat and the files of the
    /// other parts are written.
    pub failures: Vec<String>,
    /// The data for the public files.
    pub public: Public,
}

impl<Outcome, Public: Default> Attempt<Outcome, Public> {
    /// Returns an attempt that has recorded the tick completely, and publishes nothing.
    #[must_use]
    pub fn of(tick: Tick, outcome: Outcome) -> Self {
        Self {
            tick,
            outcome,
            effect: Effect::Recorded,
            recorded: vec![tick],
            refresh: None,
            rows_read: None,
            failures: Vec::new(),
            public: Public::default(),
        }
    }
}

/// The effect of a run that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// A tick that was not recorded before, or data without ticks.
    Recorded,
    /// Better data for a recorded tick.
    RecordedAgain,
}

impl Effect {
    /// Returns the message of the log line. Metrics count the lines `recorded`, so each tick must have at
    /// most one.
    const fn message(self) -> &'static str {
        match self {
            Self::Nothing => "nothing to record",
            Self::Recorded => "recorded",
            Self::RecordedAgain => "recorded again",
        }
    }
}

impl From<Written> for Effect {
    fn from(written: Written) -> Self {
        match written {
            Written { rows: 0, .. } => Self::Nothing,
            Written { is_first: true, .. } => Self::Recorded,
            Written { is_first: false, .. } => Self::RecordedAgain,
        }
    }
}

/// Counts the provider's rows in a run. Each number is a separate field of the log line, so that metric
/// filters can read it.
#[derive(Debug, Clone, Copy)]
pub struct RowsRead {
    /// The number of rows that were read.
    pub read: usize,
    /// The number of invalid rows, which are left out.
    pub left_out: usize,
    /// Whether the run read all rows of the provider, so that the share of invalid rows can be compared with
    /// a threshold.
    pub is_complete: bool,
}

/// A schedule's event. Any other field is ignored.
#[derive(Debug, Deserialize)]
struct ScheduledEvent {
    /// When the recorder was due.
    time: UnixMilliseconds,
    /// Whether to record the minute of `time`, whatever the clock shows.
    #[serde(default)]
    backfill: bool,
    /// In a backfill, the time that counts as the current time; `time` if absent.
    now: Option<UnixMilliseconds>,
}

/// An event that is not of the present.
#[derive(Debug, thiserror::Error)]
#[error(
    "the event must be of the present, at most {} s from the clock, or have \"backfill\": true: its time is {time}, and the \
     clock shows {clock}",
    LARGEST_DISTANCE.as_secs()
)]
struct NotOfThePresent {
    time: UnixSeconds,
    clock: UnixSeconds,
}

/// The work for an event.
struct Due {
    ticks: Ticks,
    /// The current time; in a backfill, the time that the event states.
    now: UnixMilliseconds,
    /// Whether the tick is of the present. False if a backfill records the past.
    is_of_the_present: bool,
}

impl Due {
    /// Returns the latest time that the clock of another recorder may show; `None` in a backfill, whose
    /// events may be in any order.
    fn latest(&self) -> Option<UnixSeconds> {
        match self.ticks {
            Ticks::OfClock(_) => Some(self.now.plus(LARGEST_DISTANCE).into()),
            Ticks::OfEvent(_) => None,
        }
    }
}

impl ScheduledEvent {
    /// Returns the work for the event.
    fn due(&self) -> Result<Due, NotOfThePresent> {
        let &Self { time, backfill, now } = self;
        let clock = if backfill { now.unwrap_or(time) } else { UnixMilliseconds::of_system_clock() };
        let is_of_the_present = clock.distance(time) <= LARGEST_DISTANCE;
        let event = Tick::of(time);
        if backfill {
            return Ok(Due { ticks: Ticks::OfEvent(event), now: clock, is_of_the_present });
        }
        if !is_of_the_present {
            return Err(NotOfThePresent { time: time.into(), clock: clock.into() });
        }
        Ok(Due { ticks: Ticks::OfClock(event), now: clock, is_of_the_present })
    }
}

#[derive(Debug, Serialize)]
struct RecorderResponse<T> {
    tick: Tick,
    recorded: T,
}

/// Runs the recorder `R` until Lambda ends the process.
///
/// # Errors
/// If the recorder cannot start (the log has the cause), or the Runtime API cannot be reached.
pub fn run_recorder<R: Recorder>() -> Result<(), Error> {
    let instance = set_up(LogName::Function(R::NAME), |config| {
        let (recorder, table) = (R::new(config)?, Table::history(config)?);
        Ok(Instance { recorder, table, is_cold: IsCold::default() })
    })?;
    block_on(async {
        futures_util::future::join(instance.recorder.warm_up(), instance.table.warm_up()).await;
        serve(|event| instance.invoke(event)).await
    })
}

/// An instance of the function: the recorder, and the state that all invocations share.
struct Instance<R> {
    recorder: R,
    table: Table,
    is_cold: IsCold,
}

impl<R: Recorder> Instance<R> {
    /// Records the due tick, then updates the heartbeat and the public files. A retry repeats all of this.
    async fn record(
        &self,
        due: &Due,
        invocation: &Invocation,
    ) -> Result<Attempt<R::Outcome, R::Public>, BoxedError> {
        let table = self.table.during_recording(invocation);
        let mut attempt = self.recorder.record(table, due.ticks, invocation).await?;
        if due.is_of_the_present {
            if !attempt.recorded.is_empty() {
                let noted =
                    heartbeat::note(table, R::FEED, &attempt.recorded, attempt.refresh, due.latest()).await;
                match noted {
                    Ok(Some(heartbeat)) => warn_of_standstill::<R>(&heartbeat, due.now.into()),
                    Ok(None) => {}
                    Err(error) => attempt.failures.push(chain(&error)),
                }
            }
            let end = invocation.deadline().min(Instant::now() + PUBLISHING_TIME);
            let publishing = timeout_at(end, self.recorder.publish(table, invocation, &attempt.public));
            if let Err(error) = publishing.await.unwrap_or_else(|late| Err(late.into())) {
                tracing::error!(
                    function = R::NAME,
                    cause = chain(error.as_ref()),
                    "public files are not written"
                );
            }
        }
        if attempt.failures.is_empty() { Ok(attempt) } else { Err(attempt.failures.join("; ").into()) }
    }

    /// Returns the work for the event. Logs an event that is invalid or not of the present.
    fn due(payload: serde_json::Value, request_id: &str) -> Result<Due, Diagnostic> {
        let refuse = |message: &str, cause: String| {
            tracing::error!(function = R::NAME, request_id, cause, message);
            failed_invocation(cause)
        };
        let event: ScheduledEvent = serde_json::from_value(payload).map_err(|error| {
            let cause = format!("the event must be {{\"time\": \"2026-11-21T15:04:00Z\"}}: {error}");
            refuse("the event is not from a schedule", cause)
        })?;
        event.due().map_err(|error| refuse("the event is not of the present", error.to_string()))
    }

    async fn invoke(&self, event: LambdaEvent<serde_json::Value>) -> Result<serde_json::Value, Diagnostic> {
        let start = Instant::now();
        let deadline = deadline(&event.context);
        let request_id = &event.context.request_id;
        let due = Self::due(event.payload, request_id)?;
        let mut tick = due.ticks.event();
        let invocation = Invocation::new(due.now, deadline);
        let run = guard(deadline, self.record(&due, &invocation))
            .await
            .unwrap_or_else(|interrupted| Err(interrupted.into()));
        let mut effect = Effect::Nothing;
        let mut rows = None;
        let result = run.and_then(|attempt| {
            (tick, effect) = (attempt.tick, attempt.effect);
            rows = if effect == Effect::Nothing { None } else { attempt.rows_read };
            let recorded = serde_json::to_value(&attempt.outcome)?;
            Ok(serde_json::to_value(RecorderResponse { tick, recorded })?)
        });
        macro_rules! line {
            ($level:ident, $message:expr, $($field:tt)*) => {
                tracing::$level!(
                    message = $message,
                    function = R::NAME,
                    tick = tick.to_string(),
                    duration_ms = milliseconds(start.elapsed()),
                    upstream_ms = milliseconds(invocation.upstream_time()),
                    upstream_age_s = invocation.upstream_age(),
                    cold_start = self.is_cold.take(),
                    request_id,
                    retried = invocation.retried(),
                    $($field)*
                )
            };
        }
        match result {
            Ok(response) => {
                let recorded = response.get("recorded").map(ToString::to_string);
                line!(
                    info,
                    effect.message(),
                    recorded = recorded,
                    rows_read = rows.map(|rows| rows.read),
                    left_out = rows.map(|rows| rows.left_out),
                    complete_reading = rows.map(|rows| rows.is_complete)
                );
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

/// Logs that the provider has sent the same data for too long.
fn warn_of_standstill<R: Recorder>(heartbeat: &Heartbeat, now: UnixSeconds) {
    if let Some(since) = heartbeat.unchanged_since(R::FEED, now) {
        let since = since.to_string();
        tracing::warn!(function = R::NAME, since, "the data of the provider have not changed");
    }
}
