//! Schedules: `ScheduleV2` events of a function. The scheduler only hands an event to Lambda, so retries of a
//! failed event follow the function's `EventInvokeConfig` and not the schedule's `RetryPolicy`.

use std::time::Duration;

use super::section::Section;
use crate::error::Error;

/// Lambda's defaults for failed events.
const DEFAULT_MAX_AGE_S: u64 = 21_600;
const DEFAULT_MAX_RETRIES: u64 = 2;

/// A `ScheduleV2` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The schedule's name among the function's events.
    pub name: String,
    /// The time between two events.
    pub period: Duration,
    /// How long after each multiple of the period since 1970 an event is due; `None` for a rate, whose first
    /// period begins when the schedule is created.
    pub offset: Option<Duration>,
    /// `Input`: the event, in which `<aws.scheduler.scheduled-time>` stands for the due time.
    pub input: String,
    /// `MaximumEventAgeInSeconds`: the age at which a failed event is given up.
    pub max_age: Duration,
    /// `MaximumRetryAttempts`: the number of retries of a failed event.
    pub max_retries: u64,
}

/// The schedules of a function, without disabled ones.
///
/// # Errors
/// When a schedule has no input, or is neither a rate nor evenly spaced minutes of every hour.
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
        if event.text("State")?.as_deref() == Some("DISABLED") {
            continue;
        }
        let expression = event.required_text("ScheduleExpression")?;
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
            input: event.required_text("Input")?,
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

/// The period and the offset of `cron(OFFSET/PERIOD * * * ? *)`: minutes of every hour, evenly spaced. `*`
/// stands for every minute.
fn minutes(expression: &str) -> Option<(Duration, Duration)> {
    let minutes = expression.strip_prefix("cron(")?.strip_suffix(" * * * ? *)")?;
    let (first, step) = if minutes == "*" { ("0", "1") } else { minutes.split_once('/')? };
    let offset = first.parse().ok()?;
    let period = step.parse().ok()?;
    let is_even = (1..=60).contains(&period) && 60_u64.is_multiple_of(period) && offset < period;
    is_even.then(|| (Duration::from_mins(period), Duration::from_mins(offset)))
}

fn period(expression: &str) -> Option<Duration> {
    let (number, unit) = expression.strip_prefix("rate(")?.strip_suffix(')')?.split_once(' ')?;
    let unit_s = match unit {
        "minute" | "minutes" => 60,
        "hour" | "hours" => 60 * 60,
        "day" | "days" => 24 * 60 * 60,
        _ => return None,
    };
    let count: u64 = number.parse().ok().filter(|count| *count > 0)?;
    count.checked_mul(unit_s).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_a_rate_or_evenly_spaced_minutes() {
        let minutes = Duration::from_mins;
        for (expression, expected) in [
            ("rate(5 minutes)", Some((minutes(5), None))),
            ("rate(1 hour)", Some((minutes(60), None))),
            ("rate(2 days)", Some((minutes(48 * 60), None))),
            ("cron(* * * * ? *)", Some((minutes(1), Some(minutes(0))))),
            ("cron(2/5 * * * ? *)", Some((minutes(5), Some(minutes(2))))),
            ("rate(0 minutes)", None),
            ("rate(1.5 hours)", None),
            ("rate(1 second)", None),
            ("cron(0 12 * * ? *)", None),
            ("cron(2/7 * * * ? *)", None),
            ("cron(5/5 * * * ? *)", None),
            ("cron(0/0 * * * ? *)", None),
            ("cron(2 * * * ? *)", None),
        ] {
            assert_eq!(rhythm(expression), expected, "{expression}");
        }
    }
}
