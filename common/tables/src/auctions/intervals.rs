//! The intervals of candles.

use std::time::Duration;

use crate::series::keys::Interval;

const DAY: Duration = Duration::from_hours(24);

/// Hourly candles, which are built from minutes.
pub(super) const HOURS: Interval = candles("1h", Duration::from_hours(1), Some(DAY.saturating_mul(90)));

/// The intervals of candles, from fine to coarse.
pub const INTERVALS: [Interval; 2] = [HOURS, candles("1d", DAY, None)];

/// Returns an interval of candles.
///
/// The number of shards was chosen for 6,500 items: in most shards, 500 rows then have less than half a
/// megabyte. `tests/service/capacity` measures this.
const fn candles(name: &'static str, length: Duration, kept: Option<Duration>) -> Interval {
    Interval { series: "auctions", name, length, kept, shards: 449 }
}
