//! A parameter is accepted, or refused without a query and with a message that names the parameter, what it must be and what
//! it was.

use super::{before, interval, page};
use crate::history::market::{Market, quote};
use crate::history::parameters::{ITEM_IDS, expect_refused};
use crate::history::{MINUTE, START, start};
use crate::support::{expect_clean_logs, get, get_raw};

const ROUTE: &str = "/v1/bazaar/candles";

/// Panics unless each of these values is refused. A value is written as in a URL; the second one is what the message shows.
async fn expect_all_refused(cloud: &local::Cloud, parameter: &str, allowed: &str, values: &[(&str, &str)]) {
    let item = if parameter == "item_id" { "" } else { "item_id=A&" };
    let targets: Vec<_> = values
        .iter()
        .map(|(value, received)| (format!("{ROUTE}?{item}{parameter}={value}"), *received))
        .collect();
    let targets: Vec<_> = targets.iter().map(|(target, received)| (target.as_str(), *received)).collect();
    expect_refused(cloud, parameter, allowed, &targets).await;
}

#[tokio::test]
async fn an_item_id_is_required_and_must_be_legal() {
    let cloud = start().await;
    for query in
        ["", "?", "/", "?item_id", "?item_id=", "?ITEM_ID=A", "?id=A", "?interval=1h", "?before=x&limit=0"]
    {
        let message = get_raw(&cloud, format!("{ROUTE}{query}").as_bytes()).await.error("BAD_REQUEST");
        assert_eq!(message, "Parameter 'item_id' is required.", "{query}");
    }
    let (long, shortened) = ("A".repeat(65), format!("{}\u{2026}", "A".repeat(64)));
    let rows = [
        (long.as_str(), shortened.as_str()),
        ("ink_sack:3", "ink_sack:3"),
        ("Ink", "Ink"),
        ("INK%20SACK", "INK SACK"),
        ("A,B", "A,B"),
        ("A%23B", "A#B"),
        ("%00", "\\u{0}"),
        ("%F0%9F%94%A5", "\u{1f525}"),
    ];
    expect_all_refused(&cloud, "item_id", ITEM_IDS, &rows).await;
}

#[tokio::test]
async fn an_interval_is_one_of_five() {
    let cloud = start().await;
    for (written, name) in [
        ("5m", "5m"),
        ("30m", "30m"),
        ("1h", "1h"),
        ("3h", "3h"),
        ("1d", "1d"),
        ("%31d", "1d"),
        ("3h&interval=3h", "3h"),
    ] {
        let data = get(&cloud, &format!("{ROUTE}?item_id=A&interval={written}")).await.data();
        assert_eq!(data["interval"], name, "{written}");
    }
    assert_eq!(get(&cloud, &format!("{ROUTE}?item_id=A&Interval=5m")).await.data()["interval"], "1h");
    let rows = [
        ("", ""),
        ("1H", "1H"),
        ("5M", "5M"),
        ("1D", "1D"),
        ("1m", "1m"),
        ("24h", "24h"),
        ("60m", "60m"),
        ("7d", "7d"),
        ("5", "5"),
        ("-5m", "-5m"),
        ("+1h", " 1h"),
        ("1h%20", "1h "),
        ("05m", "05m"),
        ("5m,30m", "5m,30m"),
        ("%F0%9F%94%A5", "\u{1f525}"),
    ];
    expect_all_refused(&cloud, "interval", "one of 5m, 30m, 1h, 3h, 1d", &rows).await;
}

#[tokio::test]
async fn a_limit_is_a_whole_number_from_1_to_1000() {
    let cloud = start().await;
    for legal in ["1", "1000", "007", "5&limit=5", "%35"] {
        assert_eq!(
            get(&cloud, &format!("{ROUTE}?item_id=A&limit={legal}")).await.data()["count"],
            0,
            "{legal}"
        );
    }
    let rows = [
        ("0", "0"),
        ("1001", "1001"),
        ("-1", "-1"),
        ("+1", " 1"),
        ("%2B1", "+1"),
        ("1.5", "1.5"),
        ("1e1", "1e1"),
        ("0x1", "0x1"),
        ("", ""),
        ("%20", " "),
        ("ten", "ten"),
        ("NaN", "NaN"),
        ("4294967297", "4294967297"),
        ("18446744073709551617", "18446744073709551617"),
        ("1,000", "1,000"),
    ];
    expect_all_refused(&cloud, "limit", "a whole number from 1 to 1000", &rows).await;
}

