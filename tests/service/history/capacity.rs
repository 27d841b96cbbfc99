//! The capacity that recording and reading prices consumes by DynamoDB's rules, and when rows expire.

use std::time::Duration;

use serde_json::{Value, json};
use simulator::{Fault, bazaar};

use super::chart::points;
use super::market::{BAZAAR, Market, RECORDER, quote, tiers};
use super::table::{self, Row};
use super::{DAY, HOUR, MINUTE, START, record, start};
use crate::support::{expect_clean_logs, simulator};

/// A tier, the range that it serves, its interval in seconds, and the number of slots in the range.
struct Tier {
    name: &'static str,
    range: &'static str,
    interval: u32,
    slots: u32,
}

const TIERS: [Tier; 5] = [
    Tier { name: "1m", range: "1h", interval: 60, slots: 60 },
    Tier { name: "5m", range: "24h", interval: 300, slots: 288 },
    Tier { name: "30m", range: "7d", interval: 1_800, slots: 336 },
    Tier { name: "1h", range: "30d", interval: 3_600, slots: 720 },
    Tier { name: "3h", range: "90d", interval: 10_800, slots: 720 },
];

impl Tier {
    /// The number of slots in a month of thirty days.
    fn slots_a_month(&self) -> f64 {
        f64::from(30 * 86_400 / self.interval)
    }

    /// The length of its range, in seconds.
    fn range_seconds(&self) -> i64 {
        i64::from(self.interval * self.slots)
    }

    fn has(&self, row: &Row) -> bool {
        row["pk"]["S"].as_str().unwrap().starts_with(&format!("bazaar#{}#", self.name))
    }
}

/// Limits: write units a month in all tiers, read units of a chart on average and at most.
const MONTHLY_WRITE_UNITS: f64 = 8e6;
const AVERAGE_READ_UNITS: f64 = 20.0;
const WORST_READ_UNITS: f64 = 32.0;

/// The most bytes that DynamoDB returns in a page.
const PAGE: usize = 1_048_576;

/// The size of a number: a byte for every two significant digits, counted separately before and after the point, one byte
/// more, and one for a minus sign. (The developer guide gives an approximate rule.)
fn bytes_of_number(text: &str) -> usize {
    let (sign, digits) = text.strip_prefix('-').map_or((0, text), |digits| (1, digits));
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{text} has an exponent");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let (whole, fraction) = match (whole, fraction) {
        (whole, "") => (whole.trim_end_matches('0'), ""),
        ("", fraction) => ("", fraction.trim_start_matches('0')),
        both => both,
    };
    whole.len().div_ceil(2) + fraction.len().div_ceil(2) + 1 + sign
}

/// The size of an attribute's value, by the chapter on item sizes in DynamoDB's developer guide.
fn bytes_of_value(value: &Value) -> usize {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match (kind.as_str(), value) {
        ("S", Value::String(text)) => text.len(),
        ("N", Value::String(number)) => bytes_of_number(number),
        ("L", Value::Array(list)) => 3 + list.iter().map(|value| bytes_of_value(value) + 1).sum::<usize>(),
        ("M", Value::Object(map)) => {
            3 + map.iter().map(|(name, value)| name.len() + bytes_of_value(value) + 1).sum::<usize>()
        }
        _ => panic!("no row of this table has the type {kind}"),
    }
}

/// The size of a row.
fn bytes_of(row: &Row) -> usize {
    row.iter().map(|(name, value)| name.len() + bytes_of_value(value)).sum()
}

/// The read units of an eventually consistent query that reads this number of rows of this size: half a unit for each 4 kB.
fn read_units(rows: u32, bytes: usize) -> f64 {
    let blocks = (usize::try_from(rows).unwrap() * bytes).div_ceil(4_096);
    f64::from(u32::try_from(blocks).unwrap()) / 2.0
}

