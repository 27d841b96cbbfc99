//! A bad line is reported with its number and a reason, and the others are imported.

use crate::support::{DynamoDb, fed, file, interval_ago, messages, slot, text, this_morning, tick};

/// Imports the lines, each of which must be bad for its reason.
#[track_caller]
fn assert_reasons(kind: &str, lines: &[(&str, &str)]) {
    let dynamodb = DynamoDb::start();
    let text = lines.iter().map(|(line, _)| *line).collect::<Vec<_>>().join("\n");
    let (messages, code) = dynamodb.import(kind, "History", text.as_bytes());
    let expected =
        lines.iter().enumerate().map(|(index, (_, reason))| format!("-:{}: {reason}\n", index + 1));
    let summary = format!("imported 0, already there 0, too old 0, bad lines {}\n", lines.len());
    assert_eq!(messages, expected.collect::<String>() + &summary);
    assert_eq!(code, Some(1));
    assert!(dynamodb.dump("History").is_empty());
}

#[test]
fn lines_that_are_not_objects() {
    assert_reasons(
        "mayors",
        &[
            ("no", "a line must be a JSON object, {…}, not no"),
            (
                "[518,\"Paul\",\"dungeons\",[]]",
                "a line must be a JSON object, {…}, not [518,\"Paul\",\"dungeons\",[]]",
            ),
            ("\u{1b}[31m", "a line must be a JSON object, {…}, not \\u{1b}[31m"),
            ("{\"year\":518", "invalid JSON: EOF while parsing an object in column 11"),
            ("{\"year\":518,}", "invalid JSON: trailing comma in column 13"),
            ("{} {}", "missing field `year`"),
        ],
    );
}

#[test]
fn invalid_mayors() {
    let year = |year: &str| format!(r#"{{"year":{year},"name":"N","key":"k","perks":[]}}"#);
    let long = format!(r#"{{"year":1,"name":"{}","key":"k","perks":[]}}"#, "x".repeat(300_000));
    let unknown = format!(r#"{{"{}":1}}"#, "x".repeat(1_000));
    assert_reasons(
        "mayors",
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
                    "{}…: unknown field `{}…, expected one of `year`, `name`, `key`, `perks`",
                    "x".repeat(120),
                    "x".repeat(105)
                ),
            ),
        ],
    );
}

#[test]
fn invalid_fire_sales() {
    let sale = |change: (&str, &str)| {
        r#"{"item_id":"A","start":1700000000000,"end":1,"amount":2,"price":3,"recorded_at":"2023-11-12T00:00:00Z"}"#
            .replace(change.0, change.1)
    };
    assert_reasons(
        "fire-sales",
        &[
            (&sale(("\"A\"", "\"\"")), "item_id must have 1 to 256 bytes"),
            (
                &sale(("1700000000000", "1700000000")),
                "start must be in Unix milliseconds, between the years 2001 and 2286",
            ),
            (
                &sale(("\"price\":3", "\"price\":\"3\"")),
                "price: invalid type: string \"3\", expected a whole number",
            ),
            (&sale(("\"price\":3,", "")), "missing field `price`"),
            (&sale(("\"price\":3", "\"price\":3,\"price\":4")), "duplicate field `price`"),
            (
                &sale(("2023-11-12T00:00:00Z", "yesterday")),
                "recorded_at: it must be RFC 3339 in UTC, between the years 2001 and 2286",
            ),
            (
                &sale(("\"2023-11-12T00:00:00Z\"", "5")),
                "recorded_at: invalid type: integer `5`, expected a string",
            ),
            (
                &sale(("T00:00:00Z\"", "T00:00:00Z\",\"seen_at\":\"2023-11-11T23:59:59Z\"")),
                "seen_at: 2023-11-11T23:59:59Z is before recorded_at, 2023-11-12T00:00:00Z; it must be the last \
                 time the sale was seen",
            ),
            (
                &sale(("T00:00:00Z\"", "T00:00:00Z\",\"seenAt\":\"2023-11-12T00:00:00Z\"")),
                "seenAt: unknown field `seenAt`, expected one of `item_id`, `start`, `end`, `amount`, `price`, \
                 `recorded_at`, `seen_at`",
            ),
        ],
    );
}

