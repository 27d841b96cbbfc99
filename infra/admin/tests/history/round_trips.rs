//! An export has all rows of the table, the import of this export gives the same table, and an import can be
//! interrupted anywhere.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Dump, DynamoDb, EVENTS, line, minutes, start, summary, this_morning};

/// The intervals of the bazaar, their lengths in minutes, and for how many days their candles are kept;
/// `None` if permanently.
const INTERVALS: [(&str, i64, Option<i64>); 5] = [
    ("1d", 1_440, None),
    ("3h", 180, Some(1_095)),
    ("1h", 60, Some(365)),
    ("30m", 30, Some(90)),
    ("5m", 5, Some(30)),
];

/// Imports the lines in reverse order. An export must then return the same lines. The import of the exported
/// lines into an empty table must give the same rows, also after an interruption. A second import must change
/// nothing.
#[track_caller]
fn round_trip(dynamodb: &DynamoDb, kind: &str, lines: &[String]) -> Dump {
    let import = |table: &str, lines: &[String]| dynamodb.import(kind, table, lines.concat().as_bytes());
    let backwards: Vec<_> = lines.iter().rev().cloned().collect();
    let (messages, code) = import("History", &backwards);
    assert_eq!(code, Some(0), "{messages}");
    assert_eq!(dynamodb.export(kind, "History").0, lines.concat());
    let dump = dynamodb.dump("History");
    dynamodb.create("Copy");
    import("Copy", &lines[..lines.len() - 1]);
    import("Copy", lines);
    assert!(dynamodb.dump("Copy") == dump, "the import of the export gives other rows");
    assert_eq!(import("History", lines), (summary(0, lines.len(), 0, 0), Some(0)));
    assert!(dynamodb.dump("History") == dump, "the second import changed something");
    dump
}

#[track_caller]
fn assert_imported(dynamodb: &DynamoDb, kind: &str, lines: &str, [imported, there, old]: [usize; 3]) {
    let imported = (summary(imported, there, old, 0), Some(0));
    assert_eq!(dynamodb.import(kind, "History", lines.as_bytes()), imported);
}

#[test]
fn events_come_back_and_their_later_state_stays() {
    let dynamodb = DynamoDb::start();
    let lines: Vec<_> = EVENTS.split_inclusive('\n').map(str::to_owned).collect();
    round_trip(&dynamodb, "events", &lines);
    // Among mayors without a time, the first one stays.
    assert_imported(&dynamodb, "events", &EVENTS.replace("Paul", "Marina"), [0, 4, 0]);
    let at = |time: &str| EVENTS.replace("Diana", "Takeover").replace("1791616500123", time);
    assert_imported(&dynamodb, "events", &at("1791616500122"), [0, 4, 0]);
    assert_imported(&dynamodb, "events", &at("1791616500124"), [1, 3, 0]);
    assert_eq!(dynamodb.export("events", "History").0, at("1791616500124"));
    // A sale keeps its earliest time and its latest values.
    let sale = |price, day| lines[3].replace("\"price\":0", price).replace("-14T", day);
    for (price, day) in [("\"price\":7", "-15T"), ("\"price\":4", "-13T")] {
        assert_imported(&dynamodb, "events", &sale(price, day), [1, 0, 0]);
    }
    let (exported, ..) = dynamodb.export("events", "History");
    assert!(exported.ends_with(&sale("\"price\":7", "-15T").replacen("-15T", "-13T", 1)), "{exported}");
}

