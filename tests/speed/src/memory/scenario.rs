//! What each function is asked, so that it fetches, and then again, so that it answers from memory.

use bytes::Bytes;
use jiff::Timestamp;

use crate::event::{self, Events};
use crate::upstream::PLAYER;

/// The time of the sample events, 2026-11-16T12:00:00Z. History is recorded up to it.
pub(super) const NOW: i64 = 1_794_830_400;

const DAY: i64 = 24 * 60 * 60;

/// Five minutes and a little: longer than the TTL of prices, and so short that their history does not leave its range.
const PRICES_STEP_MS: u64 = 310_000;

/// A function, and what it is asked.
pub(super) struct Scenario {
    pub(super) function: &'static str,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A route that fetches from the provider or the database, and remembers.
    Route {
        query: &'static [(&'static str, &'static str)],
        path: &'static [(&'static str, &'static str)],
        step_ms: u64,
    },
    /// A route that only has what is built into it.
    BuiltIn,
    /// A decision about a key.
    Authorizer,
    /// A recorder that runs at this interval in seconds.
    Recorder { interval: i64 },
}

/// A question to each function that gives it much to do.
pub(super) const SCENARIOS: [Scenario; 19] = [
    route("auctions", &[("page", "0")], &[], event::STEP_MS),
    Scenario { function: "authorizer", kind: Kind::Authorizer },
    route("bazaar", &[("mode", "full")], &[], event::STEP_MS),
    route("bazaar-candles", &[("item_id", "INK_SACK:3"), ("interval", "5m")], &[], PRICES_STEP_MS),
    route("bazaar-history", &[("item_id", "INK_SACK:3"), ("range", "24h")], &[], PRICES_STEP_MS),
    route("collections", &[], &[], event::STEP_MS),
    route("fire-sales", &[], &[], event::STEP_MS),
    route("fire-sales-history", &[], &[], event::STEP_MS),
    Scenario { function: "index", kind: Kind::BuiltIn },
    route("items", &[], &[], event::STEP_MS),
    route("mayor", &[], &[], event::STEP_MS),
    route("mayor-history", &[], &[], event::STEP_MS),
    Scenario { function: "page", kind: Kind::BuiltIn },
    route("profile", &[], &[("username", PLAYER)], event::STEP_MS),
    recorder("record-bazaar", 60),
    recorder("record-candles", 300),
    recorder("record-fire-sales", 60),
    recorder("record-mayor", 300),
    route("status", &[], &[], PRICES_STEP_MS),
];

const fn route(
    function: &'static str,
    query: &'static [(&'static str, &'static str)],
    path: &'static [(&'static str, &'static str)],
    step_ms: u64,
) -> Scenario {
    Scenario { function, kind: Kind::Route { query, path, step_ms } }
}

const fn recorder(function: &'static str, interval: i64) -> Scenario {
    Scenario { function, kind: Kind::Recorder { interval } }
}

impl Scenario {
    /// The events of the scenario; the authorizer decides about `key`. A recorder runs at the same hours of another day for each
    /// size: what it has to do depends on the hour, and on what it has recorded.
    ///
    /// # Errors
    /// A sentence, when there is no sample.
    pub(super) fn input(&self, key: &str, day: i64) -> Result<Input, String> {
        Ok(match self.kind {
            Kind::Route { query, path, step_ms } => {
                Input::Requests(Events::new(self.function, query, path)?.with_step(step_ms))
            }
            Kind::BuiltIn => Input::Requests(Events::sample(self.function)?),
            Kind::Authorizer => Input::Requests(Events::sample(self.function)?.with_key(key)),
            Kind::Recorder { interval } => Input::Ticks { last: NOW + day * DAY, interval },
        })
    }

    /// Whether a request can make the function fetch.
    pub(super) fn fetches(&self) -> bool {
        !matches!(self.kind, Kind::BuiltIn)
    }

    /// Whether the function can answer from memory.
    pub(super) fn remembers(&self) -> bool {
        matches!(self.kind, Kind::Route { .. } | Kind::BuiltIn)
    }
}

/// The events of a scenario, with the times that they need.
#[derive(Debug, Clone)]
pub(super) enum Input {
    Requests(Events),
    Ticks { last: i64, interval: i64 },
}

impl Input {
    /// An event for which the function fetches.
    pub(super) fn later(&mut self) -> Bytes {
        match self {
            Self::Requests(events) => events.later(),
            Self::Ticks { last, interval } => {
                *last += *interval;
                tick(*last)
            }
        }
    }

    /// The last event again.
    pub(super) fn again(&mut self) -> Bytes {
        match self {
            Self::Requests(events) => events.again(),
            Self::Ticks { last, .. } => tick(*last),
        }
    }
}

/// The event of a recorder at this time. It may be in the past.
pub(super) fn tick(time: i64) -> Bytes {
    let time = Timestamp::from_second(time).unwrap_or_default();
    Bytes::from(serde_json::json!({"time": time.to_string(), "backfill": true}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release;

    #[test]
    fn every_function_has_a_scenario() {
        let functions: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.function).collect();
        assert_eq!(functions, release::functions().unwrap());
    }

    #[test]
    fn a_tick_has_its_time() {
        assert_eq!(tick(NOW), r#"{"backfill":true,"time":"2026-11-16T12:00:00Z"}"#);
    }
}
