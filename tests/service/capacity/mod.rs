//! By DynamoDB's rules, recording and reading stay within bounds of read and write units with as many
//! products as on 2026-04-28, all with a price. Recording and reading cost as much as the operators' page
//! says.

mod cost;
mod queries;
mod recording;
pub(crate) mod row_size;

use self::recording::{Recording, Slot, recording_of, simulated, slots};
use crate::history::DAY;

/// The recorded series, by the first two parts of their partition keys.
const RECORDED: [&str; 6] =
    ["bazaar#1m", "candles#1d", "candles#1h", "candles#30m", "candles#3h", "candles#5m"];

/// The most write units for prices and candles in a month of thirty days.
const WRITE_UNITS: f64 = 14.0e6;

/// The most gigabytes of prices and candles, in the long run.
const GIGABYTES: f64 = 12.2;

/// The number of shards suits the real ids. Simulated ids spread less evenly, so the worst query may take
/// this many times its bound.
const UNEVEN: f64 = 1.3;

/// The capture with the real products.
const CAPTURE: &str = "bazaar/v2-20260428T1503Z.json";

/// Panics unless recording and reading stay within the bounds.
async fn expect_within_bounds(recording: &Recording, uneven: f64) {
    assert!(recording.keys().eq(RECORDED), "{:?}", recording.keys());
    let units: f64 = recording.values().map(|slot| slot.write_units() * slots(slot, 30 * DAY)).sum();
    assert!(units <= WRITE_UNITS, "{units:.0} write units per month for prices and candles");
    let gigabytes = recording.values().map(Slot::bytes_kept).sum::<f64>() / 1e9;
    assert!(gigabytes <= GIGABYTES, "{gigabytes:.2} GB of prices and candles");
    queries::expect_within_bounds(recording, uneven).await;
}

#[tokio::test]
async fn recording_and_reading_simulated_products_stays_within_the_limits() {
    expect_within_bounds(simulated().await, UNEVEN).await;
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn recording_and_reading_captured_products_stays_within_the_limits() {
    expect_within_bounds(&recording_of(&captures::text(CAPTURE).unwrap()).await, 1.0).await;
}