#[test]
fn candles_of_auctions_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let morning = this_morning();
    let line = |interval: &str, minutes_ago: i64, length: i64, items: &str| {
        line(interval, start(morning - minutes(minutes_ago), length), items).replace("products", "items")
    };
    let items = r#""GOLDEN_DRAGON;4":"200,3,60,9000,100,300,50;7,9,2,117,100,133","LOG-2":";1,3015293760""#;
    let sales = r#"},"sales":{"minutes":58,"items":{"GOLDEN_DRAGON;4":"0,1,3,1,200;3599999,8,0,6","LOG-2":"5,3015293760,1"}}}"#;
    let lines = [
        line("1d", 3 * 1_440, 1_440, items),
        line("1d", 2 * 1_440, 1_440, r#""SHEEP;4+100":"5,1,1440""#),
        line("1h", 180, 60, items).replace("}}\n", &format!("{sales}\n")),
        line("1h", 120, 60, r#""LOG-2":"5,1,60""#),
    ];
    assert!(lines[2].contains("sales"), "{}", lines[2]);
    round_trip(&dynamodb, "auctions", &lines);
    // Sales from fewer minutes change nothing.
    let other =
        lines[2].replace("7,9,2,117,100,133", "7,10,2,125,100,150").replace("3599999,8,", "3599999,9,");
    let fewer = other.replace(":58", ":57");
    assert_imported(&dynamodb, "auctions", &fewer, [0, 1, 0]);
    assert_imported(&dynamodb, "auctions", &fewer.replace(":57", ":59"), [1, 0, 0]);
    assert!(dynamodb.export("auctions", "History").0.contains("3599999,9,0,6"));
    let exported = dynamodb.export("auctions", "History").0;
    assert!(exported.contains("7,10,2,125,100,150"), "{exported}");
    // Without a list of sales, the candle with more sales stays, whatever the number of its minutes.
    let more = line("1h", 120, 60, r#""LOG-2":"5,1,60;2,60,2,3000,2000,4000""#);
    assert_imported(&dynamodb, "auctions", &more, [1, 0, 0]);
    assert_imported(&dynamodb, "auctions", &line("1h", 120, 60, r#""LOG-2":"5,1,60;1,50""#), [0, 1, 0]);
    assert!(dynamodb.export("auctions", "History").0.contains(&more));
    assert_imported(&dynamodb, "auctions", &line("1h", 91 * 1_440, 60, items), [0, 0, 1]);
}

/// Candles of every interval, and then minutes of this morning, in the order of an export.
fn prices(morning: Timestamp) -> Vec<String> {
    let extremes = r#""A-B:1":[0.01,499999999.99,0.01,0.02,0.0,0.0,0.0,0.0,9007199254740993,4294967296,1,0],"INK_SACK:3":[1000000000000.0,1000000000000.0,1.5,1.5,0.0,0.0,0.0,0.0,0,0,3,0,1000000000000.0,0.01,0.5,null,null,null,null,9007199254740993]"#;
    let of_interval = |(name, length, _): (&'static str, i64, _)| {
        let newest = start(morning - minutes(length), length);
        let candle =
            |low| format!("\"ITEM:{low}\":[{low}.0,{low}.25,{low}.0,{low}.0,0.0,0.01,0.0,0.01,1,2,4,1]");
        let candles: Vec<_> = (100..400).map(candle).collect();
        [line(name, newest - minutes(length), extremes), line(name, newest, &candles.join(","))]
    };
    let mut lines: Vec<_> = INTERVALS.into_iter().flat_map(of_interval).collect();
    // The candles of the minutes below, and then these minutes.
    lines.extend([
        line(
            "5m",
            morning,
            r#""ITEM":[9.5,9.5,3.5,3.5,0.25,0.25,0.25,0.25,3,0,2,1,9.6,9.6,9.6,0.2,0.1,0.1,null,8]"#,
        ),
        line("5m", morning + minutes(55), r#""A":[1.0,1.0,1.0,1.0,0.0,0.0,0.0,0.0,1,2,1,4]"#),
        line("1m", morning + minutes(1), r#""ITEM":[9.5,0.25,9,0,9.6,0.2,7]"#),
        line("1m", morning + minutes(3), r#""ITEM":[3.5,0.25,3,0,null,0.1,null,8]"#),
        line("1m", morning + minutes(55), r#""A":[1.0,0.0,1,2]"#),
    ]);
    lines
}

#[test]
fn prices_come_back_as_they_were_whatever_the_order_of_the_lines() {
    let dynamodb = DynamoDb::start();
    let morning = this_morning();
    let lines = prices(morning);
    let dump = round_trip(&dynamodb, "bazaar", &lines);
    // Candles with fewer samples change nothing. Other prices of recorded minutes change neither the minutes
    // nor their candles.
    let others = lines
        .concat()
        .replace(",4,1]", ",3,1]")
        .replace(",2,1,9.6", ",1,1,9.6")
        .replace(",0.25,9,0,9.6", ",8,9,0,9.7");
    assert_imported(&dynamodb, "bazaar", &others, [0, lines.len(), 0]);
    assert!(dynamodb.dump("History") == dump);
    // `record-candles` builds coarser candles from the earliest imported slot on.
    let oldest = start(morning - minutes(1_440), 1_440) - minutes(1_440);
    let built = &dump[&("candles".to_owned(), "built".to_owned())];
    assert_eq!(built["added"]["N"], oldest.as_second().to_string());
}

#[test]
fn other_spellings_give_the_same_prices() {
    let dynamodb = DynamoDb::start();
    let at = this_morning();
    let lines = format!(
        "\u{feff} {{ \"products\" : {{\"A\":[1,2.004,3.0,4], \"NOTHING\":[0,0,5,6]}}, \"opened_at\":\"{}\", \
         \"interval\":\"1m\" }}\r\n\r\n  \n\
         {{\"products\":{{\"A\":[1,2.004,1,2,0,0,0,0,6.0E7,4,60.0],\"NOTHING\":[0,0,0,0,0,0,0,0,5,6,7]}},\
         \"opened_at\":\"{at}\",\"interval\":\"1h\"}}\r\n",
        at + SignedDuration::from_secs(59)
    );
    assert_imported(&dynamodb, "bazaar", &lines, [2, 0, 0]);
    let expected = [
        line("1h", at, r#""A":[1.0,2.0,1.0,2.0,0.0,0.0,0.0,0.0,60000000,4,60,0]"#),
        line("5m", at, r#""A":[1.0,1.0,1.0,1.0,2.0,2.0,2.0,2.0,3,4,1,4]"#),
        line("1m", at, r#""A":[1.0,2.0,3,4]"#),
    ];
    assert_eq!(dynamodb.export("bazaar", "History").0, expected.concat());
}

#[test]
fn candles_are_imported_as_far_back_as_their_interval_is_kept() {
    let dynamodb = DynamoDb::start();
    let now = Timestamp::now();
    let candle = r#""A":[2.0,3.0,1.0,2.0,2.0,3.0,1.0,2.0,5,6,4,1]"#;
    let mut lines = Vec::new();
    for (name, length, days) in INTERVALS {
        for age in [days.unwrap_or(6_000) + 1, days.unwrap_or(6_000) - 1] {
            lines.push(line(name, start(now - minutes(age * 1_440), length), candle));
        }
    }
    assert_imported(&dynamodb, "bazaar", &lines.concat(), [6, 0, 4]);
    let kept = [&lines[0], &lines[1], &lines[3], &lines[5], &lines[7], &lines[9]].map(String::as_str);
    assert_eq!(dynamodb.export("bazaar", "History").0, kept.concat());
}

#[test]
fn old_minutes_become_candles_of_the_finest_interval_that_is_kept() {
    let [day, three_hours, hour, half_hour, five_minutes] = INTERVALS;
    for (age, (name, length, _)) in [
        (2_000, day),
        (400, three_hours),
        (100, hour),
        (40, half_hour),
        (26, five_minutes),
        (4, five_minutes),
    ] {
        let slot = start(Timestamp::now() - minutes(age * 1_440), 1_440);
        let at = |minute, price: i64| {
            line("1m", slot + minutes(minute), &format!("\"A\":[{price},0.5,{price},0]"))
        };
        // One of the lines appears twice.
        let lines = [at(4, 2), at(0, 1), at(2, 3), at(0, 1)].concat();
        let dynamodb = DynamoDb::start();
        assert_imported(&dynamodb, "bazaar", &lines, [4, 0, 0]);
        let candle = format!("\"A\":[1.0,3.0,1.0,2.0,0.5,0.5,0.5,0.5,2,0,3,{}]", length - 5);
        assert_eq!(dynamodb.export("bazaar", "History").0, line(name, slot, &candle), "{age} days");
        assert_imported(&dynamodb, "bazaar", &lines, [0, 4, 0]);
    }
}

#[test]
fn what_is_corrupt_or_missing_is_counted_and_the_rest_is_exported() {
    for (kind, line, partition, attribute) in [
        ("events", EVENTS.lines().nth(2).unwrap().to_owned(), "fire-sales", "/price"),
        (
            "bazaar",
            line("1m", this_morning(), r#""A":[1.0,2.0,3,4],"B":[1.0,2.0,3,4]"#),
            "bazaar#1m#",
            "/products/M/A",
        ),
        (
            "auctions",
            line("1h", this_morning(), r#""A":"5,1,60","B":";1,5""#).replace("products", "items"),
            "auctions#1h#",
            "/products/M/A",
        ),
        (
            "auctions",
            line("1h", this_morning(), r#""A":";1,7","B":";1,5""#).replace("products", "items").replace(
                "}}\n",
                "},\"sales\":{\"minutes\":60,\"items\":{\"A\":\"0,7,1\",\"B\":\"0,5,1\"}}}\n",
            ),
            "auctions#sold#",
            "/products/M/A",
        ),
    ] {
        let dynamodb = DynamoDb::start();
        assert_imported(&dynamodb, kind, &line, [1, 0, 0]);
        for (key, mut row) in dynamodb.dump("History") {
            if key.0.starts_with(partition)
                && let Some(value) = row.pointer_mut(attribute)
            {
                *value = json!({"BOOL": true});
                dynamodb.put("History", &row);
            }
        }
        let (rest, messages, code) = dynamodb.export(kind, "History");
        let end = "\n1 corrupt or missing values are not in the file; the lines above name them\nexported ";
        assert!(code == Some(1) && messages.contains(end), "{kind}: {messages}");
        assert_eq!(rest.contains("\"B\":"), kind != "events", "{rest}");
    }
}

#[test]
fn incomplete_prices_are_not_exported_and_the_same_import_completes_them() {
    let dynamodb = DynamoDb::start();
    let lines = prices(this_morning());
    let dump = round_trip(&dynamodb, "bazaar", &lines);
    for (series, position) in [("candles#1h", 4), ("bazaar#1m", 12)] {
        let first = dump.keys().find(|(partition, _)| partition == series).unwrap();
        let rows: Vec<_> = dump.keys().filter(|key| key.0.starts_with(series) && key.1 == first.1).collect();
        let delete = |(partition, sort): &(String, String)| {
            dynamodb.delete_row("History", &json!({"pk": {"S": partition}, "sk": {"S": sort}}));
        };
        // As after an interrupted import: half of the slot's rows are missing, and so is its marker, which is
        // written last.
        rows[..=rows.len() / 2].iter().copied().for_each(delete);
        let others = [&lines[..position], &lines[position + 1..]].concat().concat();
        assert_eq!(dynamodb.export("bazaar", "History").0, others);
        assert_imported(&dynamodb, "bazaar", &lines.concat(), [1, lines.len() - 1, 0]);
        assert!(dynamodb.dump("History") == dump);
        // A slot that loses a row after it was complete is reported.
        delete(rows[1]);
        let (exported, messages, code) = dynamodb.export("bazaar", "History");
        assert!(messages.contains(" is incomplete in the table and is skipped\n"), "{messages}");
        assert_eq!((exported, code), (others, Some(1)));
        dynamodb.put("History", &dump[rows[1]]);
    }
}
