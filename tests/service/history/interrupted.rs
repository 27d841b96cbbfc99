//! If a recorder is killed after any write, the same event completes the tick.

use std::sync::Arc;
use std::time::Duration;

use local::{Cloud, Fault};
use serde_json::Value;

use super::market::{Market, RECORDER, quote};
use super::table;
use super::{START, event, start};
use crate::support::invoke;

const WRITES: [&str; 3] = ["BatchWriteItem", "PutItem", "UpdateItem"];

/// A market of these products. A hundred products fill more than fifty rows, which take at least three
/// batches.
fn market(products: std::ops::Range<i64>) -> Market {
    products.fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{number}.25"), "2000.0", number, 7))
    })
}

/// The number of writes that DynamoDB has received.
pub(crate) fn writes(cloud: &Cloud) -> u64 {
    WRITES.iter().map(|operation| cloud.dynamodb().requests(operation)).sum()
}

/// Sends the recorder the event for `tick`, lets the first `done` writes succeed and the next writes hang,
/// and then kills the recorder.
pub(crate) async fn record_and_kill(cloud: &Arc<Cloud>, recorder: &'static str, tick: i64, done: u64) {
    let fault = WRITES.iter().fold(Fault::hang(), |fault, operation| fault.on(*operation));
    let carried_out = || WRITES.iter().map(|operation| cloud.dynamodb().carried_out(operation)).sum::<u64>();
    let before = writes(cloud);
    let carried_out_before = carried_out();
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

/// Records the tick, which must take at least `least` writes. Then kills the recorder after every smaller
/// number of writes, and panics unless the same event leaves the same table as the first run. Returns the
/// first run's report.
pub(crate) async fn expect_completed(
    cloud: &Arc<Cloud>,
    recorder: &'static str,
    tick: i64,
    least: u64,
) -> Value {
    // Leaves out a row that counts the writes of hourly sums and sales, because the count depends on the
    // number of runs, and the names, which a later run writes if a run has too little time.
    let dump = async || {
        let mut dump = table::dump_with_heartbeats(cloud).await;
        dump.remove(&("auctions#averages".to_owned(), "built".to_owned()));
        dump.remove(&("names".to_owned(), "all".to_owned()));
        dump
    };
    let before = table::dump_with_heartbeats(cloud).await;
    let first = writes(cloud);
    let response = invoke(cloud, recorder, event(tick)).await.json();
    let needed = writes(cloud) - first;
    assert!(needed >= least, "{needed} writes: {response}");
    let clean = dump().await;
    for done in 0..needed {
        let what = format!("{recorder} killed after {done} of {needed} writes");
        table::clear(cloud).await;
        table::put(cloud, before.values().cloned()).await;
        record_and_kill(cloud, recorder, tick, done).await;
        invoke(cloud, recorder, event(tick)).await;
        table::expect_same(&dump().await, &clean, &what);
    }
    response["recorded"].clone()
}

#[tokio::test]
async fn a_recorder_killed_after_any_write_leaves_what_the_retry_completes() {
    let cloud = Arc::new(start().await);
    market(0..100).show(&cloud);
    // More than two batches of 25 rows, a marker, the note of a late minute, and a heartbeat.
    let recorded = expect_completed(&cloud, RECORDER, START, 6).await;
    assert!(recorded["rows"].as_u64().unwrap() > 2 * 25, "{recorded}");
}
