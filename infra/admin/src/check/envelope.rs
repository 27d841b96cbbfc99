//! The envelopes of responses and their common headers, independent of the OpenAPI document
//! (`functions/README.md`, Envelopes).

use std::time::Duration;

use common::envelope::API_VERSION;
use conformance::{JSON, Mismatch};
use serde_json::{Map, Value};

use super::json::at;
use super::response::Response;

/// The `Cache-Control` of successes: shared caches know nothing of keys.
const SUCCESS_CACHE_CONTROL: &str = "private";
/// The `Cache-Control` of errors.
const ERROR_CACHE_CONTROL: &str = "no-store";
/// How far two clocks of AWS may differ, with the fractions of seconds that HTTP dates drop.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(3);

/// Checks that the response is a success, and returns its data.
///
/// # Errors
/// The first difference.
pub(super) fn check_success(response: &Response) -> Result<Value, Mismatch> {
    check_headers(response, 200, SUCCESS_CACHE_CONTROL)?;
    let mut body = response.json()?;
    let mismatch = |expected: &str| Mismatch::new(expected, response.summary());
    if body.as_object().map(Map::len) != Some(3) || at(&body, "/success") != true {
        return Err(mismatch("a body with only success: true, data and meta"));
    }
    let meta = at(&body, "/meta").as_object();
    if meta.map(Map::len) != Some(2) || at(&body, "/meta/api_version") != API_VERSION {
        return Err(mismatch("meta with only cached and api_version: v1"));
    }
    let Some(is_cached) = at(&body, "/meta/cached").as_bool() else {
        return Err(mismatch("meta.cached: true or false"));
    };
    check_age(response, is_cached)?;
    match body.get_mut("data").map(Value::take) {
        Some(data @ Value::Object(_)) => Ok(data),
        _ => Err(mismatch("data that is an object")),
    }
}

/// Checks that data with `cached: false` was fetched during the request, and that no data is from the future.
fn check_age(response: &Response, is_cached: bool) -> Result<(), Mismatch> {
    let (Some(fetched_at), Some(sent_at)) = (response.fetched_at(), response.time("date")) else {
        return Ok(());
    };
    let received = || {
        let text = |name: &str| response.header(name).unwrap_or_default().to_owned();
        format!("cached: {is_cached}, Last-Modified {}, Date {}", text("last-modified"), text("date"))
    };
    let requested_at = sent_at.checked_sub(response.elapsed + CLOCK_TOLERANCE);
    if !is_cached && requested_at.is_some_and(|requested_at| fetched_at < requested_at) {
        return Err(Mismatch::new("data that was fetched for this request, as cached is false", received()));
    }
    if fetched_at > sent_at + CLOCK_TOLERANCE {
        return Err(Mismatch::new("a Last-Modified that is not in the future", received()));
    }
    Ok(())
}

/// Checks that the response is an error with this status, and returns its message.
///
/// # Errors
/// The first difference.
pub(super) fn check_error(response: &Response, status: u16) -> Result<String, Mismatch> {
    check_headers(response, status, ERROR_CACHE_CONTROL)?;
    let body = response.json()?;
    let code = code(status);
    let error = at(&body, "/error");
    let is_complete = body.as_object().map(Map::len) == Some(2) && error.as_object().map(Map::len) == Some(2);
    let message = at(error, "/message").as_str().filter(|message| !message.is_empty());
    let Some(message) =
        message.filter(|_| is_complete && at(&body, "/success") == false && at(error, "/code") == code)
    else {
        let expected = format!("a body with only success: false and error with code {code} and message");
        return Err(Mismatch::new(expected, response.summary()));
    };
    let (is_right, expected) = if matches!(status, 429 | 500) {
        (response.retry_after().is_some(), "a Retry-After in seconds")
    } else {
        (!response.headers.contains_key("retry-after"), "no Retry-After")
    };
    if !is_right {
        let received = format!("Retry-After {}", response.header_text("retry-after"));
        return Err(Mismatch::new(expected, received));
    }
    Ok(message.to_owned())
}

/// Checks the status and the headers that every response has.
fn check_headers(response: &Response, status: u16, cache_control: &str) -> Result<(), Mismatch> {
    if response.status != status {
        return Err(Mismatch::new(format!("the status {status}"), response.summary()));
    }
    for (name, expected) in [
        ("content-type", JSON),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "Retry-After"),
        ("cache-control", cache_control),
    ] {
        if response.header(name) != Some(expected) {
            return Err(Mismatch::new(format!("the header {name}: {expected}"), response.header_text(name)));
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
