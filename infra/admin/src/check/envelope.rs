//! The two envelopes and the headers around them (`interface.md`, parts 1 and 7), whatever the API description says.

use std::time::Duration;

use common::envelope::API_VERSION;
use serde_json::Value;

use super::answer::Answer;
use super::part::part;
use super::report::Failure;

const JSON: &str = "application/json";
/// In `Cache-Control`: not for caches that many use, because they know nothing of keys; errors for no cache at all.
const PRIVATE: &str = "private";
const NOT_STORED: &str = "no-store";
/// How far two clocks of AWS, and the seconds that HTTP dates are cut to, may be apart.
const TOLERANCE: Duration = Duration::from_secs(3);

/// That this is an answer; its data.
///
/// # Errors
/// What is wrong with it.
pub(super) fn success(answer: &Answer) -> Result<Value, Failure> {
    headers(answer, 200, PRIVATE)?;
    let mut body = answer.json()?;
    let wrong = |expected: &str| Failure::new(expected, answer.shown());
    let meta = body.get("meta").and_then(Value::as_object);
    let cached = meta.and_then(|meta| meta.get("cached")).and_then(Value::as_bool);
    if body.as_object().map(serde_json::Map::len) != Some(3)
        || part(&body, &["success"]) != &Value::Bool(true)
    {
        return Err(wrong("success: true, data and meta, and nothing else"));
    }
    if meta.map(serde_json::Map::len) != Some(2) || part(&body, &["meta", "api_version"]) != API_VERSION {
        return Err(wrong("meta with cached and api_version v1, and nothing else"));
    }
    let Some(cached) = cached else { return Err(wrong("meta.cached that is true or false")) };
    fresh_as_it_says(answer, cached)?;
    match body.get_mut("data").map(Value::take) {
        Some(data @ Value::Object(_)) => Ok(data),
        _ => Err(wrong("data that is an object")),
    }
}

/// That an answer which says that it was fetched for this request was not fetched before it, and none after it.
fn fresh_as_it_says(answer: &Answer, cached: bool) -> Result<(), Failure> {
    let (Some(fetched), Some(answered)) = (answer.moment("last-modified"), answer.moment("date")) else {
        return Ok(());
    };
    let shown = || {
        let text = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        format!("cached: {cached}, Last-Modified {}, Date {}", text("last-modified"), text("date"))
    };
    let asked = answered.checked_sub(answer.elapsed + TOLERANCE);
    if !cached && asked.is_some_and(|asked| fetched < asked) {
        return Err(Failure::new("with cached: false, data that was fetched for this request", shown()));
    }
    if fetched > answered + TOLERANCE {
        return Err(Failure::new("data that was not fetched in the future", shown()));
    }
    Ok(())
}

/// That this is an error with the status and the code that goes with it; its message.
///
/// # Errors
/// What is wrong with it.
pub(super) fn error(answer: &Answer, status: u16) -> Result<String, Failure> {
    headers(answer, status, NOT_STORED)?;
    let body = answer.json()?;
    let code = code(status);
    let expected = || {
        Failure::new(
            format!("success: false and error with code {code} and message, and nothing else"),
            answer.shown(),
        )
    };
    let error = body.get("error").and_then(Value::as_object).ok_or_else(expected)?;
    let message = error.get("message").and_then(Value::as_str).filter(|message| !message.is_empty());
    let message = message.ok_or_else(expected)?;
    let is_complete = body.as_object().map(serde_json::Map::len) == Some(2) && error.len() == 2;
    if !is_complete
        || part(&body, &["success"]) != &Value::Bool(false)
        || part(&body, &["error", "code"]) != code
    {
        return Err(expected());
    }
    let (is_right, expected) = if matches!(status, 429 | 500) {
        (answer.retry_after().is_some(), "a Retry-After in seconds")
    } else {
        (!answer.headers.contains_key("retry-after"), "no Retry-After")
    };
    if !is_right {
        return Err(Failure::new(expected, format!("Retry-After {}", answer.shown_header("retry-after"))));
    }
    Ok(message.to_owned())
}

/// The status and what every answer has around it.
fn headers(answer: &Answer, status: u16, cache_control: &str) -> Result<(), Failure> {
    if answer.status != status {
        return Err(Failure::new(format!("the status {status}"), answer.shown()));
    }
    for (name, expected) in [
        ("content-type", JSON),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "Retry-After"),
        ("cache-control", cache_control),
    ] {
        if answer.header(name) != Some(expected) {
            return Err(Failure::new(format!("the header {name}: {expected}"), answer.shown_header(name)));
        }
    }
    Ok(())
}

/// The code of an error with this status.
fn code(status: u16) -> &'static str {
    match status {
        400 => "BAD_REQUEST",
        401 => "UNAUTHORIZED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        429 => "RATE_LIMITED",
        _ => "INTERNAL_ERROR",
    }
}
