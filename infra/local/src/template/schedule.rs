//! Schedules: `ScheduleV2` events of a function. The scheduler only hands an event to Lambda, so retries of a failed one
//! follow the function's `EventInvokeConfig` and not the schedule's `RetryPolicy`.

use std::time::Duration;

use super::section::Section;
use crate::error::Error;

/// Lambda's defaults.
const DEFAULT_MAX_AGE_S: u64 = 21_600;
const DEFAULT_MAX_RETRIES: u64 = 2;

/// A `ScheduleV2` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its name among the function's events.
    pub name: String,
    /// The time between two events.
    pub period: Duration,
    /// `Input`: the event. `<aws.scheduler.scheduled-time>` in it stands for the time at which it is due.
    pub input: String,
    /// `MaximumEventAgeInSeconds`: the age at which a failed event is given up.
    pub max_age: Duration,
    /// `MaximumRetryAttempts`: the number of retries of a failed event.
    pub max_retries: u64,
}

/// The schedules of a function.
///
/// # Errors
/// When one is not a rate, or has no input.
pub(super) fn read(function: &Section<'_>) -> Result<Vec<Schedule>, Error> {
    let events = function.section("Events")?;
    let config = function.section("EventInvokeConfig")?;
    let max_age_s = config.number("MaximumEventAgeInSeconds")?.unwrap_or(DEFAULT_MAX_AGE_S);
    let max_retries = config.number("MaximumRetryAttempts")?.unwrap_or(DEFAULT_MAX_RETRIES);
    let mut schedules = Vec::new();
    for name in events.entries.keys() {
        let event = events.section(name)?;
        if event.text("Type")?.as_deref() != Some("ScheduleV2") {
            continue;
        }
        let event = event.section("Properties")?;
        let expression = event.required("ScheduleExpression", event.text("ScheduleExpression")?)?;
        let period = period(&expression).ok_or_else(|| {
            let reason = format!("it must be a rate such as rate(5 minutes), not {expression:?}");
            event.invalid("ScheduleExpression", reason)
        })?;
        schedules.push(Schedule {
            name: name.clone(),
            period,
            input: event.required("Input", event.text("Input")?)?,
            max_age: Duration::from_secs(max_age_s),
            max_retries,
        });
    }
    Ok(schedules)
}

fn period(expression: &str) -> Option<Duration> {
    let (count, unit) = expression.strip_prefix("rate(")?.strip_suffix(')')?.split_once(' ')?;
    let unit_s = match unit {
        "minute" | "minutes" => 60,
        "hour" | "hours" => 60 * 60,
        "day" | "days" => 24 * 60 * 60,
        _ => return None,
    };
    let count: u64 = count.parse().ok().filter(|count| *count > 0)?;
    count.checked_mul(unit_s).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_a_rate() {
        for (text, hours) in
            [("rate(1 hour)", 1), ("rate(2 hours)", 2), ("rate(1 day)", 24), ("rate(60 minutes)", 1)]
        {
            assert_eq!(period(text), Some(Duration::from_hours(hours)), "{text}");
        }
        for text in ["cron(0 12 * * ? *)", "rate(0 minutes)", "rate(1.5 hours)", "rate(1 second)", ""] {
            assert_eq!(period(text), None, "{text}");
        }
    }
}
