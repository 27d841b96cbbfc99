//! Repeated, late and missing events leave the same table as the same ticks in order.

use std::collections::BTreeSet;

use local::Cloud;
use serde_json::json;

use super::chart::{points, times};
use super::market::{BAZAAR, Market, RECORDER, quote};
use super::table::{self, Dump};
use super::{DAY, MINUTE, START, failure, nothing, recorded, rfc3339, start};
use crate::support::{expect_clean_logs, invoke, log_lines, simulator};

/// Minutes of ticks in neighbouring slots of every range.
const TICKS: [i64; 20] = [-3, 0, 1, 2, 4, 5, 7, 11, 29, 31, 33, 59, 60, 64, 89, 121, 179, 181, 183, 200];

/// The market at a tick: a random part of forty products, at prices that no other tick has.
fn market_at(tick: i64) -> Market {
    let mut random = fastrand::Rng::with_seed(tick.cast_unsigned());
    let mut market = Market::default();
    for product in 0..40 {
        if random.f64() < 0.6 {
            let price = format!("{}.{product:02}", tick / MINUTE % 100_000);
            market =
                market.with(&format!("PRODUCT_{product}"), quote(&price, price.clone() + "5", product, tick));
        }
    }
    assert!(!market.0.is_empty());
    market
}

/// The table after recording the ticks one after the other, from empty.
async fn table_after(cloud: &Cloud, ticks: &[i64]) -> Dump {
    table::clear(cloud).await;
    for tick in ticks {
        market_at(*tick).record(cloud, *tick).await;
    }
    table::dump(cloud).await
}

