//! Candles are built two minutes after their interval ends, and two runs at once leave the same table as a
//! single run. `random_ticks` tests late and repeated runs.

use std::time::Duration;

use local::Fault;

use super::{BUILDER, MIDNIGHT, build, built, candles, clear};
use crate::history::market::{Market, quote};
use crate::history::{MINUTE, START, event, start, start_with_instances, table};
use crate::support::{await_logs, expect_clean_logs, invoke};

/// Long enough that both runs write the same slot at the same time, even on a busy machine.
const LATENCY: Duration = Duration::from_millis(20);

/// A market whose prices and products depend on the minute.
fn market(minute: i64) -> Market {
    (0..6).filter(|number| (minute + number) % 4 != 0).fold(Market::default(), |market, number| {
        let sell = format!("{}.25", (minute * 37 + number * 11) % 100 + 1);
        market.with(&format!("PRODUCT_{number}"), quote(sell, 500 - minute, minute, number))
    })
}

#[tokio::test]
async fn an_interval_is_built_two_minutes_after_its_end() {
    let cloud = start().await;
    for minute in 0..6 {
        market(minute).record(&cloud, START + minute * MINUTE).await;
    }
    let slot = |interval: &str, minute: i64| vec![(interval.to_owned(), START + minute * MINUTE)];
    for (seconds, slots) in [
        (7 * MINUTE - 1, vec![]),
        (7 * MINUTE, slot("5m", 0)),
        (12 * MINUTE - 1, vec![]),
        (12 * MINUTE, slot("5m", 5)),
        (32 * MINUTE - 1, vec![]),
        (32 * MINUTE, slot("30m", 0)),
    ] {
        assert_eq!(build(&cloud, START + seconds).await, slots, "after {seconds} s");
    }
    // The alarm `record-candles: nothing recorded` counts lines with the second message
    // (infra/monitoring.yaml).
    let runs = await_logs(&cloud, 2, |line| line["function"] == BUILDER).await;
    let messages: Vec<_> = runs.iter().take(2).map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["nothing to record", "recorded"]);
}

#[tokio::test]
async fn two_runs_at_once_leave_what_one_leaves() {
    let cloud = start_with_instances(2).await;
    for minute in [-34, -33, -10, -7, -6, -1, 0] {
        market(100 + minute).record(&cloud, MIDNIGHT + minute * MINUTE).await;
    }
    let now = MIDNIGHT + 2 * MINUTE;
    build(&cloud, now).await;
    let clean = candles(&cloud).await;
    // First the same event twice, then an event and an earlier event.
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
    // One run reads the minutes and writes slowly. Meanwhile, a minute is added and another run builds the
    // slot.
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
    assert_eq!(build(&cloud, now).await, [], "both runs together must have built everything");
    clear(&cloud).await;
    build(&cloud, now).await;
    table::expect_same(&left, &candles(&cloud).await, "a late minute between two runs");
    expect_clean_logs(&cloud);
}
