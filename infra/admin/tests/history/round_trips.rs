//! An export has all rows of the table, its import gives the same table, and an import can be interrupted anywhere.

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::time::{Tick, UnixSeconds};
use jiff::Timestamp;
use local::{Cloud, Options};
use serde_json::json;
use tables::Table;
use tables::bazaar::{Candle, Quote, record};
use tables::series;

use super::support::{
    Dump, DynamoDb, EVENTS, candles, fed, line, messages, minutes, path, start, summary, text, this_morning,
};

const INTERVALS: [(&str, i64, Option<i64>); 5] = [
    ("1d", 1_440, None),
    ("3h", 180, Some(1_095)),
    ("1h", 60, Some(365)),
    ("30m", 30, Some(90)),
    ("5m", 5, Some(30)),
];

/// Imports the lines, exports them, imports that into an empty table and exports it again. Further imports change nothing.
#[track_caller]
fn round_trip(dynamodb: &DynamoDb, kind: &str, lines: &str) -> (String, Dump) {
    let (messages, code) = dynamodb.import(kind, "History", lines.as_bytes());
    assert_eq!(code, Some(0), "{messages}");
    let dump = dynamodb.dump("History");
    let exported = path("exported");
    dynamodb.succeed(&["export", kind, text(&exported)]);
    dynamodb.create("Copy");
    dynamodb.succeed(&["import", "--table", "Copy", kind, text(&exported)]);
    assert!(dynamodb.dump("Copy") == dump, "the import of the export gives other rows");
    let exported = std::fs::read_to_string(exported).unwrap();
    assert!(dynamodb.export(kind, "Copy") == exported);
    let again = dynamodb.import(kind, "History", lines.as_bytes());
    assert_eq!(again, (summary(0, lines.lines().count(), 0, 0), Some(0)));
    assert!(dynamodb.dump("History") == dump, "the second import changed something");
    (exported, dump)
}

#[track_caller]
fn assert_imported(dynamodb: &DynamoDb, kind: &str, lines: &str, [imported, there, old]: [usize; 3]) {
    let imported = (summary(imported, there, old, 0), Some(0));
    assert_eq!(dynamodb.import(kind, "History", lines.as_bytes()), imported);
}

#[test]
fn events_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let (exported, dump) = round_trip(&dynamodb, "events", EVENTS);
    assert_eq!((exported.as_str(), dump.len()), (EVENTS, 4));
    // The recorded mayor stays.
    assert_imported(&dynamodb, "events", &EVENTS.replace("Paul", "Marina"), [0, 4, 0]);
    assert_eq!(dynamodb.export("events", "History"), EVENTS);
    // A later state of a mayor is imported, and an earlier one is not.
    let at = |time: &str| EVENTS.replace("Diana", "Takeover").replace("1791616500123", time);
    assert_imported(&dynamodb, "events", &at("1791616500122"), [0, 4, 0]);
    assert_imported(&dynamodb, "events", &at("1791616500124"), [1, 3, 0]);
    assert_eq!(dynamodb.export("events", "History"), at("1791616500124"));
}

#[test]
fn a_later_sighting_corrects_a_fire_sale() {
    let dynamodb = DynamoDb::start();
    for (price, day) in [(5, 12), (7, 13), (4, 11)] {
        let sale = format!(
            r#"{{"item_id":"A","start":1700000000000,"end":1,"amount":2.0,"price":{price},"recorded_at":"2023-11-{day}T00:00:00+00:00"}}"#
        );
        assert_imported(&dynamodb, "events", &sale, [1, 0, 0]);
    }
    assert_eq!(
        dynamodb.export("events", "History"),
        "{\"item_id\":\"A\",\"start\":1700000000000,\"end\":1,\"amount\":2,\"price\":7,\
         \"recorded_at\":\"2023-11-11T00:00:00Z\",\"seen_at\":\"2023-11-13T00:00:00Z\"}\n"
    );
}

#[test]
fn more_rows_than_a_page_holds_come_back_in_order() {
    let perk = format!("{{\"name\":\"P\",\"description\":\"{}\"}}", "x".repeat(250_000));
    let mayor = |year| format!("{{\"year\":{year},\"name\":\"N\",\"key\":\"k\",\"perks\":[{perk}]}}\n");
    let lines: String = (1..=12).map(mayor).collect();
    assert!(round_trip(&DynamoDb::start(), "events", &lines).0 == lines);
}

