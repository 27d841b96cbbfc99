//! A bad line is reported with its number and a reason, and the others are imported.

use jiff::{SignedDuration, Timestamp};

use super::support::{DynamoDb, file, line, messages, minutes, start, summary, text, this_morning};

/// Imports the lines, each of which must be bad for its reason.
#[track_caller]
fn assert_reasons(kind: &str, lines: &[(String, &str)]) {
    let dynamodb = DynamoDb::start();
    let text: Vec<&str> = lines.iter().map(|(line, _)| line.trim_end()).collect();
    let (messages, code) = dynamodb.import(kind, "History", text.join("\n").as_bytes());
    for (number, ((line, reason), message)) in (1..).zip(lines.iter().zip(messages.lines())) {
        let is_named = message.starts_with(&format!("-:{number}: ")) && message.contains(reason);
        assert!(is_named && message.chars().count() < 700, "{line:.200}: {message}");
    }
    assert!(code == Some(1) && messages.ends_with(&summary(0, 0, 0, lines.len())), "{messages}");
    assert!(dynamodb.dump("History").is_empty());
}

#[test]
fn invalid_events() {
    let mayor = |from: &str, to: &str| {
        r#"{"year":1,"name":"N","key":"k","perks":[{"name":"P","description":"D"}]}"#.replace(from, to)
    };
    let sale = |from: &str, to: &str| {
        r#"{"item_id":"A","start":1700000000000,"end":1,"amount":2,"price":3,"recorded_at":"2023-11-12T00:00:00Z"}"#
            .replace(from, to)
    };
    assert_reasons(
        "events",
        &[
            ("no".to_owned(), "a line must be a JSON object, {…}, not no"),
            ("[518,\"Paul\",[]]".to_owned(), "a line must be a JSON object"),
            ("\u{1b}[31m".to_owned(), "not \\u{1b}[31m"),
            ("{\"year\":518".to_owned(), "invalid JSON: EOF while parsing an object in column 11"),
            ("{} {}".to_owned(), "invalid JSON: trailing characters in column 4"),
            ("{\"name\":\"N\"}".to_owned(), "a mayor must have `year`, and a fire sale `item_id`"),
            (mayor("1", "0"), "year: the year of an election must be a whole number from 1 to 9999"),
            (mayor("1", "-1"), "year: invalid value: integer `-1`"),
            (mayor("1", "9999"), "2160-11-21T11:15:00Z is in the future"),
            (mayor("\"N\"", "\"\""), "must not be empty"),
            (mayor("\"key\":\"k\",", ""), "missing field `key`"),
            (mayor(",\"description\":\"D\"", ""), "perks[0]: missing field `description`"),
            (mayor("\"N\"", &format!("\"{}\"", "x".repeat(300_000))), "may have at most 300000 bytes"),
            (mayor("name", &"x".repeat(1_000)), "xxx"),
            (mayor("}]}", "}],\"last_updated\":9999999999999}"), "last_updated: 2286"),
            (sale("\"A\"", "\"\""), "item_id must have 1 to 256 bytes"),
            (sale("1700000000000", "1700000000"), "start must be in Unix milliseconds"),
            (
                sale("\"price\":3", "\"price\":\"3\""),
                "price: invalid type: string \"3\", expected a whole number",
            ),
            (sale("\"price\":3", "\"price\":3,\"price\":4"), "duplicate field `price`"),
            (sale("2023-11-12T00:00:00Z", "yesterday"), "recorded_at: it must be RFC 3339 in UTC"),
            (sale("0Z\"", "0Z\",\"seen_at\":\"2023-11-11T23:59:59Z\""), "is before recorded_at"),
            (sale("0Z\"", "0Z\",\"seenAt\":1"), "seenAt: unknown field `seenAt`, expected one of `item_id`"),
        ],
    );
}

