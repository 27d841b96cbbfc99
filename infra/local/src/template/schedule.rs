//! Schedules: `ScheduleV2` events of a function. The scheduler hands an event to Lambda and is done, so what becomes of a
//! failed one is the function's `EventInvokeConfig`; the schedule's `RetryPolicy` counts where there is none.

use std::time::Duration;

use super::{Section, broken};
use crate::Error;

/// The scheduler's and Lambda's own defaults: seconds and attempts.
const SCHEDULER_DEFAULTS: (u64, u64) = (86_400, 185);
const LAMBDA_DEFAULTS: (u64, u64) = (21_600, 2);

/// A `ScheduleV2` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its name among the function's events.
    pub name: String,
    /// From one event to the next.
    pub period: Duration,
    /// `Input`: the event, in which `<aws.scheduler.scheduled-time>` stands for the time that it is due. Without it the
    /// scheduler sends an event of its own.
    pub input: Option<String>,
    /// Whether `State` lets it run.
    pub enabled: bool,
    /// `MaximumEventAgeInSeconds`: when an event that failed is given up.
    pub max_age: Duration,
    /// `MaximumRetryAttempts`: how often an event that failed is tried again.
    pub max_retries: u64,
}

/// The schedules among a function's events.
///
/// # Errors
/// When one is not a rate.
pub(super) fn read(function: &Section<'_>) -> Result<Vec<Schedule>, Error> {
    let events = function.section("Events")?;
    let mut schedules = Vec::new();
    for name in events.entries.keys() {
        let event = events.section(name)?;
        if event.text("Type")?.as_deref() == Some("ScheduleV2") {
            schedules.push(read_schedule(name, &event.section("Properties")?, function)?);
        }
    }
    Ok(schedules)
}

fn read_schedule(name: &str, event: &Section<'_>, function: &Section<'_>) -> Result<Schedule, Error> {
    let expression = event.required("ScheduleExpression", event.text("ScheduleExpression")?)?;
    let period = period(&expression).ok_or_else(|| {
        let reason = format!(
            "the local cloud runs rates such as rate(5 minutes), in minutes, hours or days, and not {expression:?}"
        );
        broken(&event.place("ScheduleExpression"), reason)
    })?;
    let enabled = match event.text("State")?.as_deref() {
        None | Some("ENABLED") => true,
        Some("DISABLED") => false,
        Some(other) => {
            let reason = format!("it must be ENABLED or DISABLED, not {other:?}");
            return Err(broken(&event.place("State"), reason));
        }
    };
    let config = function.section("EventInvokeConfig")?;
    let (policy, (max_age_s, max_retries)) = if config.entries.is_empty() {
        (event.section("RetryPolicy")?, SCHEDULER_DEFAULTS)
    } else {
        (config, LAMBDA_DEFAULTS)
    };
    Ok(Schedule {
        name: name.to_owned(),
        period,
        input: event.text("Input")?,
        enabled,
        max_age: Duration::from_secs(policy.number("MaximumEventAgeInSeconds")?.unwrap_or(max_age_s)),
        max_retries: policy.number("MaximumRetryAttempts")?.unwrap_or(max_retries),
    })
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
    use serde_json::{Value, json};

    use super::super::expression::Scope;
    use super::*;

    fn schedule(properties: &Value) -> Result<Schedule, Error> {
        function(&json!({"Events": {"Tick": {"Type": "ScheduleV2", "Properties": properties}}}))
    }

    fn function(properties: &Value) -> Result<Schedule, Error> {
        let entries = properties.as_object().unwrap().clone();
        let scope = Scope::default();
        let section = Section { place: "Function.Properties".to_owned(), entries, scope: &scope };
        read(&section).map(|mut schedules| schedules.remove(0))
    }

    #[test]
    fn a_schedule_has_the_schedulers_defaults() {
        let read = schedule(&json!({"ScheduleExpression": "rate(5 minutes)"})).unwrap();
        let expected = Schedule {
            name: "Tick".to_owned(),
            period: Duration::from_mins(5),
            input: None,
            enabled: true,
            max_age: Duration::from_hours(24),
            max_retries: 185,
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_schedule_says_what_it_sends_and_for_how_long_it_tries() {
        let read = schedule(&json!({
            "ScheduleExpression": "rate(1 minute)",
            "Input": "{}",
            "State": "DISABLED",
            "RetryPolicy": {"MaximumEventAgeInSeconds": 120, "MaximumRetryAttempts": 0},
        }))
        .unwrap();
        assert_eq!((read.input.as_deref(), read.enabled), (Some("{}"), false));
        assert_eq!((read.max_age, read.max_retries), (Duration::from_mins(2), 0));
    }

    #[test]
    fn what_becomes_of_a_failed_event_is_the_functions_matter_if_it_says_so() {
        let properties =
            json!({"ScheduleExpression": "rate(1 minute)", "RetryPolicy": {"MaximumRetryAttempts": 9}});
        let read = function(&json!({
            "EventInvokeConfig": {"MaximumEventAgeInSeconds": 120},
            "Events": {"Tick": {"Type": "ScheduleV2", "Properties": properties}},
        }))
        .unwrap();
        assert_eq!((read.max_age, read.max_retries), (Duration::from_mins(2), 2));
    }

    #[test]
    fn a_period_is_a_rate() {
        for (text, hours) in
            [("rate(1 hour)", 1), ("rate(2 hours)", 2), ("rate(1 day)", 24), ("rate(60 minutes)", 1)]
        {
            assert_eq!(period(text), Some(Duration::from_hours(hours)), "{text}");
        }
        for text in [
            "cron(0 12 * * ? *)",
            "at(2026-01-01T00:00:00)",
            "rate(0 minutes)",
            "rate(-1 minutes)",
            "rate(1.5 hours)",
            "rate(1 second)",
            "rate(1  minute)",
            "rate(18446744073709551615 days)",
            "",
        ] {
            let said = schedule(&json!({"ScheduleExpression": text})).unwrap_err().to_string();
            let place = "Function.Properties.Events.Tick.Properties.ScheduleExpression";
            assert!(said.contains(place) && said.contains(&format!("{text:?}")), "{said}");
        }
    }
}
