//! A bad line is reported with its number and a reason, and the others are imported.

use jiff::{SignedDuration, Timestamp};

use super::support::{DynamoDb, file, line, messages, minutes, start, summary, text, this_morning};

/// Imports the lines, each of which must be bad for its reason.
#[track_caller]
fn assert_reasons(kind: &str, lines: &[(&str, &str)]) {
    let dynamodb = DynamoDb::start();
    let text = lines.iter().map(|(line, _)| line.trim_end()).collect::<Vec<_>>().join("\n");
    let (messages, code) = dynamodb.import(kind, "History", text.as_bytes());
    let expected =
        lines.iter().enumerate().map(|(index, (_, reason))| format!("-:{}: {reason}\n", index + 1));
    assert_eq!(messages, expected.collect::<String>() + &summary(0, 0, 0, lines.len()));
    assert_eq!(code, Some(1));
    assert!(dynamodb.dump("History").is_empty());
}

#[test]
fn lines_that_are_not_events() {
    const NEITHER: &str = "missing field: a mayor must have `year`, and a fire sale `item_id`";
    assert_reasons(
        "events",
        &[
            ("no", "a line must be a JSON object, {…}, not no"),
            ("[518,\"Paul\",[]]", "a line must be a JSON object, {…}, not [518,\"Paul\",[]]"),
            ("\u{1b}[31m", "a line must be a JSON object, {…}, not \\u{1b}[31m"),
            ("{\"year\":518", "invalid JSON: EOF while parsing an object in column 11"),
            ("{\"year\":518,}", "invalid JSON: trailing comma in column 13"),
            ("{} {}", "invalid JSON: trailing characters in column 4"),
            ("{\"name\":\"N\"}", NEITHER),
            ("{\"year\":null}", NEITHER),
        ],
    );
}

