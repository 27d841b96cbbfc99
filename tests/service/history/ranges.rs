//! A range shows its newest slots, and never more points than documented.

use std::collections::BTreeMap;

use local::Cloud;
use serde_json::json;

use super::chart::{points, times};
use super::market::{Market, quote};
use super::table::{self, Dump, Row};
use super::{DAY, HOUR, MINUTE, RANGES, START, rfc3339, start};

/// A market with a price that no other tick has.
fn market_at(tick: i64) -> Market {
    Market::of("A", quote(format!("{tick}.0"), "9.5", 1, 1))
}

/// The recorded ticks that a range shows at the moment `now`: the earliest of every slot.
fn shown(recorded: &[i64], interval: i64, slots: i64, now: i64) -> Vec<i64> {
    let slot = |tick: i64| tick - tick.rem_euclid(interval);
    let mut earliest = BTreeMap::new();
    for tick in recorded {
        let ages = (slot(now) - slot(*tick)) / interval;
        if (0..slots).contains(&ages) {
            let entry = earliest.entry(slot(*tick)).or_insert(*tick);
            *entry = (*entry).min(*tick);
        }
    }
    earliest.into_values().collect()
}

async fn expect_shown(cloud: &Cloud, range: &str, now: i64, expected: &[i64]) {
    let points = points(cloud, "A", range, now).await;
    let expected_times: Vec<_> = expected.iter().map(|tick| rfc3339(*tick)).collect();
    assert_eq!(times(&points), expected_times, "{range} at {}", rfc3339(now));
    for (point, tick) in points.iter().zip(expected) {
        point.expect(&quote(format!("{tick}.0"), "9.5", 1, 1));
    }
}

#[tokio::test]
async fn a_tick_exactly_a_range_ago_is_not_shown_and_the_next_one_is() {
    let cloud = start().await;
    let length = |(_, _, interval, slots): (&str, &str, i64, i64)| interval * slots;
    assert_eq!(
        RANGES.map(length),
        [HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY],
        "a range is as long as its name"
    );
    let mut ticks = vec![START - MINUTE, START, START + MINUTE, START + 3 * HOUR];
    for (_, _, interval, slots) in RANGES {
        let ago = START - interval * slots;
        ticks.extend([
            ago - interval,
            ago - MINUTE,
            ago,
            ago + interval - MINUTE,
            ago + interval,
            ago + 2 * interval,
        ]);
    }
    ticks.sort_unstable();
    ticks.dedup();
    for tick in &ticks {
        market_at(*tick).record(&cloud, *tick).await;
    }
    for (range, _, interval, slots) in RANGES {
        let expected = shown(&ticks, interval, slots, START);
        let ago = START - interval * slots;
        assert!(!expected.contains(&ago), "a range ago");
        assert!(expected.contains(&(ago + interval)) && expected.contains(&START), "{range}");
        assert!(!expected.contains(&(START + 3 * HOUR)), "a later tick");
        // Every moment of the slot shows the same points.
        for now in [START, START + interval - 1] {
            cloud.kill("bazaar-history").await.unwrap();
            expect_shown(&cloud, range, now, &expected).await;
        }
        cloud.kill("bazaar-history").await.unwrap();
        let later = START + interval;
        let expected = shown(&ticks, interval, slots, later);
        assert!(!expected.contains(&(ago + interval)), "{range}: the range has moved on");
        expect_shown(&cloud, range, later, &expected).await;
    }
}

/// The row of the tier with the product.
fn row_of<'dump>(dump: &'dump Dump, tier: &str) -> &'dump Row {
    let front = format!("bazaar#{tier}#");
    let mut rows = dump.iter().filter(|((partition, _), _)| partition.starts_with(&front));
    let (_, row) = rows.next().unwrap();
    assert!(rows.next().is_none(), "one product is in one row");
    row
}

#[tokio::test]
async fn a_full_range_shows_all_of_its_slots() {
    let cloud = start().await;
    market_at(START).record(&cloud, START).await;
    let dump = table::dump(&cloud).await;
    for (range, tier, interval, slots) in RANGES {
        // The same row in every slot, from long before the range to after it.
        let row = row_of(&dump, tier);
        let ticks: Vec<_> = (-slots - 40..=40).map(|number| START + number * interval).collect();
        let rows = ticks.iter().map(|tick| table::with(row, "sk", json!({"S": format!("{tick:010}")})));
        table::put(&cloud, rows).await;
        let points = points(&cloud, "A", range, START + interval - 1).await;
        assert_eq!(points.len(), usize::try_from(slots).unwrap(), "{range}");
        let expected: Vec<_> = shown(&ticks, interval, slots, START).into_iter().map(rfc3339).collect();
        assert_eq!(times(&points), expected, "{range}");
        assert_eq!(points.last().unwrap().recorded_at, rfc3339(START), "{range}: the newest point");
    }
}
