//! Moments as the provider and the gateway write them. Time is an input everywhere: it comes with the event, so that
//! the same event always gives the same answer.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnixMilliseconds(i64);

impl UnixMilliseconds {
    /// Below this a request time is in seconds: as milliseconds it would lie before March 1973.
    const SMALLEST_MILLISECONDS: i64 = 100_000_000_000;

    /// The moment `milliseconds` after the Unix epoch.
    #[must_use]
    pub const fn new(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// The moment in a `requestContext.requestTimeEpoch`: milliseconds from API Gateway, seconds from SAM local.
    #[must_use]
    pub const fn from_request_time(epoch: i64) -> Self {
        if epoch < Self::SMALLEST_MILLISECONDS { Self(epoch.saturating_mul(1_000)) } else { Self(epoch) }
    }

    /// The time of this machine's clock, for events that carry none.
    #[must_use]
    pub fn of_system_clock() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    /// The number of milliseconds since the Unix epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// How far apart the two moments are, whichever is the earlier.
    #[must_use]
    pub const fn distance(self, other: Self) -> Duration {
        Duration::from_millis(self.0.abs_diff(other.0))
    }

    /// The moment `by` later.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This moment as an HTTP date (RFC 9110), to the second. A moment before 1970 or beyond the year 9999 is
    /// written as the nearest one that the format has.
    #[must_use]
    pub fn http_date(self) -> String {
        const LAST: u64 = 253_402_300_799_000;
        let since_epoch = Duration::from_millis(u64::try_from(self.0).unwrap_or(0).min(LAST));
        httpdate::fmt_http_date(UNIX_EPOCH + since_epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_time_in_seconds_is_the_same_moment_as_in_milliseconds() {
        let seconds = UnixMilliseconds::from_request_time(1_777_388_600);
        assert_eq!(seconds, UnixMilliseconds::from_request_time(1_777_388_600_000));
    }

    #[test]
    fn every_moment_has_an_http_date() {
        assert_eq!(UnixMilliseconds::new(1_777_388_600_999).http_date(), "Tue, 28 Apr 2026 15:03:20 GMT");
        for extreme in [i64::MIN, -1, 0, i64::MAX] {
            assert!(UnixMilliseconds::new(extreme).http_date().ends_with(" GMT"));
        }
    }
}
