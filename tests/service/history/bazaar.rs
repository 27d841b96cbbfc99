//! Prices and volumes come back from the history as the provider had them. `ranges` compares charts of random minutes.

use serde_json::{Value, json};

use super::chart::{self, points, times};
use super::market::{Market, RECORDER, quote};
use super::{MINUTE, RANGES, START, event, failure, rfc3339, start, table};
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
        ("499999999.999999", "500000000.0"),
        ("1e12", "1000000000000.0"),
        ("0.0049999999", "0.0"),
        ("0.0050000001", "0.01"),
        ("1.0050000000000001", "1.01"),
        ("2.6749999999999998", "2.67"),
        ("8.2149999999999999", "8.21"),
        ("2.887645678129047E-11", "0.0"),
        ("7", "7.0"),
    ];
    let volumes = [0_i64, 1, 2_147_483_648, 4_294_967_297, 9_007_199_254_740_993, i64::MAX];
    let mut market = Market::default();
    for (position, (spelled, _)) in rows.iter().enumerate() {
        let (sell, buy) = (volumes[position % 6], volumes[(position + 1) % 6]);
        market = market.with(&format!("SELL:{position}"), quote(spelled, "1.5", sell, buy));
        market = market.with(&format!("BUY:{position}"), quote("1.5", spelled, buy, sell));
    }
    assert_eq!(market.record(&cloud, START).await["products"], rows.len() * 2);
    for (position, (_, kept)) in rows.iter().enumerate() {
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
    for (id, quote) in &market.0 {
        let points = points(&cloud, id, "24h", START).await;
        assert_eq!(points.len(), usize::from(quote.recorded().is_some() && id != "DUST"), "{id}");
        for point in points {
            point.expect(quote);
        }
    }
}

#[tokio::test]
async fn an_unusual_but_legal_item_id_is_accepted() {
    let cloud = start().await;
    let longest = "Z".repeat(64);
    let ids = ["X", "0", ":", "-", "_", ":X", "A:B:C", "PRODUCTS", "SK", "--", "INK_SACK:3", "1E5", &longest];
    let market = ids.iter().fold(Market::default(), |market, id| market.with(id, quote("1.5", "2.5", 3, 7)));
    market.record(&cloud, START).await;
    for id in ids {
        assert_eq!(points(&cloud, id, "24h", START).await.len(), 1, "{id}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn products_with_an_invalid_id_are_left_out_with_a_warning() {
    let cloud = start().await;
    let good = quote("1.0", "2.0", 3, 4);
    let too_long = "L".repeat(65);
    let ids = ["", "lower_case", "A B", "A#B", "A.B", "É", "\"", "\u{1f525}", too_long.as_str()];
    for (number, id) in (0..).zip(ids) {
        let tick = START + number * MINUTE;
        let market = Market::of("FIRST", good.clone()).with("ZZZ", good.clone()).with(id, good.clone());
        assert_eq!(market.record(&cloud, tick).await["products"], 2, "beside {id:?}");
        let shortened: String = id.chars().take(64).collect();
        let is_warning = |line: &Value| {
            line["level"] == "WARN" && line["some"].as_str().is_some_and(|named| named.contains(&shortened))
        };
        assert_eq!(await_logs(&cloud, 1, is_warning).await[0]["count"], 1, "{id}");
    }
    let now = START + 8 * MINUTE;
    assert_eq!(points(&cloud, "FIRST", "1h", now).await.len(), ids.len());
    assert_eq!(times(&points(&cloud, "ZZZ", "1h", now).await).last(), Some(&rfc3339(now).as_str()));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_market_without_prices_fails_and_the_retry_records_the_tick() {
    let cloud = start_with(without_repeated_fetches()).await;
    let [nothing, illegal] = [quote("0.0", "0.0", 5, 5), quote("-1", "-1", 0, 0)];
    for market in [Market::default(), Market::of("A", nothing), Market::of("A", illegal)] {
        market.show(&cloud);
        let cause = failure(&cloud, RECORDER, event(START)).await;
        assert!(cause.contains("no product has a price"), "{cause}");
        assert!(table::dump(&cloud).await.is_empty(), "nothing is written");
    }
    let good = quote("1.0", "2.0", 3, 4);
    Market::of("lower_case", good.clone()).show(&cloud);
    let cause = failure(&cloud, RECORDER, event(START)).await;
    assert!(cause.contains("no price can be recorded"), "{cause}");
    assert!(table::dump(&cloud).await.is_empty(), "nothing is written");
    assert_eq!(Market::of("A", good.clone()).record(&cloud, START).await["products"], 1);
    points(&cloud, "A", "1h", START).await[0].expect(&good);
}

#[tokio::test]
async fn an_unknown_item_has_no_points() {
    let cloud = start().await;
    Market::of("SOMETHING", quote("1.0", "2.0", 3, 4)).record(&cloud, START).await;
    for (range, ..) in RANGES {
        let path = format!("/v1/bazaar/history?item_id=NOTHING&range={range}");
        let empty = json!({"item_id": "NOTHING", "range": range, "dataPoints": 0, "history": []});
        assert_eq!(get_at(&cloud, &path, START * 1_000).await.data(), empty);
    }
    let by_default = get_at(&cloud, "/v1/bazaar/history?item_id=SOMETHING", START * 1_000).await;
    assert_eq!(chart::read(&by_default, "SOMETHING", "24h").len(), 1, "the range is 24h by default");
}
