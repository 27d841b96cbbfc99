//! How long the service sends no further request: for the wait that a 429 gives, and to keep a pace that
//! avoids a 429.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_http::http::header::{self, HeaderMap, HeaderName};

use crate::time::UnixMilliseconds;

/// The longest time for which a response stops requests, whatever its headers say.
pub(super) const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// The provider counts the requests of a key in windows of this length, unless its headers give a longer one.
const WINDOW: Duration = Duration::from_mins(5);

/// The number of requests with a key that may be sent ahead of an even pace, as a share of the limit.
const AHEAD: f64 = 0.1;

/// The provider's header with the number of requests that a key has in a window.
const RATE_LIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
/// The provider's header with the number of requests that are left in the window.
const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
/// The provider's header with the number of seconds until the window ends.
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Returns the wait in `Retry-After` (seconds or a date) or `RateLimit-Reset` (seconds), whichever is longer.
/// Zero if both are missing, as in responses of the name service.
pub(super) fn requested_wait(headers: &HeaderMap, now: UnixMilliseconds) -> Duration {
    let seconds = |text: &str| number(text).map(Duration::from_secs);
    let until = |text: &str| {
        let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        let now = UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(now.get()).ok()?))?;
        SystemTime::duration_since(&UNIX_EPOCH.checked_add(date)?, now).ok()
    };
    let retry_after =
        text(headers, &header::RETRY_AFTER).and_then(|text| seconds(text).or_else(|| until(text)));
    let reset = text(headers, &RATE_LIMIT_RESET).and_then(seconds);
    retry_after.max(reset).unwrap_or(Duration::ZERO).min(LONGEST_WAIT)
}

/// Returns how long to send no request with this key, so that the requests of all instances stay within
/// [`AHEAD`] of an even pace. Without this wait, the instances could use up the requests of five minutes in
/// the first seconds, and no new profile could be served until the window ends. Zero if one of the provider's
/// three headers is missing or invalid.
pub(super) fn wait_for_pace(headers: &HeaderMap) -> Duration {
    let value = |name| text(headers, name).and_then(number).and_then(|value| u32::try_from(value).ok());
    let (Some(limit), Some(remaining), Some(reset)) =
        (value(&RATE_LIMIT_LIMIT), value(&RATE_LIMIT_REMAINING), value(&RATE_LIMIT_RESET))
    else {
        return Duration::ZERO;
    };
    let (limit, left) = (f64::from(limit), f64::from(reset));
    let window = WINDOW.as_secs_f64().max(left);
    let used = limit - f64::from(remaining);
    let ahead = used - limit * (1.0 - left / window + AHEAD);
    // The quotient is not a number if the limit is 0.
    Duration::try_from_secs_f64(ahead * window / limit).unwrap_or(Duration::ZERO).min(LONGEST_WAIT)
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// Returns the whole number in a text, or the largest `u64` if the number is larger.
pub(super) fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use lambda_http::http::header::HeaderValue;

    use super::*;

    const NOW: UnixMilliseconds = UnixMilliseconds::new(1_777_388_600_000);

    fn wait(headers: &[(HeaderName, &str)]) -> u64 {
        let headers =
            headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        requested_wait(&headers.collect(), NOW).as_secs()
    }

    #[test]
    fn a_wait_is_read_in_every_spelling() {
        assert_eq!(wait(&[(RATE_LIMIT_RESET, "42")]), 42);
        assert_eq!(wait(&[(header::RETRY_AFTER, "7")]), 7);
        assert_eq!(wait(&[(header::RETRY_AFTER, "Tue, 28 Apr 2026 15:04:20 GMT")]), 60);
        assert_eq!(wait(&[(header::RETRY_AFTER, "7"), (RATE_LIMIT_RESET, "42")]), 42);
    }

    #[test]
    fn a_wait_is_at_most_an_hour_and_zero_if_it_cannot_be_read() {
        assert_eq!(wait(&[(header::RETRY_AFTER, "18446744073709551615")]), 3_600);
        assert_eq!(wait(&[(RATE_LIMIT_RESET, "99999999999999999999999")]), 3_600);
        for unreadable in ["", "-1", "1.5", "soon", "Mon, 01 Jan 2001 00:00:00 GMT"] {
            assert_eq!(wait(&[(header::RETRY_AFTER, unreadable)]), 0, "{unreadable}");
        }
        assert_eq!(wait(&[]), 0);
    }

    #[test]
    fn requests_are_at_most_a_tenth_of_the_limit_ahead_of_an_even_pace() {
        let wait = |limit: &str, remaining: &str, reset: &str| {
            let values =
                [(RATE_LIMIT_LIMIT, limit), (RATE_LIMIT_REMAINING, remaining), (RATE_LIMIT_RESET, reset)];
            let headers = values.into_iter().map(|(name, text)| (name, HeaderValue::from_str(text).unwrap()));
            wait_for_pace(&headers.collect()).as_secs()
        };
        for (remaining, reset, seconds) in [
            ("300", "300", 0),
            ("270", "300", 0),
            ("269", "300", 1),
            ("0", "300", 270),
            ("0", "100", 70),
            ("0", "30", 0),
            ("299", "0", 0),
            // The window is longer than usual.
            ("269", "600", 2),
        ] {
            assert_eq!(wait("300", remaining, reset), seconds, "{remaining} left, {reset} s");
        }
        for (limit, remaining, reset) in [
            ("0", "0", "300"),
            ("300", "400", "300"),
            ("x", "0", "300"),
            ("300", "", "300"),
            ("300", "0", "-1"),
        ] {
            assert_eq!(wait(limit, remaining, reset), 0, "{limit} {remaining} {reset}");
        }
        assert_eq!(wait("1", "0", "4294967295"), 3_600);
        assert_eq!(wait_for_pace(&HeaderMap::new()), Duration::ZERO);
    }
}
