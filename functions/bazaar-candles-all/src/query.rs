//! The query of a request: an interval that has ended and whose candles have not expired, and the format.

use std::time::Duration;

use common::error::ApiError;
use common::excerpt::Excerpt;
use common::request::Request;
use common::request::parameters::{Allowed, OpenedAt};
use common::routes::SLOT_INTERVALS;
use common::time::{UnixMilliseconds, UnixSeconds};
use tables::bazaar;
use tables::series::{Interval, Slot};

/// The names of the intervals, for the schema.
pub(crate) const INTERVAL_NAMES: &[&str] =
    if let Allowed::OneOf { words, .. } = SLOT_INTERVALS { words } else { &[] };

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Json,
    Csv,
}

/// A request to this route.
pub(crate) struct Query {
    /// The interval. It has ended, and its candles have not expired.
    pub(crate) slot: Slot,
    pub(crate) format: Format,
}

impl Query {
    /// Parses the parameters of a request at the time `now`.
    ///
    /// # Errors
    /// `BAD_REQUEST` if a parameter is missing or invalid. `NOT_FOUND` if the interval has not ended or has
    /// expired.
    pub(crate) fn of(request: &Request, now: UnixSeconds) -> Result<Self, ApiError> {
        let interval = request.choice("interval", &bazaar::INTERVALS, |interval| interval.name)?;
        let opened_at: OpenedAt = request.required("opened_at", "")?;
        let format = if request.word("format")? == "csv" { Format::Csv } else { Format::Json };
        let slot = interval.at(opened_at.time().into());
        if opened_at.time() != slot.start.into() {
            return Err(not_a_start(interval, opened_at.time(), opened_at.text()));
        }
        if slot.end() > now {
            return Err(not_complete(slot));
        }
        if slot.is_kept(now) { Ok(Self { slot, format }) } else { Err(not_kept(slot)) }
    }
}

/// The error for a time at which no interval starts.
pub(crate) fn not_a_start(interval: &'static Interval, time: UnixMilliseconds, received: &str) -> ApiError {
    let earlier = interval.at(time.into());
    let middle = earlier.start.plus(interval.length / 2);
    let nearest = if time > middle.into() { earlier.end() } else { earlier.start };
    let name = interval.name;
    let received = Excerpt::of(received);
    ApiError::bad_request(format!(
        "Parameter 'opened_at' must be the start of an interval of {name}, but was '{received}': the nearest start is {nearest}."
    ))
}

/// The error for an interval that has not ended, or that ended less than ten minutes ago and whose candles
/// are not built yet.
pub(crate) fn not_complete(slot: Slot) -> ApiError {
    ApiError::not_found(format!(
        "The candles of {slot} are not complete yet: the interval ends at {}. Try again at {}.",
        slot.end(),
        slot.built_by()
    ))
}

/// The error for an interval before 1970, or whose candles have expired.
pub(crate) fn not_kept(slot: Slot) -> ApiError {
    const DAY: Duration = Duration::from_hours(24);
    let kept = slot.interval.kept.map(|kept| {
        format!(" Candles of {} are kept for {} days.", slot.interval.name, kept.as_secs() / DAY.as_secs())
    });
    ApiError::not_found(format!("The interval {slot} is too old.{}", kept.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_of_the_table_of_routes_is_one_of_the_bazaar() {
        assert!(!INTERVAL_NAMES.is_empty());
        assert!(
            INTERVAL_NAMES.iter().all(|name| bazaar::INTERVALS.iter().any(|interval| interval.name == *name))
        );
    }

    #[test]
    fn the_nearest_start_is_the_closer_one_and_the_earlier_one_of_two() {
        let [_, _, hour, ..] = &bazaar::INTERVALS;
        for (text, nearest) in [
            ("2026-04-28T15:30:00Z", "2026-04-28T15:00:00Z"),
            ("2026-04-28T15:30:00.001Z", "2026-04-28T16:00:00Z"),
            ("2026-04-28T15:00:00.5Z", "2026-04-28T15:00:00Z"),
        ] {
            let error = not_a_start(hour, UnixMilliseconds::from_rfc3339(text).unwrap(), text);
            assert!(
                error.message().ends_with(&format!("was '{text}': the nearest start is {nearest}.")),
                "{error}"
            );
        }
    }
}
