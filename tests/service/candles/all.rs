//! `GET /v1/bazaar/candles/all` returns all products of one complete interval as JSON or CSV, or a message
//! with the reason and the time to try again.

use serde_json::json;

use super::{MIDNIGHT, build, build_all};
use crate::history::market::{Market, quote};
use crate::history::table::{self, with};
use crate::history::{HOUR, MINUTE, START, rfc3339, start};
use crate::support::{expect_clean_logs, get_at};

const ALL: &str = "/v1/bazaar/candles/all";

fn path(interval: &str, opened_at: i64, further: &str) -> String {
    format!("{ALL}?interval={interval}&opened_at={}{further}", rfc3339(opened_at))
}

/// Starts a cloud with recorded minutes of two products in the hour after [`START`].
async fn recorded() -> local::Cloud {
    let cloud = start().await;
    for (minute, prices) in [(0, ("8.0", "12.25")), (3, ("9.5", "0")), (59, ("7.01", "13"))] {
        let market = Market::of("INK_SACK:3", quote(prices.0, prices.1, 5_000_000_000_i64, minute));
        let market = if minute == 3 { market.with("COAL", quote("1.5", "2", 3, 4)) } else { market };
        market.record(&cloud, START + minute * MINUTE).await;
    }
    cloud
}

#[tokio::test]
async fn a_response_has_all_products_in_the_order_of_their_ids_and_may_be_kept() {
    let cloud = recorded().await;
    let now = START + HOUR + 2 * MINUTE;
    build_all(&cloud, now).await;
    let coal = concat!(
        r#"{"item_id":"COAL","sell_open":1.5,"sell_high":1.5,"sell_low":1.5,"sell_close":1.5,"#,
        r#""buy_open":2.0,"buy_high":2.0,"buy_low":2.0,"buy_close":2.0,"sell_volume":3,"buy_volume":4,"samples":1,"#,
        r#""buy_order_high":null,"buy_order_low":null,"buy_order_close":null,"#,
        r#""sell_offer_high":null,"sell_offer_low":null,"sell_offer_close":null,"#,
        r#""sell_moving_week":3,"buy_moving_week":5}"#,
    );
    let ink = concat!(
        r#"{"item_id":"INK_SACK:3","sell_open":8.0,"sell_high":9.5,"sell_low":7.01,"sell_close":7.01,"#,
        r#""buy_open":12.25,"buy_high":13.0,"buy_low":0.0,"buy_close":13.0,"#,
        r#""sell_volume":5000000000,"buy_volume":59,"samples":3,"#,
        r#""buy_order_high":null,"buy_order_low":null,"buy_order_close":null,"#,
        r#""sell_offer_high":null,"sell_offer_low":null,"sell_offer_close":null,"#,
        r#""sell_moving_week":3,"buy_moving_week":5}"#,
    );
    let data =
        format!(r#"{{"interval":"1h","opened_at":"{}","count":2,"candles":[{coal},{ink}]}}"#, rfc3339(START));
    let meta = r#"{"cached":false,"api_version":"v1"}"#;
    let json = get_at(&cloud, &path("1h", START, ""), now * 1_000).await;
    assert_eq!(json.text, format!(r#"{{"success":true,"data":{data},"meta":{meta}}}"#));
    let csv = get_at(&cloud, &path("1h", START, "&format=csv"), now * 1_000).await;
    let expected = "item_id,sell_open,sell_high,sell_low,sell_close,buy_open,buy_high,buy_low,buy_close,\
        sell_volume,buy_volume,samples,buy_order_high,buy_order_low,buy_order_close,sell_offer_high,sell_offer_low,sell_offer_close,\
        sell_moving_week,buy_moving_week\n\
        COAL,1.5,1.5,1.5,1.5,2.0,2.0,2.0,2.0,3,4,1,,,,,,,3,5\n\
        INK_SACK:3,8.0,9.5,7.01,7.01,12.25,13.0,0.0,13.0,5000000000,59,3,,,,,,,3,5\n";
    assert_eq!((csv.status.as_u16(), csv.text.as_str()), (200, expected));
    for (response, kind) in [(&json, "application/json"), (&csv, "text/csv; charset=utf-8")] {
        assert_eq!(response.headers["content-type"], kind);
        assert_eq!(response.headers["cache-control"], "private, max-age=86400, immutable");
        assert!(response.headers.contains_key("last-modified") && response.headers.contains_key("expires"));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn without_candles_the_message_says_why_and_when_there_are_some() {
    let cloud = recorded().await;
    let message = async |interval, opened_at, now: i64| {
        get_at(&cloud, &path(interval, opened_at, ""), now * 1_000).await.error("NOT_FOUND")
    };
    let end = START + HOUR;
    let [ends, built_by] = [end, end + 10 * MINUTE].map(rfc3339);
    let early = format!(
        "The candles of 1h at {} are not complete yet: the interval ends at {ends}. Try again at {built_by}.",
        rfc3339(START)
    );
    // First, the hour is under way. Later, the hour has ended but is not built. No response is cached.
    for now in [START + MINUTE, end - 1, end, end + 9 * MINUTE] {
        assert_eq!(message("1h", START, now).await, early);
    }
    let late = message("1h", START, end + 10 * MINUTE).await;
    assert!(late.contains("they are not built yet"), "{late}");
    build_all(&cloud, end + 12 * MINUTE).await;
    let now = (end + 12 * MINUTE) * 1_000;
    assert_eq!(get_at(&cloud, &path("1h", START, ""), now).await.data()["count"], 2);
    // The day has further hours, so it is not complete.
    assert!(message("1d", MIDNIGHT - 24 * HOUR, end + 12 * MINUTE).await.contains("not complete yet"));
    let before = START - HOUR;
    let nothing = format!("Nothing was recorded in the interval 1h at {}.", rfc3339(before));
    assert_eq!(message("1h", before, end + 12 * MINUTE).await, nothing);
    let expired = message("1h", START, START + 366 * 24 * HOUR).await;
    assert!(expired.ends_with("is too old. Candles of 1h are kept for 365 days."), "{expired}");
    let between = get_at(&cloud, &path("3h", START + HOUR, ""), now).await.error("BAD_REQUEST");
    let nearest = format!("was '{}': the nearest start is {}.", rfc3339(START + HOUR), rfc3339(START));
    assert!(between.ends_with(&nearest), "{between}");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_candle_hides_no_other_and_a_missing_row_is_a_failure() {
    let cloud = recorded().await;
    let now = START + HOUR + 2 * MINUTE;
    build_all(&cloud, now).await;
    assert!(build(&cloud, now).await.is_empty());
    let dump = table::dump(&cloud).await;
    let row_of = |id: &str| {
        let is_hour = |row: &&table::Row| table::key(row).0.starts_with("candles#1h#");
        dump.values().filter(is_hour).find(|row| row["products"]["M"].get(id).is_some()).unwrap()
    };
    let broken = with(row_of("COAL"), "products", json!({"M": {"COAL": {"S": "1,2"}}}));
    table::put(&cloud, [broken]).await;
    let data = get_at(&cloud, &path("1h", START, ""), now * 1_000).await.data();
    assert_eq!((&data["count"], &data["candles"][0]["item_id"]), (&json!(1), &json!("INK_SACK:3")));
    table::delete_all(&cloud, &[table::key(row_of("COAL"))]).await;
    get_at(&cloud, &path("1h", START, "&format=csv"), now * 1_000).await.error("INTERNAL_ERROR");
}
