//! A range has the last recorded minute of each of its newest slots, and never more points than documented.

use std::collections::BTreeMap;

use fastrand::Rng;
use local::Cloud;
use serde_json::json;

use super::chart::{points, times};
use super::market::{Market, quote};
use super::table::{self, Dump, Row};
use super::{DAY, HOUR, MINUTE, RANGES, START, rfc3339, start};
use crate::candles::{MIDNIGHT, build};
use crate::support::log_lines;

/// A market with a price that is unique to the tick. Every third tick has the product `B`.
fn market_at(tick: i64) -> Market {
    let of_tick = quote(format!("{tick}.0"), "9.5", 1, 1);
    let market = Market::of("A", of_tick.clone());
    if has_b(tick) { market.with("B", of_tick) } else { market }
}

fn has_b(tick: i64) -> bool {
    tick / MINUTE % 3 == 1
}

/// The recorded ticks that a range shows at the time `now`: the latest of every slot.
fn shown(recorded: &[i64], interval: i64, slots: i64, now: i64) -> Vec<i64> {
    let slot = |tick: i64| tick - tick.rem_euclid(interval);
    let is_shown = |tick: &&i64| **tick <= now && (slot(now) - slot(**tick)) / interval < slots;
    let latest: BTreeMap<_, _> = recorded.iter().filter(is_shown).map(|tick| (slot(*tick), *tick)).collect();
    latest.into_values().collect()
}

async fn expect_shown(cloud: &Cloud, id: &str, range: &str, now: i64, expected: &[i64]) {
    let received = points(cloud, id, range, now).await;
    let expected_times: Vec<_> = expected.iter().map(|tick| rfc3339(*tick)).collect();
    assert_eq!(times(&received), expected_times, "{id}, {range} at {}", rfc3339(now));
    for (point, tick) in received.iter().zip(expected) {
        point.expect(&quote(format!("{tick}.0"), "9.5", 1, 1));
    }
}

#[tokio::test]
async fn at_any_moment_a_point_is_the_last_recorded_minute_of_its_interval() {
    let cloud = start().await;
    let random = &mut Rng::with_seed(11);
    let mut recorded = Vec::new();
    // The minutes contain the end of a slot of every range.
    let first = MIDNIGHT - 100 * MINUTE;
    for minute in 0..=104 {
        let time = first + minute * MINUTE;
        if random.u8(..3) > 0 || [99, 104].contains(&minute) {
            market_at(time).record(&cloud, time).await;
            recorded.push(time);
        }
        if time.rem_euclid(5 * MINUTE) == 2 * MINUTE {
            build(&cloud, time).await;
        }
        if [0, 4, 5, 31, 99, 100, 101, 104].contains(&minute) {
            let now = time + 59;
            let with_b: Vec<_> = recorded.iter().copied().filter(|tick| has_b(*tick)).collect();
            cloud.kill("bazaar-history").await.unwrap();
            for (range, _, interval, slots) in RANGES {
                expect_shown(&cloud, "A", range, now, &shown(&recorded, interval, slots, now)).await;
                expect_shown(&cloud, "B", range, now, &shown(&with_b, interval, slots, now)).await;
            }
        }
    }
    // A missing product logs no warning.
    let lines = log_lines(&cloud);
    let mut of_route = lines.iter().filter(|line| line["route"] == "/v1/bazaar/history").peekable();
    assert!(of_route.peek().is_some() && of_route.all(|line| line["level"] == "INFO"));
}

/// The only row of the series in the dump.
fn row_of<'dump>(dump: &'dump Dump, series: &str) -> &'dump Row {
    let front = format!("{series}#");
    let mut rows = dump.iter().filter(|((partition, _), _)| partition.starts_with(&front));
    let (_, row) = rows.next().unwrap();
    assert!(rows.next().is_none(), "a product must be in one row");
    row
}

#[tokio::test]
async fn a_full_range_shows_all_of_its_slots_and_none_that_is_a_range_ago() {
    let cloud = start().await;
    let length = |(_, _, interval, slots): (&str, &str, i64, i64)| interval * slots;
    assert_eq!(
        RANGES.map(length),
        [HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY],
        "a range must be as long as its name says"
    );
    market_at(START).record(&cloud, START).await;
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = table::dump(&cloud).await;
    for (range, series, interval, slots) in RANGES {
        // Copies the row to every slot, from long before the range until after it.
        let row = row_of(&dump, series);
        let ticks: Vec<_> = (-slots - 40..=40).map(|number| START + number * interval).collect();
        let rows = ticks.iter().map(|tick| table::with(row, "sk", json!({"S": format!("{tick:010}")})));
        table::clear(&cloud).await;
        table::put(&cloud, rows).await;
        for now in [START, START + interval - 1] {
            cloud.kill("bazaar-history").await.unwrap();
            let received = points(&cloud, "A", range, now).await;
            assert_eq!(received.len(), usize::try_from(slots).unwrap(), "{range}");
            let expected: Vec<_> = shown(&ticks, interval, slots, START).into_iter().map(rfc3339).collect();
            assert_eq!(times(&received), expected, "{range}");
        }
    }
}
