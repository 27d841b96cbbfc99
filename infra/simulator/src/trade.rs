//! How many items are traded on one side of a product: more in the evening than at night, and on some days
//! more than on others.

use std::f64::consts::TAU;

use crate::chance::generator;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_MS: i64 = 7 * DAY_MS;

/// The trade on one side of a product.
#[derive(Debug)]
pub(crate) struct Trade {
    /// The random number of the side.
    pub(crate) number: u64,
    /// The number of items in a usual week.
    pub(crate) usual_week: f64,
}

impl Trade {
    /// Returns the provider's moving week at a time: the number of items that were traded in the seven days
    /// before it.
    pub(crate) fn moving_week(&self, at_ms: i64) -> i64 {
        self.between(at_ms - WEEK_MS, at_ms) as i64
    }

    /// Returns the number of items that are traded between two times.
    pub(crate) fn between(&self, from_ms: i64, to_ms: i64) -> f64 {
        let days = from_ms.div_euclid(DAY_MS)..=to_ms.div_euclid(DAY_MS);
        let by_day = days.map(|day| {
            let start = day * DAY_MS;
            let shared = to_ms.min(start + DAY_MS) - from_ms.max(start);
            shared as f64 * (0.5 + generator(self.number, "day of trade", day.cast_unsigned()).f64())
        });
        // The integral of a cosine with a period of a day and an amplitude of a half, whose maximum is at
        // 18:00 UTC.
        let turn = |time_ms: i64| (time_ms - 18 * HOUR_MS).rem_euclid(DAY_MS) as f64 / DAY_MS as f64;
        let [from, to] = [from_ms, to_ms].map(|time_ms| (turn(time_ms) * TAU).sin());
        let of_evenings = 0.5 * DAY_MS as f64 / TAU * (to - from);
        self.usual_week / WEEK_MS as f64 * (by_day.sum::<f64>() + of_evenings)
    }
}