#[tokio::test]
async fn events_in_any_order_leave_the_same_table() {
    let cloud = start().await;
    let mut ticks = TICKS.map(|minute| START + minute * MINUTE);
    let in_order = table_after(&cloud, &ticks).await;
    // Products differ from slot to slot.
    let ids: BTreeSet<_> =
        in_order.values().filter_map(|row| row.get("products")).map(ToString::to_string).collect();
    assert!(ids.len() > 300, "{} different rows", ids.len());
    ticks.reverse();
    table::expect_same(&table_after(&cloud, &ticks).await, &in_order, "the last one first");
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..2 {
        random.shuffle(&mut ticks);
        let minutes = ticks.map(|tick| (tick - START) / MINUTE);
        let mut twice = ticks.to_vec();
        // Some are repeated at the end.
        twice.extend(random.choose_multiple(ticks, 5));
        table::expect_same(&table_after(&cloud, &twice).await, &in_order, &format!("{minutes:?}"));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_repeated_event_changes_nothing_even_if_the_provider_has_refreshed() {
    let cloud = start().await;
    market_at(START).record(&cloud, START).await;
    let once = table::dump(&cloud).await;
    for (seconds, refreshed) in [(0, market_at(START)), (0, market_at(START + 1)), (59, market_at(START + 2))]
    {
        let again = refreshed.record(&cloud, START + seconds).await;
        assert_eq!(again, nothing());
        table::expect_same(&table::dump(&cloud).await, &once, "after the same event again");
    }
    // The same holds if later ticks were recorded in between.
    market_at(START + MINUTE).record(&cloud, START + MINUTE).await;
    let both = table::dump(&cloud).await;
    market_at(START + 3).record(&cloud, START).await;
    table::expect_same(&table::dump(&cloud).await, &both, "after an old event again");
}

#[tokio::test]
async fn a_product_has_points_only_for_ticks_that_it_was_in() {
    let cloud = start().await;
    let (stays, changes) = (quote("1.0", "2.0", 1, 1), quote("3.0", "4.0", 1, 1));
    // So many products that every shard has a row.
    let others = (0..600)
        .fold(Market::default(), |market, number| market.with(&format!("STAYS_{number}"), stays.clone()));
    for minute in 0..10 {
        let mut market = others.clone().with("STAYS", stays.clone());
        if minute % 3 == 0 {
            market = market.with("CHANGES", changes.clone());
        }
        market.record(&cloud, START + minute * MINUTE).await;
    }
    let now = START + 10 * MINUTE;
    assert_eq!(points(&cloud, "STAYS", "1h", now).await.len(), 10);
    let at =
        |minutes: &[i64]| minutes.iter().map(|minute| rfc3339(START + minute * MINUTE)).collect::<Vec<_>>();
    assert_eq!(times(&points(&cloud, "CHANGES", "1h", now).await), at(&[0, 3, 6, 9]));
    assert_eq!(times(&points(&cloud, "STAYS", "24h", now).await), at(&[4, 9]));
    assert_eq!(times(&points(&cloud, "CHANGES", "24h", now).await), at(&[3, 9]));
    // A missing product logs no warning.
    for line in log_lines(&cloud) {
        assert_eq!(line["level"], "INFO", "{line}");
    }
}

#[tokio::test]
async fn a_tick_is_the_minute_of_its_event_in_any_time_zone() {
    let cloud = start().await;
    for (minute, time) in [
        (1, "2026-04-28T15:01:59.999999999Z"),
        (2, "2026-04-28T17:02:30+02:00"),
        (3, "2026-04-28T10:33:00.5-04:30"),
        (4, "2026-04-29T05:04:00+14:00"),
        (5, "2026-04-28t15:05:00z"),
    ] {
        Market::of("A", quote(format!("{minute}.0"), "9.0", 1, 1)).show(&cloud);
        let response = invoke(&cloud, RECORDER, json!({"time": time, "backfill": true}).to_string()).await;
        assert_eq!(recorded(&response, START + minute * MINUTE)["products"], 1, "{time}");
    }
    let points = points(&cloud, "A", "1h", START + 5 * MINUTE).await;
    assert_eq!(points.len(), 5);
    for (minute, point) in (1..).zip(points) {
        assert_eq!(point.recorded_at, rfc3339(START + minute * MINUTE));
        point.expect(&quote(format!("{minute}.0"), "9.0", 1, 1));
    }
}

#[tokio::test]
async fn an_invalid_event_fails_and_the_message_shows_a_valid_one() {
    let cloud = start().await;
    market_at(START).show(&cloud);
    for recorder in crate::support::RECORDERS {
        for event in [
            "{}",
            "[]",
            "null",
            "\"2026-04-28T15:00:00Z\"",
            r#"{"time":null}"#,
            r#"{"time":""}"#,
            r#"{"time":1777388400}"#,
            r#"{"time":"now"}"#,
            r#"{"time":"2026-04-28"}"#,
            r#"{"time":"2026-04-28T15:00:00"}"#,
            r#"{"time":"2026-04-31T15:00:00Z"}"#,
            r#"{"time":"2026-04-28T25:00:00Z"}"#,
            r#"{"time":"1999-12-31T23:59:00Z"}"#,
            r#"{"time":"2300-01-01T00:00:00Z"}"#,
            r#"{"Time":"2026-04-28T15:00:00Z"}"#,
            r#"{"time":"2026-04-28T15:00:00Z","backfill":"true"}"#,
            r#"{"time":"2026-04-28T15:00:00Z","backfill":true,"now":5}"#,
            r#"{"time":"<aws.scheduler.scheduled-time>"}"#,
        ] {
            let cause = failure(&cloud, recorder, event.to_owned()).await;
            let expected = r#"the event must be {"time": "2026-11-21T15:04:00Z"}: "#;
            assert!(
                cause.starts_with(expected) && cause.len() > expected.len(),
                "{recorder}, {event}: {cause}"
            );
        }
    }
    assert!(table::dump(&cloud).await.is_empty());
    assert_eq!(simulator(&cloud).requests("*"), 0, "a recorder fetched without a tick");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_event_may_have_its_own_now_and_unknown_fields() {
    let cloud = start().await;
    market_at(START).show(&cloud);
    let at = |time: i64, now: i64| {
        json!({"time": rfc3339(time), "backfill": true, "now": rfc3339(now), "id": 5, "detail-type": "Scheduled Event"})
            .to_string()
    };
    // Rows that would have expired are not written.
    let response = invoke(&cloud, RECORDER, at(START, START + 3 * DAY)).await;
    assert_eq!(recorded(&response, START), nothing());
    assert_eq!(simulator(&cloud).requests(BAZAAR), 0, "a recorder with nothing to record fetches nothing");
    let response = invoke(&cloud, RECORDER, at(START, START + DAY)).await;
    assert_ne!(recorded(&response, START), nothing());
}
