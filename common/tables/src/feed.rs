//! The feeds: what the recorders record, how often, and how much a run makes up for.

use std::time::Duration;

/// What one recorder records. The recorder is the function `record-NAME`.
#[derive(Debug, PartialEq, Eq)]
pub struct Feed {
    /// The name, such as `bazaar`.
    pub name: &'static str,
    /// The time between two ticks, which is that of the recorder's schedule.
    pub interval: Duration,
    /// How far back a run records what earlier runs missed. Zero: what was missed stays missing.
    pub reach: Duration,
}

/// The prices of bazaar products.
pub const BAZAAR: Feed = Feed { name: "bazaar", interval: Duration::from_mins(1), reach: Duration::ZERO };

/// The candles of bazaar products. They are built from rows that are kept for an hour.
pub const CANDLES: Feed =
    Feed { name: "candles", interval: Duration::from_mins(5), reach: Duration::from_hours(1) };

/// The mayors.
pub const MAYOR: Feed = Feed { name: "mayor", interval: Duration::from_mins(5), reach: Duration::ZERO };

/// The fire sales.
pub const FIRE_SALES: Feed =
    Feed { name: "fire-sales", interval: Duration::from_mins(1), reach: Duration::ZERO };

/// Every feed, in the order of `GET /v1/status`.
pub const FEEDS: [&Feed; 4] = [&BAZAAR, &CANDLES, &MAYOR, &FIRE_SALES];

impl Feed {
    /// The age of the latest record up to which the feed is healthy: one run may be missed.
    #[must_use]
    pub fn longest_age(&self) -> Duration {
        self.interval * 2
    }

    /// The longest time between two runs that leaves no gap.
    #[must_use]
    pub fn longest_pause(&self) -> Duration {
        self.longest_age().max(self.reach)
    }
}
