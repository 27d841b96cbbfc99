//! `GET /v1/auctions/prices` serves the newest recorded minute with exact prices, for ten minutes after the
//! last run.

use std::time::Duration;

use common::error::INTERNAL_MESSAGE;
use local::Cloud;

use crate::provider::NOW;
use crate::support::{
    Response, expect_clean_logs, get, get_at, line_of, one_instance_each, record_prices, record_prices_of,
    start_with, with_parameters,
};

const MINUTE: i64 = 60_000;

const PATH: &str = "/v1/auctions/prices";

/// Returns the text of `data`. Panics unless the response is a success.
#[track_caller]
fn data(response: &Response) -> &str {
    response.data();
    let rest = response.text.strip_prefix(r#"{"success":true,"data":"#).unwrap();
    rest.split(r#","meta":{"#).next().unwrap()
}

async fn start() -> Cloud {
    start_with(one_instance_each()).await
}

#[tokio::test]
async fn all_items_are_sorted_by_id_with_exact_prices() {
    let cloud = start().await;
    record_prices(&cloud, NOW).await;
    let items = [
        r#"{"id":"GOLDEN_DRAGON;4","lowest":219000000.0,"second":224500000.0,"listings":41}"#,
        r#"{"id":"HYPERION","lowest":900000000.0,"second":900000000.0,"listings":12}"#,
        r#"{"id":"ICE_RUNE;1","lowest":9803.92,"second":null,"listings":1}"#,
        r#"{"id":"NEW_YEAR_CAKE+383","lowest":300000.0,"second":310000.01,"listings":2}"#,
    ];
    let expected = format!(r#"{{"lastUpdated":{},"count":4,"items":[{}]}}"#, NOW - 1_000, items.join(","));
    assert_eq!(data(&get_at(&cloud, PATH, NOW).await), expected);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn some_items_are_in_the_order_of_the_request_with_their_auctions_and_unknown_ids_are_named() {
    let cloud = start().await;
    record_prices(&cloud, NOW).await;
    let cake = r#"{"id":"NEW_YEAR_CAKE+383","lowest":300000.0,"second":310000.01,"listings":2,"auction":"00000000000000000000000000000003"}"#;
    let dragon = r#"{"id":"GOLDEN_DRAGON;4","lowest":219000000.0,"second":224500000.0,"listings":41,"auction":"00000000000000000000000000000000"}"#;
    for (ids, count, items, unknown) in [
        ("NEW_YEAR_CAKE%2B383,GOLDEN_DRAGON%3B4", 2, [cake, dragon].join(","), ""),
        ("GOLDEN_DRAGON%3B4,X,GOLDEN_DRAGON%3B4,hyperion,X", 1, dragon.to_owned(), r#""X","hyperion""#),
        ("GOLDEN_DRAGON", 0, String::new(), r#""GOLDEN_DRAGON""#),
    ] {
        let expected = format!(
            r#"{{"lastUpdated":{},"count":{count},"items":[{items}],"unknown":[{unknown}]}}"#,
            NOW - 1_000
        );
        assert_eq!(data(&get_at(&cloud, &format!("{PATH}?ids={ids}"), NOW).await), expected);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_newest_minute_counts_after_the_ttl() {
    let cloud = start().await;
    let lowest = async |now: i64| get_at(&cloud, PATH, now).await.data()["items"][0]["lowest"].clone();
    for (minute, price) in (0..).zip([500_u32, 300, 400]) {
        let now = NOW + minute * MINUTE;
        record_prices_of(&cloud, now, &[("X", u64::from(price) * 100, None, 1)]).await;
        assert_eq!(lowest(now).await, f64::from(price));
        let auction = get_at(&cloud, &format!("{PATH}?ids=X"), now + MINUTE - 1).await.data();
        assert_eq!(auction["items"][0]["auction"], "0".repeat(32));
    }
    // A minute that is recorded late does not replace a newer minute.
    record_prices_of(&cloud, NOW + MINUTE, &[("X", 100, None, 1)]).await;
    assert_eq!(lowest(NOW + 3 * MINUTE).await, 400.0);
    expect_clean_logs(&cloud);
}

/// Panics unless the response is a 500 whose cause is in the log.
async fn expect_not_recorded(cloud: &Cloud, response: &Response) {
    assert_eq!(response.error("INTERNAL_ERROR"), INTERNAL_MESSAGE);
    assert!(response.headers.contains_key("retry-after"));
    let line = line_of(cloud, response).await;
    assert_eq!(line["cause"], "no run of record-auctions has succeeded for ten minutes");
}

#[tokio::test]
async fn prices_are_served_for_ten_minutes_after_the_last_run() {
    let minute = NOW - NOW.rem_euclid(MINUTE);
    for is_cached in [false, true] {
        let cloud = start().await;
        expect_not_recorded(&cloud, &get_at(&cloud, PATH, NOW).await).await;
        record_prices(&cloud, NOW).await;
        for (now, is_served) in [(minute + 10 * MINUTE, true), (minute + 10 * MINUTE + 1_000, false)] {
            if is_cached && is_served {
                assert!(!get_at(&cloud, PATH, now - 30_000).await.cached());
            }
            for path in [PATH.to_owned(), format!("{PATH}?ids=X")] {
                let response = get_at(&cloud, &path, now).await;
                if is_served {
                    response.data();
                } else {
                    expect_not_recorded(&cloud, &response).await;
                }
            }
        }
        // New prices are served at once, although an instance has the older ones in its cache.
        record_prices(&cloud, minute + 10 * MINUTE).await;
        get_at(&cloud, PATH, minute + 10 * MINUTE + 2_000).await.data();
    }
}

/// AWS splits a query at a raw `;`, and ignores the part after the `;` in the key of the stage cache.
#[tokio::test]
async fn behind_a_stage_cache_the_refusal_of_a_split_id_reaches_no_other_client() {
    let cloud = start_with(with_parameters(one_instance_each(), &[("GatewayCache", "on")])).await;
    cloud.clock().stop_at(NOW);
    record_prices(&cloud, NOW).await;
    let split = format!("{PATH}?ids=HYPERION;4");
    get(&cloud, &split).await.error("INTERNAL_ERROR");
    let whole = get(&cloud, &format!("{PATH}?ids=HYPERION")).await.data();
    assert_eq!(whole["items"][0]["id"], "HYPERION");
    // The split request now gets the stored response of the other request, because both have the same cache
    // key.
    assert_eq!(get(&cloud, &split).await.data(), whole);
    cloud.clock().advance(Duration::from_mins(1));
    record_prices(&cloud, NOW + MINUTE).await;
    get(&cloud, &split).await.error("INTERNAL_ERROR");
    let dragon = get(&cloud, &format!("{PATH}?ids=GOLDEN_DRAGON%3B4")).await.data();
    assert_eq!(dragon["items"][0]["id"], "GOLDEN_DRAGON;4");
}
