//! The scheduler. It sends functions the events of their schedules, by the cloud's clock.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;
use simulator::Clock;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::instance::Failure;
use crate::pool::{Pool, Pools};
use crate::template::{Schedule, Template};

const MINUTE_MS: i64 = 60_000;
/// How often the clock is read: a test may have moved it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The backoff before the first retry of a failed event. It doubles with each retry.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_mins(1);
/// The limit for concurrent events of one schedule. It is reached only if the function hangs.
const MAX_CONCURRENT: usize = 4;
/// The placeholder for the time at which an event is due.
const SCHEDULED_TIME: &str = "<aws.scheduler.scheduled-time>";
/// The field of an event that makes a recorder accept the event's minute, regardless of the system's clock.
const BACKFILL: &str = "backfill";

struct Scheduled {
    schedule: Schedule,
    /// How long after each multiple of the period since 1970 an event is due.
    offset: Duration,
    /// How long after its due time an event is sent.
    delay: Duration,
    pool: Arc<Pool>,
    clock: Clock,
}

/// Signals for the events that schedules send at the start of the cloud, for the current minute.
#[derive(Clone)]
pub(crate) struct AtStart {
    /// Becomes true when the newest minutes of the past are stored. Schedules that run less often than every
    /// minute wait for it, because the first candle is built from those minutes.
    pub(crate) newest_minutes: watch::Receiver<bool>,
    /// Dropped when the functions that run every minute have responded.
    pub(crate) minutes_recorded: mpsc::Sender<()>,
}

/// Runs all schedules of the template until the returned set is dropped. Events of a `rate` are due
/// `begin_after` past each full period; events of a `cron` are sent `begin_after` late.
pub(crate) fn start(
    template: &Template,
    pools: &Pools,
    clock: &Clock,
    begin_after: Duration,
    at_start: Option<&AtStart>,
) -> JoinSet<()> {
    let mut running = JoinSet::new();
    for function in template.functions.values() {
        let Some(pool) = pools.get(&function.logical_id) else { continue };
        for schedule in &function.schedules {
            let scheduled = Scheduled {
                schedule: schedule.clone(),
                offset: schedule.offset.unwrap_or(begin_after),
                delay: schedule.offset.map_or(Duration::ZERO, |_| begin_after),
                pool: Arc::clone(pool),
                clock: clock.clone(),
            };
            // The clock is read before the task first runs, so that no event after this point is missed.
            let now_ms = clock.now_ms();
            let last_ms = scheduled.latest_due_ms(now_ms);
            let scheduled = Arc::new(scheduled);
            let at_start = at_start.cloned();
            running.spawn(async move {
                if let Some(AtStart { mut newest_minutes, minutes_recorded }) = at_start {
                    if scheduled.period_ms() > MINUTE_MS {
                        drop(minutes_recorded);
                        // An error means that no past is generated.
                        let _ = newest_minutes.wait_for(|is_stored| *is_stored).await;
                    }
                    // The clock is read again here, because recorders refuse an event that is minutes old.
                    let now_ms = scheduled.clock.now_ms();
                    Arc::clone(&scheduled).deliver(now_ms - now_ms.rem_euclid(MINUTE_MS)).await;
                }
                // The schedule starts only now, so that two concurrent events do not double the load on the
                // provider. An event that became due in the meantime is sent late.
                scheduled.run(last_ms).await;
            });
        }
    }
    running
}

impl Scheduled {
    /// Sends the events that are due after `last_ms`.
    async fn run(self: Arc<Self>, mut last_ms: i64) {
        let mut events = JoinSet::new();
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            while events.try_join_next().is_some() {}
            let due_ms = self.latest_due_ms(self.clock.now_ms());
            // If the clock is set back by less than a period, no event may repeat. If it is set back further,
            // the schedule must continue.
            let is_set_back = last_ms.saturating_sub(due_ms) > self.period_ms();
            if due_ms <= last_ms && !is_set_back {
                continue;
            }
            // Events that were due while the machine slept are skipped.
            last_ms = due_ms;
            if events.len() < MAX_CONCURRENT {
                events.spawn(Arc::clone(&self).deliver(due_ms));
            } else {
                self.log(&format!(
                    "skips {}: {MAX_CONCURRENT} earlier events are still running",
                    rfc_3339(due_ms)
                ));
            }
        }
    }

    fn period_ms(&self) -> i64 {
        // Not zero, because it is a divisor.
        i64::try_from(self.schedule.period.as_millis()).unwrap_or(i64::MAX).max(1)
    }

    /// The due time of the latest event that is sent by `now_ms`: a multiple of the period since 1970, plus
    /// the offset.
    fn latest_due_ms(&self, now_ms: i64) -> i64 {
        let latest_ms = now_ms - i64::try_from(self.delay.as_millis()).unwrap_or_default();
        let offset_ms = i64::try_from(self.offset.as_millis()).unwrap_or(i64::MAX);
        latest_ms - latest_ms.saturating_sub(offset_ms).rem_euclid(self.period_ms())
    }

    async fn deliver(self: Arc<Self>, due_ms: i64) {
        let event = event(&self.schedule.input, due_ms, &self.clock);
        let max_age_ms = i64::try_from(self.schedule.max_age.as_millis()).unwrap_or(i64::MAX);
        let mut backoff = FIRST_BACKOFF;
        let mut attempts = 1;
        loop {
            let failure = match self.pool.invoke(event.clone()).await {
                Ok(_) | Err(Failure::Stopped) => return,
                Err(failure) => failure,
            };
            let age_ms = self.clock.now_ms().saturating_sub(due_ms);
            let backoff_ms = i64::try_from(backoff.as_millis()).unwrap_or(i64::MAX);
            if attempts > self.schedule.max_retries || age_ms.saturating_add(backoff_ms) > max_age_ms {
                self.log(&format!(
                    "the event is given up after {attempts} attempts ({failure}): {}",
                    String::from_utf8_lossy(&event)
                ));
                return;
            }
            tokio::time::sleep(backoff).await;
            backoff = MAX_BACKOFF.min(backoff * 2);
            attempts += 1;
        }
    }

    fn log(&self, text: &str) {
        self.pool.log(&format!("schedule {}: {text}", self.schedule.name));
    }
}

/// The event of a schedule. If the cloud's clock does not show the system's time, an event with a time is
/// marked as a backfill: without this mark, recorders refuse an event that is not from the present by the
/// system's clock.
fn event(input: &str, due_ms: i64, clock: &Clock) -> Bytes {
    let text = input.replace(SCHEDULED_TIME, &rfc_3339(due_ms));
    if clock.is_of_system() || !input.contains(SCHEDULED_TIME) {
        return Bytes::from(text);
    }
    let Ok(Value::Object(mut event)) = serde_json::from_str(&text) else { return Bytes::from(text) };
    event.insert(BACKFILL.to_owned(), true.into());
    Bytes::from(Value::Object(event).to_string())
}

/// The time in UTC, to the second.
fn rfc_3339(time_ms: i64) -> String {
    Timestamp::from_second(time_ms.div_euclid(1000)).map(|time| time.to_string()).unwrap_or_default()
}
