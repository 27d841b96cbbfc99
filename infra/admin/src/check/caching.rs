//! The age of responses, and responses that a cache serves again.

use std::time::Duration;

use common::routes::{Route, VERSION_1};
use conformance::Mismatch;

use super::response::Response;

/// The outcome of comparing a response with an earlier one to the same request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// A cache served the earlier response again.
    Identical,
    /// The earlier response had expired.
    TooLate,
}

/// The route at `path`, if its responses are cached.
pub(super) fn cached_route(path: &str) -> Option<&'static Route> {
    VERSION_1.into_iter().find(|route| route.path == path)
}

/// Checks that the response expires `ttl` after its data was fetched.
///
/// # Errors
/// If it expires at another time, or does not say when.
pub(super) fn check_ttl(response: &Response, ttl: Duration) -> Result<(), Mismatch> {
    let times = response.fetched_at().zip(response.time("expires"));
    let received = times.and_then(|(fetched_at, expires_at)| expires_at.duration_since(fetched_at).ok());
    if received == Some(ttl) {
        return Ok(());
    }
    let text = |name: &str| response.header_text(name);
    Err(Mismatch::new(
        format!("an Expires that is {} s after Last-Modified", ttl.as_secs()),
        format!("Last-Modified {}, Expires {}", text("last-modified"), text("expires")),
    ))
}

/// Compares two responses to the same request.
///
/// # Errors
/// If `later` is neither a replay of `earlier` nor fetched after `earlier` expired.
pub(super) fn compare(earlier: &Response, later: &Response) -> Result<Replay, Mismatch> {
    let last_modified = |response: &Response| response.header("last-modified").map(str::to_owned);
    let (Some(fetched), Some(fetched_later)) = (last_modified(earlier), last_modified(later)) else {
        return Err(Mismatch::new("the header last-modified", "none"));
    };
    if fetched != fetched_later {
        let times = earlier.time("expires").zip(later.time("date"));
        return if times.is_none_or(|(expires_at, now)| expires_at <= now) {
            Ok(Replay::TooLate)
        } else {
            Err(Mismatch::new(
                "the earlier response, which has not expired",
                format!("Last-Modified {fetched_later} after {fetched}"),
            ))
        };
    }
    if later.is_cached() != Some(true) {
        return Err(Mismatch::new(
            "cached: true with the Last-Modified of an earlier response",
            later.summary(),
        ));
    }
    if around_cached(&earlier.text) != around_cached(&later.text)
        || earlier.header("expires") != later.header("expires")
    {
        return Err(Mismatch::new("the same bytes with the same Last-Modified", "other bytes"));
    }
    Ok(Replay::Identical)
}

/// The body before and after `cached`, in which a replay may differ.
fn around_cached(body: &str) -> (&str, &str) {
    const FRESH: &str = r#""cached":false"#;
    const CACHED: &str = r#""cached":true"#;
    body.rsplit_once(FRESH).or_else(|| body.rsplit_once(CACHED)).unwrap_or((body, ""))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderValue};

    use super::*;

    fn response(fetched_at: &'static str, is_cached: bool, data: &str) -> Response {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("last-modified", fetched_at),
            ("expires", "Sat, 21 Nov 2026 15:45:03 GMT"),
            ("date", "Sat, 21 Nov 2026 15:45:00 GMT"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let meta = format!(r#"{{"cached":{is_cached},"api_version":"v1"}}"#);
        let text = format!(r#"{{"success":true,"data":{data},"meta":{meta}}}"#);
        Response { status: 200, headers, encoded_bytes: text.len(), text, elapsed: Duration::from_millis(5) }
    }

    #[test]
    fn a_replay_differs_only_in_cached() {
        const FETCHED_AT: &str = "Sat, 21 Nov 2026 15:44:58 GMT";
        let first = response(FETCHED_AT, false, "{}");
        let expected = |later: &Response| compare(&first, later).unwrap_err().expected;
        assert_eq!(compare(&first, &response(FETCHED_AT, true, "{}")), Ok(Replay::Identical));
        assert!(expected(&response(FETCHED_AT, false, "{}")).starts_with("cached: true"));
        assert!(expected(&response(FETCHED_AT, true, "[]")).starts_with("the same bytes"));
        let later = response("Sat, 21 Nov 2026 15:44:59 GMT", false, "{}");
        assert!(expected(&later).starts_with("the earlier response"));
        assert_eq!(check_ttl(&first, Duration::from_secs(5)), Ok(()));
        assert!(check_ttl(&first, Duration::from_secs(6)).is_err());
    }
}
