//! Moments as the provider and the gateway write them. Time is an input everywhere: it comes with the event, so that
//! the same event always gives the same answer.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

    /// The moment that `text` gives as RFC 3339, such as `2026-11-21T15:04:05Z`, between the years 2001 and 2286, where
    /// Unix seconds have ten digits. `None` where it does not.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        const TEN_DIGITS: std::ops::Range<i64> = 1_000_000_000_000..10_000_000_000_000;
        let milliseconds = text.parse::<Timestamp>().ok()?.as_millisecond();
        TEN_DIGITS.contains(&milliseconds).then_some(Self(milliseconds))
    }
}

impl<'de> Deserialize<'de> for UnixMilliseconds {
    /// From RFC 3339.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_rfc3339(&text).ok_or_else(|| {
            serde::de::Error::custom("it must be RFC 3339 in UTC, between the years 2001 and 2286")
        })
    }
}

/// A moment in Unix seconds. It prints as RFC 3339 in UTC with seconds, as the contract has it (`decisions.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(i64);

impl UnixSeconds {
    /// The moment `seconds` after the Unix epoch.
    #[must_use]
    pub const fn new(seconds: i64) -> Self {
        Self(seconds)
    }

    /// The number of seconds since the Unix epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The beginning of the interval of this length in which the moment lies. Intervals begin at the Unix epoch.
    #[must_use]
    pub const fn rounded_down(self, interval: Duration) -> Self {
        let interval = interval.as_secs().cast_signed();
        Self(self.0 - self.0.rem_euclid(interval))
    }

    /// The moment `by` later.
    #[must_use]
    pub const fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(by.as_secs()))
    }

    /// The moment `by` earlier.
    #[must_use]
    pub const fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub_unsigned(by.as_secs()))
    }
}

impl From<UnixMilliseconds> for UnixSeconds {
    fn from(moment: UnixMilliseconds) -> Self {
        Self(moment.0.div_euclid(1_000))
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Beyond the years that RFC 3339 has, the nearest one.
        let bounds = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
        let nearest = self.0.clamp(*bounds.start(), *bounds.end());
        Timestamp::from_second(nearest).map_err(|_| fmt::Error)?.fmt(formatter)
    }
}

impl Serialize for UnixSeconds {
    /// As RFC 3339.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnixSeconds {
    /// From RFC 3339; parts of a second are dropped.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UnixMilliseconds::deserialize(deserializer).map(Self::from)
    }
}

/// The minute that a recorder records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Tick(UnixSeconds);

impl Tick {
    /// The minute in which the moment lies.
    #[must_use]
    pub fn of(moment: impl Into<UnixSeconds>) -> Self {
        Self(moment.into().rounded_down(Duration::from_mins(1)))
    }

    /// The beginning of the minute.
    #[must_use]
    pub const fn time(self) -> UnixSeconds {
        self.0
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
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

    #[test]
    fn rfc_3339_is_read_in_any_zone_and_written_in_utc() {
        for text in ["2026-04-28T15:03:20Z", "2026-04-28T17:03:20.999+02:00"] {
            let moment = UnixMilliseconds::from_rfc3339(text).unwrap();
            assert_eq!(UnixSeconds::from(moment).to_string(), "2026-04-28T15:03:20Z");
            assert_eq!(Tick::of(moment).to_string(), "2026-04-28T15:03:00Z");
        }
        for text in ["", "1777388600", "2026-04-28", "2026-04-28T15:03:20", "1999-01-01T00:00:00Z"] {
            assert_eq!(UnixMilliseconds::from_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn every_second_can_be_printed() {
        for extreme in [i64::MIN, -1, 0, i64::MAX] {
            assert!(UnixSeconds::new(extreme).to_string().ends_with('Z'));
        }
    }

    #[test]
    fn intervals_begin_at_the_epoch() {
        let interval = Duration::from_hours(3);
        assert_eq!(UnixSeconds::new(10_799).rounded_down(interval), UnixSeconds::new(0));
        assert_eq!(UnixSeconds::new(10_800).rounded_down(interval), UnixSeconds::new(10_800));
        assert_eq!(UnixSeconds::new(-1).rounded_down(interval), UnixSeconds::new(-10_800));
    }
}
