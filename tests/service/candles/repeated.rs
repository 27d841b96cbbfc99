//! Building candles twice, late, out of order or in two processes leaves the table of one clean run.

use std::time::Duration;

use local::{Cloud, Fault};

use super::minutes::Minutes;
use super::{BUILDER, INTERVALS, MIDNIGHT, READER, SETTLE, build, built, candles, clear, slots};
use crate::history::market::{Market, quote};
use crate::history::table::{self, Dump};
use crate::history::{MINUTE, START, event, start, start_with_instances};
use crate::support::{await_logs, expect_clean_logs, invoke};

/// So long that both runs write the same slot at the same time, even on a busy machine.
const LATENCY: Duration = Duration::from_millis(20);

/// A market whose prices and products depend on the minute.
fn market(minute: i64) -> Market {
    (0..6).filter(|number| (minute + number) % 4 != 0).fold(Market::default(), |market, number| {
        let sell = format!("{}.25", (minute * 37 + number * 11) % 100 + 1);
        market.with(&format!("PRODUCT_{number}"), quote(sell, 500 - minute, minute, number))
    })
}

const IDS: [&str; 6] = ["PRODUCT_0", "PRODUCT_1", "PRODUCT_2", "PRODUCT_3", "PRODUCT_4", "PRODUCT_5"];

/// Records some minutes before midnight and one after it.
async fn minutes(cloud: &Cloud) -> Minutes {
    let mut minutes = Minutes::default();
    for minute in [-34, -33, -10, -7, -6, -1, 0] {
        minutes.record(cloud, MIDNIGHT + minute * MINUTE, &market(100 + minute)).await;
    }
    minutes
}

/// The candles that one run leaves, in which slots of all intervals end.
async fn clean(cloud: &Cloud) -> Dump {
    let slots = build(cloud, MIDNIGHT + 2 * MINUTE).await;
    let names: std::collections::BTreeSet<_> = slots.into_iter().map(|(interval, _)| interval).collect();
    assert_eq!(names.len(), INTERVALS.len(), "{names:?}");
    candles(cloud).await
}

#[tokio::test]
async fn repeated_and_late_events_and_events_out_of_order_leave_the_table_of_one_run() {
    let cloud = start().await;
    let recorded = minutes(&cloud).await;
    let clean = clean(&cloud).await;
    let settled = MIDNIGHT + 2 * MINUTE - SETTLE;
    recorded.expect(&cloud, &IDS, settled, MIDNIGHT + 2 * MINUTE).await;
    assert_eq!(build(&cloud, MIDNIGHT + 2 * MINUTE).await, [], "a repeated event");
    // The alarm `record-candles: nothing recorded` counts lines with the first message (infra/monitoring.yaml).
    let runs = await_logs(&cloud, 2, |line| line["function"] == BUILDER).await;
    let messages: Vec<_> = runs.iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["recorded", "nothing to record"]);
    table::expect_same(&candles(&cloud).await, &clean, "a repeated event");
    for order in [
        // As scheduled, with repetitions.
        &[-28, -3, -3, 2, 2][..],
        // Going back in time, and late.
        &[-3, -28, 4, -8, 3],
    ] {
        clear(&cloud).await;
        for minute in order {
            build(&cloud, MIDNIGHT + minute * MINUTE).await;
        }
        table::expect_same(&candles(&cloud).await, &clean, &format!("events at {order:?}"));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_interval_is_built_two_minutes_after_its_end() {
    let cloud = start().await;
    for minute in 0..6 {
        market(minute).record(&cloud, START + minute * MINUTE).await;
    }
    let due = START + 7 * MINUTE;
    assert_eq!(build(&cloud, due - 1).await, []);
    assert_eq!(build(&cloud, due).await, slots("5m", [START]));
    assert_eq!(build(&cloud, due + 5 * MINUTE - 1).await, []);
    assert_eq!(build(&cloud, due + 5 * MINUTE).await, slots("5m", [START + 5 * MINUTE]));
    assert_eq!(build(&cloud, START + 32 * MINUTE - 1).await, []);
    assert_eq!(build(&cloud, START + 32 * MINUTE).await, slots("30m", [START]));
}

#[tokio::test]
async fn a_minute_that_is_recorded_after_its_candles_were_built_gets_into_them() {
    let cloud = start().await;
    let mut recorded = minutes(&cloud).await;
    let now = MIDNIGHT + 2 * MINUTE;
    build(&cloud, now).await;
    // In a slot that has a candle, and in one that has none.
    for (minute, five) in [(-2, -5), (-17, -20)] {
        let extreme = (0..6).fold(Market::default(), |market, number| {
            market.with(IDS[number], quote("100000.5", "0.01", 1, 1))
        });
        recorded.record(&cloud, MIDNIGHT + minute * MINUTE, &extreme).await;
        let mut expected = slots("5m", [MIDNIGHT + five * MINUTE]);
        let others = &INTERVALS[1..];
        expected
            .extend(others.iter().flat_map(|interval| slots(interval.name, [interval.slot(MIDNIGHT - 1)])));
        assert_eq!(build(&cloud, now + MINUTE).await, expected);
        cloud.kill(READER).await.unwrap();
        recorded.expect(&cloud, &IDS, MIDNIGHT, now).await;
    }
    let late = candles(&cloud).await;
    clear(&cloud).await;
    build(&cloud, now).await;
    table::expect_same(&late, &candles(&cloud).await, "late minutes and minutes in time");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn two_runs_at_once_leave_what_one_leaves() {
    let cloud = start_with_instances(2).await;
    minutes(&cloud).await;
    let clean = clean(&cloud).await;
    let now = MIDNIGHT + 2 * MINUTE;
    // The same event twice, and two runs of which one is late.
    for other in [now, now - 5 * MINUTE] {
        clear(&cloud).await;
        cloud.dynamodb().set_fault(Fault::delay(LATENCY).on("BatchWriteItem").on("PutItem"));
        let (one, other) =
            tokio::join!(invoke(&cloud, BUILDER, event(now)), invoke(&cloud, BUILDER, event(other)));
        cloud.dynamodb().clear_faults();
        built(&one);
        built(&other);
        table::expect_same(&candles(&cloud).await, &clean, "two runs at once");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_run_that_meets_a_late_minute_leaves_what_one_run_after_it_leaves() {
    let cloud = start_with_instances(2).await;
    for minute in [0, 1] {
        market(minute).record(&cloud, START + minute * MINUTE).await;
    }
    let now = START + 7 * MINUTE;
    let before = cloud.dynamodb().requests("PutItem");
    // One run reads the minutes and is slow to write; meanwhile a minute is added and another run builds the slot.
    cloud.dynamodb().set_fault(Fault::delay(Duration::from_secs(2)).on("PutItem").times(1));
    let slow = async { built(&invoke(&cloud, BUILDER, event(now)).await) };
    let fast = async {
        while cloud.dynamodb().requests("PutItem") == before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        market(2).record(&cloud, START + 2 * MINUTE).await;
        build(&cloud, now).await
    };
    tokio::join!(slow, fast);
    cloud.dynamodb().clear_faults();
    let left = candles(&cloud).await;
    assert_eq!(build(&cloud, now).await, [], "both runs together have built everything");
    clear(&cloud).await;
    build(&cloud, now).await;
    table::expect_same(&left, &candles(&cloud).await, "a late minute between two runs");
    expect_clean_logs(&cloud);
}
