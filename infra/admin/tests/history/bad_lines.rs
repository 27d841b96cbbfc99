//! A bad line is reported with its number and a reason, and the other lines are imported.

use jiff::{SignedDuration, Timestamp};

use super::{DynamoDb, line, minutes, start, summary, this_morning};

/// Imports the lines. Each must be refused for the reason beside it.
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
    let text = |line: &str| line.to_owned();
    let mayor = |from: &str, to: &str| {
        r#"{"year":1,"name":"N","key":"k","perks":[{"name":"P","description":"D"}],"last_updated":7}"#
            .replacen(from, to, 1)
    };
    let sale = |from: &str, to: &str| {
        r#"{"item_id":"A","start":1700000000000,"end":1700000000001,"amount":2,"price":3,"recorded_at":"2023-11-12T00:00:00Z"}"#
            .replacen(from, to, 1)
    };
    assert_reasons(
        "events",
        &[
            (text("no"), "a line must be a JSON object, {…}, not no"),
            (text("\u{1b}[31m"), "not \\u{1b}[31m"),
            (text("{\"year\":518"), "invalid JSON: EOF while parsing an object in column 11"),
            (text("{\"name\":\"N\"}"), "a mayor must have `year`, and a fire sale `item_id`"),
            (mayor("1", "0"), "year: the year of an election must be a whole number from 1 to 9999"),
            (mayor("1", "9999"), "2160-11-21T11:15:00Z is in the future"),
            (mayor("\"N\"", "\"\""), "must not be empty"),
            (mayor(",\"description\":\"D\"", ""), "perks[0]: missing field `description`"),
            (mayor("\"N\"", &format!("\"{}\"", "x".repeat(300_000))), "may have at most 300000 bytes"),
            (mayor("name", &"x".repeat(1_000)), "xxx"),
            (mayor(":7", ":9999999999999"), "last_updated: 2286"),
            (mayor(":7", ":-1"), "last_updated: it must not be negative"),
            (sale("\"A\"", "\"\""), "item_id must have 1 to 256 bytes"),
            (sale("1700000000000", "1700000000"), "start must be in Unix milliseconds"),
            (sale("0001", "0000").replacen("00,\"end", "01,\"end", 1), "end: 1700000000000 is before start"),
            (sale(":2", ":-2"), "must not be negative"),
            (sale(":3", ":-3"), "must not be negative"),
            (sale(":3", ":\"3\""), "price: invalid type: string \"3\", expected a whole number"),
            (sale(":3", ":3,\"price\":4"), "duplicate field `price`"),
            (sale("2023-11-12T00:00:00Z", "yesterday"), "recorded_at: it must be a time of RFC 3339"),
            (sale("2023", "2200"), "recorded_at: 2200-11-12T00:00:00Z is in the future"),
            (sale("0Z\"", "0Z\",\"seen_at\":\"2023-11-11T23:59:59Z\""), "is before recorded_at"),
            (sale("0Z\"", "0Z\",\"seenAt\":1"), "seenAt: unknown field `seenAt`, expected one of `item_id`"),
        ],
    );
}

