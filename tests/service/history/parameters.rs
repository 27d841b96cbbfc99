//! A parameter of a history route is accepted, or refused without a query and with a message that names the parameter, what
//! it must be and what it was.

use local::Cloud;

use super::market::{Market, quote};
use super::{START, start};
use crate::support::{expect_clean_logs, get, get_raw};

pub(crate) const ITEM_IDS: &str = "1 to 64 capital letters (A-Z), digits and the characters _ : -";
const RANGES: &str = "one of 1h, 24h, 7d, 30d, 90d";

/// Sends every target, and panics unless the message says what `parameter` must be and that it was the text beside the
/// target.
pub(crate) async fn expect_refused(cloud: &Cloud, parameter: &str, allowed: &str, rows: &[(&str, &str)]) {
    let queries = cloud.dynamodb().requests("Query");
    for (target, received) in rows {
        let response = get_raw(cloud, target.as_bytes()).await;
        let expected = format!("Parameter '{parameter}' must be {allowed}, but was '{received}'.");
        assert_eq!(response.error("BAD_REQUEST"), expected, "{target}");
    }
    assert_eq!(cloud.dynamodb().requests("Query"), queries, "the table was queried");
    expect_clean_logs(cloud);
}

#[tokio::test]
async fn an_item_id_is_required() {
    let cloud = start().await;
    for target in [
        "/v1/bazaar/history",
        "/v1/bazaar/history?",
        "/v1/bazaar/history/",
        "/v1/bazaar/history?item_id",
        "/v1/bazaar/history?item_id=",
        "/v1/bazaar/history?ITEM_ID=A",
        "/v1/bazaar/history?id=A",
        "/v1/bazaar/history?range=1h",
        "/v1/bazaar/history?range=nonsense",
    ] {
        let message = get_raw(&cloud, target.as_bytes()).await.error("BAD_REQUEST");
        assert_eq!(message, "Parameter 'item_id' is required.", "{target}");
    }
    assert_eq!(cloud.dynamodb().requests("Query"), 0);
}

