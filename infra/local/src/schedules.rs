//! The scheduler: sends functions the events of their schedules when they are due, by the cloud's clock, so that recorders
//! run on a laptop as they do when they are deployed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::json;
use simulator::Clock;
use tokio::task::JoinSet;

use crate::instance::Failure;
use crate::invoke_api::Pools;
use crate::logs::Logs;
use crate::pool::Pool;
use crate::template::{Schedule, Template};

/// How often the clock is looked at: a test may have moved it.
const GLANCE: Duration = Duration::from_millis(100);
/// Before an event that failed is tried again; each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How many events of one schedule may be under way. More come together only if the function hangs.
const MAX_UNDER_WAY: usize = 4;
/// What stands for the time that an event is due.
const SCHEDULED_TIME: &str = "<aws.scheduler.scheduled-time>";

struct Scheduled {
    schedule: Schedule,
    pool: Arc<Pool>,
    clock: Clock,
    logs: Logs,
}

/// Runs every schedule of the template until what it returns is dropped.
pub(crate) fn start(template: &Template, pools: &Pools, clock: &Clock, logs: &Logs) -> JoinSet<()> {
    let mut running = JoinSet::new();
    for function in template.functions.values() {
        let Some(pool) = pools.get(&function.logical_id) else { continue };
        for schedule in function.schedules.iter().filter(|schedule| schedule.enabled) {
            let scheduled = Scheduled {
                schedule: schedule.clone(),
                pool: Arc::clone(pool),
                clock: clock.clone(),
                logs: logs.clone(),
            };
            // Read here and not when the task first runs: what is due from now on is not to be missed.
            let last_ms = scheduled.latest_due_ms();
            running.spawn(Arc::new(scheduled).run(last_ms));
        }
    }
    running
}

impl Scheduled {
    /// Sends what is due after `last_ms`.
    async fn run(self: Arc<Self>, mut last_ms: i64) {
        let mut under_way = JoinSet::new();
        loop {
            tokio::time::sleep(GLANCE).await;
            while under_way.try_join_next().is_some() {}
            let due_ms = self.latest_due_ms();
            // A clock that was set back by a moment must not bring the same event again; one that was set back further
            // must not stop the schedule until it is where it was.
            let is_set_back = last_ms.saturating_sub(due_ms) > self.period_ms();
            if due_ms <= last_ms && !is_set_back {
                continue;
            }
            // Times that passed while the machine slept are gone, as if the service had been down.
            last_ms = due_ms;
            if under_way.len() < MAX_UNDER_WAY {
                under_way.spawn(Arc::clone(&self).deliver(due_ms));
            } else {
                self.log(&format!(
                    "skips {}: {MAX_UNDER_WAY} earlier events are under way",
                    rfc_3339(due_ms)
                ));
            }
        }
    }

    fn period_ms(&self) -> i64 {
        // Not zero, which would be no period to divide by.
        i64::try_from(self.schedule.period.as_millis()).unwrap_or(i64::MAX).max(1)
    }

    /// The latest multiple of the period since 1970, so that minutes are full minutes.
    fn latest_due_ms(&self) -> i64 {
        let now_ms = self.clock.now_ms();
        now_ms - now_ms.rem_euclid(self.period_ms())
    }

    async fn deliver(self: Arc<Self>, due_ms: i64) {
        let event = event(self.schedule.input.as_deref(), due_ms);
        let max_age_ms = i64::try_from(self.schedule.max_age.as_millis()).unwrap_or(i64::MAX);
        let mut pause = FIRST_PAUSE;
        let mut attempts = 1;
        loop {
            let failure = match self.pool.invoke(event.clone()).await {
                Ok(_) | Err(Failure::Stopped) => return,
                Err(failure) => failure,
            };
            let age_ms = self.clock.now_ms().saturating_sub(due_ms);
            let pause_ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
            if attempts > self.schedule.max_retries || age_ms.saturating_add(pause_ms) > max_age_ms {
                self.log(&format!(
                    "the event goes to the dead-letter queue after {attempts} attempts ({failure}): {}",
                    String::from_utf8_lossy(&event)
                ));
                return;
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            attempts += 1;
        }
    }

    fn log(&self, text: &str) {
        self.logs.push(&format!(
            "local: {}: schedule {}: {text}",
            self.pool.function().binary,
            self.schedule.name
        ));
    }
}

/// What the function gets.
fn event(input: Option<&str>, due_ms: i64) -> Bytes {
    let time = rfc_3339(due_ms);
    let event = match input {
        Some(input) => input.replace(SCHEDULED_TIME, &time),
        None => json!({
            "version": "0",
            "id": uuid::Uuid::new_v4().to_string(),
            "detail-type": "Scheduled Event",
            "source": "aws.scheduler",
            "account": crate::ACCOUNT_ID,
            "time": time,
            "region": crate::REGION,
            "resources": [],
            "detail": "{}",
        })
        .to_string(),
    };
    Bytes::from(event)
}

/// In UTC, to the second.
fn rfc_3339(time_ms: i64) -> String {
    Timestamp::from_second(time_ms.div_euclid(1000)).map(|time| time.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_carries_the_time_that_it_is_due() {
        let input = "{\"time\":\"<aws.scheduler.scheduled-time>\",\"id\":\"<aws.scheduler.execution-id>\"}";
        let expected = "{\"time\":\"2026-02-03T04:05:00Z\",\"id\":\"<aws.scheduler.execution-id>\"}";
        assert_eq!(event(Some(input), 1_770_091_500_000), expected);
        let own: serde_json::Value = serde_json::from_slice(&event(None, 1_770_091_500_000)).unwrap();
        assert_eq!(own["time"], "2026-02-03T04:05:00Z");
    }
}