#[test]
fn invalid_prices_of_the_bazaar() {
    let at = this_morning();
    let minute = |products: &str| line("1m", at, products);
    // Each of these lists is invalid.
    let lists = [
        (
            "1m",
            "[] [1,2,3] [-1,2,3,4] [1,1e13,3,4] [1,2,3.5,4] [1,2,3,-4] [1,2,3,1e19] [1,2,null,4] \
             [1,2,3,4,-5] [1,2,3,4,5,1e13] [1,2,3,4,5,6,7.5] [1,2,3,4,5,6,7,-8] [1,2,3,4,5,6,7,8,9] \
             [1,2,3,4,5,6,7,8,null]",
        ),
        (
            "1h",
            "[1,2,3,4] [2,3,1,2,2,3,1,2,5,6] [2,3,1,2,2,3,1,2,5,6,50,1,1] [4,3,1,2,2,3,1,2,5,6,60] \
             [2,3,1,2,2,3,1,0.99,5,6,60] [2,-3,1,2,2,3,1,2,5,6,60] [2,1e13,1,2,2,3,1,2,5,6,60] \
             [2,3,1,2,2,3,1,2,5,6.5,60] [2,3,1,2,2,3,1,2,5,-6,60] [2,3,1,2,2,3,1,2,5,6,0] \
             [2,3,1,2,2,3,1,2,5,6,50,60] [2,3,1,2,2,3,1,2,5,6,50,-1] [2,3,1,2,2,3,1,2,5,6,61] \
             [2,3,1,2,2,3,1,2,5,6,51,10] \
             [2,3,1,2,2,3,1,2,5,null,60] [2,3,1,2,2,3,1,2,5,6,60,0,4] [2,3,1,2,2,3,1,2,5,6,60,0,4,5,4] \
             [2,3,1,2,2,3,1,2,5,6,60,0,4,4,4,null,null,null,7.5]",
        ),
    ];
    let of_interval = |(interval, lists): (&'static str, &'static str)| {
        let lines = lists.split(' ').map(move |list| line(interval, at, &format!("\"B:1\":{list}")));
        lines.map(|line| (line, "products: B:1: a minute must be"))
    };
    let with_lists = lists.into_iter().flat_map(of_interval);
    let many: Vec<_> = (0..20_001).map(|number| format!("\"{number}\":[1,1,1,1]")).collect();
    let others = [
        (minute(&many.join(",")), "products: at most 20000, not 20001"),
        (minute(""), "products: at least one must have a price"),
        (line("1h", at, r#""A":[0,0,0,0,0,0,0,0,5,5,1]"#), "products: at least one must have a price"),
        (minute(r#""ink sack":[1,1,1,1]"#), "products: ink sack: an item id must be 1 to 64 capital letters"),
        (minute(r#""A":[1,1,1,1],"A":[1,1,1,1]"#), "products: A: it appears twice"),
        (minute(r#""B:1":[1,"2",3,4]"#), "products.B:1[1]: invalid type: string \"2\""),
        (minute("").replace("1m", "2h"), "interval: it must be one of 1m, 5m, 30m, 1h, 3h, 1d, not 2h"),
        (minute("").replace("\"products\"", "\"version\":1,\"products\""), "version: unknown field"),
        (minute("").replace("00Z", "00+25:00"), "opened_at: it must be a time of RFC 3339"),
        (line("1h", at + minutes(7), ""), "is not the start of an interval of 1h that has ended; "),
        (
            line("1d", start(Timestamp::now() + minutes(60), 1_440), ""),
            "is not the start of an interval of 1d that has ended; ",
        ),
    ];
    assert_reasons("bazaar", &with_lists.chain(others).collect::<Vec<_>>());
}

#[test]
fn invalid_prices_of_auctions() {
    let at = this_morning();
    let auctions = |interval: &str, candle: &str| {
        line(interval, at, &format!("\"LOG-2\":\"{candle}\"")).replace("products", "items")
    };
    let bad_candles = [
        "5,1,61",
        "5,1",
        "0,1,60",
        "5,1,60,300,5,9,0",
        "5,1,60,600,5,9,4",
        "5,1,60,60,5,9,4",
        ";2,100,2,60,50,70",
        ";2,1,2,60,51,70",
        ";1,0",
        ";1,1000000000001",
        "100000000000001,1,60",
    ];
    let mut lines = bad_candles
        .map(|candle| (auctions("1h", candle), "items: LOG-2: a candle must be the close"))
        .to_vec();
    lines.extend([
        (auctions("2h", "5,1,60"), "interval: it must be one of 1h, 1d, not 2h"),
        (auctions("1h", "5,1,60").replace("LOG-2", "LOG:2"), "items: LOG:2: an item id must be"),
        (line("1h", at, "").replace("products", "items"), "items: at least one must have a price"),
    ]);
    let sales = |sales: &str| auctions("1h", "5,1,60").replace("}}\n", &format!("}},\"sales\":{sales}}}\n"));
    let yesterday = start(at - minutes(1_440), 1_440);
    let empty = sales(r#"{"minutes":60,"items":{}}"#);
    lines.extend([
        (
            empty.replace("1h", "1d").replace(&at.to_string(), &yesterday.to_string()),
            "sales: only hours have sales",
        ),
        (sales(r#"{"minutes":61,"items":{}}"#), "sales: minutes: it must be 0 to 60, not 61"),
        (sales(r#"{"minutes":60,"items":{"A":"3600000,5,1"}}"#), "sales: items: A: it must be sales,"),
        (sales(r#"{"minutes":60,"items":{"A":"1,5,4"}}"#), "sales: items: A: it must be sales,"),
        (sales(r#"{"minutes":60,"items":{"A":"1,5,1,0"}}"#), "sales: items: A: it must be sales,"),
        (sales(r#"{"minutes":60,"items":{"A":"1,5,1,1,201"}}"#), "sales: items: A: it must be sales,"),
        (sales(r#"{"minutes":60,"items":{"A":"1,0,1"}}"#), "sales: items: A: it must be sales,"),
        (
            sales(r#"{"minutes":60,"items":{"A":"1,1000000000000000000,1"}}"#),
            "sales: items: A: it must be sales,",
        ),
        (sales(r#"{"minutes":60,"items":{"A":""}}"#), "sales: items: A: it must be sales,"),
        (sales(r#"{"minutes":60,"items":{"A":"1,5,1"}}"#), "sales: items: A: its candle has no sales"),
        (
            sales(r#"{"minutes":60,"items":{"LOG-2":"1,5,1"}}"#),
            "sales: items: LOG-2: its candle has no sales",
        ),
    ]);
    let candle = ";3,60,2,2500,1000,4000";
    for (text, reason) in [
        ("1,60,1,3", "the number of sales is 1, but 2 in its candle"),
        ("1,10,1;2,50,1", "the number of items is 2, but 3 in its candle"),
        ("1,10,1;2,60,1,2", "the sum of prices is 70, but 60 in its candle"),
        ("1,20,1;2,40,1,2", "the lowest price is 2000, but 1000 in its candle"),
        ("1,10,1;2,50,1,2", "the highest price is 2500, but 4000 in its candle"),
    ] {
        let line = auctions("1h", candle);
        let sales = format!(r#"}},"sales":{{"minutes":60,"items":{{"LOG-2":"{text}"}}}}}}"#);
        lines.push((line.replace("}}\n", &format!("{sales}\n")), reason));
    }
    // Sales that are too large for a row.
    let number = 70_000;
    let many = vec!["1,1,1"; number].join(";");
    let line = auctions("1h", &format!(";{number},{number},{number},100,100,100"));
    let sales = format!(r#"}},"sales":{{"minutes":60,"items":{{"LOG-2":"{many}"}}}}}}"#);
    lines.push((
        line.replace("}}\n", &format!("{sales}\n")),
        "sales: items: there are too many sales for a row",
    ));
    assert_reasons("auctions", &lines);
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
    lines.extend_from_slice(format!("\n{}", "bad\n".repeat(120)).as_bytes());
    lines.extend_from_slice("{".repeat(17 * 1024 * 1024).as_bytes());
    let (messages, code) = dynamodb.import("events", "History", &lines);
    let expected = "-:3: longer than 16777216 bytes\n-:5: not UTF-8 text\n-:7: a line must be a JSON object";
    assert!(messages.starts_with(expected), "{messages}");
    // The first hundred bad lines are printed.
    assert_eq!((messages.lines().count(), code), (102, Some(1)));
    assert!(messages.ends_with(&("… and 23 more\n".to_owned() + &summary(3, 0, 0, 123))), "{messages}");
    assert_eq!(dynamodb.export("events", "History").0.lines().count(), 3);
}

/// The recorder skips a recorded minute, with all products that the line lacks.
#[test]
fn a_minute_that_its_recorder_may_still_record_is_skipped() {
    let now = Timestamp::now();
    let at = |seconds| now + SignedDuration::from_secs(seconds);
    // The start of a minute is up to 59 seconds before a time in it, and the import takes a moment.
    let skipped = [60, 30, 0, -60, -300, -500].map(|seconds| line("1m", at(seconds), r#""A":[1,1,1,1]"#));
    let old = line("1m", at(-665), r#""A":[1,1,1,1]"#);
    let dynamodb = DynamoDb::start();
    let text = line("1m", at(130), r#""A":[1,1,1,1]"#) + &skipped.concat() + &old;
    let (messages, code) = dynamodb.import("bazaar", "History", text.as_bytes());
    let mut lines = messages.lines();
    let future = lines.next().unwrap();
    assert!(future.starts_with("-:1: opened_at: ") && future.contains(" is in the future; "), "{messages}");
    for (number, line) in (2..8).zip(&mut lines) {
        let is_named = line.starts_with(&format!("-:{number}: opened_at: the minute "));
        assert!(is_named && line.contains(" must have ended ten minutes ago"), "{line}");
    }
    assert_eq!((code, lines.next().unwrap()), (Some(1), summary(1, 0, 0, 7).trim_end()), "{messages}");
    let markers: Vec<_> = dynamodb.dump("History").into_keys().filter(|key| key.0 == "bazaar#1m").collect();
    assert_eq!(markers, [("bazaar#1m".to_owned(), start(at(-665), 1).as_second().to_string())]);
    // Auctions have no lines of minutes.
    let auctions = line("1m", at(0), r#""A":"5,1,1""#).replace("products", "items");
    let (messages, code) = DynamoDb::start().import("auctions", "History", auctions.as_bytes());
    assert!(messages.starts_with("-:1: interval: it must be one of 1h, 1d, not 1m"), "{messages}");
    assert_eq!(code, Some(1));
}
