//! Parses a line of JSON. Operators write these files with their own programs, so the reason for a bad line
//! names the field and the allowed values.

use std::time::Duration;

use common::time::UnixSeconds;
use serde::Deserialize;

/// How far a time may be ahead of this machine's clock.
const CLOCK_SKEW: Duration = Duration::from_mins(1);

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadLine(String);

impl BadLine {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Returns the content of the line, which is one JSON object.
pub(crate) fn parse<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, BadLine> {
    // Serde would also accept a list of the fields' values.
    if !line.starts_with('{') {
        return Err(BadLine::new(format!("a line must be a JSON object, {{…}}, not {line}")));
    }
    let error = match serde_json::from_str(line) {
        Ok(content) => return Ok(content),
        Err(error) => error,
    };
    // Tracking the path of every field costs time, and only a bad line needs it.
    let reason = match serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(line))
    {
        Err(error_with_path) if error.is_data() => error_with_path.to_string(),
        _ => format!("invalid JSON: {error}"),
    };
    Err(BadLine(reason.replace(" at line 1 column ", " in column ")))
}

/// Checks that the time is not in the future.
pub(crate) fn past(field: &str, time: UnixSeconds, now: UnixSeconds) -> Result<UnixSeconds, BadLine> {
    if time <= now.plus(CLOCK_SKEW) {
        return Ok(time);
    }
    Err(BadLine(format!("{field}: {time} is in the future; the clock of this machine shows {now}")))
}
