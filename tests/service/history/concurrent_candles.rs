//! Two runs of `record-candles` may overlap, and a minute may be recorded between what they read.

use std::sync::Arc;
use std::time::Duration;

use local::Fault;

use super::market::{Market, quote};
use super::{MINUTE, START, event, start_with_instances, table};
use crate::support::{expect_clean_logs, invoke};

const CANDLES: &str = "record-candles";

/// Much longer than a run takes.
const LATENCY: Duration = Duration::from_secs(8);

fn market(minute: i64) -> Market {
    Market::of("A", quote(10 + minute, 20 + minute, 3, 4))
}

#[tokio::test]
async fn a_slow_run_does_not_undo_what_a_later_one_has_built() {
    let cloud = Arc::new(start_with_instances(2).await);
    for minute in [0, 1, 2, 4] {
        market(minute).record(&cloud, START + minute * MINUTE).await;
    }
    let now = START + 8 * MINUTE;
    let run = async |what: &str| {
        let response = invoke(&cloud, CANDLES, event(now)).await;
        assert!(!response.headers.contains_key("x-amz-function-error"), "{what}: {}", response.text);
    };
    cloud.dynamodb().set_fault(Fault::delay(LATENCY).on("BatchWriteItem").times(1));
    let before = cloud.dynamodb().requests("BatchWriteItem");
    let slow = tokio::spawn({
        let cloud = Arc::clone(&cloud);
        async move { invoke(&cloud, CANDLES, event(now)).await }
    });
    while cloud.dynamodb().requests("BatchWriteItem") == before {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The slow run has read four minutes and is about to write them.
    market(3).record(&cloud, START + 3 * MINUTE).await;
    run("the later run").await;
    let built = table::dump(&cloud).await;
    assert!(!slow.is_finished(), "the runs did not overlap");
    let slow = slow.await.unwrap();
    assert!(!slow.headers.contains_key("x-amz-function-error"), "{}", slow.text);
    table::expect_same(&table::dump(&cloud).await, &built, "after the slow run");
    run("another run").await;
    table::expect_same(&table::dump(&cloud).await, &built, "after another run");
    expect_clean_logs(&cloud);
}
