//! History routes read the table once in five minutes, and `meta.cached` says which responses came from the cache.

use local::Cloud;

use super::market::{Market, quote};
use super::{MINUTE, ROUTES, START, record, start};
use crate::support::{expect_clean_logs, get, get_at};

/// Five minutes, in milliseconds.
const TTL: i64 = 300_000;

async fn record_tick(cloud: &Cloud, tick: i64) {
    Market::of("INK_SACK:3", quote("1.0", "2.0", 3, tick)).record(cloud, tick).await;
}

#[tokio::test]
async fn the_table_is_read_once_in_five_minutes() {
    let cloud = start().await;
    record_tick(&cloud, START).await;
    for path in ROUTES {
        let queries = || cloud.dynamodb().requests("Query");
        let (now, before) = (START * 1_000 + 123, queries());
        let first = get_at(&cloud, path, now).await;
        assert!(!first.cached(), "{path}");
        let read = queries();
        assert!(read > before, "{path}");
        assert_eq!(first.headers["last-modified"], "Tue, 28 Apr 2026 15:00:00 GMT");
        assert_eq!(first.headers["expires"], "Tue, 28 Apr 2026 15:05:00 GMT");
        for later in [0, 1, TTL / 2, TTL - 1] {
            get_at(&cloud, path, now + later).await.expect_replay_of(&first);
        }
        assert_eq!(queries(), read, "{path}");
        assert!(!get_at(&cloud, path, now + TTL).await.cached(), "{path}");
        assert!(queries() > read, "{path}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_new_tick_appears_once_the_cached_response_has_expired() {
    let cloud = start().await;
    let path = "/v1/bazaar/history?item_id=INK_SACK:3&range=1h";
    let count =
        async |now: i64| get_at(&cloud, path, now * 1_000).await.data()["dataPoints"].as_u64().unwrap();
    record_tick(&cloud, START).await;
    assert_eq!(count(START).await, 1);
    record_tick(&cloud, START + MINUTE).await;
    assert_eq!(count(START + MINUTE).await, 1);
    assert_eq!(count(START + 5 * MINUTE).await, 2);
}

#[tokio::test]
async fn different_parameters_have_different_cache_entries() {
    let cloud = start().await;
    record_tick(&cloud, START).await;
    record(&cloud, "record-mayor", START).await;
    let paths = [
        "/v1/bazaar/history?item_id=INK_SACK:3",
        "/v1/bazaar/history?item_id=INK_SACK:3&range=1h",
        "/v1/bazaar/history?item_id=INK_SACK:4",
        "/v1/mayor/history",
        "/v1/mayor/history?limit=1",
        "/v1/fire-sales/history",
        "/v1/fire-sales/history?limit=24",
    ];
    for path in paths {
        assert!(!get(&cloud, path).await.cached(), "{path}");
    }
    let queries = cloud.dynamodb().requests("Query");
    for path in paths {
        assert!(get(&cloud, path).await.cached(), "{path}");
    }
    // The same parameters, spelled differently.
    for path in ["/v1/bazaar/history?range=24h&item_id=INK_SACK%3A3&x=y", "/v1/mayor/history?limit=024"] {
        assert!(get(&cloud, path).await.cached(), "{path}");
    }
    assert_eq!(cloud.dynamodb().requests("Query"), queries);
}
