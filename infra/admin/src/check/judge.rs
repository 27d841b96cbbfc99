//! What responses must look like. The envelopes and headers are checked independently of the OpenAPI document
//! (`functions/README.md`, Envelopes).

use common::response::envelope::API_VERSION;
use common::routes::VERSION_1;
use conformance::{JSON, Mismatch, Operation};
use serde_json::{Map, Value};

use super::response::{Response, at};

/// The `Cache-Control` of errors.
const ERROR_CACHE_CONTROL: &str = "no-store";
/// The headers of pages and their files. Without most of them, browsers protect a page less.
const FILE_HEADERS: [&str; 6] = [
    "cache-control",
    "content-security-policy",
    "content-type",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
];

/// The outcome of a judgement.
pub(super) type Verdict = Result<(), Mismatch>;

/// Returns the data of a success.
///
/// # Errors
/// The first difference.
pub(super) fn success(response: &Response) -> Result<Value, Mismatch> {
    // Shared caches know nothing of keys.
    common_headers(response, 200, "private")?;
    let mut body = response.json()?;
    let meta = at(&body, "/meta");
    let is_complete = body.as_object().map(Map::len) == Some(3)
        && meta.as_object().map(Map::len) == Some(2)
        && at(&body, "/success") == true
        && at(meta, "/api_version") == API_VERSION
        && at(meta, "/cached").is_boolean();
    match body.get_mut("data").map(Value::take) {
        Some(data @ Value::Object(_)) if is_complete => Ok(data),
        _ => Err(Mismatch::new(
            "a body with only success: true, data, and meta with only cached and api_version: v1",
            response.summary(),
        )),
    }
}

/// Returns the message of an error.
///
/// # Errors
/// The first difference from an error with this status.
pub(super) fn error(response: &Response, status: u16) -> Result<String, Mismatch> {
    common_headers(response, status, ERROR_CACHE_CONTROL)?;
    let body = response.json()?;
    let (error, code) = (at(&body, "/error"), code(status));
    let is_complete = body.as_object().map(Map::len) == Some(2)
        && error.as_object().map(Map::len) == Some(2)
        && at(&body, "/success") == false
        && at(error, "/code") == code;
    let message = at(error, "/message").as_str().filter(|message| !message.is_empty() && is_complete);
    let Some(message) = message else {
        let expected = format!("a body with only success: false and error with code {code} and message");
        return Err(Mismatch::new(expected, response.summary()));
    };
    let (is_right, expected) = if matches!(status, 429 | 500) {
        (response.retry_after().is_some(), "a Retry-After in seconds")
    } else {
        (!response.headers.contains_key("retry-after"), "no Retry-After")
    };
    if is_right {
        Ok(message.to_owned())
    } else {
        let received = format!("Retry-After {}", response.header_text("retry-after"));
        Err(Mismatch::new(expected, received))
    }
}

/// Judges an error with this status, whose message must contain all words.
pub(super) fn error_about(response: &Response, status: u16, words: &[&str]) -> Verdict {
    let message = error(response, status)?;
    match words.iter().find(|word| !message.contains(**word)) {
        None => Ok(()),
        Some(word) => Err(Mismatch::new(format!("a message that names {word}"), message)),
    }
}

/// Judges the status.
pub(super) fn status(response: &Response, expected: u16) -> Verdict {
    if response.status == expected {
        Ok(())
    } else {
        Err(Mismatch::new(format!("the status {expected}"), response.summary()))
    }
}

/// The status and the headers that every response with an envelope has.
fn common_headers(response: &Response, expected: u16, cache_control: &str) -> Verdict {
    status(response, expected)?;
    for (name, expected) in [
        ("content-type", JSON),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "Retry-After"),
        ("cache-control", cache_control),
    ] {
        header(response, name, expected)?;
    }
    Ok(())
}

