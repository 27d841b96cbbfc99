//! Points in time, in the forms of the provider, the gateway and the clients. The current time of a request
//! is part of its event, so that the same event always has the same result. Only recorders and events without
//! a time use the system clock.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time in Unix milliseconds. It serialises as RFC 3339 in UTC, with three digits of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMilliseconds(i64);

impl UnixMilliseconds {
    /// A request time below this number must be in seconds: in milliseconds, it would be before March 1973.
    const SMALLEST_MILLISECONDS: i64 = 100_000_000_000;

    /// The time `milliseconds` after the Unix epoch.
    #[must_use]
    pub const fn new(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// The time in a `requestContext.requestTimeEpoch`: in milliseconds from API Gateway, in seconds from SAM
    /// local.
    #[must_use]
    pub const fn from_request_time(epoch: i64) -> Self {
        if epoch < Self::SMALLEST_MILLISECONDS { Self(epoch.saturating_mul(1_000)) } else { Self(epoch) }
    }

    /// The time of the system clock, for events without a time and for recorders.
    #[must_use]
    pub fn of_system_clock() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Returns the absolute difference.
    #[must_use]
    pub const fn distance(self, other: Self) -> Duration {
        Duration::from_millis(self.0.abs_diff(other.0))
    }

    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns the first whole second that is not before this time.
    #[must_use]
    pub const fn rounded_up(self) -> UnixSeconds {
        let floor = self.0.div_euclid(1_000);
        UnixSeconds(if self.0.rem_euclid(1_000) == 0 { floor } else { floor + 1 })
    }

    /// Returns the HTTP date (RFC 9110), to the second. A time before 1970 or after the year 9999 gives the
    /// nearest date in these years.
    #[must_use]
    pub fn http_date(self) -> String {
        const LAST: u64 = 253_402_300_799_000;
        let since_epoch = Duration::from_millis(u64::try_from(self.0).unwrap_or(0).min(LAST));
        httpdate::fmt_http_date(UNIX_EPOCH + since_epoch)
    }

    /// Parses a time of RFC 3339, such as `2026-11-21T15:04:05Z`. `None` if `text` has another form, or is
    /// outside the years 2001 to 2286, in which Unix seconds have ten digits.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        Pieces::parse(text).ok().filter(has_rfc3339_offset)?;
        let milliseconds = text.parse::<Timestamp>().ok()?.as_millisecond();
        let time = Self(milliseconds);
        UnixSeconds::from(time).has_ten_digits().then_some(time)
    }

    /// Parses a time of RFC 3339 in any of the format's years. A time outside the supported range becomes the
    /// nearest supported time. `None` if `text` has another form.
    #[must_use]
    pub fn nearest_to_rfc3339(text: &str) -> Option<Self> {
        let (date_time, fraction, offset) = rfc3339_parts(text)?;
        // RFC 3339 allows any number of digits in a fraction, but the parser accepts at most nine.
        let fraction = fraction.get(..9).unwrap_or(fraction);
        let text = format!("{date_time}.{fraction}{offset}");
        let pieces = Pieces::parse(&text).ok().filter(has_rfc3339_offset)?;
        let offset = pieces.to_numeric_offset()?;
        let time = pieces.date().to_datetime(pieces.time()?);
        let nearest = if pieces.date().year() < 5_000 { Timestamp::MIN } else { Timestamp::MAX };
        let timestamp = offset.to_timestamp(time).unwrap_or(nearest);
        Some(Self(timestamp.as_millisecond()))
    }
}

/// Whether the offset from UTC is less than a day, as RFC 3339 requires. The parser accepts offsets of up to
/// two hours more.
fn has_rfc3339_offset(pieces: &Pieces<'_>) -> bool {
    pieces.to_numeric_offset().is_some_and(|offset| offset.seconds().unsigned_abs() < 24 * 60 * 60)
}

/// Returns date and time, the digits of the fraction, and the offset. `None` if the text does not have the
/// form of RFC 3339, which is stricter than ISO 8601. Numbers such as the month can still be too large.
fn rfc3339_parts(text: &str) -> Option<(&str, &str, &str)> {
    const DATE_TIME: &str = "dddd-dd-ddTdd:dd:dd";
    const OFFSETS: [&str; 2] = ["Z", "+dd:dd"];
    let has_form = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                b'+' => matches!(byte, b'+' | b'-'),
                form => byte.eq_ignore_ascii_case(&form),
            })
    };
    let (date_time, rest) = text.split_at_checked(DATE_TIME.len())?;
    let (fraction, offset) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|character: char| !character.is_ascii_digit())?),
        None => ("0", rest),
    };
    let is_rfc3339 = has_form(date_time, DATE_TIME)
        && !fraction.is_empty()
        && OFFSETS.iter().any(|form| has_form(offset, form));
    is_rfc3339.then_some((date_time, fraction, offset))
}

