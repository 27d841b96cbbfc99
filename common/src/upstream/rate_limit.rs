//! How long a 429 asks the service to send no further request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_http::http::header::{self, HeaderMap, HeaderName};

use crate::time::UnixMilliseconds;

/// The longest time for which a 429 stops requests, whatever it says.
pub(super) const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// The provider's own header, in seconds.
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Returns the wait in `Retry-After` (seconds or a date) or `RateLimit-Reset` (seconds), whichever is longer. Zero if there
/// is none: the name service sends neither.
pub(super) fn requested_wait(headers: &HeaderMap, now: UnixMilliseconds) -> Duration {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
    };
    let until = |text: &str| {
        let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        let now = UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(now.get()).ok()?))?;
        SystemTime::duration_since(&UNIX_EPOCH.checked_add(date)?, now).ok()
    };
    let retry_after = text(&header::RETRY_AFTER).and_then(|text| seconds(text).or_else(|| until(text)));
    let reset = text(&RATE_LIMIT_RESET).and_then(seconds);
    retry_after.max(reset).unwrap_or(Duration::ZERO).min(LONGEST_WAIT)
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
}
