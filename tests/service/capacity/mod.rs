//! The capacity that recording and reading consumes by DynamoDB's rules, when the game has as many products as on 2026-04-28 and
//! all of them have a price.

mod cost;
mod queries;
mod recording;
mod row_size;

use tokio::sync::OnceCell;

use self::recording::{Recording, Slot, recording_of};
use self::row_size::float;
use crate::candles::MIDNIGHT;
use crate::history::DAY;

/// The number of products.
const PRODUCTS: usize = 1_913;

/// What is recorded, by the fronts of the partition keys.
const RECORDED: [&str; 10] = [
    "bazaar#1h",
    "bazaar#1m",
    "bazaar#30m",
    "bazaar#3h",
    "bazaar#5m",
    "candles#1d",
    "candles#1h",
    "candles#30m",
    "candles#3h",
    "candles#5m",
];

/// The most write units in a month of thirty days: for prices, and for prices and candles.
const WRITE_UNITS_OF_PRICES: f64 = 8e6;
const WRITE_UNITS: f64 = 13e6;

/// The most read units of a query, on average over all products and for the worst one.
#[derive(Debug, Clone, Copy)]
struct Bound {
    average: f64,
    worst: f64,
}

/// The bounds of a chart, of a page of 288 candles, and of the newest page of daily ones, which reads the most finer candles.
const CHART: Bound = Bound { average: 20.0, worst: 32.0 };
const PAGE: Bound = Bound { average: 24.0, worst: 45.0 };
const NEWEST_DAYS: Bound = Bound { average: 26.0, worst: 48.0 };

/// The shards are chosen for the real ids. Simulated ones do not spread as evenly, so the worst may take this many times the units.
const UNEVEN: f64 = 1.3;

/// The capture with the real products.
const CAPTURE: &str = "bazaar/v2-20260428T1503Z.json";

/// What is recorded of the simulated products. Two tests need it.
async fn simulated() -> &'static Recording {
    static RECORDING: OnceCell<Recording> = OnceCell::const_new();
    RECORDING.get_or_init(async || recording_of(&simulator::bazaar::body(1, MIDNIGHT * 1_000)).await).await
}

/// How often a slot begins in this many seconds.
fn slots(slot: &Slot, seconds: i64) -> f64 {
    float(usize::try_from(seconds / slot.interval).unwrap())
}

/// The write units of all slots of a month of thirty days whose partition keys begin so.
fn monthly_write_units(recording: &Recording, front: &str) -> f64 {
    let recorded = recording.iter().filter(|(series, _)| series.starts_with(front));
    recorded.map(|(_, slot)| slot.write_units() * slots(slot, 30 * DAY)).sum()
}

/// Panics unless recording and reading stay within the bounds.
async fn expect_within_bounds(recording: &Recording, uneven: f64) {
    assert!(recording.keys().eq(RECORDED), "{:?}", recording.keys());
    let prices = monthly_write_units(recording, "bazaar#");
    assert!(prices <= WRITE_UNITS_OF_PRICES, "{prices:.0} write units a month for prices");
    let both = monthly_write_units(recording, "");
    assert!(both <= WRITE_UNITS, "{both:.0} write units a month for prices and candles");
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
