//! Heartbeats follow only from the recorded ticks: neither the order, repetition or overlap of events nor
//! killed recorders make a difference. A backfill of the past changes no heartbeat.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use local::{Cloud, Fault};
use serde_json::{Value, json};
use simulator::Fault as UpstreamFault;

use super::{
    DAY, HOUR, MINUTE, Row, START, delete_heartbeats, event, gap, heartbeat, heartbeats, last_gap, put,
    record, rfc3339, start, start_with_instances,
};
use crate::support::{expect_clean_logs, invoke, simulator};

const FEED: &str = "fire-sales";
const RECORDER: &str = "record-fire-sales";

/// Makes the provider serve a fire sale, which the recorder can record.
fn show_a_sale(cloud: &Cloud) {
    let sale = json!({"item_id": "A", "start": START * 1_000, "end": START * 1_000, "amount": 1, "price": 2});
    let body = json!({"success": true, "sales": [sale]}).to_string();
    simulator(cloud).set_fault("/v2/skyblock/firesales", UpstreamFault::default().with_body(body));
}

/// Returns the only heartbeat. Panics if there are others.
async fn only(cloud: &Cloud) -> Row {
    let mut rows: Vec<_> = heartbeats(cloud).await.into_values().collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

/// The recorded minutes after `START`, with gaps of different lengths.
const MINUTES: [i64; 9] = [0, 1, 2, 5, 6, 9, 30, 31, 33];

/// The heartbeat after these minutes.
fn expected() -> Row {
    let gaps = [(2, 5), (6, 9), (9, 30)].map(|(from, to)| (START + from * MINUTE, START + to * MINUTE));
    heartbeat(FEED, START, START + 33 * MINUTE, &gaps)
}

#[tokio::test]
async fn events_in_any_order_and_repeated_leave_one_heartbeat() {
    let cloud = start().await;
    show_a_sale(&cloud);
    let mut random = fastrand::Rng::with_seed(5);
    let mut order: Vec<_> = MINUTES.into_iter().chain([0, 9, 33]).collect();
    for round in 0..8 {
        delete_heartbeats(&cloud).await;
        for minute in &order {
            record(&cloud, FEED, START + minute * MINUTE + round).await;
        }
        assert_eq!(only(&cloud).await, expected(), "{order:?}");
        if round == 0 { order.reverse() } else { random.shuffle(&mut order) }
    }
    assert_eq!(
        last_gap(&cloud, FEED, START + 34 * MINUTE).await,
        gap(START + 9 * MINUTE, START + 30 * MINUTE)
    );
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn concurrent_recorders_leave_one_heartbeat() {
    let cloud = Arc::new(start_with_instances(4).await);
    show_a_sale(&cloud);
    for round in 0..4 {
        delete_heartbeats(&cloud).await;
        // Long enough that several recorders read the row before one writes it.
        cloud.dynamodb().set_fault(Fault::delay(Duration::from_millis(30)));
        let events = MINUTES.into_iter().chain([31, 5]);
        join_all(events.map(|minute| record(&cloud, FEED, START + minute * MINUTE))).await;
        cloud.dynamodb().clear_faults();
        assert_eq!(only(&cloud).await, expected(), "round {round}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_backfill_of_the_past_is_no_heartbeat_and_leaves_no_gap() {
    let cloud = start().await;
    show_a_sale(&cloud);
    let backfill = async |feed: &str, time: i64| {
        let response = invoke(&cloud, &format!("record-{feed}"), event(time, START)).await;
        assert!(!response.headers.contains_key("x-amz-function-error"), "{}", response.text);
    };
    for feed in ["bazaar", "mayor", FEED] {
        for time in [START - 90 * DAY, START - HOUR, START - 121, START + 121] {
            backfill(feed, time).await;
        }
    }
    assert_eq!(heartbeats(&cloud).await, BTreeMap::new());
    // An event 120 s before the clock is the oldest event of the present.
    backfill(FEED, START - 120).await;
    record(&cloud, FEED, START).await;
    let alive = heartbeat(FEED, START - 120, START, &[]);
    assert_eq!(only(&cloud).await, alive);
    for time in [START - 90 * DAY, START - HOUR] {
        backfill(FEED, time).await;
    }
    assert_eq!(only(&cloud).await, alive);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_gap_is_longer_than_two_intervals_and_disappears_when_late_events_fill_it() {
    let cloud = start().await;
    show_a_sale(&cloud);
    for (feed, interval) in [("mayor", 5 * MINUTE), (FEED, MINUTE)] {
        let now = START + HOUR;
        record(&cloud, feed, START).await;
        record(&cloud, feed, START + 2 * interval).await;
        assert_eq!(last_gap(&cloud, feed, now).await, Value::Null, "{feed}");
        record(&cloud, feed, START + 5 * interval).await;
        let expected = gap(START + 2 * interval, START + 5 * interval);
        assert_eq!(last_gap(&cloud, feed, now).await, expected, "{feed}");
        record(&cloud, feed, START + 3 * interval).await;
        assert_eq!(last_gap(&cloud, feed, now).await, Value::Null, "{feed}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_gaps_of_candles_are_the_candles_that_no_run_has_built() {
    let cloud = start().await;
    let status = json!({
        "productId": "A", "sellPrice": 1.0, "buyPrice": 2.0, "sellVolume": 3, "buyVolume": 4, "sellMovingWeek": 5,
        "buyMovingWeek": 6, "sellOrders": 7, "buyOrders": 8,
    });
    let products = json!({"A": {"product_id": "A", "quick_status": status}});
    let body = json!({"success": true, "lastUpdated": 1, "products": products}).to_string();
    simulator(&cloud).set_fault("/v2/skyblock/bazaar", UpstreamFault::default().with_body(body));
    let record = async |feed: &str, minute: i64| record(&cloud, feed, START + minute * MINUTE).await;
    let candles = async || heartbeats(&cloud).await.remove("candles");
    let built = |first: i64, last: i64, gaps: &[(i64, i64)]| {
        let time = |minute: i64| START + minute * MINUTE;
        let times: Vec<_> = gaps.iter().map(|(from, to)| (time(*from), time(*to))).collect();
        Some(heartbeat("candles", time(first), time(last), &times))
    };
    record("candles", 2).await;
    assert_eq!(candles().await, None, "there must be no candle yet");
    for minute in [0, 5, 10] {
        record("bazaar", minute).await;
    }
    record("candles", 17).await;
    assert_eq!(candles().await, built(5, 15, &[]));
    // `record-candles` does not run for 45 minutes, and then catches up.
    for minute in (15..60).step_by(5) {
        record("bazaar", minute).await;
    }
    record("candles", 62).await;
    assert_eq!(candles().await, built(5, 60, &[]));
    // No minute is recorded between 60 and 65. A single missing candle is not a gap.
    record("candles", 67).await;
    record("bazaar", 65).await;
    record("candles", 72).await;
    assert_eq!(candles().await, built(5, 70, &[]));
    record("bazaar", 95).await;
    record("candles", 102).await;
    assert_eq!(candles().await, built(5, 100, &[(70, 100)]));
    // A run without anything to build leaves the heartbeat as it is, or writes it if a killed run has not
    // written it.
    record("candles", 102).await;
    assert_eq!(candles().await, built(5, 100, &[(70, 100)]));
    delete_heartbeats(&cloud).await;
    record("candles", 102).await;
    assert_eq!(candles().await, built(5, 100, &[(70, 100)]));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_heartbeat_of_the_future_is_replaced() {
    let cloud = start().await;
    show_a_sale(&cloud);
    let now = Timestamp::now().as_second();
    put(&cloud, &heartbeat(FEED, START, now + DAY, &[])).await;
    let response = invoke(&cloud, RECORDER, json!({"time": rfc3339(now)}).to_string()).await;
    let tick: Timestamp = response.json()["tick"].as_str().unwrap().parse().unwrap();
    assert_eq!(only(&cloud).await, heartbeat(FEED, tick.as_second(), tick.as_second(), &[]));
}
