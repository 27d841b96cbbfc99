//! If two runs of `record-bazaar` record a minute at the same time, or one of them is killed, the minute has
//! the refresh of one run.

use std::sync::Arc;
use std::time::Duration;

use local::{Cloud, Fault};

use super::market::{Market, RECORDER, quote};
use super::table::{self, Dump};
use super::{MINUTE, START, event, record, recorded, start_with_instances};
use crate::support::{expect_clean_logs, invoke};

/// Long enough for another run to record the minute, even on a busy machine. If it is too short, the runs
/// overlap less, and the test is weaker.
const LATENCY: Duration = Duration::from_secs(1);

/// A market at this price. The second product of each two is only in every second market, so that a run has
/// rows that another run lacks.
fn market(price: i64) -> Market {
    let is_listed = |number: &i64| number % 2 == 0 || (number / 2 + price) % 2 == 0;
    (0..200).filter(is_listed).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{price}.25"), "2000.0", number, 7))
    })
}

/// The rows that one run leaves if the provider serves the market at this price, and the number of its
/// batches.
async fn clean(cloud: &Cloud, price: i64) -> (Dump, u64) {
    table::clear(cloud).await;
    let before = cloud.dynamodb().requests("BatchWriteItem");
    market(price).record(cloud, START).await;
    let batches = cloud.dynamodb().requests("BatchWriteItem") - before;
    assert!(batches > 2, "{batches} batches");
    (table::dump(cloud).await, batches)
}

#[tokio::test]
async fn two_runs_at_once_leave_the_refresh_of_one() {
    let cloud = Arc::new(start_with_instances(2).await);
    let (first, batches) = clean(&cloud, 1).await;
    let (second, _) = clean(&cloud, 2).await;
    assert!(
        first.keys().any(|row| !second.contains_key(row)),
        "the first run has rows that the second one lacks"
    );
    for done in 0..batches {
        table::clear(&cloud).await;
        let before = cloud.dynamodb().requests("BatchWriteItem");
        let late = Fault::delay(LATENCY).on("BatchWriteItem").after(done).times(batches - done);
        cloud.dynamodb().set_fault(late);
        market(1).show(&cloud);
        let slow = tokio::spawn({
            let cloud = Arc::clone(&cloud);
            async move { invoke(&cloud, RECORDER, event(START)).await }
        });
        while cloud.dynamodb().requests("BatchWriteItem") < before + batches {
            assert!(!slow.is_finished());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // The second run overtakes the last batches of the first one.
        market(2).show(&cloud);
        record(&cloud, RECORDER, START).await;
        recorded(&slow.await.unwrap(), START);
        cloud.dynamodb().clear_faults();
        let left = table::dump(&cloud).await;
        assert!(left == first || left == second, "a mixture, with {done} batches before the other run");
        // The same event again changes nothing.
        market(3).show(&cloud);
        record(&cloud, RECORDER, START).await;
        assert!(table::dump(&cloud).await == left);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_run_that_meets_the_rows_of_a_killed_run_leaves_its_own() {
    let cloud = Arc::new(start_with_instances(2).await);
    let (expected, batches) = clean(&cloud, 3).await;
    for done in 0..=batches {
        table::clear(&cloud).await;
        market(1).show(&cloud);
        super::interrupted::record_and_kill(&cloud, RECORDER, START, done).await;
        market(3).record(&cloud, START).await;
        table::expect_same(&table::dump(&cloud).await, &expected, &format!("killed after {done} batches"));
        // No later minute waits for the killed run.
        market(3).record(&cloud, START + MINUTE).await;
    }
}
