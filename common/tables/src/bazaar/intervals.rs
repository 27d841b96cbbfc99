//! The intervals of the bazaar's series, and the ranges of its history.

use std::time::Duration;

use common::time::UnixSeconds;

use crate::series::keys::Interval;

const DAY: Duration = Duration::from_hours(24);

/// The recorded minutes.
///
/// The number of shards was chosen with the 1,913 ids and the prices of a real snapshot: a row has 1.3
/// kilobytes on average. More shards take more write units, and fewer shards more read units. Minutes are
/// kept for two days, so that candles can be built after an outage.
pub const ONE_MINUTE: Interval = Interval {
    series: "bazaar",
    name: "1m",
    length: Duration::from_mins(1),
    kept: Some(DAY.saturating_mul(2)),
    shards: 97,
};

/// The intervals of candles, from fine to coarse. Each is a multiple of the previous one.
pub const INTERVALS: [Interval; 5] = [
    FIVE_MINUTES,
    candles("30m", Duration::from_mins(30), Some(DAY.saturating_mul(90))),
    HOUR,
    candles("3h", Duration::from_hours(3), Some(DAY.saturating_mul(3 * 365))),
    candles("1d", DAY, None),
];

pub(super) const FIVE_MINUTES: Interval = candles("5m", Duration::from_mins(5), Some(DAY.saturating_mul(30)));

pub(super) const HOUR: Interval = candles("1h", Duration::from_hours(1), Some(DAY.saturating_mul(365)));

/// Returns an interval of candles.
///
/// The number of shards was chosen with the 1,913 ids and the prices of a real snapshot. If every product has
/// a price, a query of 288 candles takes 29 read units on average and at most 54, and a slot takes only a few
/// more write units than rows. Among the numbers of shards near it, this one distributes the ids most evenly.
/// `tests/service/capacity` measures the current values.
const fn candles(name: &'static str, length: Duration, kept: Option<Duration>) -> Interval {
    Interval { series: "candles", name, length, kept, shards: 510 }
}

/// A range of `GET /v1/bazaar/history`.
#[derive(Debug, PartialEq, Eq)]
pub struct Range {
    pub name: &'static str,
    /// The interval between points. Points are recorded minutes or the closes of candles.
    pub interval: &'static Interval,
    /// The number of slots in the range, including the current one: the maximum number of points in a
    /// response.
    pub slots: u32,
}

/// The ranges, from short to long.
pub const RANGES: [Range; 5] = {
    let [five_minutes, half_hour, hour, three_hours, _] = &INTERVALS;
    [
        Range { name: "1h", interval: &ONE_MINUTE, slots: 60 },
        Range { name: "24h", interval: five_minutes, slots: 288 },
        Range { name: "7d", interval: half_hour, slots: 336 },
        Range { name: "30d", interval: hour, slots: 720 },
        Range { name: "90d", interval: three_hours, slots: 720 },
    ]
};

impl Range {
    /// Returns the oldest slot in the range at the time `now`.
    pub(super) fn oldest_slot(&self, now: UnixSeconds) -> UnixSeconds {
        self.interval.slot(now).minus(self.interval.length * (self.slots - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changing a number of shards makes recorded rows unreachable, because queries then read other
    /// partitions. To change it, also rename the interval, and copy the rows with `cargo admin history`.
    #[test]
    fn rows_stay_where_they_are() {
        let partitions: Vec<_> = [&ONE_MINUTE]
            .into_iter()
            .chain(&INTERVALS)
            .map(|interval| interval.partition(interval.shard("INK_SACK:3")))
            .collect();
        let expected = [
            "bazaar#1m#085",
            "candles#5m#387",
            "candles#30m#387",
            "candles#1h#387",
            "candles#3h#387",
            "candles#1d#387",
        ];
        assert_eq!(partitions, expected);
    }

    #[test]
    fn every_range_is_within_the_time_for_which_its_rows_are_kept() {
        for Range { name, interval, slots } in &RANGES {
            assert!(interval.kept.is_none_or(|kept| interval.length * *slots <= kept), "{name}");
        }
    }
}