#[tokio::test]
async fn an_illegal_item_id_is_refused_and_never_reaches_the_table() {
    let cloud = start().await;
    let too_long = "A".repeat(65);
    let long = format!("/v1/bazaar/history?item_id={too_long}");
    let far_too_long = format!("/v1/bazaar/history?item_id={}", "A".repeat(5_000));
    let shortened = format!("{}\u{2026}", "A".repeat(64));
    let rows = [
        (long.as_str(), shortened.as_str()),
        (&far_too_long, &shortened),
        ("/v1/bazaar/history?item_id=ink_sack:3", "ink_sack:3"),
        ("/v1/bazaar/history?item_id=Ink", "Ink"),
        ("/v1/bazaar/history?item_id=%22INK%22", "\"INK\""),
        ("/v1/bazaar/history?item_id='INK'", "'INK'"),
        ("/v1/bazaar/history?item_id=INK%20SACK", "INK SACK"),
        ("/v1/bazaar/history?item_id=INK+SACK", "INK SACK"),
        ("/v1/bazaar/history?item_id=%20INK", " INK"),
        ("/v1/bazaar/history?item_id=INK%0A", "INK\\n"),
        ("/v1/bazaar/history?item_id=%00", "\\u{0}"),
        ("/v1/bazaar/history?item_id=%23", "#"),
        ("/v1/bazaar/history?item_id=A%23B", "A#B"),
        ("/v1/bazaar/history?item_id=%F0%9F%94%A5", "\u{1f525}"),
        ("/v1/bazaar/history?item_id=%C3%84", "Ä"),
        ("/v1/bazaar/history?item_id=%EF%BC%A1", "\u{ff21}"),
        ("/v1/bazaar/history?item_id=%ff", "\u{fffd}"),
        ("/v1/bazaar/history?item_id=A.B", "A.B"),
        ("/v1/bazaar/history?item_id=A,B", "A,B"),
        ("/v1/bazaar/history?item_id=A[0]", "A[0]"),
        ("/v1/bazaar/history?item_id=A/B", "A/B"),
        ("/v1/bazaar/history?item_id=..", ".."),
        ("/v1/bazaar/history?item_id=*", "*"),
        ("/v1/bazaar/history?item_id=%2525", "%25"),
        ("/v1/bazaar/history?item_id=products.%23id", "products.#id"),
        ("/v1/bazaar/history?item_id=%23id", "#id"),
        ("/v1/bazaar/history?item_id=:x", ":x"),
        ("/v1/bazaar/history?item_id=attribute_not_exists(pk)", "attribute_not_exists(pk)"),
        ("/v1/bazaar/history?item_id=A%20OR%20pk%20%3D%20:p", "A OR pk = :p"),
        ("/v1/bazaar/history?item_id=a&range=nonsense", "a"),
    ];
    expect_refused(&cloud, "item_id", ITEM_IDS, &rows).await;
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
        let points = super::chart::points(&cloud, id, "24h", START).await;
        assert_eq!(points.len(), 1, "{id}");
        assert_eq!(points[0].sell_volume, volume, "{id}");
    }
    // Through the gateway, and percent-encoded.
    for target in ["INK_SACK:3", "INK_SACK%3A3", "%49NK_SACK%3a3", "INK_SACK:3&item_id=INK_SACK%3A3"] {
        let response = get(&cloud, &format!("/v1/bazaar/history?item_id={target}")).await;
        assert_eq!(response.data()["item_id"], "INK_SACK:3", "{target}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn two_different_values_of_a_parameter_are_refused() {
    let cloud = start().await;
    for (query, name) in [
        ("/v1/bazaar/history?item_id=A&item_id=B", "item_id"),
        ("/v1/bazaar/history?item_id=A&item_id=", "item_id"),
        ("/v1/bazaar/history?item_id=A&range=1h&range=24h", "range"),
        ("/v1/bazaar/history?range=1h&range=24h", "range"),
        ("/v1/mayor/history?limit=1&limit=2", "limit"),
        ("/v1/fire-sales/history?limit=5&limit=05", "limit"),
    ] {
        let message = get_raw(&cloud, query.as_bytes()).await.error("BAD_REQUEST");
        assert!(message.starts_with(&format!("Parameter '{name}' must be given once")), "{query}: {message}");
    }
    assert_eq!(cloud.dynamodb().requests("Query"), 0);
}

#[tokio::test]
async fn a_range_is_one_of_five() {
    let cloud = start().await;
    let path = "/v1/bazaar/history?item_id=A&range=";
    for (written, range) in [
        ("1h", "1h"),
        ("24h", "24h"),
        ("7d", "7d"),
        ("30d", "30d"),
        ("90d", "90d"),
        ("%37d", "7d"),
        ("30d&range=30d", "30d"),
    ] {
        assert_eq!(get(&cloud, &format!("{path}{written}")).await.data()["range"], range, "{written}");
    }
    let rows = [
        ("", ""),
        ("1H", "1H"),
        ("24H", "24H"),
        ("1", "1"),
        ("60m", "60m"),
        ("1d", "1d"),
        ("365d", "365d"),
        ("24h%20", "24h "),
        ("+24h", " 24h"),
        ("-1h", "-1h"),
        ("5m", "5m"),
        ("all", "all"),
        ("1h,24h", "1h,24h"),
        ("%F0%9F%94%A5", "\u{1f525}"),
    ];
    let targets: Vec<_> =
        rows.iter().map(|(value, received)| (format!("{path}{value}"), *received)).collect();
    let targets: Vec<_> = targets.iter().map(|(target, received)| (target.as_str(), *received)).collect();
    expect_refused(&cloud, "range", RANGES, &targets).await;
    expect_refused(&cloud, "range", RANGES, &[("/v1/bazaar/history?item_id=A&range", "")]).await;
}

#[tokio::test]
async fn a_limit_is_a_whole_number_within_its_bounds() {
    let cloud = start().await;
    for (route, most) in [("/v1/mayor/history", 100), ("/v1/fire-sales/history", 200)] {
        let allowed = format!("a whole number from 1 to {most}");
        for legal in ["1", &most.to_string(), "007", "5&limit=5"] {
            let response = get(&cloud, &format!("{route}?limit={legal}")).await;
            assert_eq!(response.data()["history"], serde_json::json!([]), "{legal}");
        }
        // Parameters of other routes are ignored.
        get(&cloud, &format!("{route}?range=nonsense&item_id=a&page=-1&Limit=0")).await.data();
        let beyond = (most + 1).to_string();
        let rows = [
            ("0", "0"),
            (&beyond, &beyond),
            ("-1", "-1"),
            ("+1", " 1"),
            ("%2B1", "+1"),
            ("1.5", "1.5"),
            ("1.0", "1.0"),
            ("1e1", "1e1"),
            ("0x1", "0x1"),
            ("", ""),
            ("%20", " "),
            ("5%20", "5 "),
            ("ten", "ten"),
            ("null", "null"),
            ("NaN", "NaN"),
            ("%D9%A5", "\u{665}"),
            ("4294967297", "4294967297"),
            ("99999999999999999999999999", "99999999999999999999999999"),
            ("1,2", "1,2"),
        ];
        let targets: Vec<_> =
            rows.iter().map(|(value, received)| (format!("{route}?limit={value}"), *received)).collect();
        let targets: Vec<_> = targets.iter().map(|(target, received)| (target.as_str(), *received)).collect();
        expect_refused(&cloud, "limit", &allowed, &targets).await;
    }
}
