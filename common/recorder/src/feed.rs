//! The feeds, one for each recorder, and how often each is recorded.

use std::time::Duration;

/// The data that the function `record-NAME` records.
#[derive(Debug, PartialEq, Eq)]
pub struct Feed {
    /// The name, such as `bazaar`.
    pub name: &'static str,
    /// The time between two ticks, as in the recorder's schedule.
    pub interval: Duration,
    /// The time from a tick to the run that records it.
    pub recorded_after: Duration,
    /// The feed is unhealthy if the provider's data stay the same for this long; `None` if they may stay the
    /// same.
    pub longest_standstill: Option<Duration>,
}

/// The longest standstill of prices in the bazaar and in auctions, which normally change with every refresh.
const LONGEST_STANDSTILL: Option<Duration> = Some(Duration::from_mins(10));

pub const BAZAAR: Feed = Feed {
    name: "bazaar",
    interval: Duration::from_mins(1),
    recorded_after: Duration::ZERO,
    longest_standstill: LONGEST_STANDSTILL,
};

/// The candles of bazaar products. A tick is the end of a candle of the finest interval.
pub const CANDLES: Feed = Feed {
    name: "candles",
    interval: Duration::from_mins(5),
    recorded_after: Duration::from_mins(2),
    longest_standstill: None,
};

pub const MAYOR: Feed = Feed {
    name: "mayor",
    interval: Duration::from_mins(5),
    recorded_after: Duration::ZERO,
    longest_standstill: None,
};

pub const FIRE_SALES: Feed = Feed {
    name: "fire-sales",
    interval: Duration::from_mins(1),
    recorded_after: Duration::ZERO,
    longest_standstill: None,
};

/// The prices of items in auctions, and the sales.
pub const AUCTIONS: Feed = Feed {
    name: "auctions",
    interval: Duration::from_mins(1),
    recorded_after: Duration::ZERO,
    longest_standstill: LONGEST_STANDSTILL,
};

/// Every feed, in the order of `GET /v1/status`.
pub const FEEDS: [&Feed; 5] = [&BAZAAR, &CANDLES, &MAYOR, &FIRE_SALES, &AUCTIONS];

/// The longest delay between the planned time and the record in the table: up to a minute, because ticks are
/// full minutes and a schedule can begin at any second, plus the 50 seconds that a run may take.
const LONGEST_DELAY: Duration = Duration::from_secs(110);

impl Feed {
    /// The maximum age of the latest record of a healthy feed. One run may be missed.
    #[must_use]
    pub fn longest_age(&self) -> Duration {
        self.longest_pause() + self.recorded_after + LONGEST_DELAY
    }

    /// The longest time between two records that is not a gap. One run may be missed.
    #[must_use]
    pub fn longest_pause(&self) -> Duration {
        self.interval * 2
    }
}
