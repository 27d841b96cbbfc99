//! If `record-candles` is killed after any write, the next run leaves the table of one clean run.

use std::sync::Arc;

use super::{BUILDER, build};
use crate::history::interrupted::{record_and_kill, writes};
use crate::history::market::{Market, quote};
use crate::history::table;
use crate::history::{MINUTE, START, start};

/// A market of this many products.
fn market(products: i64, price: i64) -> Market {
    (0..products).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{price}.25"), number + 1, number, price))
    })
}

/// Kills runs for the moment `now` after every number of writes, and expects the next run to complete what is left.
async fn expect_completed(cloud: &Arc<local::Cloud>, now: i64, least: u64) {
    let before = table::dump_with_heartbeats(cloud).await;
    let first = writes(cloud);
    build(cloud, now).await;
    let needed = writes(cloud) - first;
    assert!(needed >= least, "{needed} writes");
    let clean = table::dump_with_heartbeats(cloud).await;
    for done in 0..needed {
        let what = format!("killed after {done} of {needed} writes");
        table::clear(cloud).await;
        table::put(cloud, before.values().cloned()).await;
        record_and_kill(cloud, BUILDER, now, done).await;
        assert!(table::dump_with_heartbeats(cloud).await != clean, "{what}: nothing is left to do");
        build(cloud, now).await;
        table::expect_same(&table::dump_with_heartbeats(cloud).await, &clean, &what);
    }
}

#[tokio::test]
async fn a_run_killed_after_any_write_is_completed_by_the_next_one() {
    let cloud = Arc::new(start().await);
    market(12, 1).record(&cloud, START + 56 * MINUTE).await;
    market(3, 2).record(&cloud, START + 59 * MINUTE).await;
    // Rows and a marker of each interval up to an hour, and the progress. All intervals are built by the same steps.
    expect_completed(&cloud, START + 62 * MINUTE, 12).await;
    // A late minute has more products, so that the rows of their shards are new.
    market(20, 9).record(&cloud, START + 58 * MINUTE).await;
    expect_completed(&cloud, START + 62 * MINUTE, 4).await;
}