#[tokio::test]
async fn before_is_a_time_of_rfc_3339() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, START).await;
    super::build(&cloud, START + 7 * MINUTE).await;
    // Spellings of the end of the candle, and times far away. In a URL, `+` that is not escaped is a space.
    for (legal, count) in [
        ("2026-04-28T15:05:00Z", 1),
        ("2026-04-28t15:05:00z", 1),
        ("2026-04-28T15:05:00z", 1),
        ("2026-04-28T15:05:00.000000000Z", 1),
        ("2026-04-28T17:05:00%2B02:00", 1),
        ("2026-04-28T17:05:00+02:00", 1),
        ("2026-04-28T10:35:00-04:30", 1),
        ("2026-04-28T15%3A05%3A00%5A", 1),
        ("2026-04-28T15:05:00Z&before=2026-04-28T15:05:00Z", 1),
        ("2026-04-28T15:00:00.0009Z", 0),
        ("2026-04-28T15:00:00.001Z", 1),
        ("2026-04-28T14:59:60Z", 0),
        ("0000-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00%2B23:59", 0),
        ("1969-12-31T23:59:59Z", 0),
        ("1970-01-01T00:00:00Z", 0),
        ("9999-12-31T23:59:59Z", 1),
        ("9999-12-31T23:59:59-23:59", 1),
    ] {
        cloud.clock().set((START + 20 * MINUTE) * 1_000);
        let data = get(&cloud, &format!("{ROUTE}?item_id=A&interval=5m&before={legal}")).await.data();
        assert_eq!(data["count"], count, "{legal}");
    }
    let rows = [
        ("", ""),
        ("%20", " "),
        ("now", "now"),
        ("yesterday", "yesterday"),
        ("1777388400", "1777388400"),
        ("1777388400000", "1777388400000"),
        ("-1", "-1"),
        ("2026-04-28", "2026-04-28"),
        ("15:05:00Z", "15:05:00Z"),
        ("2026-04-28T15:05Z", "2026-04-28T15:05Z"),
        ("2026-04-28T15:05:00", "2026-04-28T15:05:00"),
        ("2026-04-28%2015:05:00Z", "2026-04-28 15:05:00Z"),
        ("2026-04-28T15:05:00.Z", "2026-04-28T15:05:00.Z"),
        ("2026-04-28T15:05:00,5Z", "2026-04-28T15:05:00,5Z"),
        ("2026-04-28T15:05:00%2B0200", "2026-04-28T15:05:00+0200"),
        ("2026-04-28T15:05:00%2B24:00", "2026-04-28T15:05:00+24:00"),
        ("2026-04-28T15:05:00%2B02", "2026-04-28T15:05:00+02"),
        ("2026-04-28T24:00:00Z", "2026-04-28T24:00:00Z"),
        ("2026-04-28T15:60:00Z", "2026-04-28T15:60:00Z"),
        ("2026-04-28T15:05:61Z", "2026-04-28T15:05:61Z"),
        ("2026-02-29T15:05:00Z", "2026-02-29T15:05:00Z"),
        ("2026-13-01T15:05:00Z", "2026-13-01T15:05:00Z"),
        ("10000-01-01T00:00:00Z", "10000-01-01T00:00:00Z"),
        ("-0001-01-01T00:00:00Z", "-0001-01-01T00:00:00Z"),
        ("2026-04-28T15:05:00Z%20", "2026-04-28T15:05:00Z "),
        ("2026-04-28T15:05:00ZZ", "2026-04-28T15:05:00ZZ"),
        ("2026-04-28T15:05:00Z[UTC]", "2026-04-28T15:05:00Z[UTC]"),
    ];
    expect_all_refused(&cloud, "before", "a time of RFC 3339 such as 2026-11-21T15:00:00Z", &rows).await;
    let name = interval("5m");
    assert_eq!(page(&cloud, "A", name, &before(START + 1), START + 30 * MINUTE).await.count, 1);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn two_different_values_of_a_parameter_are_refused() {
    let cloud = start().await;
    for (query, name) in [
        ("item_id=A&item_id=B", "item_id"),
        ("item_id=A&item_id=", "item_id"),
        ("item_id=A&interval=1h&interval=1d", "interval"),
        ("interval=1h&interval=1d", "interval"),
        ("item_id=A&limit=1&limit=2", "limit"),
        ("item_id=A&limit=5&limit=05", "limit"),
        ("item_id=A&before=2026-04-28T15:05:00Z&before=2026-04-28T15:05:01Z", "before"),
        // One moment, but two values.
        ("item_id=A&before=2026-04-28T15:05:00Z&before=2026-04-28T15:05:00z", "before"),
        ("item_id=A&before=2026-04-28T15:05:00Z&before=", "before"),
    ] {
        let message = get_raw(&cloud, format!("{ROUTE}?{query}").as_bytes()).await.error("BAD_REQUEST");
        assert!(message.starts_with(&format!("Parameter '{name}' must be given once")), "{query}: {message}");
    }
    assert_eq!(cloud.dynamodb().requests("Query"), 0);
}