#[test]
fn invalid_ticks() {
    let start = this_morning();
    let tick = |products: &str| tick(start, products).trim_end().to_owned();
    assert_reasons(
        "bazaar",
        &[
            (&tick(""), "products: at least one must have a price"),
            (&tick(r#""A":[0,0,5,5]"#), "products: at least one must have a price"),
            (
                &tick(r#""A":[1,1,1,1],"ink sack":[1,1,1,1]"#),
                "products: ink sack: an item id must be 1 to 64 capital letters (A-Z), digits and the characters _ : -",
            ),
            (
                &tick(r#""A":[1,1,1,1],"B":[-1,2,3,4]"#),
                "products: B: its prices must be from 0 to 1e12 coins and its volumes at least 0, not [-1.0,2.0,3,4]",
            ),
            (
                &tick(r#""B":[1,1e13,3,4]"#),
                "products: B: its prices must be from 0 to 1e12 coins and its volumes at least 0, not \
                 [1.0,10000000000000.0,3,4]",
            ),
            (
                &tick(r#""B":[1,2,3,-4]"#),
                "products: B: its prices must be from 0 to 1e12 coins and its volumes at least 0, not [1.0,2.0,3,-4]",
            ),
            (&tick(r#""A":[1,1,1,1],"A":[1,1,1,1]"#), "products: A: it appears twice"),
            (
                &tick(r#""B:1":[1,2,3]"#),
                "products.B:1: invalid length 3, expected a list of four: \
                 [sell_price,buy_price,sell_volume,buy_volume]",
            ),
            (
                &tick(r#""B:1":[1,2,3,4,5]"#),
                "products.B:1: invalid length 5, expected a list of four: \
                 [sell_price,buy_price,sell_volume,buy_volume]",
            ),
            (
                &tick(r#""B:1":[1,"2",3,4]"#),
                "products.B:1[1]: invalid type: string \"2\", expected a JSON number",
            ),
            (&tick(r#""B:1":[1,2,3.5,4]"#), "products.B:1[2]: 3.5 is not a whole number"),
            (
                &tick(r#""B:1":7"#),
                "products.B:1: invalid type: integer `7`, expected a list of four: \
                 [sell_price,buy_price,sell_volume,buy_volume]",
            ),
            (&format!(r#"{{"recorded_at":"{start}"}}"#), "missing field `products`"),
            (
                &format!(r#"{{"recorded_at":"{start}","products":[]}}"#),
                "products: invalid type: sequence, expected an object of products",
            ),
            (
                r#"{"recorded_at":"1999-01-01T00:00:00Z","products":{}}"#,
                "recorded_at: it must be RFC 3339 in UTC, between the years 2001 and 2286",
            ),
            (&tick(r#""B":[1e999,2,3,4]"#), "invalid JSON: number out of range in column 60"),
        ],
    );
}

#[test]
fn invalid_candles() {
    const LIST: &str = "a list of eleven: [sell open,high,low,close,buy open,high,low,close,\
                        sell_volume,buy_volume,samples]";
    let hour = interval_ago(60);
    let line = |products: &str| slot("1h", hour, None, products).trim_end().to_owned();
    let good = r#""A":[2,3,1,2,2,3,1,2,5,6,60]"#;
    let of = |change: (&str, &str)| line(good).replacen(change.0, change.1, 1);
    let time = |time: &str| of((&hour.to_string(), time));
    let ended = |interval: &str, minutes: i64| {
        slot(interval, interval_ago(minutes), None, good).trim_end().to_owned()
    };
    assert_reasons(
        "candles",
        &[
            (
                &of(("1h", "2h")),
                "interval: 2h is not an interval of candles; it must be 5m, 30m, 1h, 3h or 1d",
            ),
            (&of(("\"1h\"", "60")), "interval: invalid type: integer `60`, expected a string"),
            (&of(("\"interval\":\"1h\",", "")), "missing field `interval`"),
            (
                &time(&(hour + jiff::SignedDuration::from_mins(7)).to_string()),
                &format!(
                    "opened_at: {} is not the start of an interval of 1h; the one that contains it starts at {hour}",
                    hour + jiff::SignedDuration::from_mins(7)
                ),
            ),
            (
                &time("1999-01-01T00:00:00Z"),
                "opened_at: it must be RFC 3339 in UTC, between the years 2001 and 2286",
            ),
            (
                &of(("\"products\"", "\"version\":-1,\"products\"")),
                "version: -1 is out of range: it must be from 0 to 4294967295",
            ),
            (
                &of(("\"products\"", "\"version\":4294967296,\"products\"")),
                "version: 4294967296 is out of range: it must be from 0 to 4294967295",
            ),
            (
                &of(("\"products\"", "\"version\":null,\"products\"")),
                "version: invalid type: null, expected a whole number",
            ),
            (
                &of(("\"products\"", "\"tier\":1,\"products\"")),
                "tier: unknown field `tier`, expected one of `interval`, `opened_at`, `version`, `products`",
            ),
            (&line(""), "products: at least one must have a price"),
            (&line(r#""A":[0,0,0,0,0,0,0,0,5,5,1]"#), "products: at least one must have a price"),
            (&line(&format!("{good},{good}")), "products: A: it appears twice"),
            (
                &of(("\"A\"", "\"ink sack\"")),
                "products: ink sack: an item id must be 1 to 64 capital letters (A-Z), digits and the characters _ : -",
            ),
            (&of(("6,60", "6")), &format!("products.A: invalid length 10, expected {LIST}")),
            (&of(("6,60", "6,60,1")), &format!("products.A: invalid length 12, expected {LIST}")),
            (
                &of(("[2,3,1", "[2,\"3\",1")),
                "products.A[1]: invalid type: string \"3\", expected a JSON number",
            ),
            (&of(("5,6,60", "5,6.5,60")), "products.A[9]: 6.5 is not a whole number"),
            (&of(("[2,3,1", "[2,-3,1")), "products: A: its prices must be from 0 to 1e12 coins, not -3.0"),
            (&of(("5,6,60", "5,-6,60")), "products: A: its volumes must be at least 0, not -6"),
            (
                &of(("[2,3,1", "[4,3,1")),
                "products: A: no sell price may be above high or below low, as in [open,high,low,close] = \
                 [4.0,3.0,1.0,2.0]",
            ),
            (
                &of(("3,1,2,5,", "3,1,0.99,5,")),
                "products: A: no buy price may be above high or below low, as in [open,high,low,close] = \
                 [2.0,3.0,1.0,0.99]",
            ),
            (
                &of(("6,60]", "6,0]")),
                "products: A: its samples, the number of recorded minutes, must be at least 1, not 0",
            ),
            (
                &of(("6,60]", "6,61]")),
                "products: A: its samples, the number of recorded minutes, must be at most 60 in an interval of 1h, \
                 not 61",
            ),
            (
                &ended("5m", 5),
                "products: A: its samples, the number of recorded minutes, must be at most 5 in an interval of 5m, \
                 not 60",
            ),
        ],
    );
}

#[test]
fn an_interval_that_has_not_ended_is_not_imported() {
    let dynamodb = DynamoDb::start();
    let under_way = interval_ago(24 * 60) + jiff::SignedDuration::from_hours(48);
    let line = slot("1d", under_way, None, r#""A":[2,3,1,2,2,3,1,2,5,6,60]"#);
    let (messages, code) = dynamodb.import("candles", "History", line.as_bytes());
    let expected = format!(
        "-:1: opened_at: the interval of 1d that starts at {under_way} has not ended; the clock of this machine shows "
    );
    assert!(messages.starts_with(&expected), "{messages}");
    assert_eq!(code, Some(1));
    assert!(dynamodb.dump("History").is_empty());
}

#[test]
fn lines_from_the_future_are_not_imported() {
    let dynamodb = DynamoDb::start();
    let ahead = |seconds: i64| jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    let lines = tick(ahead(120), r#""A":[1,1,1,1]"#) + &tick(ahead(30), r#""A":[1,1,1,1]"#);
    let (messages, code) = dynamodb.import("bazaar", "History", lines.as_bytes());
    assert!(
        messages.starts_with("-:1: recorded_at: ")
            && messages.contains(" is in the future; the clock of this machine shows "),
        "{messages}"
    );
    assert!(messages.ends_with("\nimported 1, already there 0, too old 0, bad lines 1\n"), "{messages}");
    assert_eq!(code, Some(1));
}

#[test]
fn good_lines_are_imported_between_bad_ones_of_every_size() {
    let dynamodb = DynamoDb::start();
    let mayor = |year| format!(r#"{{"year":{year},"name":"N","key":"k","perks":[]}}"#);
    let long = "x".repeat(20 * 1024 * 1024);
    let mut lines = format!("\u{feff}{}\r\n\r\n{long}\n{}\r\n", mayor(1), mayor(2)).into_bytes();
    lines.extend_from_slice(b"\xff\xfe{\n");
    // The last line has no line end.
    lines.extend_from_slice(mayor(3).as_bytes());
    let file = file("mayors.ndjson", lines);
    let output = dynamodb.history(&["import", "mayors", text(&file)]).output().unwrap();
    let name = text(&file);
    assert_eq!(
        messages(&output),
        format!(
            "{name}:3: longer than 16777216 bytes\n{name}:5: not UTF-8 text\n\
             imported 3, already there 0, too old 0, bad lines 2\n"
        )
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(dynamodb.export("mayors", "History").lines().count(), 3);
}

#[test]
fn a_long_last_line_is_bad() {
    let dynamodb = DynamoDb::start();
    let (messages, _) = dynamodb.import("bazaar", "History", "{".repeat(17 * 1024 * 1024).as_bytes());
    assert!(messages.starts_with("-:1: longer than 16777216 bytes\n"), "{messages}");
}

#[test]
fn only_the_first_hundred_bad_lines_are_printed() {
    let dynamodb = DynamoDb::start();
    let output = fed(&mut dynamodb.history(&["import", "fire-sales", "-"]), "bad\n".repeat(250).as_bytes());
    let messages = messages(&output);
    let lines: Vec<_> = messages.lines().collect();
    assert_eq!(lines.len(), 102);
    for (index, line) in lines[..100].iter().enumerate() {
        assert_eq!(*line, format!("-:{}: a line must be a JSON object, {{…}}, not bad", index + 1));
    }
    assert_eq!(lines[100..], ["… and 150 more", "imported 0, already there 0, too old 0, bad lines 250"]);
}

#[test]
fn an_empty_file_is_no_error() {
    let dynamodb = DynamoDb::start();
    for nothing in ["", "\n", "\u{feff}", "\r\n \t\r\n"] {
        let (messages, code) = dynamodb.import("bazaar", "History", nothing.as_bytes());
        assert_eq!(
            (messages.as_str(), code),
            ("imported 0, already there 0, too old 0, bad lines 0\n", Some(0))
        );
    }
}
