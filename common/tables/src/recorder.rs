//! The runner of the recorders, which are scheduled functions that record data in the table of histories. The runner is in this crate and
//! not in `common`, because every recorder writes to a table.
//!
//! A recorder records the present. Most recorders fetch data from the provider and file it under a minute (`filing.rs`). No client waits
//! for recorders, so they repeat a failed fetch until just enough time is left to write. Delays of the scheduler and of Lambda add up, so
//! the recorder itself refuses an event that is not of the present. Only a backfill always records the minute of its event, because its
//! provider is simulated and serves the past.
//!
//! After each run of the present, the runner updates the heartbeat of the feed, and the recorder writes the public files that the run
//! changed. If a file cannot be written, the run still succeeds, and the next run writes the file. A backfill of the past updates no
//! heartbeat and writes no files.
//!
//! A failure fails the invocation. Recorders that run every minute retry at the next tick. Lambda retries the other recorders, and keeps an
//! event that fails again as a dead letter.

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
use common::upstream::UpstreamError;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use crate::feed::Feed;
use crate::filing::Ticks;
use crate::heartbeat::{self, Heartbeat, Refresh};
use crate::series::Written;
use crate::session::Session;
use crate::table::Table;

/// The maximum difference between the time of an event and the clock. It does not apply to backfills.
const LARGEST_DISTANCE: Duration = Duration::from_mins(2);

/// The time that is reserved for writing. It ends at the deadline of the invocation, 1.5 s before Lambda ends the run. A run of 50 s can
/// therefore fetch for 40 s.
const WRITING_TIME: Duration = Duration::from_millis(8_500);

/// The time limit of writing the public files.
const PUBLISHING_TIME: Duration = Duration::from_secs(8);

/// The pause before a fetch is repeated. It doubles up to `LONGEST_PAUSE`.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Returns when fetching must end, so that there is time left to write.
#[must_use]
pub fn fetching_deadline(invocation: &Invocation) -> Instant {
    invocation.deadline().checked_sub(WRITING_TIME).unwrap_or_else(Instant::now)
}

