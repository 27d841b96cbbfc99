//! Rows with any values in any attributes: readers and recorders skip them, and never fail.

use fastrand::Rng;
use local::Cloud;
use serde_json::{Value, json};

use super::market::{Market, RECORDER, quote};
use super::table::{self, Row, with};
use super::{MINUTE, RANGES, START, record, start};
use crate::support::{RECORDERS, expect_clean_logs, get_at, log_lines};

const SEED: u64 = 12;
const ROUNDS: u64 = 8;
const MARKER_ROUNDS: u64 = 80;
/// How many rows of each kind are corrupt in a round.
const ROWS: usize = 15;

/// Numbers that DynamoDB stores, at the limits of the types that read them.
const NUMBERS: [&str; 16] = [
    "-9223372036854775808",
    "-9223372036854775807",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-1",
    "0",
    "1",
    "0.5",
    "1E+125",
    "-9.9E+125",
    "1E-130",
    "253402300800",
    "1777388400",
    "1777388400000",
    "99999999999999999999999999999999999999",
];

const TEXTS: [&str; 14] = [
    "x",
    "0",
    "1777388400",
    "1777388400#",
    "1777388400#000",
    "1777388400#999",
    "1777388400#001#001",
    "4294967295#4294967295",
    "-9223372036854775808",
    "9223372036854775807",
    "0000000000",
    "9999999999",
    "9999999999999#A",
    "\u{fffd}\u{0}",
];

/// A value of any type.
fn value(random: &mut Rng, depth: u8) -> Value {
    let number = |random: &mut Rng| *random.choice(&NUMBERS).unwrap();
    let text = |random: &mut Rng| *random.choice(&TEXTS).unwrap();
    match random.u8(0..if depth == 0 { 8 } else { 10 }) {
        0..=2 => json!({"N": number(random)}),
        3 => json!({"S": text(random)}),
        4 => json!({"BOOL": random.bool()}),
        5 => json!({"NULL": true}),
        6 => json!({"NS": [number(random)]}),
        7 => json!({"B": "AAEC"}),
        8 => json!({"L": (0..random.usize(0..5)).map(|_| value(random, depth - 1)).collect::<Vec<_>>()}),
        _ => {
            let names = ["A", "name", "description", "products", ""].into_iter().take(random.usize(0..5));
            json!({"M": names.map(|name| (name.to_owned(), value(random, depth - 1))).collect::<serde_json::Map<_, _>>()})
        }
    }
}

/// The row with other values in some attributes, and perhaps another sort key.
fn corrupt(row: &Row, random: &mut Rng) -> Row {
    let mut row = row.clone();
    let attributes: Vec<_> =
        row.keys().filter(|name| !["pk", "sk"].contains(&name.as_str())).cloned().collect();
    for _ in 0..random.usize(1..4) {
        let attribute = random.choice(&attributes).unwrap();
        if random.u8(0..6) == 0 {
            row.remove(attribute);
        } else {
            row = with(&row, attribute, value(random, 3));
        }
    }
    // Markers of older versions do not have this one.
    if random.bool() {
        row = with(&row, "products", value(random, 3));
    }
    if random.bool() {
        row = with(&row, "sk", json!({"S": random.choice(&TEXTS).unwrap()}));
    }
    row
}

/// Panics unless the response is a success.
async fn expect_history(cloud: &Cloud, path: &str, now_ms: i64, what: &str) {
    let data = get_at(cloud, path, now_ms).await.data();
    assert!(data["history"].is_array(), "{what}: {path} at {now_ms}: {data}");
}