#[test]
fn invalid_mayors() {
    let year = |year: &str| format!(r#"{{"year":{year},"name":"N","key":"k","perks":[]}}"#);
    let long = format!(r#"{{"year":1,"name":"{}","key":"k","perks":[]}}"#, "x".repeat(300_000));
    let unknown = format!(r#"{{"year":1,"{}":1}}"#, "x".repeat(1_000));
    assert_reasons(
        "events",
        &[
            (&year("0"), "year: 0 is out of range: the year of an election is from 1 to 9999"),
            (&year("-1"), "year: -1 is out of range: the year of an election is from 1 to 9999"),
            (&year("10000"), "year: 10000 is out of range: the year of an election is from 1 to 9999"),
            (&year("1.5"), "year: 1.5 is not a whole number"),
            (&year("\"518\""), "year: invalid type: string \"518\", expected a whole number"),
            (&year("9999"), "year: election 9999 closes at 2160-11-21T11:15:00Z, which is in the future"),
            (r#"{"year":1,"name":"","key":"k","perks":[]}"#, "name: must not be empty"),
            (r#"{"year":1,"name":"N","perks":[]}"#, "missing field `key`"),
            (r#"{"year":1,"name":"N","key":null,"perks":[]}"#, "key: invalid type: null, expected a string"),
            (
                r#"{"year":1,"name":"N","key":"k","perks":["P"]}"#,
                "perks[0]: invalid type: string \"P\", expected a perk: {\"name\":…,\"description\":…}",
            ),
            (
                r#"{"year":1,"name":"N","key":"k","perks":[{"name":"P"}]}"#,
                "perks[0]: missing field `description`",
            ),
            (&long, "a mayor's line may have at most 300000 bytes"),
            (
                &unknown,
                &format!(
                    "{}…: unknown field `{}…, expected one of `year`, `name`, `key`, `perks`, `last_updated`",
                    "x".repeat(120),
                    "x".repeat(105)
                ),
            ),
        ],
    );
}

#[test]
fn invalid_fire_sales() {
    let sale = |from: &str, to: &str| {
        r#"{"item_id":"A","start":1700000000000,"end":1,"amount":2,"price":3,"recorded_at":"2023-11-12T00:00:00Z"}"#
            .replace(from, to)
    };
    assert_reasons(
        "events",
        &[
            (&sale("\"A\"", "\"\""), "item_id must have 1 to 256 bytes"),
            (
                &sale("1700000000000", "1700000000"),
                "start must be in Unix milliseconds, between the years 2001 and 2286",
            ),
            (
                &sale("\"price\":3", "\"price\":\"3\""),
                "price: invalid type: string \"3\", expected a whole number",
            ),
            (&sale("\"price\":3,", ""), "missing field `price`"),
            (&sale("\"price\":3", "\"price\":3,\"price\":4"), "duplicate field `price`"),
            (
                &sale("2023-11-12T00:00:00Z", "yesterday"),
                "recorded_at: it must be RFC 3339 in UTC, between the years 2001 and 2286",
            ),
            (
                &sale("\"2023-11-12T00:00:00Z\"", "5"),
                "recorded_at: invalid type: integer `5`, expected a string",
            ),
            (
                &sale("T00:00:00Z\"", "T00:00:00Z\",\"seen_at\":\"2023-11-11T23:59:59Z\""),
                "seen_at: 2023-11-11T23:59:59Z is before recorded_at, 2023-11-12T00:00:00Z; it must be the last \
                 time the sale was seen",
            ),
            (
                &sale("T00:00:00Z\"", "T00:00:00Z\",\"seenAt\":\"2023-11-12T00:00:00Z\""),
                "seenAt: unknown field `seenAt`, expected one of `item_id`, `start`, `end`, `amount`, `price`, \
                 `recorded_at`, `seen_at`",
            ),
        ],
    );
}

#[test]
fn invalid_prices() {
    const QUOTE: &str = "it must be [sell_price,buy_price,sell_volume,buy_volume], prices from 0 to 1e12 and whole \
                         volumes of at least 0";
    const CANDLE: &str = "a candle must be open, high, low and close of the sell price, the same of the buy price, two \
                          volumes of at least 0, the number of recorded minutes, at least 1, and the number of minutes \
                          after the last recorded one, less than the interval has; prices must be from 0 to 1e12, and \
                          none above high or below low";
    const ID: &str = "an item id must be 1 to 64 capital letters (A-Z), digits and the characters _ : -";
    let at = this_morning();
    let later = at + minutes(7);
    let (minute, hour) =
        (|products: &str| line("1m", at, products), |products: &str| line("1h", at, products));
    let good = minute(r#""A":[1,1,1,1]"#);
    // Each of these lists is invalid.
    let mut lists = Vec::new();
    for (interval, reason, bad) in [
        ("1m", QUOTE, "[] [1,2,3] [1,2,3,4,5] [-1,2,3,4] [1,1e13,3,4] [1,2,3.5,4] [1,2,3,-4] [1,2,3,1e19]"),
        (
            "1h",
            CANDLE,
            "[1,2,3,4] [2,3,1,2,2,3,1,2,5,6] [2,3,1,2,2,3,1,2,5,6,50,1,1] [4,3,1,2,2,3,1,2,5,6,60] \
             [2,3,1,2,2,3,1,0.99,5,6,60] [2,-3,1,2,2,3,1,2,5,6,60] [2,1e13,1,2,2,3,1,2,5,6,60] \
             [2,3,1,2,2,3,1,2,5,6.5,60] [2,3,1,2,2,3,1,2,5,-6,60] [2,3,1,2,2,3,1,2,5,6,0] \
             [2,3,1,2,2,3,1,2,5,6,50,60] [2,3,1,2,2,3,1,2,5,6,50,-1]",
        ),
    ] {
        for list in bad.split(' ') {
            let numbers: Vec<serde_json::Number> = serde_json::from_str(list).unwrap();
            let list_as_read = serde_json::to_string(&numbers).unwrap();
            let reason = format!("products: B:1: {list_as_read}: {reason}");
            lists.push((line(interval, at, &format!("\"B:1\":{list}")), reason));
        }
    }
    let lists: Vec<_> = lists.iter().map(|(line, reason)| (line.as_str(), reason.as_str())).collect();
    assert_reasons("bazaar", &lists);
    assert_reasons(
        "bazaar",
        &[
            (&minute(""), "products: at least one must have a price"),
            (&minute(r#""A":[0,0,5,5]"#), "products: at least one must have a price"),
            (&hour(r#""A":[0,0,0,0,0,0,0,0,5,5,1]"#), "products: at least one must have a price"),
            (&minute(r#""A":[1,1,1,1],"ink sack":[1,1,1,1]"#), &format!("products: ink sack: {ID}")),
            (&minute(r#""A":[1,1,1,1],"A":[1,1,1,1]"#), "products: A: it appears twice"),
            (
                &minute(r#""B:1":[1,"2",3,4]"#),
                "products.B:1[1]: invalid type: string \"2\", expected a JSON number",
            ),
            (&minute(r#""B:1":7"#), "products.B:1: invalid type: integer `7`, expected a sequence"),
            (&minute(r#""B":[1e999,2,3,4]"#), "invalid JSON: number out of range in column 74"),
            (
                &hour(r#""A":[2,3,1,2,2,3,1,2,5,6,61]"#),
                "products: A: [2,3,1,2,2,3,1,2,5,6,61]: an interval of 1h has at most 60 minutes up to the last recorded \
                 one, not 61",
            ),
            (
                &hour(r#""A":[2,3,1,2,2,3,1,2,5,6,51,10]"#),
                "products: A: [2,3,1,2,2,3,1,2,5,6,51,10]: an interval of 1h has at most 50 minutes up to the last \
                 recorded one, not 51",
            ),
            (
                &good.replace("1m", "2h"),
                "interval: 2h is not an interval; it must be 1m, 5m, 30m, 1h, 3h or 1d",
            ),
            (&good.replace("\"1m\"", "60"), "interval: invalid type: integer `60`, expected a string"),
            (&good.replace("\"interval\":\"1m\",", ""), "missing field `interval`"),
            (
                &good.replace("\"products\"", "\"version\":1,\"products\""),
                "version: unknown field `version`, expected one of `interval`, `opened_at`, `products`",
            ),
            (&format!(r#"{{"interval":"1m","opened_at":"{at}"}}"#), "missing field `products`"),
            (
                &format!(r#"{{"interval":"1m","opened_at":"{at}","products":[]}}"#),
                "products: invalid type: sequence, expected an object",
            ),
            (
                r#"{"interval":"1m","opened_at":"1999-01-01T00:00:00Z","products":{}}"#,
                "opened_at: it must be RFC 3339 in UTC, between the years 2001 and 2286",
            ),
            (
                &line("1h", later, ""),
                &format!(
                    "opened_at: {later} is not the start of an interval of 1h; the one that contains it starts at {at}"
                ),
            ),
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
    let lines: Vec<_> = messages.split("the clock of this machine shows ").collect();
    assert!(
        lines[0].starts_with("-:1: opened_at: ") && lines[0].ends_with(" is in the future; "),
        "{messages}"
    );
    let expected = format!("-:3: opened_at: the interval of 1d that starts at {under_way} has not ended; ");
    assert!(lines[1].ends_with(&expected), "{messages}");
    assert!(lines[2].ends_with(&summary(1, 0, 0, 2)), "{messages}");
    assert_eq!(code, Some(1));
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
    let bad = |number| format!("-:{number}: a line must be a JSON object, {{…}}, not bad\n");
    let expected = (1..=100).map(bad).collect::<String>() + "… and 150 more\n" + &summary(0, 0, 0, 250);
    assert_eq!(messages, expected);
}

#[test]
fn an_empty_file_is_no_error() {
    let dynamodb = DynamoDb::start();
    for nothing in ["", "\n", "\u{feff}", "\r\n \t\r\n"] {
        assert_eq!(dynamodb.import("bazaar", "History", nothing.as_bytes()), (summary(0, 0, 0, 0), Some(0)));
    }
}
