//! Parses a line of JSON. Operators write these files with their own programs, so the reason for a bad line names the field,
//! its value and what is allowed. It shortens long values.

use std::fmt;

use common::response::excerpt::Excerpt;
use common::time::UnixSeconds;
use serde::Deserialize;
use serde::de::Error as _;
use tables::series::Slot;

/// How much of a value a reason repeats, and how much of what is allowed, in characters.
pub(super) const MAX_CAUSE: usize = 120;
const MAX_EXPECTATION: usize = 160;

/// How far ahead of this machine's clock a time may be.
const CLOCK_SKEW: std::time::Duration = std::time::Duration::from_mins(1);

/// Why a line cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadLine(String);

impl BadLine {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The content of the line: one JSON object.
pub(crate) fn parse<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, BadLine> {
    // Serde would accept a list of the fields.
    if !line.trim_start().starts_with('{') {
        return Err(BadLine::new(format!("a line must be a JSON object, {{…}}, not {}", Excerpt::of(line))));
    }
    // Tracking the path of every field costs time, and only a bad line needs it.
    serde_json::from_str(line).or_else(|_| parse_with_paths(line))
}

fn parse_with_paths<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, BadLine> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let parsed = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let reason = reason(error.inner());
        // The whole line has the path `.`, and an incomplete value the path `?`.
        let is_field = error.inner().is_data() && path.chars().any(char::is_alphanumeric);
        if is_field {
            BadLine(format!("{}: {reason}", Excerpt::up_to(MAX_CAUSE, &path)))
        } else {
            BadLine(reason)
        }
    })?;
    deserializer.end().map_err(|error| BadLine(reason(&error)))?;
    Ok(parsed)
}

/// The message of the parser without the number of the line, which is always 1.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    let text = match text.rsplit_once(", expected ") {
        Some((found, expected)) => {
            format!(
                "{}, expected {}",
                Excerpt::up_to(MAX_CAUSE, found),
                Excerpt::up_to(MAX_EXPECTATION, expected)
            )
        }
        None => Excerpt::up_to(MAX_CAUSE + MAX_EXPECTATION, text).to_string(),
    };
    if error.is_data() { text } else { format!("invalid JSON: {text} in column {}", error.column()) }
}

/// Checks that the time is not in the future.
pub(crate) fn past(field: &str, time: UnixSeconds, now: UnixSeconds) -> Result<UnixSeconds, BadLine> {
    if time <= now.plus(CLOCK_SKEW) {
        return Ok(time);
    }
    Err(BadLine::new(format!("{field}: {time} is in the future; the clock of this machine shows {now}")))
}

/// Checks that a slot starts at this time and has ended.
pub(crate) fn ended(slot: Slot, opened_at: UnixSeconds, now: UnixSeconds) -> Result<Slot, BadLine> {
    let name = slot.interval.name;
    if slot.start != opened_at {
        return Err(BadLine::new(format!(
            "opened_at: {opened_at} is not the start of an interval of {name}; the one that contains it starts at {}",
            slot.start
        )));
    }
    if slot.end() > now {
        return Err(BadLine::new(format!(
            "opened_at: the interval of {name} that starts at {opened_at} has not ended; the clock of this machine shows {now}"
        )));
    }
    Ok(slot)
}

/// Deserializes text that is not empty.
pub(crate) fn not_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() { Err(D::Error::custom("must not be empty")) } else { Ok(text) }
}