impl Serialize for UnixMilliseconds {
    /// As RFC 3339 with milliseconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = Timestamp::from_millisecond(self.0).map_err(serde::ser::Error::custom)?;
        serializer.collect_str(&format_args!("{time:.3}"))
    }
}

impl<'de> Deserialize<'de> for UnixMilliseconds {
    /// From RFC 3339.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_rfc3339(&text).ok_or_else(|| {
            serde::de::Error::custom("it must be a time of RFC 3339, between the years 2001 and 2286")
        })
    }
}

/// A point in time in Unix seconds. It displays and serialises as RFC 3339 in UTC, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(i64);

/// Returns the time of the system clock, for functions without requests and for tools.
#[must_use]
pub fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}

impl UnixSeconds {
    /// Whether the time is in the years 2001 to 2286, in which Unix seconds have ten digits.
    #[must_use]
    pub const fn has_ten_digits(self) -> bool {
        1_000_000_000 <= self.0 && self.0 < 10_000_000_000
    }

    /// The time `seconds` after the Unix epoch.
    #[must_use]
    pub const fn new(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since the Unix epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Returns the start of the interval that contains this time. Intervals are counted from the Unix epoch.
    /// The earliest interval starts with the earliest time that this type can hold.
    #[must_use]
    pub const fn rounded_down(self, interval: Duration) -> Self {
        let interval = interval.as_secs().cast_signed();
        Self(self.0.saturating_sub(self.0.rem_euclid(interval)))
    }

    #[must_use]
    pub const fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(by.as_secs()))
    }

    #[must_use]
    pub const fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub_unsigned(by.as_secs()))
    }
}

impl From<UnixMilliseconds> for UnixSeconds {
    fn from(time: UnixMilliseconds) -> Self {
        Self(time.0.div_euclid(1_000))
    }
}

impl From<UnixSeconds> for UnixMilliseconds {
    fn from(time: UnixSeconds) -> Self {
        Self(time.0.saturating_mul(1_000))
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Times outside the years of RFC 3339 display as the nearest time.
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

/// One tick of the recorders: a whole minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Tick(UnixSeconds);

impl Tick {
    /// The minute that contains the time.
    #[must_use]
    pub fn of(time: impl Into<UnixSeconds>) -> Self {
        Self(time.into().rounded_down(Duration::from_mins(1)))
    }

    /// The start of the minute.
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
    fn every_time_has_an_http_date() {
        assert_eq!(UnixMilliseconds::new(1_777_388_600_999).http_date(), "Tue, 28 Apr 2026 15:03:20 GMT");
        for extreme in [i64::MIN, -1, 0, i64::MAX] {
            assert!(UnixMilliseconds::new(extreme).http_date().ends_with(" GMT"));
        }
    }

    #[test]
    fn rfc_3339_is_read_in_any_zone_and_written_in_utc() {
        for text in ["2026-04-28T15:03:20Z", "2026-04-28T17:03:20.999+02:00"] {
            let time = UnixMilliseconds::from_rfc3339(text).unwrap();
            assert_eq!(UnixSeconds::from(time).to_string(), "2026-04-28T15:03:20Z");
            assert_eq!(Tick::of(time).to_string(), "2026-04-28T15:03:00Z");
        }
        let offset = "2026-04-28T15:03:20+24:00";
        for text in ["", "1777388600", "2026-04-28", "2026-04-28T15:03:20", "1999-01-01T00:00:00Z", offset] {
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
    fn intervals_start_at_the_epoch() {
        let interval = Duration::from_hours(3);
        assert_eq!(UnixSeconds::new(10_799).rounded_down(interval), UnixSeconds::new(0));
        assert_eq!(UnixSeconds::new(10_800).rounded_down(interval), UnixSeconds::new(10_800));
        assert_eq!(UnixSeconds::new(-1).rounded_down(interval), UnixSeconds::new(-10_800));
    }

    #[test]
    fn no_operation_overflows() {
        for seconds in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
            let time = UnixSeconds::new(seconds);
            let milliseconds = UnixMilliseconds::new(seconds);
            for interval in [1, 60, 10_800, i64::MAX.cast_unsigned()].map(Duration::from_secs) {
                assert!(time.rounded_down(interval) <= time);
                assert!(time.minus(interval) <= time && time <= time.plus(interval));
                assert!(milliseconds <= milliseconds.plus(interval));
            }
            let tick = Tick::of(time);
            assert_eq!(Tick::of(tick.time()), tick);
            assert!(UnixMilliseconds::from_request_time(seconds).distance(milliseconds) >= Duration::ZERO);
        }
    }
}
