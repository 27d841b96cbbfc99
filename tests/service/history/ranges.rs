//! A range shows the last recorded minute of each of its newest slots, and never more points than documented.

use std::collections::BTreeMap;

use fastrand::Rng;
use local::Cloud;
use serde_json::json;

use super::chart::{points, times};
use super::market::{Market, quote};
use super::table::{self, Dump, Row};
use super::{DAY, HOUR, MINUTE, RANGES, ROUTES, START, rfc3339, start};
use crate::candles::{MIDNIGHT, build};
use crate::support::get_at;

/// A market with a price that no other tick has.
fn market_at(tick: i64) -> Market {
    Market::of("A", quote(format!("{tick}.0"), "9.5", 1, 1))
}

/// The recorded ticks that a range shows at the moment `now`: the latest of every slot.
fn shown(recorded: &[i64], interval: i64, slots: i64, now: i64) -> Vec<i64> {
    let slot = |tick: i64| tick - tick.rem_euclid(interval);
    let is_shown = |tick: &&i64| **tick <= now && (slot(now) - slot(**tick)) / interval < slots;
    let latest: BTreeMap<_, _> = recorded.iter().filter(is_shown).map(|tick| (slot(*tick), *tick)).collect();
    latest.into_values().collect()
}

async fn expect_shown(cloud: &Cloud, range: &str, now: i64, expected: &[i64]) {
    cloud.kill("bazaar-history").await.unwrap();
    let points = points(cloud, "A", range, now).await;
    let expected_times: Vec<_> = expected.iter().map(|tick| rfc3339(*tick)).collect();
    assert_eq!(times(&points), expected_times, "{range} at {}", rfc3339(now));
    for (point, tick) in points.iter().zip(expected) {
        point.expect(&quote(format!("{tick}.0"), "9.5", 1, 1));
    }
}

#[tokio::test]
async fn at_any_moment_a_point_is_the_last_recorded_minute_of_its_interval() {
    let cloud = start().await;
    let random = &mut Rng::with_seed(11);
    let mut recorded = Vec::new();
    // Over the end of a slot of every range.
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
            for (range, _, interval, slots) in RANGES {
                expect_shown(&cloud, range, time + 59, &shown(&recorded, interval, slots, time + 59)).await;
            }
        }
    }
}

/// The only row of the series.
fn row_of<'dump>(dump: &'dump Dump, series: &str) -> &'dump Row {
    let front = format!("{series}#");
    let mut rows = dump.iter().filter(|((partition, _), _)| partition.starts_with(&front));
    let (_, row) = rows.next().unwrap();
    assert!(rows.next().is_none(), "one product is in one row");
    row
}

#[tokio::test]
async fn a_full_range_shows_all_of_its_slots_and_none_that_is_a_range_ago() {
    let cloud = start().await;
    let length = |(_, _, interval, slots): (&str, &str, i64, i64)| interval * slots;
    assert_eq!(
        RANGES.map(length),
        [HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY],
        "a range is as long as its name"
    );
    market_at(START).record(&cloud, START).await;
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = table::dump(&cloud).await;
    for (range, series, interval, slots) in RANGES {
        // The same row in every slot, from long before the range to after it.
        let row = row_of(&dump, series);
        let ticks: Vec<_> = (-slots - 40..=40).map(|number| START + number * interval).collect();
        let rows = ticks.iter().map(|tick| table::with(row, "sk", json!({"S": format!("{tick:010}")})));
        table::clear(&cloud).await;
        table::put(&cloud, rows).await;
        for now in [START, START + interval - 1] {
            cloud.kill("bazaar-history").await.unwrap();
            let points = points(&cloud, "A", range, now).await;
            assert_eq!(points.len(), usize::try_from(slots).unwrap(), "{range}");
            let expected: Vec<_> = shown(&ticks, interval, slots, START).into_iter().map(rfc3339).collect();
            assert_eq!(times(&points), expected, "{range}");
        }
    }
}

#[tokio::test]
async fn a_request_at_any_time_has_a_response() {
    let cloud = start().await;
    market_at(START).record(&cloud, START).await;
    for now_ms in [i64::MIN, -100_000_000_000_000, -1, 0, 59, 100_000_000_000, 10_000_000_000_000, i64::MAX] {
        for (range, ..) in RANGES {
            let path = format!("/v1/bazaar/history?item_id=A&range={range}");
            let data = get_at(&cloud, &path, now_ms).await.data();
            assert_eq!(data["dataPoints"], 0, "{range} at {now_ms}");
        }
        for path in ROUTES {
            get_at(&cloud, path, now_ms).await.data();
        }
    }
}
