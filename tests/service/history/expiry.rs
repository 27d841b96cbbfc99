//! Recorded minutes expire after two days, so candles can be built from them until then.

use std::time::Duration;

use super::chart::points;
use super::market::{Market, quote};
use super::{DAY, HOUR, MINUTE, start, table};

#[tokio::test]
async fn a_minute_expires_after_two_days_so_that_candles_can_be_built_of_it_until_then() {
    let cloud = start().await;
    let now = || cloud.clock().now_ms() / 1_000;
    let tick = now() - now().rem_euclid(HOUR) + HOUR;
    let move_to =
        |time: i64| cloud.clock().advance(Duration::from_secs(u64::try_from(time - now()).unwrap()));
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, tick).await;
    let minutes = async || {
        cloud.dynamodb().expire().await.unwrap();
        table::dump(&cloud)
            .await
            .into_keys()
            .filter(|(partition, _)| partition.starts_with("bazaar#"))
            .count()
    };
    move_to(tick + HOUR - MINUTE);
    assert_eq!(minutes().await, 2, "a row and its marker");
    assert_eq!(points(&cloud, "A", "1h", tick + HOUR - 1).await.len(), 1);
    assert_eq!(points(&cloud, "A", "1h", tick + HOUR + 6 * MINUTE).await.len(), 0);
    move_to(tick + 2 * DAY);
    assert_eq!(minutes().await, 2);
    move_to(tick + 3 * DAY);
    assert_eq!(minutes().await, 0);
}