#[test]
fn invalid_prices() {
    let at = this_morning();
    let minute = |products: &str| line("1m", at, products);
    let hour = |products: &str| line("1h", at, products);
    let auctions = |interval: &str, items: &str| line(interval, at, items).replace("products", "items");
    // Each of these lists is invalid.
    for (interval, lists) in [
        ("1m", "[] [1,2,3] [1,2,3,4,5] [-1,2,3,4] [1,1e13,3,4] [1,2,3.5,4] [1,2,3,-4] [1,2,3,1e19]"),
        (
            "1h",
            "[1,2,3,4] [2,3,1,2,2,3,1,2,5,6] [2,3,1,2,2,3,1,2,5,6,50,1,1] [4,3,1,2,2,3,1,2,5,6,60] \
             [2,3,1,2,2,3,1,0.99,5,6,60] [2,-3,1,2,2,3,1,2,5,6,60] [2,1e13,1,2,2,3,1,2,5,6,60] \
             [2,3,1,2,2,3,1,2,5,6.5,60] [2,3,1,2,2,3,1,2,5,-6,60] [2,3,1,2,2,3,1,2,5,6,0] \
             [2,3,1,2,2,3,1,2,5,6,50,60] [2,3,1,2,2,3,1,2,5,6,50,-1] [2,3,1,2,2,3,1,2,5,6,61] \
             [2,3,1,2,2,3,1,2,5,6,51,10]",
        ),
    ] {
        let lines = lists.split(' ').map(|list| line(interval, at, &format!("\"B:1\":{list}")));
        assert_reasons(
            "bazaar",
            &lines.map(|line| (line, "products: B:1: a minute must be")).collect::<Vec<_>>(),
        );
    }
    assert_reasons(
        "bazaar",
        &[
            (minute(""), "products: at least one must have a price"),
            (hour(r#""A":[0,0,0,0,0,0,0,0,5,5,1]"#), "products: at least one must have a price"),
            (
                minute(r#""ink sack":[1,1,1,1]"#),
                "products: ink sack: an item id must be 1 to 64 capital letters",
            ),
            (minute(r#""A":[1,1,1,1],"A":[1,1,1,1]"#), "products: A: it appears twice"),
            (minute(r#""B:1":[1,"2",3,4]"#), "products.B:1[1]: invalid type: string \"2\""),
            (minute("").replace("1m", "2h"), "interval: it must be one of 1m, 5m, 30m, 1h, 3h, 1d, not 2h"),
            (minute("").replace("\"interval\":\"1m\",", ""), "missing field `interval`"),
            (minute("").replace("\"products\"", "\"version\":1,\"products\""), "version: unknown field"),
            (
                line("1h", at + minutes(7), ""),
                "is not the start of an interval of 1h; the one that contains it starts at ",
            ),
        ],
    );
    assert_reasons(
        "auctions",
        &[
            (auctions("2h", r#""LOG-2":"5,1,60""#), "interval: it must be one of 1h, 1d, not 2h"),
            (auctions("1h", ""), "items: at least one must have a price"),
            (auctions("1h", r#""LOG-2":"5,1,61""#), "items: LOG-2: a candle must be the close"),
            (auctions("1h", r#""LOG-2":"5,1""#), "items: LOG-2: a candle must be the close"),
            (auctions("1h", r#""LOG:2":"5,1,60""#), "items: LOG:2: an item id must be"),
        ],
    );
}

#[test]
fn prices_from_the_future_are_not_imported() {
    let dynamodb = DynamoDb::start();
    let now = Timestamp::now();
    let ahead = |seconds: i64| line("1m", now + SignedDuration::from_secs(seconds), r#""A":[1,1,1,1]"#);
    let under_way = start(now + SignedDuration::from_hours(24), 24 * 60);
    let day = line("1d", under_way, r#""A":[2,3,1,2,2,3,1,2,5,6,60]"#);
    let (messages, code) = dynamodb.import("bazaar", "History", (ahead(120) + &ahead(30) + &day).as_bytes());
    let lines: Vec<_> = messages.lines().collect();
    assert!(
        lines[0].starts_with("-:1: opened_at: ") && lines[0].contains(" is in the future; "),
        "{messages}"
    );
    let expected = format!("-:3: opened_at: the interval of 1d that starts at {under_way} has not ended; ");
    assert!(code == Some(1) && lines[1].starts_with(&expected), "{messages}");
    assert!(messages.ends_with(&summary(1, 0, 0, 2)), "{messages}");
}

#[test]
fn good_lines_are_imported_between_bad_ones_of_every_size() {
    let dynamodb = DynamoDb::start();
    let mayor = |year| format!(r#"{{"year":{year},"name":"N","key":"k","perks":[]}}"#);
    let long = "x".repeat(20 * 1024 * 1024);
    let mut lines = format!("\u{feff}{}\r\n\r\n{long}\n{}\r\n", mayor(1), mayor(2)).into_bytes();
    lines.extend_from_slice(b"\xff\xfe{\n");
    lines.extend_from_slice(mayor(3).as_bytes());
    // The last line has no line end.
    lines.extend_from_slice(format!("\n{}", "{".repeat(17 * 1024 * 1024)).as_bytes());
    let file = file("events.ndjson", lines);
    let output = dynamodb.history(&["import", "events", text(&file)]).output().unwrap();
    let name = text(&file);
    let expected = format!(
        "{name}:3: longer than 16777216 bytes\n{name}:5: not UTF-8 text\n{name}:7: longer than 16777216 bytes\n"
    );
    assert_eq!(messages(&output), expected + &summary(3, 0, 0, 3));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(dynamodb.export("events", "History").lines().count(), 3);
}

#[test]
fn only_the_first_hundred_bad_lines_are_printed() {
    let dynamodb = DynamoDb::start();
    let (messages, _) = dynamodb.import("events", "History", "bad\n".repeat(250).as_bytes());
    assert_eq!(messages.lines().count(), 102);
    assert!(messages.ends_with(&("… and 150 more\n".to_owned() + &summary(0, 0, 0, 250))), "{messages}");
    let nothing = dynamodb.import("bazaar", "History", "\u{feff}\r\n \t\r\n".as_bytes());
    assert_eq!(nothing, (summary(0, 0, 0, 0), Some(0)));
}
