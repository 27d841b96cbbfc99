//! The history returns the provider's prices and volumes. `ranges` compares charts of random minutes.

use serde_json::{Value, json};

use super::chart::{self, points};
use super::market::{Market, RECORDER, quote};
use super::{RANGES, START, event, failure, start, table};
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
async fn products_with_an_invalid_id_are_left_out_with_a_warning() {
    let cloud = start_with(without_repeated_fetches()).await;
    let good = quote("1.0", "2.0", 3, 4);
    let too_long = "L".repeat(65);
    let ids = ["", "lower_case", "A B", "A#B", "A.B", "É", "\"", "\u{1f525}", too_long.as_str()];
    let invalid = ids.iter().fold(Market::default(), |market, id| market.with(id, good.clone()));
    invalid.show(&cloud);
    let cause = failure(&cloud, RECORDER, event(START)).await;
    assert!(cause.contains("no price can be recorded"), "{cause}");
    assert!(table::dump(&cloud).await.is_empty(), "nothing may be written");
    let recorded = invalid.with("FIRST", good.clone()).with("ZZZ", good).record(&cloud, START).await;
    assert_eq!(recorded["products"], 2);
    let is_warning = |line: &Value| line["message"] == "invalid products are not recorded";
    let warning = await_logs(&cloud, 1, is_warning).await.remove(0);
    assert_eq!((&warning["level"], &warning["count"]), (&json!("WARN"), &json!(ids.len())));
    for id in ["FIRST", "ZZZ"] {
        assert_eq!(points(&cloud, id, "1h", START).await.len(), 1, "{id}");
    }
    expect_clean_logs(&cloud);
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
    assert_eq!(chart::read(&by_default, "SOMETHING", "24h").len(), 1, "the default range must be 24h");
}
