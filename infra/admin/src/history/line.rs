//! A line of JSON, and what is said about one that cannot be used. People write these files with programs of their own,
//! so a reason names the field, what stands there and what may stand there, and never repeats a long value.

use std::fmt;

use common::excerpt::Excerpt;
use common::time::UnixSeconds;
use serde::Deserialize;
use serde::de::Error as _;

/// How much of what stands in a line a reason repeats, and how much of what may stand there.
const LONGEST_CAUSE: usize = 120;
const LONGEST_EXPECTATION: usize = 160;

/// How far ahead of this machine's clock a moment may be: no two clocks are the same.
const SKEW: std::time::Duration = std::time::Duration::from_mins(1);

/// Why a line cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadLine(String);

impl BadLine {
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What the line holds: one JSON object.
pub(crate) fn parse<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, BadLine> {
    // Serde would take a list for the fields in their order.
    if !line.trim_start().starts_with('{') {
        return Err(BadLine::because(format!(
            "a line must be a JSON object, {{…}}, not {}",
            Excerpt::of(line)
        )));
    }
    // Keeping the way to every field costs time; only a line that is bad needs it.
    serde_json::from_str(line).or_else(|_| parse_with_paths(line))
}

fn parse_with_paths<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, BadLine> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let parsed = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let reason = reason(error.inner());
        // The whole line has the path `.`, and a part that is no value yet the path `?`.
        let is_field = error.inner().is_data() && path.chars().any(char::is_alphanumeric);
        if is_field {
            BadLine(format!("{}: {reason}", Excerpt::up_to(LONGEST_CAUSE, &path)))
        } else {
            BadLine(reason)
        }
    })?;
    deserializer.end().map_err(|error| BadLine(reason(&error)))?;
    Ok(parsed)
}

/// What the parser says, without the line, which it always takes for the first.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    let text = match text.rsplit_once(", expected ") {
        Some((found, expected)) => format!(
            "{}, expected {}",
            Excerpt::up_to(LONGEST_CAUSE, found),
            Excerpt::up_to(LONGEST_EXPECTATION, expected)
        ),
        None => Excerpt::up_to(LONGEST_CAUSE + LONGEST_EXPECTATION, text).to_string(),
    };
    if error.is_data() { text } else { format!("it is not JSON: {text} in column {}", error.column()) }
}

/// A moment, unless it is yet to come.
pub(crate) fn past(field: &str, moment: UnixSeconds, now: UnixSeconds) -> Result<UnixSeconds, BadLine> {
    if moment <= now.plus(SKEW) {
        return Ok(moment);
    }
    Err(BadLine::because(format!(
        "{field}: {moment} is in the future: by the clock of this machine it is {now}"
    )))
}

/// Text that is not empty. For `deserialize_with`.
pub(crate) fn not_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() { Err(D::Error::custom("it must not be empty")) } else { Ok(text) }
}
