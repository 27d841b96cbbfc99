//! A response has the documented fields, and an unknown item has no candles.

use super::{INTERVALS, build, get_page};
use crate::history::market::{Market, Quote, quote};
use crate::history::{MINUTE, START, start};
use crate::support::{expect_clean_logs, get_at};

#[tokio::test]
async fn a_response_has_the_documented_fields_and_types() {
    let cloud = start().await;
    let with_orders = Quote {
        buy_orders: r#"[{"amount":7,"pricePerUnit":9.6,"orders":1}]"#.to_owned(),
        sell_moving_week: "6000000000".to_owned(),
        ..quote("9.5", "0", 3, 4)
    };
    for (minute, market) in [
        (0, quote("8.0", "12.25", 1, 2)),
        (1, with_orders),
        (4, quote("7.01", "13", 5_000_000_000_i64, 7)),
        (5, quote("1.0", "2.0", 1, 1)),
    ] {
        Market::of("INK_SACK:3", market).record(&cloud, START + minute * MINUTE).await;
    }
    build(&cloud, START + 12 * MINUTE).await;
    let path = "/v1/bazaar/candles?item_id=INK_SACK:3&interval=5m";
    let first = concat!(
        r#"{"opened_at":"2026-04-28T15:00:00Z","#,
        r#""sell_open":8.0,"sell_high":9.5,"sell_low":7.01,"sell_close":7.01,"#,
        r#""buy_open":12.25,"buy_high":13.0,"buy_low":0.0,"buy_close":13.0,"#,
        r#""sell_volume":5000000000,"buy_volume":7,"samples":3,"#,
        r#""buy_order_high":9.6,"buy_order_low":9.6,"buy_order_close":9.6,"#,
        r#""sell_offer_high":null,"sell_offer_low":null,"sell_offer_close":null,"#,
        r#""sell_moving_week":3,"buy_moving_week":5,"complete":true}"#,
    );
    let second = concat!(
        r#"{"opened_at":"2026-04-28T15:05:00Z","#,
        r#""sell_open":1.0,"sell_high":1.0,"sell_low":1.0,"sell_close":1.0,"#,
        r#""buy_open":2.0,"buy_high":2.0,"buy_low":2.0,"buy_close":2.0,"#,
        r#""sell_volume":1,"buy_volume":1,"samples":1,"#,
        r#""buy_order_high":null,"buy_order_low":null,"buy_order_close":null,"#,
        r#""sell_offer_high":null,"sell_offer_low":null,"sell_offer_close":null,"#,
        r#""sell_moving_week":3,"buy_moving_week":5,"complete":true}"#,
    );
    for (further, count, candles, next) in [
        ("", 2, format!("{first},{second}"), "null"),
        ("&limit=1", 1, second.to_owned(), r#""2026-04-28T15:05:00Z""#),
        ("&limit=1&before=2026-04-28T15:05:00Z", 1, first.to_owned(), "null"),
    ] {
        let response = get_at(&cloud, &format!("{path}{further}"), (START + 12 * MINUTE) * 1_000).await;
        let data = format!(
            r#"{{"item_id":"INK_SACK:3","interval":"5m","count":{count},"candles":[{candles}],"next_before":{next}}}"#
        );
        let meta = r#"{"cached":false,"api_version":"v1"}"#;
        assert_eq!(response.text, format!(r#"{{"success":true,"data":{data},"meta":{meta}}}"#));
    }
    // An item that was never recorded.
    for interval in &INTERVALS {
        let page = get_page(&cloud, "B", interval, "&limit=7", START + 12 * MINUTE).await;
        assert_eq!((page.count, page.next_before), (0, None), "{}", interval.name);
    }
    expect_clean_logs(&cloud);
}
