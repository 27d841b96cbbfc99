//! The costs in `infra/README.md`, Cost, follow from the capacity measured here and AWS's prices.

use super::queries::average_of_chart;
use super::recording::{PRODUCTS, Recording, Slot, simulated, slots};
use super::row_size::{bytes_of, read_units};
use crate::history::HOUR;

/// The month of the page, in seconds: 730 hours.
const MONTH: i64 = 730 * HOUR;

// List prices of us-east-1 in dollars, from AWS's price list: DynamoDB on demand, table class Standard.
const PER_WRITE_UNIT: f64 = 0.625e-6;
const PER_READ_UNIT: f64 = 0.125e-6;
/// A gigabyte for a month, with point-in-time recovery.
const PER_GIGABYTE: f64 = STORED + 0.20;
const STORED: f64 = 0.25;

// Other figures of the page, in dollars.
/// Recording, building and keeping auctions, which `auction_prices/capacity.rs` computes.
const AUCTIONS: f64 = 6.2;
const RECORDERS: f64 = 1.5;
/// Names of items, once an hour: write units of their row of 200 kB, and read units of a minute and of nine
/// days of both markets.
const NAMES: f64 = 0.1e6 * PER_WRITE_UNIT + 2.5e6 * PER_READ_UNIT;
/// Replacing the running auctions every minute: requests to S3, and seconds of the recorder with 0.5 GB.
const LISTINGS: f64 = 43_800.0 * (0.005e-3 + 0.16 * 0.000_013_333_4);
/// The most that the running auctions may cost without requests.
const MOST_OF_LISTINGS: f64 = 0.5;
/// 35 metrics of alarms at 0.10, 14 metrics at 0.30, a dashboard at 3, and a secret at 0.40.
const ALARMS: f64 = 11.1;
const STAGE_CACHE: f64 = 14.6;
const PER_MILLION_REQUESTS: f64 = 3.50 + 0.30;
/// Functions and log, without reads of the table.
const PER_MILLION_MISSES: f64 = 0.28 + 0.35;
const PER_KEY_HOUR: f64 = 0.000_05;
const PER_GIGABYTE_SENT: f64 = 0.09;
/// The gigabytes of a million responses of usual size.
const GIGABYTES_PER_MILLION: f64 = 30.0;
/// The gigabytes of a million larger responses.
const MANY_GIGABYTES_PER_MILLION: f64 = 120.0;
/// The free tier of Lambda, alarms, metrics and dashboards. The first 25 GB of DynamoDB are also free.
const ALWAYS_FREE: f64 = 82_000.0 * 0.000_013_333_4 + 10.0 * 0.10 + 10.0 * 0.30 + 3.0;

/// The candles of each interval, with the series from which they are built.
const SOURCES: [(&str, &str); 5] = [
    ("candles#5m", "bazaar#1m"),
    ("candles#30m", "candles#5m"),
    ("candles#1h", "candles#30m"),
    ("candles#3h", "candles#1h"),
    ("candles#1d", "candles#3h"),
];

/// The read units of building candles for a month. Each shard of the source is one query.
fn read_units_of_building(recording: &Recording) -> f64 {
    let units = |(candles, sources): (&str, &str)| {
        let candles: &Slot = &recording[candles];
        let sources: &Slot = &recording[sources];
        let parts = usize::try_from(candles.interval / sources.interval).unwrap();
        let units: f64 = sources.rows.iter().map(|row| read_units(parts * bytes_of(row))).sum();
        units * slots(candles, MONTH)
    };
    SOURCES.into_iter().map(units).sum()
}

/// Rounds to tenths of a dollar. The page shows and adds up the rounded figures.
fn rounded(dollars: f64) -> f64 {
    (dollars * 10.0).round() / 10.0
}

#[tokio::test]
async fn the_table_of_costs_follows_from_what_is_recorded_and_read() {
    let recording = simulated().await;
    let write_units: f64 = recording.values().map(|slot| slot.write_units() * slots(slot, MONTH)).sum();
    let gigabytes = recording.values().map(Slot::bytes_kept).sum::<f64>() / 1e9;
    let built = read_units_of_building(recording);
    let chart = average_of_chart(recording, "24h");
    // The cost of the table's reads for a million requests, if one in ten reads a chart.
    let reads = chart / 10.0 * PER_READ_UNIT * 1e6;

    let [writing, storing, building] =
        [write_units * PER_WRITE_UNIT, gigabytes * PER_GIGABYTE, built * PER_READ_UNIT].map(rounded);
    let listings = rounded(LISTINGS);
    assert!(listings <= MOST_OF_LISTINGS, "{listings} dollars for running auctions");
    let fixed = writing + storing + AUCTIONS + building + RECORDERS + rounded(NAMES) + listings + ALARMS;
    let per_million_misses = PER_MILLION_MISSES + reads;
    let products = format!("{},{:03}", PRODUCTS / 1_000, PRODUCTS % 1_000);
    let mut expected = vec![
        format!(
            "recording prices and candles of {products} products: {:.1} million write units | {writing:.1} |",
            write_units / 1e6
        ),
        format!(
            "storing them with point-in-time recovery, in the long run: {gigabytes:.1} GB | {storing:.1} |"
        ),
        format!(
            "reading the sources of the bazaar's candles: {:.1} million read units | {building:.1} |",
            built / 1e6
        ),
        format!(
            "names of items, once an hour: 0.1 million write units, 2.5 million read units | {:.1} |",
            rounded(NAMES)
        ),
        format!("replacing the running auctions: 43,800 writes to S3, 7,000 GB-seconds | {listings:.1} |"),
        format!(
            "reads {reads:.2} if one request in ten is for the history of a price ({chart:.1} units) | {per_million_misses:.2} |"
        ),
        format!(
            "`cost = {fixed:.1} + {STAGE_CACHE} · cache + ({PER_MILLION_REQUESTS:.2} + {per_million_misses:.2} · misses) · R \
             + 0.00005 · H + {PER_GIGABYTE_SENT} · max(0, {GIGABYTES_PER_MILLION} · R − 100)`"
        ),
    ];
    let cost_with = |gigabytes_per_million: f64, millions: f64, hours: f64, cache: f64| {
        let misses = 1.0 - cache / 2.0;
        fixed
            + STAGE_CACHE * cache
            + (PER_MILLION_REQUESTS + per_million_misses * misses) * millions
            + PER_KEY_HOUR * hours
            + PER_GIGABYTE_SENT * (gigabytes_per_million * millions - 100.0).max(0.0)
    };
    let cost = |millions, hours, cache| cost_with(GIGABYTES_PER_MILLION, millions, hours, cache);
    let large = cost_with(MANY_GIGABYTES_PER_MILLION, 30.0, 182_500.0, 1.0);
    expected.push(format!("with responses of 120 KB it is {large:.0} dollars"));
    let free = ALWAYS_FREE + gigabytes.min(25.0) * STORED;
    expected.push(format!("about {:.0} dollars of the {fixed:.1}", fixed - free));
    for (millions, hours, shown) in
        [(0.1, 750.0, "0.1 | 750"), (3.0, 36_500.0, "3 | 36,500"), (30.0, 182_500.0, "30 | 182,500")]
    {
        let [with, without] = [1.0, 0.0].map(|cache| cost(millions, hours, cache));
        expected.push(format!("{shown} | {with:.0} | {without:.0} |"));
    }
    let page = std::fs::read_to_string(crate::support::in_repository("infra/README.md")).unwrap();
    let missing: Vec<_> = expected.iter().filter(|text| !page.contains(*text)).collect();
    assert!(missing.is_empty(), "infra/README.md does not say: {missing:#?}");
}