fn header(response: &Response, name: &str, expected: &str) -> Verdict {
    if response.header(name) == Some(expected) {
        Ok(())
    } else {
        Err(Mismatch::new(format!("the header {name}: {expected}"), response.header_text(name)))
    }
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

/// Judges the response to an example: it conforms to the OpenAPI document, and expires a TTL after its data was fetched.
pub(super) fn example(operation: &Operation<'_>, response: &Response) -> Verdict {
    status(response, 200)?;
    operation.check_response(response.status, &response.headers, &response.text)?;
    let Some(route) = VERSION_1.into_iter().find(|route| route.path == operation.path()) else {
        return Ok(());
    };
    success(response)?;
    let times = response.time("last-modified").zip(response.time("expires"));
    let received = times.and_then(|(fetched_at, expires_at)| expires_at.duration_since(fetched_at).ok());
    if received == Some(route.cache) {
        return Ok(());
    }
    let text = |name: &str| response.header_text(name);
    Err(Mismatch::new(
        format!("an Expires that is {} s after Last-Modified", route.cache.as_secs()),
        format!("Last-Modified {}, Expires {}", text("last-modified"), text("expires")),
    ))
}

/// Judges repeated requests, of which a cache must have answered one with the response to the one before. Each instance of a
/// function has a cache of its own.
pub(super) fn replay(responses: &[Response]) -> Verdict {
    for response in responses {
        success(response)?;
    }
    let mut expected = "two responses with the same Last-Modified";
    for (earlier, later) in responses.iter().zip(responses.iter().skip(1)) {
        if earlier.header("last-modified") == later.header("last-modified") {
            if later.is_cached() == Some(true)
                && around_cached(&earlier.text) == around_cached(&later.text)
                && earlier.header("expires") == later.header("expires")
            {
                return Ok(());
            }
            expected = "the same bytes and cached: true with the Last-Modified of an earlier response";
        }
    }
    let received: Vec<_> = responses.iter().map(|response| response.header_text("last-modified")).collect();
    Err(Mismatch::new(expected, format!("Last-Modified {}", received.join(", "))))
}

/// The body before and after `cached`, in which a replay may differ.
fn around_cached(body: &str) -> (&str, &str) {
    const FRESH: &str = r#""cached":false"#;
    const CACHED: &str = r#""cached":true"#;
    body.rsplit_once(FRESH).or_else(|| body.rsplit_once(CACHED)).unwrap_or((body, ""))
}

/// Judges that two responses have the same text in this field of their data.
pub(super) fn same(plain: &Response, other: &Response, field: &str) -> Verdict {
    let (expected, received) = (success(plain)?, success(other)?);
    let (expected, received) = (at(&expected, field), at(&received, field));
    if expected.is_string() && expected == received {
        return Ok(());
    }
    Err(Mismatch::new(format!("a response about {expected}"), format!("a response about {received}")))
}

/// Judges the response to a preflight request.
pub(super) fn preflight(response: &Response) -> Verdict {
    if !matches!(response.status, 200 | 204) {
        return Err(Mismatch::new("the status 200 or 204", response.summary()));
    }
    for (name, expected) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET"),
        ("access-control-allow-headers", "x-api-key"),
    ] {
        let value = response.header(name).unwrap_or_default();
        if !value.split(',').any(|item| item.trim().eq_ignore_ascii_case(expected)) {
            let expected = format!("{expected} in the header {name}");
            return Err(Mismatch::new(expected, response.header_text(name)));
        }
    }
    Ok(())
}

/// Judges the responses to a request for gzip, one for no encoding and one for those of browsers. A cache that stores one form
/// must not serve it to clients of another.
pub(super) fn compression([compressed, plain, to_browser]: &[Response; 3]) -> Verdict {
    for (response, expected) in [(compressed, "gzip"), (plain, "identity"), (to_browser, "gzip")] {
        status(response, 200)?;
        let received = response.header("content-encoding").unwrap_or("identity");
        if received != expected {
            let text = |encoding: &str| format!("the content encoding {encoding}");
            return Err(Mismatch::new(text(expected), text(received)));
        }
    }
    if compressed.encoded_bytes >= plain.encoded_bytes {
        let received =
            format!("{} bytes with gzip, {} without", compressed.encoded_bytes, plain.encoded_bytes);
        return Err(Mismatch::new("fewer bytes with gzip", received));
    }
    // Another instance of the function may have fetched other data.
    let is_same_data = compressed.header("last-modified") == plain.header("last-modified");
    if is_same_data && around_cached(&compressed.text) != around_cached(&plain.text) {
        return Err(Mismatch::new("the same content with gzip and without", compressed.summary()));
    }
    Ok(())
}

/// Judges a page and the files that it loads.
pub(super) fn page(responses: &[Response]) -> Verdict {
    responses.iter().try_for_each(file)?;
    match responses {
        [page, _, ..] if page.text.starts_with("<!doctype html>") => Ok(()),
        _ => {
            let received = responses.first().map(Response::summary).unwrap_or_default();
            Err(Mismatch::new("an HTML page that loads files", received))
        }
    }
}

/// Judges a page or a file.
pub(super) fn file(response: &Response) -> Verdict {
    status(response, 200)?;
    if response.text.is_empty() {
        return Err(Mismatch::new("a page or a file", response.summary()));
    }
    match FILE_HEADERS.into_iter().find(|name| response.header(name).is_none()) {
        None => Ok(()),
        Some(name) => Err(Mismatch::new(format!("one header {name}"), response.header_text(name))),
    }
}

/// Judges a redirect to this location.
pub(super) fn redirect(response: &Response, location: &str) -> Verdict {
    if response.status == 308 && response.header("location") == Some(location) {
        return Ok(());
    }
    let received = format!("{} {}", response.status, response.header_text("location"));
    Err(Mismatch::new(format!("308 {location}"), received))
}