/// Returns the result of `fetch`. After a failure of the provider, repeats the fetch with pauses while there is still time to write.
///
/// # Errors
/// Returns the last failure, or the first failure that a repetition cannot fix.
pub async fn repeat<T, F>(
    invocation: &Invocation,
    fetch: impl Fn(Invocation) -> F,
) -> Result<T, UpstreamError>
where
    F: Future<Output = Result<T, UpstreamError>>,
{
    let started = Instant::now();
    let end = fetching_deadline(invocation);
    let mut attempt = invocation.next_attempt(Duration::ZERO, invocation.deadline());
    let mut pause = FIRST_PAUSE;
    loop {
        let failure = match fetch(attempt).await {
            Err(failure) => failure,
            fetched => return fetched,
        };
        let next = failure.wait_before_retry().map(|wait| Instant::now() + pause.max(wait));
        let Some(next) = next.filter(|next| *next < end) else { return Err(failure) };
        invocation.note_retry(chain(&failure));
        tokio::time::sleep_until(next).await;
        attempt = invocation.next_attempt(started.elapsed(), end);
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

/// A function that records data at each tick. A value of this type is the function's state between invocations.
pub trait Recorder: Sized + Send + Sync + 'static {
    /// The name of the function, its crate, its binary and its folder.
    const NAME: &'static str;

    /// The feed that the function records.
    const FEED: &'static Feed;

    /// The result of a run, for the log and for the response to a manual invocation.
    type Outcome: Serialize + Send;

    /// Builds the state, before the first event.
    ///
    /// # Errors
    /// If the configuration cannot be used.
    fn new(config: &Config) -> Result<Self, StartError>;

    /// Opens the connections that the first event needs, besides the one to the table.
    fn warm_up(&self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Records the current data under a tick that `ticks` decides, and returns the tick. Recording a tick twice has the same result as
    /// recording it once. The provider's data is fetched for each tick and never cached.
    ///
    /// # Errors
    /// If the tick was not recorded completely. Recording it again completes it.
    fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> impl Future<Output = Result<(Tick, Self::Outcome), Box<dyn StandardError + Send + Sync>>> + Send;

    /// Writes the public files that the run has changed, if the service has public files.
    ///
    /// # Errors
    /// If a file is not written.
    fn publish(
        &self,
        table: Session<'_>,
        invocation: &Invocation,
        outcome: &Self::Outcome,
    ) -> impl Future<Output = Result<(), Box<dyn StandardError + Send + Sync>>> + Send {
        let _ = (table, invocation, outcome);
        std::future::ready(Ok(()))
    }

    /// Returns the effect of a run that succeeded, for the log.
    fn effect(outcome: &Self::Outcome) -> Effect {
        let _ = outcome;
        Effect::Recorded
    }

    /// Returns the causes if parts of the run failed. The run then fails at its end, after the heartbeat and the files of the other parts
    /// are written.
    fn failures(outcome: &Self::Outcome) -> &[String] {
        let _ = outcome;
        &[]
    }

    /// Returns the refresh of the provider's data that the run read; `None` if the run read no data, or data without a time.
    fn refresh(outcome: &Self::Outcome) -> Option<Refresh> {
        let _ = outcome;
        None
    }

    /// Returns the number of the provider's rows that the run read, for the log; `None` if the recorder does not count them.
    fn rows_read(outcome: &Self::Outcome) -> Option<RowsRead> {
        let _ = outcome;
        None
    }

    /// Returns the ticks that are certainly recorded after a run with this `tick` and `outcome`. A run may also record ticks that earlier
    /// runs missed.
    fn recorded(tick: Tick, outcome: &Self::Outcome) -> Vec<Tick> {
        let _ = outcome;
        vec![tick]
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
    /// Returns the message of the log line. Metrics count the lines `recorded`, so each tick must have at most one.
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

/// Counts the provider's rows in a run. Each number is a separate field of the log line, so that metric filters can read it.
#[derive(Debug, Clone, Copy)]
pub struct RowsRead {
    /// The number of rows that were read.
    pub read: usize,
    /// The number of invalid rows, which are left out.
    pub left_out: usize,
    /// Whether the run read all rows of the provider, so that the share of invalid rows can be compared with a threshold.
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
    /// Returns the latest time that the clock of another recorder may show; `None` in a backfill, whose events may be in any order.
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
    ) -> Result<(Tick, R::Outcome), Box<dyn StandardError + Send + Sync>> {
        let table = self.table.during_recording(invocation);
        let (tick, recorded) = self.recorder.record(table, due.ticks, invocation).await?;
        let mut failures = R::failures(&recorded).to_vec();
        if due.is_of_the_present {
            let ticks = R::recorded(tick, &recorded);
            if !ticks.is_empty() {
                let refresh = R::refresh(&recorded);
                match heartbeat::note(table, R::FEED, &ticks, refresh, due.latest()).await {
                    Ok(Some(heartbeat)) => warn_of_standstill::<R>(&heartbeat, due.now.into()),
                    Ok(None) => {}
                    Err(error) => failures.push(chain(&error)),
                }
            }
            let end = invocation.deadline().min(Instant::now() + PUBLISHING_TIME);
            let publishing = timeout_at(end, self.recorder.publish(table, invocation, &recorded));
            if let Err(error) = publishing.await.unwrap_or_else(|late| Err(late.into())) {
                tracing::error!(
                    function = R::NAME,
                    cause = chain(error.as_ref()),
                    "public files are not written"
                );
            }
        }
        if failures.is_empty() { Ok((tick, recorded)) } else { Err(failures.join("; ").into()) }
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
        let result = run.and_then(|(recorded_tick, recorded)| {
            tick = recorded_tick;
            effect = R::effect(&recorded);
            rows = R::rows_read(&recorded).filter(|_| effect != Effect::Nothing);
            let recorded = serde_json::to_value(&recorded)?;
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use common::upstream::StatusCode;

    use super::*;

    /// Runs `repeat` in an invocation of 50 s, less a margin of one second. The fetches fail with these failures in turn. Returns the
    /// second at which each fetch began, and the result.
    async fn fetches(failures: &[UpstreamError]) -> (Vec<u64>, Result<(), UpstreamError>) {
        let started = Instant::now();
        let now = UnixMilliseconds::new(1_777_388_400_000);
        let invocation = Invocation::new(now, started + Duration::from_secs(49));
        let began = Mutex::new(Vec::new());
        let fetch = |attempt: Invocation| {
            let mut began = began.lock().unwrap();
            let seconds = started.elapsed().as_secs();
            assert_eq!(
                attempt.now(),
                now.plus(started.elapsed()),
                "an attempt has the time at which it begins"
            );
            assert!(attempt.upstream_deadline() <= started + Duration::from_secs(40));
            began.push(seconds);
            let failure = failures.get((began.len() - 1) % failures.len()).cloned();
            async move { failure.map_or(Ok(()), Err) }
        };
        let result = repeat(&invocation, fetch).await;
        (began.into_inner().unwrap(), result)
    }

    fn timeout() -> UpstreamError {
        UpstreamError::Timeout { path: "/".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_is_repeated_with_pauses_until_40_seconds_after_the_run_began() {
        let (began, result) = fetches(&[timeout()]).await;
        assert_eq!(began, [0, 1, 3, 7, 15, 23, 31, 39]);
        assert!(matches!(result, Err(UpstreamError::Timeout { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_limit_is_waited_for_if_it_ends_in_time() {
        let limit = |seconds| UpstreamError::RateLimited { wait: Duration::from_secs(seconds) };
        assert_eq!(fetches(&[timeout(), limit(20), limit(30)]).await.0, [0, 1, 21]);
    }

    #[tokio::test(start_paused = true)]
    async fn every_unexpected_status_is_repeated_and_only_a_refused_key_is_not() {
        let (path, body) = ("/".to_owned(), String::new());
        for status in [301, 400, 401, 403, 404, 422, 451, 503].map(|code| StatusCode::from_u16(code).unwrap())
        {
            let failure = UpstreamError::Status { path: path.clone(), status, body: body.clone() };
            assert_eq!(fetches(&[failure]).await.0.len(), 8, "{status}");
        }
        let refused = UpstreamError::KeyRefused { path, status: StatusCode::FORBIDDEN, body };
        assert_eq!(fetches(&[refused]).await.0, [0]);
    }
}
