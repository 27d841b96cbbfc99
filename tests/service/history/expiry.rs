//! When rows of prices expire.

use std::time::Duration;

use super::chart::points;
use super::market::{Market, quote};
use super::{DAY, HOUR, MINUTE, RANGES, start, table};

#[tokio::test]
async fn a_row_expires_shortly_after_its_range_no_longer_shows_it() {
    let cloud = start().await;
    let now = || cloud.clock().now_ms() / 1_000;
    // In the next hours, at a moment when a slot of every tier begins.
    let tick = now() - now().rem_euclid(3 * HOUR) + 3 * HOUR;
    let move_to =
        |time: i64| cloud.clock().advance(Duration::from_secs(u64::try_from(time - now()).unwrap()));
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, tick).await;
    for (range, tier, interval, slots) in RANGES {
        let last = tick + interval * slots - MINUTE;
        move_to(last);
        cloud.dynamodb().expire().await.unwrap();
        assert_eq!(points(&cloud, "A", range, last + MINUTE - 1).await.len(), 1, "{range}");
        assert_eq!(points(&cloud, "A", range, last + 6 * MINUTE).await.len(), 0, "{range}");
        let front = format!("bazaar#{tier}#");
        let rows =
            table::dump(&cloud).await.into_keys().filter(|(partition, _)| partition.starts_with(&front));
        assert_eq!(rows.count(), 1, "{tier}");
    }
    // The ranges differ by more than two days, so only rows of the last tier are left.
    assert_eq!(table::dump(&cloud).await.len(), 2, "a row and the one that marks its slot");
    move_to(tick + 92 * DAY);
    cloud.dynamodb().expire().await.unwrap();
    assert!(table::dump(&cloud).await.is_empty());
}