/// The ids in a row.
fn ids(row: &Row) -> Vec<&str> {
    row["products"]["M"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn sizes_follow_the_developer_guide() {
    for (number, bytes) in [
        ("0", 1),
        ("7", 2),
        ("10", 2),
        ("12", 2),
        ("123", 3),
        ("12300", 3),
        ("1.5", 3),
        ("0.01", 2),
        ("10.25", 3),
        ("-100.25", 5),
    ] {
        assert_eq!(bytes_of_number(number), bytes, "{number}");
    }
    let row = json!({"a": {"S": "é"}, "bc": {"M": {"d": {"L": [{"N": "1"}, {"N": "22"}]}}}});
    assert_eq!(bytes_of(row.as_object().unwrap()), (1 + 2) + (2 + 3 + 1 + (3 + 3 + 3) + 1));
}

#[tokio::test]
async fn recording_and_reading_simulated_products_stays_within_the_limits() {
    // The shards are chosen for the real ids. Simulated ones do not spread as evenly.
    expect_costs(bazaar::body(1, START * 1_000), 1.25 * WORST_READ_UNITS).await;
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn recording_and_reading_captured_products_stays_within_the_limits() {
    expect_costs(captures::text("bazaar/v2-20260428T1503Z.json").unwrap(), WORST_READ_UNITS).await;
}

/// Records the provider's response in every tier, and compares the costs with the limits.
async fn expect_costs(body: String, worst_read_units: f64) {
    let cloud = start().await;
    simulator(&cloud).set_fault(BAZAAR, Fault::default().with_body(body));
    let recorded = record(&cloud, RECORDER, START).await;
    assert_eq!(tiers(&recorded), TIERS.each_ref().map(|tier| tier.name), "all tiers are due");
    let products = usize::try_from(recorded["products"].as_u64().unwrap()).unwrap();
    assert!(products > 1_400, "{recorded}");
    let dump = table::dump(&cloud).await;

    let mut monthly = 0.0;
    for (tier, slot) in TIERS.iter().zip(recorded["slots"].as_array().unwrap()) {
        let rows: Vec<_> = dump.values().filter(|row| tier.has(row)).collect();
        assert_eq!(slot["rows"], rows.len(), "{}", tier.name);
        let kilobytes: usize = rows.iter().map(|row| bytes_of(row).div_ceil(1_024)).sum();
        let write_units = slot["write_units"].as_f64().unwrap();
        assert_eq!(
            write_units.to_bits(),
            f64::from(u32::try_from(kilobytes).unwrap()).to_bits(),
            "a unit a kilobyte"
        );
        // One more for the row that marks the slot as complete.
        monthly += (write_units + 1.0) * tier.slots_a_month();

        let (mut sum, mut count, mut worst) = (0.0, 0_u32, (0.0, ""));
        for row in &rows {
            let bytes = bytes_of(row);
            assert!(
                usize::try_from(tier.slots).unwrap() * bytes < PAGE,
                "{}: {bytes} bytes a row",
                tier.name
            );
            for id in ids(row) {
                let units = read_units(tier.slots, bytes);
                sum += units;
                count += 1;
                if units > worst.0 {
                    worst = (units, id);
                }
            }
        }
        assert_eq!(usize::try_from(count).unwrap(), products, "{}: every product is in one row", tier.name);
        let average = sum / f64::from(count);
        let costs = format!("{}: {average:.1} read units on average, {worst:?} at the most", tier.range);
        assert!(average <= AVERAGE_READ_UNITS && worst.0 <= worst_read_units, "{costs}");

        // DynamoDB bills the same units for the worst chart with all of its slots full, so the sizes above are right.
        let row = rows.iter().find(|row| ids(row).contains(&worst.1)).unwrap();
        let slots = (0..i64::from(tier.slots)).map(|number| START - number * i64::from(tier.interval));
        table::put(&cloud, slots.map(|slot| table::with(row, "sk", json!({"S": slot.to_string()})))).await;
        let (before, asked) = (cloud.dynamodb().consumed().read_units, cloud.dynamodb().requests("Query"));
        let points = points(&cloud, worst.1, tier.range, START).await;
        assert_eq!(points.len(), usize::try_from(tier.slots).unwrap());
        let billed = cloud.dynamodb().consumed().read_units - before;
        assert_eq!(
            billed.to_bits(),
            worst.0.to_bits(),
            "{}: {billed} read units, not {}",
            tier.range,
            worst.0
        );
        assert_eq!(cloud.dynamodb().requests("Query") - asked, 1, "{}: one page", tier.range);
    }
    assert!(monthly <= MONTHLY_WRITE_UNITS, "{monthly:.0} write units a month");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_row_expires_shortly_after_its_range_no_longer_shows_it() {
    let cloud = start().await;
    let now = || cloud.clock().now_ms() / 1_000;
    // In the next hours, at a moment when a slot of every tier begins.
    let tick = now() - now().rem_euclid(3 * HOUR) + 3 * HOUR;
    let move_to =
        |time: i64| cloud.clock().advance(Duration::from_secs(u64::try_from(time - now()).unwrap()));
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, tick).await;
    let count = async |tier: &Tier| table::dump(&cloud).await.values().filter(|row| tier.has(row)).count();
    for tier in &TIERS {
        let last = tick + tier.range_seconds() - MINUTE;
        move_to(last);
        cloud.dynamodb().expire().await.unwrap();
        assert_eq!(points(&cloud, "A", tier.range, last + MINUTE - 1).await.len(), 1, "{}", tier.range);
        assert_eq!(points(&cloud, "A", tier.range, last + 6 * MINUTE).await.len(), 0, "{}", tier.range);
        assert_eq!(count(tier).await, 1, "{}", tier.name);
    }
    // The ranges differ by more than two days, so only rows of the last tier are left.
    assert_eq!(table::dump(&cloud).await.len(), 2, "a row and the one that marks its slot");
    move_to(tick + 92 * DAY);
    cloud.dynamodb().expire().await.unwrap();
    assert!(table::dump(&cloud).await.is_empty());
}