/// Candles of every interval, three of each, and then minutes of this morning, in the order of an export.
fn prices(this_morning: Timestamp) -> Vec<String> {
    let extremes = r#""A-B:1":[0.01,499999999.99,0.01,0.02,0.0,0.0,0.0,0.0,9007199254740993,4294967296,1,0],"INK_SACK:3":[1000000000000.0,1000000000000.0,1.5,1.5,0.0,0.0,0.0,0.0,0,0,3,0]"#;
    let of_interval = |(name, length, _): (&'static str, i64, _)| {
        let newest = start(this_morning - minutes(length), length);
        [
            line(name, newest - minutes(2 * length), &candles(300, length, length - 1)),
            line(name, newest - minutes(length), extremes),
            line(name, newest, &candles(40, 2 * length, 4)),
        ]
    };
    let mut lines: Vec<_> = INTERVALS.into_iter().flat_map(of_interval).collect();
    let candle = |number, samples, missed| {
        format!("[{number}.5,{number}.5,3.5,3.5,0.0,0.25,0.0,0.25,3,0,{samples},{missed}]")
    };
    // What is gathered of the minutes: of the second one, only a part has the first product.
    lines.push(line(
        "5m",
        this_morning,
        &format!("\"ITEM:00000\":{}", candle(9, 2, 1)).replace("0.0,0.25,0.0,0.25", "0.25,0.25,0.25,0.25"),
    ));
    lines.push(line("5m", this_morning + minutes(55), r#""A":[1.0,1.0,1.0,1.0,0.0,0.0,0.0,0.0,1,2,1,4]"#));
    lines.push(line("1m", this_morning + minutes(1), r#""ITEM:00000":[9.5,0.25,9,0]"#));
    lines.push(line("1m", this_morning + minutes(3), r#""ITEM:00000":[3.5,0.25,3,0]"#));
    lines.push(line("1m", this_morning + minutes(55), r#""A":[1.0,0.0,1,2]"#));
    lines
}

#[test]
fn candles_of_auctions_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let line = |interval: &str, minutes_ago: i64, length: i64, items: &str| {
        let opened_at = start(this_morning() - minutes(minutes_ago), length);
        format!("{{\"interval\":\"{interval}\",\"opened_at\":\"{opened_at}\",\"items\":{{{items}}}}}\n")
    };
    let items = r#""GOLDEN_DRAGON;4":"200,3,60,9000,100,300,50;7,900,2,100,50,300","LOG-2":";1,3015293760""#;
    let lines = [
        line("1d", 3 * 1_440, 1_440, items),
        line("1d", 2 * 1_440, 1_440, r#""SHEEP;4+100":"5,1,1440""#),
        line("1h", 180, 60, items),
        line("1h", 120, 60, r#""LOG-2":"5,1,60""#),
    ];
    assert_eq!(round_trip(&dynamodb, "auctions", &lines.concat()).0, lines.concat());
    let too_old = line("1h", 91 * 1_440, 60, items);
    assert_imported(&dynamodb, "auctions", &(lines.concat() + &too_old), [0, lines.len(), 1]);
}

#[test]
fn prices_come_back_as_they_were_whatever_the_order_of_the_lines() {
    let dynamodb = DynamoDb::start();
    let lines = prices(this_morning());
    let (exported, dump) = round_trip(&dynamodb, "bazaar", &lines.concat());
    assert_eq!(exported, lines.concat());
    // Candles with fewer samples change nothing.
    let fewer: String = lines.concat().replace(",4,1]", ",3,1]").replace(",2,1]", ",1,1]");
    assert_imported(&dynamodb, "bazaar", &fewer, [0, lines.len(), 0]);
    assert!(dynamodb.dump("History") == dump);
    dynamodb.create("Backwards");
    let backwards: String = lines.iter().rev().cloned().collect();
    assert_eq!(dynamodb.import("bazaar", "Backwards", backwards.as_bytes()).1, Some(0));
    assert!(dynamodb.dump("Backwards") == dump);
    assert_eq!(dynamodb.export("events", "History"), "");
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
        at + jiff::SignedDuration::from_secs(59)
    );
    assert_imported(&dynamodb, "bazaar", &lines, [2, 0, 0]);
    let expected = [
        line("1h", at, r#""A":[1.0,2.0,1.0,2.0,0.0,0.0,0.0,0.0,60000000,4,60,0]"#),
        line("5m", at, r#""A":[1.0,1.0,1.0,1.0,2.0,2.0,2.0,2.0,3,4,1,4]"#),
        line("1m", at, r#""A":[1.0,2.0,3,4]"#),
    ];
    assert_eq!(dynamodb.export("bazaar", "History"), expected.concat());
}

#[test]
fn candles_are_imported_as_far_back_as_their_interval_is_kept() {
    let dynamodb = DynamoDb::start();
    let now = Timestamp::now();
    let mut lines = Vec::new();
    for (name, length, days) in INTERVALS {
        for age in [days.unwrap_or(6_000) + 1, days.unwrap_or(6_000) - 1] {
            lines.push(line(name, start(now - minutes(age * 1_440), length), &candles(2, 1, 4)));
        }
    }
    assert_imported(&dynamodb, "bazaar", &lines.concat(), [6, 0, 4]);
    let kept = [&lines[0], &lines[1], &lines[3], &lines[5], &lines[7], &lines[9]].map(String::as_str);
    assert_eq!(dynamodb.export("bazaar", "History"), kept.concat());
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
        let (first, second, third) = (at(0, 1), at(2, 3), at(4, 2));
        let numbers = format!("1.0,3.0,1.0,2.0,0.5,0.5,0.5,0.5,2,0,3,{}", length - 5);
        // One of the lines is there twice.
        for order in [[&first, &second, &third, &third], [&third, &first, &second, &first]] {
            let (dynamodb, lines) = (DynamoDb::start(), order.map(String::as_str).concat());
            assert_imported(&dynamodb, "bazaar", &lines, [3, 1, 0]);
            let candle = line(name, slot, &format!("\"A\":[{numbers}]"));
            assert_eq!(dynamodb.export("bazaar", "History"), candle, "{age} days");
            assert_imported(&dynamodb, "bazaar", &lines, [0, 4, 0]);
        }
    }
}

#[test]
fn a_corrupt_value_is_counted_and_the_rest_of_its_interval_is_exported() {
    let at = this_morning();
    let candles =
        r#"{"A":[1.0,2.0,1.0,2.0,0.0,0.0,0.0,0.0,1,2,4,0],"B":[1.0,2.0,1.0,2.0,0.0,0.0,0.0,0.0,1,2,4,0]}"#;
    for (kind, interval, field, values) in [
        ("bazaar", "1m", "products", r#"{"A":[1.0,2.0,3,4],"B":[1.0,2.0,3,4]}"#),
        ("bazaar", "1h", "products", candles),
        ("auctions", "1h", "items", r#"{"A":"5,1,60","B":";1,5"}"#),
    ] {
        let dynamodb = DynamoDb::start();
        let line = format!(r#"{{"interval":"{interval}","opened_at":"{at}","{field}":{values}}}"#);
        assert_imported(&dynamodb, kind, &line, [1, 0, 0]);
        let whole = dynamodb.export(kind, "History");
        let mut corrupt = 0;
        for mut row in dynamodb.dump("History").into_values() {
            if let Some(value) = row.pointer_mut("/products/M/A") {
                *value = json!({"N": "1"});
                dynamodb.put("History", &row);
                corrupt += 1;
            }
        }
        let output = dynamodb.history(&["export", kind, "-"]).output().unwrap();
        let rest = String::from_utf8(output.stdout.clone()).unwrap();
        // Of a minute, an import also makes a candle.
        let lines = whole.lines().map(|line| {
            let (start, products) = line.split_once("{\"A\":").unwrap();
            format!("{start}{{{}\n", &products[products.find("\"B\"").unwrap()..])
        });
        assert_eq!((rest, output.status.code()), (lines.collect(), Some(1)), "{kind} {interval}");
        let count =
            format!("\n{corrupt} corrupt or missing values are not in the file; the lines above name them\n");
        assert!(
            corrupt == whole.lines().count() && messages(&output).contains(&count),
            "{}",
            messages(&output)
        );
    }
}

#[test]
fn incomplete_and_expired_prices_are_not_exported_and_the_same_import_completes_them() {
    let dynamodb = DynamoDb::start();
    let at = this_morning();
    let lines = prices(at);
    let (_, dump) = round_trip(&dynamodb, "bazaar", &lines.concat());
    for (series, position) in [("candles#1h", 6), ("bazaar#1m", 17)] {
        let first = dump.keys().find(|(partition, _)| partition == series).unwrap();
        let rows: Vec<_> = dump.keys().filter(|key| key.0.starts_with(series) && key.1 == first.1).collect();
        // The marker is written last.
        for key in &rows[..=rows.len() / 2] {
            dynamodb.delete("History", key);
        }
        let others = [&lines[..position], &lines[position + 1..]].concat();
        assert_eq!(dynamodb.export("bazaar", "History"), others.concat());
        assert_imported(&dynamodb, "bazaar", &lines.concat(), [1, lines.len() - 1, 0]);
        assert!(dynamodb.dump("History") == dump);
        // Rows that are lost later are reported.
        dynamodb.delete("History", rows[1]);
        let output = dynamodb.history(&["export", "bazaar", "-"]).output().unwrap();
        assert!(messages(&output).contains(" is incomplete in the table and is skipped\n"));
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), others.concat());
        dynamodb.put("History", &dump[rows[1]]);
    }
}

/// Starts an import from a pipe into an empty table, and waits until it has written this many rows.
fn begin(dynamodb: &DynamoDb, kind: &str, lines: &str, rows: usize) -> Child {
    dynamodb.create("Begun");
    let mut import = dynamodb.history(&["import", kind, "-", "--table", "Begun"]);
    let mut child = import.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    while dynamodb.dump("Begun").len() < rows {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_killed_import_is_completed_by_the_same_import() {
    let dynamodb = DynamoDb::start();
    let lines = prices(this_morning()).concat();
    let (_, dump) = round_trip(&dynamodb, "bazaar", &lines);
    let mut child = begin(&dynamodb, "bazaar", &lines, dump.len() / 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(dynamodb.import("bazaar", "Begun", lines.as_bytes()).1, Some(0));
    assert!(dynamodb.dump("Begun") == dump);
}

#[test]
fn an_interrupted_import_prints_its_summary() {
    let dynamodb = DynamoDb::start();
    let first = EVENTS.split_inclusive('\n').next().unwrap();
    let mut child = begin(&dynamodb, "events", first, 1);
    let stdin = child.stdin.take();
    let signal = ["-INT", &child.id().to_string()];
    assert!(std::process::Command::new("kill").args(signal).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(1));
    // The row is written a moment before it counts.
    let error = "error: interrupted; run the same command again to do the rest\n";
    let expected = [0, 1].map(|imported| summary(imported, 0, 0, 0) + error);
    assert!(expected.contains(&messages(&output)), "{}", messages(&output));
    assert_eq!(dynamodb.import("events", "Begun", EVENTS.as_bytes()).0, summary(3, 1, 0, 0));
}

#[test]
fn the_environment_names_the_table() {
    let dynamodb = DynamoDb::start();
    dynamodb.create("Other");
    for (variable, rows) in [("Other", [0, 4]), ("", [4, 4])] {
        let mut import = dynamodb.history(&["import", "events", "-"]);
        fed(import.env("HISTORY_TABLE", variable), EVENTS.as_bytes());
        assert_eq!(["History", "Other"].map(|table| dynamodb.dump(table).len()), rows);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn coarser_candles_are_built_of_an_import_after_those_of_the_present() {
    let cloud = Cloud::start(Options::for_tests()).await.unwrap();
    let name = cloud.template().tables["History"].name.clone();
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), &name);
    let dynamodb =
        DynamoDb { database: cloud.dynamodb().database().clone(), endpoint: cloud.dynamodb().url() };
    let session = table.with_timeout(Duration::from_mins(1));
    // An hour is recorded, and half of it is built.
    let hour = start(Timestamp::now(), 60) - minutes(120);
    let at = |minute: i64| UnixSeconds::new((hour + minutes(minute)).as_second());
    let quotes = [("A".parse().unwrap(), Quote::nearest(1.0, 1.0, 1, 1).unwrap())].into();
    for minute in 0..60 {
        record(session, Tick::of(at(minute)), &quotes).await.unwrap();
    }
    assert_eq!(series::build::<Candle>(session, at(32)).await.unwrap().until, at(30));
    let day = start(Timestamp::now() - minutes(10 * 1_440), 1_440);
    let candle = |price: i64, samples: i64| {
        format!("\"A\":[{price}.0,{price}.0,{price}.0,{price}.0,0.0,0.0,0.0,0.0,1,2,{samples},0]")
    };
    // Two hours of candles; for the second, there is also one with more minutes.
    let fine = (0..24).map(|number| line("5m", day + minutes(5 * number), &candle(number + 1, 4)));
    let lines: Vec<String> = fine.chain([line("1h", day + minutes(60), &candle(99, 59))]).collect();
    assert_eq!(dynamodb.import("bazaar", &name, lines.concat().as_bytes()).1, Some(0));
    // Six intervals of five minutes, one of thirty and one of an hour come before those of the import.
    let run = series::build::<Candle>(session, at(62)).await.unwrap();
    let are_present: Vec<_> = run.slots.iter().map(|slot| slot.slot >= at(0)).collect();
    assert!(are_present.len() > 8 && are_present[..8] == [true; 8], "{:?}", run.slots);
    assert!(!are_present[8..].contains(&true), "{:?}", run.slots);
    let now = UnixSeconds::new(Timestamp::now().as_second());
    while !series::build::<Candle>(session, now).await.unwrap().is_done {}
    let built = dynamodb.export("bazaar", &name);
    let first = r#""A":[1.0,12.0,1.0,12.0,0.0,0.0,0.0,0.0,1,2,48,0]"#;
    assert!(built.contains(&line("1h", day, first)) && built.contains(&lines[24]), "{built}");
    // Of both hours: the rest of the day is missing.
    let numbers = r#""A":[1.0,99.0,1.0,99.0,0.0,0.0,0.0,0.0,1,2,107,"#;
    let of_day = line("1d", day, numbers);
    assert!(built.contains(of_day.trim_end_matches("}}\n")), "{built}");
    cloud.shutdown().await;
}
