//! Prices and volumes come back from the history as the provider had them.

use serde_json::{Value, json};

use super::chart::{self, points, times};
use super::decimal::is_nearest_hundredth;
use super::market::{Market, RECORDER, quote};
use super::{MINUTE, START, event, failure, rfc3339, start, table};
use crate::support::{await_logs, expect_clean_logs, get_at, start_with, without_repeated_fetches};

#[tokio::test]
async fn a_response_has_the_documented_fields_and_types() {
    let cloud = start().await;
    Market::of("INK_SACK:3", quote("8.0", "12.25", 5_000_000_000_i64, 7)).record(&cloud, START).await;
    let response = get_at(&cloud, "/v1/bazaar/history?item_id=INK_SACK:3&range=1h", START * 1_000).await;
    let point = concat!(
        r#"{"sell_price":8.0,"buy_price":12.25,"sell_volume":5000000000,"buy_volume":7,"#,
        r#""spread":4.25,"spread_percent":53.125,"recorded_at":"2026-04-28T15:00:00Z"}"#,
    );
    let data = format!(r#"{{"item_id":"INK_SACK:3","range":"1h","dataPoints":1,"history":[{point}]}}"#);
    let meta = r#"{"cached":false,"api_version":"v1"}"#;
    assert_eq!(response.text, format!(r#"{{"success":true,"data":{data},"meta":{meta}}}"#));
    response.data();
}

#[tokio::test]
async fn prices_are_rounded_to_the_nearest_cent_and_volumes_are_exact() {
    let cloud = start().await;
    let rows = [
        ("500000000.01", "500000000.01"),
        ("5.0000000001E8", "500000000.01"),
        ("5E8", "500000000.0"),
        ("6.0E7", "60000000.0"),
        ("1.11111111E8", "111111111.0"),
        ("499999999.999999", "500000000.0"),
        ("999999999999.99", "999999999999.99"),
        ("1e12", "1000000000000.0"),
        ("0.0049999999", "0.0"),
        ("0.0050000001", "0.01"),
        ("0.01", "0.01"),
        ("0.0149", "0.01"),
        ("0.0151", "0.02"),
        ("0.1", "0.1"),
        ("0.29", "0.29"),
        ("1.005", "1.0"),
        ("1.0050000000000001", "1.01"),
        ("4.35", "4.35"),
        ("3.6999999999999997", "3.7"),
        ("2.6749999999999998", "2.67"),
        ("8.2149999999999999", "8.21"),
        ("12345678.905000001", "12345678.91"),
        ("2.887645678129047E-11", "0.0"),
        ("7", "7.0"),
        ("0.0", "0.0"),
        ("0", "0.0"),
    ];
    let volumes = [0_i64, 1, 2_147_483_648, 4_294_967_297, 9_007_199_254_740_993, i64::MAX];
    let mut market = Market::default();
    for (position, (spelled, _)) in rows.iter().enumerate() {
        let (sell, buy) = (volumes[position % 6], volumes[(position + 1) % 6]);
        market = market.with(&format!("SELL:{position}"), quote(spelled, "1.5", sell, buy));
        market = market.with(&format!("BUY:{position}"), quote("1.5", spelled, buy, sell));
    }
    assert_eq!(market.record(&cloud, START).await["products"], rows.len() * 2);
    for (position, (spelled, kept)) in rows.iter().enumerate() {
        assert!(is_nearest_hundredth(kept, spelled), "{spelled}");
        let (sell, buy) = (volumes[position % 6], volumes[(position + 1) % 6]);
        let [point] = &points(&cloud, &format!("SELL:{position}"), "1h", START).await[..] else { panic!() };
        point.expect(&quote(kept, "1.5", sell, buy));
        let [point] = &points(&cloud, &format!("BUY:{position}"), "1h", START).await[..] else { panic!() };
        point.expect(&quote("1.5", kept, buy, sell));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_product_needs_a_buy_order_or_a_sell_order_to_be_recorded() {
    let cloud = start().await;
    let market = Market::default()
        .with("BOTH", quote("2.0", "3.0", 1, 1))
        .with("NO_SELL_ORDERS", quote("2.5", "0.0", 9, 0))
        .with("NO_BUY_ORDERS", quote("0.0", "3.5", 0, 9))
        .with("NO_ORDERS", quote("0.0", "0.0", 0, 0))
        .with("ONLY_VOLUME", quote("0", "0", 12, 34))
        // Rounded to the nearest cent, its price is 0.
        .with("DUST", quote("0.004", "0.0", 3, 4));
    assert_eq!(market.record(&cloud, START).await["products"], 3);
    for (id, count) in [
        ("BOTH", 1),
        ("NO_SELL_ORDERS", 1),
        ("NO_BUY_ORDERS", 1),
        ("NO_ORDERS", 0),
        ("ONLY_VOLUME", 0),
        ("DUST", 0),
    ] {
        let points = points(&cloud, id, "24h", START).await;
        assert_eq!(points.len(), count, "{id}");
        if let [point] = &points[..] {
            point.expect(&market.0[id]);
        }
    }
}

#[tokio::test]
async fn an_unusual_but_legal_item_id_is_accepted() {
    let cloud = start().await;
    let longest = "Z".repeat(64);
    let ids = ["X", "0", ":", "-", "_", ":X", "A:B:C", "PRODUCTS", "SK", "--", "INK_SACK:3", "1E5", &longest];
    let market = (1..)
        .zip(ids)
        .fold(Market::default(), |market, (volume, id)| market.with(id, quote("1.5", "2.5", volume, 7)));
    market.record(&cloud, START).await;
    for (volume, id) in (1..).zip(ids) {
        let points = points(&cloud, id, "24h", START).await;
        assert_eq!(points.len(), 1, "{id}");
        assert_eq!(points[0].sell_volume, volume, "{id}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn products_with_an_invalid_id_are_left_out_with_a_warning() {
    let cloud = start().await;
    let good = quote("1.0", "2.0", 3, 4);
    let longest = "L".repeat(64);
    let legal =
        Market::default().with("FIRST", good.clone()).with(&longest, good.clone()).with("ZZZ", good.clone());
    let too_long = "L".repeat(65);
    let ids = ["", "lower_case", "A B", "A#B", "A.B", "É", "\"", "\u{1f525}", "pk", too_long.as_str()];
    for (number, id) in (0..).zip(ids) {
        // Ten minutes apart, so that no chart is served from the cache.
        let tick = START + number * 10 * MINUTE;
        let recorded = legal.clone().with(id, good.clone()).record(&cloud, tick).await;
        assert_eq!(recorded["products"], 3, "beside {id:?}");
        let shortened: String = id.chars().take(64).collect();
        let is_warning = |line: &Value| {
            line["level"] == "WARN" && line["some"].as_str().is_some_and(|named| named.contains(&shortened))
        };
        assert_eq!(await_logs(&cloud, 1, is_warning).await[0]["count"], 1, "{id}");
        for id in ["FIRST", &longest, "ZZZ"] {
            let points = points(&cloud, id, "1h", tick).await;
            assert!(times(&points).contains(&rfc3339(tick).as_str()), "{id} in {points:?}");
        }
    }
    let text = format!("{:?}", table::dump(&cloud).await);
    assert!(text.contains("ZZZ") && !text.contains("lower_case"));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_market_without_prices_fails_and_the_retry_records_the_tick() {
    let cloud = start_with(without_repeated_fetches()).await;
    let nothing = quote("0.0", "0.0", 0, 0);
    let illegal = quote("-1", "-1", 0, 0);
    for market in
        [Market::default(), Market::of("A", nothing).with("B", quote(0, 0, 5, 5)), Market::of("A", illegal)]
    {
        market.show(&cloud);
        let cause = failure(&cloud, RECORDER, event(START)).await;
        assert!(cause.contains("no product has a price"), "{cause}");
        assert!(table::dump(&cloud).await.is_empty(), "nothing is written");
    }
    let good = quote("1.0", "2.0", 3, 4);
    assert_eq!(Market::of("A", good.clone()).record(&cloud, START).await["products"], 1);
    points(&cloud, "A", "1h", START).await[0].expect(&good);
}

#[tokio::test]
async fn an_unknown_item_has_no_points() {
    let cloud = start().await;
    let empty = |range: &str| json!({"item_id": "NOTHING", "range": range, "dataPoints": 0, "history": []});
    for range in ["1h", "24h", "7d", "30d", "90d"] {
        let path = format!("/v1/bazaar/history?item_id=NOTHING&range={range}");
        assert_eq!(get_at(&cloud, &path, START * 1_000).await.data(), empty(range), "an empty table");
    }
    Market::of("SOMETHING", quote("1.0", "2.0", 3, 4)).record(&cloud, START).await;
    for range in ["1h", "24h", "7d", "30d", "90d"] {
        let path = format!("/v1/bazaar/history?item_id=NOTHING&range={range}");
        // After the cached response has expired.
        let response = get_at(&cloud, &path, (START + 10 * MINUTE) * 1_000).await;
        assert!(!response.cached());
        assert_eq!(response.data(), empty(range), "beside another item");
    }
    let by_default = get_at(&cloud, "/v1/bazaar/history?item_id=SOMETHING", START * 1_000).await;
    assert_eq!(chart::read(&by_default, "SOMETHING", "24h").len(), 1, "the range is 24h by default");
}
