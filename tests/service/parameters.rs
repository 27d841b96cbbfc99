//! A parameter's value is accepted, or refused with a message that names the parameter, the allowed values
//! and the received value.

use common::error::Code;
use common::routes::{Location, Parameter, Reads};
use local::Cloud;
use simulator::{bazaar, names};

use crate::support::{expect_clean_logs, get, get_raw, one_instance_each, record_prices, start, start_with};

const MODES: &str = "one of full, list, item, flips, items, book, prices";
const IDS: &str = "1 to 100 ids of 1 to 64 characters, separated by commas";
const LIMITS: &str = "a whole number from 1 to 100";
const PRICES: &str = "/v1/auctions/prices";
const ITEM_IDS: &str = "1 to 64 capital letters (A-Z), digits and the characters _ : -";
const USERNAMES: &str = "1 to 16 letters (a-z, A-Z), digits and underscores";

/// The most bytes of a message, even if the message quotes and escapes a value of control characters.
const LONGEST_MESSAGE: usize = 600;

/// The expected response to a request.
enum Expected {
    /// 200.
    Accepted,
    /// 400: the parameter, its allowed values, the received value.
    Refused(&'static str, &'static str, &'static str),
    /// 400: the value of `ids`, and its flaw.
    Flawed(&'static str, &'static str),
    /// 400: the parameter, and its two values.
    Conflicting(&'static str, &'static str, &'static str),
    /// 400: the query was split at a `;` before this text.
    Split(&'static str),
    /// 400: the missing parameter.
    Missing(&'static str),
    /// 404 with this text in the message.
    NotFound(&'static str),
}

use Expected::{Accepted, Conflicting, Flawed, Missing, NotFound, Refused, Split};

/// Sends each target byte for byte and checks the response.
async fn expect_responses<Target: AsRef<[u8]>>(
    cloud: &Cloud,
    rows: impl IntoIterator<Item = (Target, Expected)>,
) {
    for (target, expected) in rows {
        let target = target.as_ref();
        let response = get_raw(cloud, target).await;
        let shown = String::from_utf8_lossy(&target[..target.len().min(100)]).into_owned();
        let context = format!("{shown:?}: {:.300}", response.text);
        let (code, parts) = match expected {
            Accepted => {
                assert_eq!(response.status, 200, "{context}");
                response.data();
                continue;
            }
            Refused(name, allowed, received) => {
                let message = format!("Parameter '{name}' must be {allowed}, but was '{received}'.");
                ("BAD_REQUEST", vec![message])
            }
            Flawed(received, flaw) => {
                ("BAD_REQUEST", vec![format!("'ids' must be {IDS}, but was '{received}': {flaw}.")])
            }
            Conflicting(name, first, other) => {
                let (must, had) =
                    (format!("'{name}' must be given once"), format!("'{first}' and '{other}'"));
                ("BAD_REQUEST", vec![must, had])
            }
            Split(rest) => {
                ("BAD_REQUEST", vec![format!("split at a ';' before '{rest}'"), "'%3B'".to_owned()])
            }
            Missing(name) => ("BAD_REQUEST", vec![format!("'{name}' is required")]),
            NotFound(part) => ("NOT_FOUND", vec![part.to_owned()]),
        };
        let status = if code == "BAD_REQUEST" { 400 } else { 404 };
        assert_eq!(response.status, status, "{context}");
        let message = response.error(code);
        for part in parts {
            assert!(message.contains(&part), "{part:?} is not in the message for {context}");
        }
        assert!(message.len() <= LONGEST_MESSAGE, "{} bytes for {context}", message.len());
        assert!(!message.chars().any(char::is_control), "{context}");
    }
    expect_clean_logs(cloud);
}

/// `before`, then the character 10,240 times.
fn long(before: &str, character: char) -> String {
    format!("{before}{}", character.to_string().repeat(10_240))
}

#[tokio::test]
async fn a_bazaar_mode_is_one_of_seven_words_in_lower_case() {
    let cloud = start().await;
    let refused = |received| Refused("mode", MODES, received);
    let rows: [(&[u8], Expected); 29] = [
        (b"/v1/bazaar", Accepted),
        (b"/v1/bazaar?", Accepted),
        (b"/v1/bazaar?mode=full", Accepted),
        (b"/v1/bazaar?mode=list", Accepted),
        (b"/v1/bazaar?mode=flips", Accepted),
        (b"/v1/bazaar?mode=prices&id=&ids=,&limit=0", Accepted),
        (b"/v1/bazaar?mode=fl%69ps", Accepted),
        (b"/v1/bazaar?MODE=nonsense", Accepted),
        (b"/v1/bazaar?mode=list&mode=list&mode=l%69st", Accepted),
        (b"/v1/bazaar?mode=nonsense&mode=list", Conflicting("mode", "nonsense", "list")),
        (b"/v1/bazaar?mode=list&x=1&mode=nonsense", Conflicting("mode", "list", "nonsense")),
        (b"/v1/bazaar?mode=list&mode", Conflicting("mode", "list", "")),
        (b"/v1/bazaar?mode", refused("")),
        (b"/v1/bazaar?mode=", refused("")),
        (b"/v1/bazaar?mode=FULL", refused("FULL")),
        (b"/v1/bazaar?mode=Flips", refused("Flips")),
        (b"/v1/bazaar?mode=Items&ids=X", refused("Items")),
        (b"/v1/bazaar?mode=BOOK&id=X", refused("BOOK")),
        (b"/v1/bazaar?mode=books&id=X", refused("books")),
        (b"/v1/bazaar?mode=+list", refused(" list")),
        (b"/v1/bazaar?mode=list%20", refused("list ")),
        (b"/v1/bazaar?mode=-1", refused("-1")),
        (b"/v1/bazaar?mode=history", refused("history")),
        (b"/v1/bazaar?mode=%", refused("%")),
        (b"/v1/bazaar?mode=%zz%4", refused("%zz%4")),
        (b"/v1/bazaar?mode=list%00", refused("list\\u{0}")),
        (b"/v1/bazaar?mode=%0d%0aX-Evil:%201%01%7f", refused("\\r\\nX-Evil: 1\\u{1}\\u{7f}")),
        (b"/v1/bazaar?mode=%ff%fe%c3", refused("\u{fffd}\u{fffd}\u{fffd}")),
        (b"/v1/bazaar?mode=%3Cscript%3E%22'", refused("<script>\"'")),
    ];
    expect_responses(&cloud, rows).await;
    let shortened = "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\u{2026}";
    expect_responses(&cloud, [(long("/v1/bazaar?mode=", 'm'), refused(shortened))]).await;
}

#[tokio::test]
async fn a_bazaar_id_is_required_with_mode_item_and_ignored_otherwise() {
    let cloud = start().await;
    let moment = cloud.clock().now_ms();
    let body: serde_json::Value = serde_json::from_str(&bazaar::body(1, moment)).unwrap();
    let products = &body["products"];
    assert!(products.get("INK_SACK:3").is_some() && products.get("X").is_some());
    let rows: [(&[u8], Expected); 28] = [
        (b"/v1/bazaar?mode=item", Missing("id")),
        (b"/v1/bazaar?mode=item&id", Missing("id")),
        (b"/v1/bazaar?mode=item&id=", Missing("id")),
        (b"/v1/bazaar?mode=item&ID=X", Missing("id")),
        (b"/v1/bazaar?mode=item&id=X&id=", Conflicting("id", "X", "")),
        (b"/v1/bazaar?mode=item&id=X&id=X", Accepted),
        (b"/v1/bazaar?mode=item&id=X", Accepted),
        (b"/v1/bazaar?id=X&mode=item", Accepted),
        (b"/v1/bazaar?mode=item&id=INK_SACK:3", Accepted),
        (b"/v1/bazaar?mode=item&id=INK_SACK%3A3", Accepted),
        (b"/v1/bazaar?mode=item&id=NOPE&id=X", Conflicting("id", "NOPE", "X")),
        (b"/v1/bazaar?mode=item&id=X&id=X&id=NOPE", Conflicting("id", "X", "NOPE")),
        (b"/v1/bazaar?mode=item&id=X&id=%0A", Conflicting("id", "X", "\\n")),
        (b"/v1/bazaar?mode=item&id=X&limit=1&limit=2", Conflicting("limit", "1", "2")),
        (b"/v1/bazaar?mode=full&id=A&id=B", Conflicting("id", "A", "B")),
        (b"/v1/bazaar?mode=item&id=x", NotFound("'x'")),
        (b"/v1/bazaar?mode=item&id=-1", NotFound("'-1'")),
        (b"/v1/bazaar?mode=item&id=+X", NotFound("' X'")),
        (b"/v1/bazaar?mode=item&id=%2", NotFound("'%2'")),
        (b"/v1/bazaar?mode=item&id=%00", NotFound("'\\u{0}'")),
        (b"/v1/bazaar?mode=item&id=%1b[31m", NotFound("'\\u{1b}[31m'")),
        (b"/v1/bazaar?mode=item&id=%C3%28%ff", NotFound("'\u{fffd}(\u{fffd}'")),
        (b"/v1/bazaar?mode=item&id=%C3%A9", NotFound("'\u{e9}'")),
        (b"/v1/bazaar?mode=item&id=%22%7D%3Cscript%3E", NotFound("'\"}<script>'")),
        (b"/v1/bazaar?id=", Accepted),
        (b"/v1/bazaar?mode=full&id=NOPE", Accepted),
        (b"/v1/bazaar?mode=list&id=%ff", Accepted),
        (b"/v1/bazaar?mode=flips&id=", Accepted),
    ];
    expect_responses(&cloud, rows).await;
    let shortened = "'XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\u{2026}'";
    let path = long("/v1/bazaar?mode=item&id=", 'X');
    expect_responses(&cloud, [(path, NotFound(shortened))]).await;
}

#[tokio::test]
async fn a_book_requires_an_id_as_an_item_does() {
    let cloud = start().await;
    let rows: [(&[u8], Expected); 8] = [
        (b"/v1/bazaar?mode=book", Missing("id")),
        (b"/v1/bazaar?mode=book&id=", Missing("id")),
        (b"/v1/bazaar?mode=book&ids=X", Missing("id")),
        (b"/v1/bazaar?mode=book&id=X", Accepted),
        (b"/v1/bazaar?mode=book&id=X&ids=,&limit=0", Accepted),
        (b"/v1/bazaar?mode=book&id=X&id=Y", Conflicting("id", "X", "Y")),
        (b"/v1/bazaar?mode=book&id=x", NotFound("'x'")),
        (b"/v1/bazaar?mode=book&id=X,Y", NotFound("'X,Y'")),
    ];
    expect_responses(&cloud, rows).await;
    let message = get(&cloud, "/v1/bazaar?mode=book").await.error("BAD_REQUEST");
    assert_eq!(message, "Parameter 'id' is required with mode=book.");
}

#[tokio::test]
async fn bazaar_ids_are_1_to_100_texts_separated_by_commas() {
    let cloud = start().await;
    let rows: [(&[u8], Expected); 28] = [
        (b"/v1/bazaar?mode=items", Missing("ids")),
        (b"/v1/bazaar?mode=items&ids", Missing("ids")),
        (b"/v1/bazaar?mode=items&ids=", Missing("ids")),
        (b"/v1/bazaar?mode=items&IDS=X", Missing("ids")),
        (b"/v1/bazaar?mode=items&id=X", Missing("ids")),
        (b"/v1/bazaar?mode=items&ids=X", Accepted),
        (b"/v1/bazaar?mode=items&ids=X,X,X", Accepted),
        (b"/v1/bazaar?mode=items&ids=X%2CY", Accepted),
        (b"/v1/bazaar?mode=items&ids=X&ids=X&id=&limit=0", Accepted),
        (b"/v1/bazaar?mode=items&ids=none,x,%20X,-1,%00,%ff,%22", Accepted),
        (b"/v1/bazaar?mode=items&ids=X&ids=Y", Conflicting("ids", "X", "Y")),
        (b"/v1/bazaar?mode=items&ids=X,Y&ids=Y,X", Conflicting("ids", "X,Y", "Y,X")),
        (b"/v1/bazaar?mode=items&ids=X&ids=", Conflicting("ids", "X", "")),
        (b"/v1/bazaar?mode=list&ids=X&ids=Y", Conflicting("ids", "X", "Y")),
        (b"/v1/bazaar?mode=items&ids=,", Flawed(",", "entry 1 is empty")),
        (b"/v1/bazaar?mode=items&ids=,X", Flawed(",X", "entry 1 is empty")),
        (b"/v1/bazaar?mode=items&ids=X,", Flawed("X,", "entry 2 is empty")),
        (b"/v1/bazaar?mode=items&ids=X,,Y", Flawed("X,,Y", "entry 2 is empty")),
        (b"/v1/bazaar?mode=items&ids=X%2C%2CY", Flawed("X,,Y", "entry 2 is empty")),
        (b"/v1/bazaar?mode=items&ids=%0a,,", Flawed("\\n,,", "entry 2 is empty")),
        (b"/v1/bazaar?ids=", Accepted),
        (b"/v1/bazaar?mode=full&ids=,", Accepted),
        (b"/v1/bazaar?mode=list&ids=,,", Accepted),
        (b"/v1/bazaar?mode=flips&ids=", Accepted),
        (b"/v1/bazaar?mode=item&id=X&ids=,", Accepted),
        (b"/v1/bazaar?mode=item&ids=X", Missing("id")),
        (b"/v1/bazaar?mode=items&ids=X+", Accepted),
        (b"/v1/bazaar?mode=items&ids=%C3%A9", Accepted),
    ];
    expect_responses(&cloud, rows).await;
    let message = get(&cloud, "/v1/bazaar?mode=items").await.error("BAD_REQUEST");
    assert_eq!(message, "Parameter 'ids' is required with mode=items.");

    let ids = |count: usize| (1..=count).map(|id| format!("N{id}")).collect::<Vec<_>>().join(",");
    let hundred = get(&cloud, &format!("/v1/bazaar?mode=items&ids={}", ids(100))).await.data();
    assert_eq!(hundred["unknown"].as_array().unwrap().len(), 100);
    for (too_many, flaw) in
        [(ids(101), "': it has 101 entries."), ("X,".repeat(100) + "X", "': it has 101 entries.")]
    {
        let message =
            get(&cloud, &format!("/v1/bazaar?mode=items&ids={too_many}")).await.error("BAD_REQUEST");
        assert!(message.contains(IDS) && message.contains(flaw), "{message}");
    }
    // 64 characters of two bytes each.
    let longest = "%C3%A9".repeat(64);
    let data = get(&cloud, &format!("/v1/bazaar?mode=items&ids={longest}")).await.data();
    assert_eq!(data["unknown"][0].as_str().unwrap().chars().count(), 64);
    let one_more = format!("/v1/bazaar?mode=items&ids=X,{longest}a");
    let message = get(&cloud, &one_more).await.error("BAD_REQUEST");
    assert!(message.ends_with("': entry 2 has 65 characters."), "{message}");
    let shortened = "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\u{2026}': entry 1 has 10240 characters.";
    let path = long("/v1/bazaar?mode=items&ids=", 'm');
    let message = get(&cloud, &path).await.error("BAD_REQUEST");
    assert!(message.ends_with(shortened), "{message}");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_flips_limit_is_a_whole_number_from_1_to_100_and_other_modes_ignore_it() {
    let cloud = start().await;
    let refused = |received| Refused("limit", LIMITS, received);
    let rows: [(&[u8], Expected); 18] = [
        (b"/v1/bazaar?mode=flips&limit=1", Accepted),
        (b"/v1/bazaar?mode=flips&limit=100", Accepted),
        (b"/v1/bazaar?mode=flips&LIMIT=0", Accepted),
        (b"/v1/bazaar?mode=flips&limit=0&limit=2", Conflicting("limit", "0", "2")),
        (b"/v1/bazaar?mode=flips&limit=2&limit=02", Conflicting("limit", "2", "02")),
        (b"/v1/bazaar?mode=flips&limit", refused("")),
        (b"/v1/bazaar?mode=flips&limit=", refused("")),
        (b"/v1/bazaar?mode=flips&limit=0", refused("0")),
        (b"/v1/bazaar?mode=flips&limit=-0", refused("-0")),
        (b"/v1/bazaar?mode=flips&limit=+5", refused(" 5")),
        (b"/v1/bazaar?mode=flips&limit=%2B5", refused("+5")),
        (b"/v1/bazaar?mode=flips&limit=5%20", refused("5 ")),
        (b"/v1/bazaar?mode=flips&limit=1e1", refused("1e1")),
        (b"/v1/bazaar?mode=flips&limit=99999999999999999999", refused("99999999999999999999")),
        (b"/v1/bazaar?mode=flips&limit=%D9%A5", refused("\u{665}")),
        (b"/v1/bazaar?limit=nonsense", Accepted),
        (b"/v1/bazaar?mode=list&limit=0", Accepted),
        (b"/v1/bazaar?mode=item&id=X&limit=-1", Accepted),
    ];
    expect_responses(&cloud, rows).await;
    let shortened = "9999999999999999999999999999999999999999999999999999999999999999\u{2026}";
    expect_responses(&cloud, [(long("/v1/bazaar?mode=flips&limit=", '9'), refused(shortened))]).await;
    let data = get(&cloud, "/v1/bazaar?mode=flips&limit=3&limit=3").await.data();
    assert_eq!(data["count"], 3);
}

#[tokio::test]
async fn rules_of_flips_are_whole_numbers_up_to_10_12_and_other_modes_ignore_them() {
    let cloud = start().await;
    for name in ["min_price", "min_volume"] {
        let refused = |received| Refused(name, "a whole number from 0 to 1000000000000", received);
        let rows = [
            ("mode=flips&NAME=0", Accepted),
            ("mode=flips&NAME=1000000000000", Accepted),
            ("mode=flips&NAME=00000000000000000000007", Accepted),
            ("mode=flips&NAME=1000000000001", refused("1000000000001")),
            ("mode=flips&NAME=99999999999999999999", refused("99999999999999999999")),
            ("mode=flips&NAME=-1", refused("-1")),
            ("mode=flips&NAME=1.5", refused("1.5")),
            ("mode=flips&NAME=1e6", refused("1e6")),
            ("mode=flips&NAME=", refused("")),
            ("mode=flips&NAME=1&NAME=2", Conflicting(name, "1", "2")),
            ("mode=list&NAME=x", Accepted),
            ("NAME=x", Accepted),
        ];
        let rows =
            rows.map(|(query, expected)| (format!("/v1/bazaar?{}", query.replace("NAME", name)), expected));
        expect_responses(&cloud, rows).await;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn auction_ids_are_texts_without_blanks_and_a_raw_semicolon_is_told() {
    let cloud = start().await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    let rows: [(&str, Expected); 27] = [
        ("", Accepted),
        ("?", Accepted),
        ("?4", Accepted),
        ("?IDS=,", Accepted),
        ("?mode=items&id=&limit=0", Accepted),
        ("?ids=X", Accepted),
        ("?ids=X,X,none,x,-1,%00,%ff,%22", Accepted),
        ("?ids=GOLDEN_DRAGON%3B4%2CNEW_YEAR_CAKE%2B383", Accepted),
        ("?ids=GOLDEN_DRAGON%3b4%2b100", Accepted),
        ("?ids=X&ids=X&x&4=4&_=1795325498613&1795325498613&100&4x", Accepted),
        ("?ids=X;", Accepted),
        ("?ids=X;x=4", Accepted),
        ("?ids", Flawed("", "entry 1 is empty")),
        ("?ids=", Flawed("", "entry 1 is empty")),
        ("?ids=,", Flawed(",", "entry 1 is empty")),
        ("?ids=X,", Flawed("X,", "entry 2 is empty")),
        ("?ids=;4", Flawed("", "entry 1 is empty")),
        ("?ids=X,,Y", Flawed("X,,Y", "entry 2 is empty")),
        ("?ids=X+PERFECT", Flawed("X PERFECT", "entry 1 has a blank, and a + must be sent as %2B")),
        ("?ids=X,Y%20", Flawed("X,Y ", "entry 2 has a blank, and a + must be sent as %2B")),
        ("?ids=X&ids=Y", Conflicting("ids", "X", "Y")),
        ("?ids=X;4", Split("4")),
        ("?ids=X;4+100", Split("4 100")),
        ("?ids=X;4%2B100,Y;5", Split("4+100,Y")),
        ("?ids=X;10,Y&limit=1", Split("10,Y")),
        ("?ids=X;Y;5", Split("5")),
        ("?0;ids=X", Split("0")),
    ];
    let targets = rows.map(|(query, expected)| (format!("{PRICES}{query}"), expected));
    expect_responses(&cloud, targets).await;
    expect_responses(&cloud, [("/v1/auctions/averages?ids=X;4", Split("4"))]).await;
    let ids = |count: usize| (1..=count).map(|id| format!("N{id}")).collect::<Vec<_>>().join(",");
    let hundred = get(&cloud, &format!("{PRICES}?ids={}", ids(100))).await.data();
    assert_eq!(hundred["unknown"].as_array().unwrap().len(), 100);
    for (too_much, flaw) in [(ids(101), "it has 101 entries"), ("A".repeat(65), "entry 1 has 65 characters")]
    {
        let message = get(&cloud, &format!("{PRICES}?ids={too_much}")).await.error("BAD_REQUEST");
        assert!(message.ends_with(&format!("': {flaw}.")), "{message}");
    }
}

#[tokio::test]
async fn an_auctions_page_is_a_whole_number_from_0() {
    let cloud = start().await;
    let rows: [(&[u8], Expected); 8] = [
        (b"/v1/auctions", Accepted),
        (b"/v1/auctions?page=0", Accepted),
        (b"/v1/auctions?page=%30", Accepted),
        (b"/v1/auctions?PAGE=x", Accepted),
        (b"/v1/auctions?page=0&page=0", Accepted),
        (b"/v1/auctions?page=0&page=1", Conflicting("page", "0", "1")),
        (b"/v1/auctions?page=4294967295", NotFound("4294967295")),
        (b"/v1/auctions?page=9999", NotFound("9999")),
    ];
    expect_responses(&cloud, rows).await;
}

#[tokio::test]
async fn parameters_of_histories_are_refused_without_a_query() {
    let cloud = start().await;
    let id = |received| Refused("item_id", ITEM_IDS, received);
    let rows: [(&[u8], Expected); 18] = [
        (b"/v1/bazaar/history/?range=nonsense", Missing("item_id")),
        (b"/v1/bazaar/history?item_id=", Missing("item_id")),
        (b"/v1/bazaar/history?ITEM_ID=A&id=A", Missing("item_id")),
        (b"/v1/bazaar/candles?item_id=&before=x&limit=0", Missing("item_id")),
        (b"/v1/bazaar/history?item_id=%22INK%22", id("\"INK\"")),
        (b"/v1/bazaar/history?item_id=INK+SACK", id("INK SACK")),
        (b"/v1/bazaar/history?item_id=INK%0A", id("INK\\n")),
        (b"/v1/bazaar/history?item_id=A%23B", id("A#B")),
        (b"/v1/bazaar/history?item_id=%C3%84", id("\u{c4}")),
        (b"/v1/bazaar/history?item_id=%EF%BC%A1", id("\u{ff21}")),
        (b"/v1/bazaar/history?item_id=A%20OR%20pk%20%3D%20:p", id("A OR pk = :p")),
        (b"/v1/bazaar/history?item_id=a&range=nonsense", id("a")),
        (b"/v1/bazaar/history?item_id=A&item_id=B", Conflicting("item_id", "A", "B")),
        (b"/v1/bazaar/history?range=1h&range=24h", Conflicting("range", "1h", "24h")),
        (b"/v1/fire-sales/history?limit=5&limit=05", Conflicting("limit", "5", "05")),
        (b"/v1/bazaar/candles?interval=1h&interval=1d", Conflicting("interval", "1h", "1d")),
        (b"/v1/bazaar/candles?item_id=A&before=now&before=", Conflicting("before", "now", "")),
        (b"/v1/bazaar/candles?item_id=A&from=now&from=", Conflicting("from", "now", "")),
    ];
    expect_responses(&cloud, rows).await;
    let shortened = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\u{2026}";
    for item_id in ["A".repeat(65), "A".repeat(5_000)] {
        let target = format!("/v1/bazaar/history?item_id={item_id}");
        expect_responses(&cloud, [(target, id(shortened))]).await;
    }
    for (path, code) in openapi::failing_requests().unwrap() {
        if code == Code::BadRequest {
            get(&cloud, path).await.error("BAD_REQUEST");
        }
    }
    assert_eq!(cloud.dynamodb().requests("Query"), 0);
}

#[tokio::test]
async fn parameters_of_histories_are_accepted_in_every_spelling() {
    let cloud = start().await;
    for target in [
        "/v1/bazaar/history?item_id=INK_SACK%3A3",
        "/v1/bazaar/history?item_id=INK_SACK:3&item_id=%49NK_SACK%3a3",
        "/v1/bazaar/history?item_id=A&range=%37d",
        "/v1/bazaar/history?item_id=A&range=30d&range=30d&interval=x&before=x",
        "/v1/mayor/history?limit=007&range=nonsense&item_id=a&page=-1&Limit=0",
        "/v1/fire-sales/history?limit=200&limit=200",
        "/v1/bazaar/candles?item_id=A&interval=%31d&range=x",
        "/v1/bazaar/candles?item_id=A&limit=1000&limit=1000",
        "/v1/bazaar/candles?item_id=A&before=2026-04-28t15:05:00.5z",
        "/v1/bazaar/candles?item_id=A&before=2026-04-28T17:05:00%2B02:00",
        "/v1/bazaar/candles?item_id=A&before=2026-04-28T17:05:00+02:00",
        "/v1/bazaar/candles?item_id=A&before=2026-04-28T10%3A35%3A00-04:30",
        "/v1/bazaar/candles?item_id=A&before=2026-04-28T14:59:60Z",
        "/v1/bazaar/candles?item_id=A&from=2026-04-28T15:00:00+02:00&before=2026-04-28T13:00:01Z",
    ] {
        expect_responses(&cloud, [(target, Accepted)]).await;
    }
}

#[tokio::test]
async fn a_username_has_1_to_16_letters_digits_and_underscores() {
    let cloud = start().await;
    let refused = |received| Refused("username", USERNAMES, received);
    let rows: [(&[u8], Expected); 38] = [
        (b"/v1/profile/N", Accepted),
        (b"/v1/profile/_", Accepted),
        (b"/v1/profile/0123456789", Accepted),
        (b"/v1/profile/sixteen_letters_", Accepted),
        (b"/v1/profile/Some_Body", Accepted),
        (b"/v1/profile/%41%5F%62", Accepted),
        (b"/v1/profile/%4eotch", Accepted),
        (b"/v1/profile/Notch?username=not.this", Accepted),
        (b"/v1/profile/Notch?username=a&username=b", Accepted),
        // Without a name or with a further segment, the path is unknown.
        (b"/v1/profile", NotFound("GET /v1/profile ")),
        (b"/v1/profile/", NotFound("GET /v1/profile/ ")),
        (b"/v1/profile//", NotFound("GET /v1/profile// ")),
        (b"/v1/profile/?username=Notch", NotFound("GET /v1/profile/ ")),
        (b"/v1/profile/Notch/Jeb", NotFound("GET /v1/profile/Notch/Jeb ")),
        (b"/v1/profile/seventeen_letters", refused("seventeen_letters")),
        (b"/v1/profile/with-dash", refused("with-dash")),
        (b"/v1/profile/with.dot", refused("with.dot")),
        (b"/v1/profile/-1", refused("-1")),
        (b"/v1/profile/.", refused(".")),
        (b"/v1/profile/..", refused("..")),
        (b"/v1/profile/%2e%2e%2fmayor", refused("../mayor")),
        (b"/v1/profile/a%2Fb", refused("a/b")),
        (b"/v1/profile/a+b", refused("a+b")),
        (b"/v1/profile/a%20b", refused("a b")),
        (b"/v1/profile/%20", refused(" ")),
        (b"/v1/profile/Zo%C3%AB", refused("Zo\u{eb}")),
        (b"/v1/profile/%EF%BC%A1", refused("\u{ff21}")),
        // A parameter is decoded once, and a malformed escape is shown unchanged.
        (b"/v1/profile/%254eotch", refused("%4eotch")),
        (b"/v1/profile/%25", refused("%")),
        (b"/v1/profile/a%2Bb", refused("a+b")),
        (b"/v1/profile/%zzNotch", refused("%zzNotch")),
        (b"/v1/profile/%C3", refused("%C3")),
        (b"/v1/profile/%", refused("%")),
        (b"/v1/profile/%4", refused("%4")),
        (b"/v1/profile/Notch%00", refused("Notch\\u{0}")),
        (b"/v1/profile/a%02%7f", refused("a\\u{2}\\u{7f}")),
        (b"/v1/profile/%ff%fe", refused("%ff%fe")),
        (b"/v1/profile/%3Cscript%3E\"'", refused("<script>\"'")),
    ];
    expect_responses(&cloud, rows).await;
    let shortened = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\u{2026}";
    expect_responses(&cloud, [(long("/v1/profile/", 'n'), refused(shortened))]).await;
    let data = get(&cloud, "/v1/profile/%4e%6Ftch").await.data();
    assert_eq!(data["uuid"], names::uuid(1, "Notch").unwrap(), "a name may be percent-encoded");
}

#[tokio::test]
async fn unknown_parameters_and_a_trailing_slash_are_ignored() {
    let cloud = start_with(one_instance_each()).await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    let is_required = |parameter: &Parameter| parameter.required && parameter.location == Location::Query;
    let routes: Vec<_> = common::routes::VERSION_1
        .iter()
        .filter(|route| !route.parameters.iter().any(is_required))
        // The limit of `/v1/usage` allows an account fewer requests.
        .filter(|route| route.reads != Reads::Account)
        .map(|route| route.path.replace("{username}", "Notch"))
        .collect();
    for path in routes.iter().map(String::as_str).chain(["/"]) {
        let rows: [&[u8]; 6] = [
            b"?",
            b"?unknown=1&unknown=2",
            b"?unknown=1&unknown&=&&=x",
            b"?mode[]=1&page%00=x&limit%20=x&Page=-1&Username=-",
            b"?%ff=%fe&%=%%ff%01",
            b"?%3Cscript%3E='",
        ];
        expect_responses(&cloud, rows.map(|rest| ([path.as_bytes(), rest].concat(), Accepted))).await;
        expect_responses(&cloud, [(long(&format!("{path}?x="), 'x'), Accepted)]).await;
    }
    // Compares only `data`, because `meta.cached` may differ.
    for path in routes.iter().filter(|path| !path.contains("bazaar") && !path.contains("auctions")) {
        let plain = get(&cloud, path).await.data();
        assert_eq!(get(&cloud, &format!("{path}/")).await.data(), plain, "{path}");
    }
}
