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
    /// The time from a multiple of the period since 1970 until the event that is due then; `None` for a rate, which counts from the
    /// creation of the schedule.
    pub offset: Option<Duration>,
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
/// When one is neither a rate nor minutes of every hour, evenly spaced, or has no input.
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
        let (period, offset) = rhythm(&expression).ok_or_else(|| {
            let reason = format!(
                "it must be a rate such as rate(5 minutes), or minutes such as cron(* * * * ? *) or cron(2/5 * * * ? *), not {expression:?}"
            );
            event.invalid("ScheduleExpression", reason)
        })?;
        schedules.push(Schedule {
            name: name.clone(),
            period,
            offset,
            input: event.required("Input", event.text("Input")?)?,
            max_age: Duration::from_secs(max_age_s),
            max_retries,
        });
    }
    Ok(schedules)
}

/// The period and the offset of a schedule expression.
fn rhythm(expression: &str) -> Option<(Duration, Option<Duration>)> {
    let of_minutes = || minutes(expression).map(|(period, offset)| (period, Some(offset)));
    period(expression).map(|period| (period, None)).or_else(of_minutes)
}

/// The period and the offset of `cron(OFFSET/PERIOD * * * ? *)`: minutes of every hour, evenly spaced. `*` stands for every minute.
fn minutes(expression: &str) -> Option<(Duration, Duration)> {
    let minutes = expression.strip_prefix("cron(")?.strip_suffix(" * * * ? *)")?;
    let (offset, period) = if minutes == "*" { ("0", "1") } else { minutes.split_once('/')? };
    let (offset, period) = (offset.parse().ok()?, period.parse().ok()?);
    let is_even = (1..=60).contains(&period) && 60_u64.is_multiple_of(period) && offset < period;
    is_even.then(|| (Duration::from_mins(period), Duration::from_mins(offset)))
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

    #[test]
    fn minutes_of_every_hour_have_a_period_and_an_offset() {
        let five = Duration::from_mins(5);
        assert_eq!(rhythm("cron(2/5 * * * ? *)"), Some((five, Some(Duration::from_mins(2)))));
        assert_eq!(rhythm("rate(5 minutes)"), Some((five, None)));
        let every_minute = Some((Duration::from_mins(1), Some(Duration::ZERO)));
        assert_eq!(rhythm("cron(* * * * ? *)"), every_minute);
        assert_eq!(rhythm("cron(0/1 * * * ? *)"), every_minute);
        for text in [
            "cron(2/7 * * * ? *)",
            "cron(5/5 * * * ? *)",
            "cron(0/0 * * * ? *)",
            "cron(2 * * * ? *)",
            "cron(2/5 1 * * ? *)",
            "cron(* 1 * * ? *)",
        ] {
            assert_eq!(rhythm(text), None, "{text}");
        }
    }
}
