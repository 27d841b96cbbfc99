//! If a recorder is killed at any point, the same event completes the tick.

use std::sync::Arc;
use std::time::Duration;

use local::{Cloud, Fault};

use super::chart::points;
use super::market::{Market, RECORDER, quote, tiers};
use super::table::{self, Dump, Row};
use super::{MINUTE, START, event, record, start};
use crate::support::invoke;

/// The operations that write.
const WRITES: [&str; 2] = ["BatchWriteItem", "PutItem"];

/// A market of these products. A hundred of them fill more than fifty rows in each tier, which are three batches or more, so
/// that there is a point between two batches in each tier.
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

/// Panics unless `partial` has rows of `before` and `after` only, and differs from `after`.
#[track_caller]
fn expect_part_of(partial: &Dump, before: &Dump, after: &Dump, what: &str) {
    assert!(partial != after, "{what}: nothing is left to do");
    for (key, row) in partial {
        assert!(before.get(key) == Some(row) || after.get(key) == Some(row), "{what}: the row {key:?}");
    }
}

/// Panics unless the charts of four products, which depend on the number, have no point or the right one.
async fn expect_right_or_nothing(cloud: &Cloud, market: &Market, number: usize, what: &str) {
    for (id, quote) in market.0.iter().skip(number * 4).take(4) {
        for range in ["1h", "24h", "7d", "30d", "90d"] {
            match &points(cloud, id, range, START).await[..] {
                [] => {}
                [point] => point.expect(quote),
                more => panic!("{what}: {id} has {} points in {range}", more.len()),
            }
        }
    }
}

#[tokio::test]
async fn a_recorder_killed_after_any_write_leaves_what_the_retry_completes() {
    let cloud = Arc::new(start().await);
    let before = writes(&cloud);
    let market = market(0..100);
    let recorded = market.record(&cloud, START).await;
    let needed = writes(&cloud) - before;
    let clean = table::dump_with_heartbeats(&cloud).await;
    assert_eq!(tiers(&recorded).len(), 5, "all tiers are due");
    let mut expected = 0;
    for slot in recorded["slots"].as_array().unwrap() {
        let rows = slot["rows"].as_u64().unwrap();
        assert!(rows > 2 * 25, "{slot} is more than two batches");
        expected += rows.div_ceil(25) + 1;
    }
    assert_eq!(needed, expected + 1, "batches of twenty-five, a marker in each tier, and a heartbeat");

    let mut sizes = Vec::new();
    for done in 0..needed {
        let what = format!("killed after {done} of {needed} writes");
        table::clear(&cloud).await;
        record_and_kill(&cloud, RECORDER, START, done).await;
        let partial = table::dump_with_heartbeats(&cloud).await;
        expect_part_of(&partial, &Dump::new(), &clean, &what);
        sizes.push(partial.len());
        expect_right_or_nothing(&cloud, &market, usize::try_from(done).unwrap(), &what).await;
        record(&cloud, RECORDER, START).await;
        table::expect_same(&table::dump_with_heartbeats(&cloud).await, &clean, &what);
    }
    // The recorder was killed at another point each time. A write has at most 25 rows.
    assert!(sizes.iter().enumerate().all(|(done, size)| *size <= 25 * done), "{sizes:?}");
    sizes.dedup();
    assert!(sizes.len() > 16, "{sizes:?}");
}

#[tokio::test]
async fn a_recorder_killed_while_it_replaces_a_later_tick_leaves_what_the_retry_completes() {
    let cloud = Arc::new(start().await);
    // The base tick completes the slots of one hour and of three. In the slots of five minutes and of thirty, the early tick
    // replaces the late one, whose market has other products, so there are rows to write and rows to delete.
    let ticks = [START, START + 31 * MINUTE, START + 32 * MINUTE];
    let [base, early, late] = [market(0..60), market(0..100), market(50..150)];
    base.record(&cloud, ticks[0]).await;
    early.record(&cloud, ticks[1]).await;
    late.record(&cloud, ticks[2]).await;
    let in_order = table::dump_with_heartbeats(&cloud).await;

    table::clear(&cloud).await;
    base.record(&cloud, ticks[0]).await;
    late.record(&cloud, ticks[2]).await;
    expect_retries_complete(&cloud, &early, ticks[1], &["1m", "5m", "30m"], Some(in_order)).await;
}

#[tokio::test]
async fn a_recorder_killed_while_it_replaces_a_poor_tick_leaves_what_the_retry_completes() {
    let cloud = Arc::new(start().await);
    // The full tick has products in shards that the poor one has not, and the other way round.
    let [poor, full] = [market(80..120), market(0..100)];
    poor.record(&cloud, START).await;
    expect_retries_complete(&cloud, &full, START + MINUTE, &["1m", "5m", "30m", "1h", "3h"], None).await;
}

/// Records the market at the tick, which fills slots of these tiers, and checks what is left if the recorder is killed after any
/// write. `expected` is the table at the end, if it is known.
async fn expect_retries_complete(
    cloud: &Arc<Cloud>,
    market: &Market,
    tick: i64,
    filled: &[&str],
    expected: Option<Dump>,
) {
    let without = table::dump_with_heartbeats(cloud).await;
    let before = writes(cloud);
    let recorded = market.record(cloud, tick).await;
    let needed = writes(cloud) - before;
    assert_eq!(tiers(&recorded), filled);
    let complete = table::dump_with_heartbeats(cloud).await;
    let in_order = expected.unwrap_or_else(|| complete.clone());
    table::expect_same(&complete, &in_order, "without being killed");
    let gone = |(key, row): &(&(String, String), &Row)| in_order.get(*key) != Some(*row);
    assert!(without.iter().filter(gone).count() > 100, "rows are replaced");
    assert!(without.keys().any(|key| !in_order.contains_key(key)), "rows are deleted");

    for done in 0..needed {
        let what = format!("killed after {done} of {needed} writes");
        table::clear(cloud).await;
        table::put(cloud, without.values().cloned()).await;
        market.show(cloud);
        record_and_kill(cloud, RECORDER, tick, done).await;
        expect_part_of(&table::dump_with_heartbeats(cloud).await, &without, &in_order, &what);
        record(cloud, RECORDER, tick).await;
        table::expect_same(&table::dump_with_heartbeats(cloud).await, &in_order, &what);
    }
}