#[tokio::test]
async fn a_row_with_any_values_stops_no_reader_and_no_recorder() {
    let cloud = start().await;
    let market = Market::of("A", quote("1.0", "2.0", 3, 4)).with("B", quote("5.0", "6.0", 7, 8));
    market.record(&cloud, START).await;
    let sale = json!({
        "pk": {"S": "fire-sales"}, "sk": {"S": "1777388400000#A"}, "item_id": {"S": "A"}, "start": {"N": "1777388400000"},
        "end": {"N": "1777388400000"}, "amount": {"N": "1"}, "price": {"N": "5"}, "recorded_at": {"N": START.to_string()},
        "seen_at": {"N": START.to_string()},
    });
    let mayor = json!({
        "pk": {"S": "mayors"}, "sk": {"S": "0300"}, "name": {"S": "M"}, "key": {"S": "k"},
        "perks": {"L": [{"M": {"name": {"S": "P"}, "description": {"S": "d"}}}]},
    });
    let mut good: Vec<_> = table::dump(&cloud).await.into_values().collect();
    good.extend([sale, mayor].map(|row| row.as_object().unwrap().clone()));
    let random = &mut Rng::with_seed(SEED);
    market.show(&cloud);
    for round in 0..ROUNDS {
        let what = format!("seed {SEED}, round {round}");
        table::clear(&cloud).await;
        let mut rows = table::Dump::new();
        for row in &good {
            // The last row with a key counts: a request must not have two.
            for _ in 0..ROWS {
                let row = corrupt(row, random);
                rows.insert(table::key(&row), row);
            }
        }
        table::put(&cloud, rows.into_values()).await;
        for function in ["bazaar-history", "mayor-history", "fire-sales-history"] {
            cloud.kill(function).await.unwrap();
        }
        for (range, ..) in RANGES {
            for (id, now) in [("A", START), ("B", START + 2 * MINUTE)] {
                let path = format!("/v1/bazaar/history?item_id={id}&range={range}");
                expect_history(&cloud, &path, now * 1_000, &what).await;
            }
        }
        expect_history(&cloud, "/v1/mayor/history?limit=50", START * 1_000, &what).await;
        expect_history(&cloud, "/v1/fire-sales/history?limit=50", START * 1_000, &what).await;
        for recorder in RECORDERS {
            record(&cloud, recorder, START).await;
        }
    }
    // A recorder reads only the marker of its minute.
    let markers: Vec<_> = good.iter().filter(|row| row.contains_key("rows")).collect();
    assert_eq!(markers.len(), 1);
    for _ in 0..MARKER_ROUNDS {
        let corrupt = markers.iter().map(|row| {
            let sort = row["sk"].clone();
            with(&corrupt(row, random), "sk", sort)
        });
        table::put(&cloud, corrupt.collect::<Vec<_>>()).await;
        for minute in [0, 1] {
            record(&cloud, RECORDER, START + minute * MINUTE).await;
        }
    }
    for line in log_lines(&cloud) {
        assert_ne!(line["level"], "ERROR", "{line}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_request_at_any_time_has_a_chart() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, START).await;
    let times = [
        i64::MIN,
        -100_000_000_000_000,
        -1,
        0,
        1,
        59,
        100_000_000_000,
        9_999_999_999_999,
        10_000_000_000_000,
        i64::MAX,
    ];
    for now_ms in times {
        for (range, ..) in RANGES {
            let path = format!("/v1/bazaar/history?item_id=A&range={range}");
            let (function, event) = crate::support::event(&path, now_ms);
            let response = crate::support::invoke(&cloud, function, event).await.json();
            assert_eq!(response["statusCode"], 200, "{now_ms}: {response}");
            let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
            assert_eq!(body["data"]["dataPoints"], 0, "{now_ms}: {body}");
        }
        for path in ["/v1/mayor/history", "/v1/fire-sales/history"] {
            let (function, event) = crate::support::event(path, now_ms);
            let response = crate::support::invoke(&cloud, function, event).await.json();
            assert_eq!(response["statusCode"], 200, "{now_ms}: {response}");
        }
    }
    for line in log_lines(&cloud) {
        assert_ne!(line["level"], "ERROR", "{line}");
    }
}
