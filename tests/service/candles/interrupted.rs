//! If `record-candles` is killed after any write, the next run leaves the same table as an uninterrupted run.

use std::sync::Arc;

use super::BUILDER;
use crate::history::interrupted::expect_completed;
use crate::history::market::{Market, quote};
use crate::history::{MINUTE, START, start};

/// A market of this many products.
fn market(products: i64, price: i64) -> Market {
    (0..products).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{price}.25"), number + 1, number, price))
    })
}

#[tokio::test]
async fn a_run_killed_after_any_write_is_completed_by_the_next_one() {
    let cloud = Arc::new(start().await);
    market(12, 1).record(&cloud, START + 56 * MINUTE).await;
    market(3, 2).record(&cloud, START + 59 * MINUTE).await;
    // The writes are the rows and a marker of each interval up to an hour, and the progress. Longer intervals
    // are built in the same way.
    expect_completed(&cloud, BUILDER, START + 62 * MINUTE, 12).await;
    // A late minute with more products adds the rows of further shards.
    market(20, 9).record(&cloud, START + 58 * MINUTE).await;
    expect_completed(&cloud, BUILDER, START + 62 * MINUTE, 4).await;
}
