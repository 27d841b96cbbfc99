//! If a recorder is killed at any point, the same event completes the tick.

use std::sync::Arc;
use std::time::Duration;

use local::{Cloud, Fault};

use super::market::{Market, RECORDER, quote};
use super::table;
use super::{START, event, record, start};
use crate::support::invoke;

/// The operations that write.
const WRITES: [&str; 3] = ["BatchWriteItem", "PutItem", "UpdateItem"];

/// A market of these products. A hundred of them fill more than fifty rows, which are three batches or more.
fn market(products: std::ops::Range<i64>) -> Market {
    products.fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{number}.25"), "2000.0", number, 7))
    })
}

/// The number of writes so far.
pub(crate) fn writes(cloud: &Cloud) -> u64 {
    WRITES.iter().map(|operation| cloud.dynamodb().requests(operation)).sum()
}

/// Sends the recorder the event for `tick`, and kills it when `done` writes are done and all others hang.
pub(crate) async fn record_and_kill(cloud: &Arc<Cloud>, recorder: &'static str, tick: i64, done: u64) {
    let fault = WRITES.iter().fold(Fault::hang(), |fault, operation| fault.on(*operation));
    let carried_out = || WRITES.iter().map(|operation| cloud.dynamodb().carried_out(operation)).sum::<u64>();
    let (before, carried_out_before) = (writes(cloud), carried_out());
    cloud.dynamodb().set_fault(fault.after(done));
    let invocation = tokio::spawn({
        let cloud = Arc::clone(cloud);
        async move { invoke(&cloud, recorder, event(tick)).await }
    });
    while writes(cloud) <= before + done || carried_out() < carried_out_before + done {
        assert!(!invocation.is_finished(), "{} of {done} writes arrived", writes(cloud) - before);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    cloud.kill(recorder).await.unwrap();
    let response = invocation.await.unwrap();
    assert_eq!(response.headers["x-amz-function-error"], "Unhandled", "{}", response.text);
    assert!(response.text.contains("killed"), "{}", response.text);
    cloud.dynamodb().clear_faults();
}

#[tokio::test]
async fn a_recorder_killed_after_any_write_leaves_what_the_retry_completes() {
    let cloud = Arc::new(start().await);
    let before = writes(&cloud);
    let market = market(0..100);
    let recorded = market.record(&cloud, START).await;
    let needed = writes(&cloud) - before;
    let clean = table::dump_with_heartbeats(&cloud).await;
    let rows = recorded["rows"].as_u64().unwrap();
    assert!(rows > 2 * 25, "{recorded} is more than two batches");
    let expected = rows.div_ceil(25) + 3;
    assert_eq!(needed, expected, "batches of twenty-five, a marker, the note for candles, and a heartbeat");

    for done in 0..needed {
        let what = format!("killed after {done} of {needed} writes");
        table::clear(&cloud).await;
        record_and_kill(&cloud, RECORDER, START, done).await;
        let partial = table::dump_with_heartbeats(&cloud).await;
        // A write has at most 25 rows.
        assert!(partial != clean && u64::try_from(partial.len()).unwrap() <= 25 * done, "{what}");
        assert!(partial.iter().all(|(key, row)| clean.get(key) == Some(row)), "{what}");
        record(&cloud, RECORDER, START).await;
        table::expect_same(&table::dump_with_heartbeats(&cloud).await, &clean, &what);
    }
}
