//! The status says which feed is healthy, since when the feed is recorded, and its last gap. A request reads
//! at most nine rows, and fails if they cannot be read.

use std::time::Duration;

use local::{Fault, Refusal};
use recorder::feed;
use serde_json::{Value, json};
use simulator::Fault as UpstreamFault;

use super::{
    DAY, FEEDS, HOUR, MINUTE, PATH, Row, START, delay, entry, get_status, heartbeat, put, read_status,
    record, respond, rfc3339, start, unhealthy,
};
use crate::auction_prices::house;
use crate::history::market::{Market, quote};
use crate::history::table;
use crate::support::{
    Log, RECORDERS, await_logs, deployed_template, expect_clean_logs, get_at, in_repository, logged,
    simulator,
};
use crate::upstream_faults::expect_failure;

#[test]
fn the_feeds_are_those_of_the_recorders_with_the_intervals_of_their_schedules() {
    let named = feed::FEEDS.map(|feed| (feed.name, i64::try_from(feed.interval.as_secs()).unwrap()));
    assert_eq!(named, FEEDS);
    let template = deployed_template();
    for recorder in RECORDERS {
        let function = template.functions.values().find(|function| function.binary == recorder).unwrap();
        let [schedule] = function.schedules.as_slice() else { panic!("{recorder} must have one schedule") };
        let mut feeds = feed::FEEDS.into_iter();
        let feed = feeds.find(|feed| format!("record-{}", feed.name) == recorder).unwrap();
        assert_eq!(feed.interval, schedule.period, "{recorder}");
        // The worst healthy case: a run is missed, and the next run begins in the last second of its minute
        // and takes until its timeout.
        let begins = schedule.offset.unwrap_or_default() + Duration::from_secs(59);
        assert!(feed.longest_age() >= 2 * schedule.period + begins + function.timeout, "{recorder}");
    }
}

/// The row of a sale that starts and was first recorded at these times in Unix seconds.
fn sale(start: i64, recorded_at: i64) -> Row {
    table::sale("A", start * 1_000, recorded_at)
}

fn marker(series: &str, slot: i64) -> Row {
    let row = json!({
        "pk": {"S": series}, "sk": {"S": format!("{slot:010}")}, "rows": {"N": "5"},
    });
    row.as_object().unwrap().clone()
}

#[tokio::test]
async fn a_response_has_the_documented_fields_in_order() {
    let cloud = start().await;
    for row in [
        heartbeat("bazaar", START, START + DAY, &[(START + HOUR, START + 2 * HOUR)]),
        heartbeat("candles", START, START + DAY - 5 * MINUTE, &[(START, START + 3 * HOUR)]),
        marker("candles#5m", START + HOUR),
        marker("candles#1d", START - 15 * HOUR),
        heartbeat("mayor", START + DAY - 4 * MINUTE, START + DAY - 4 * MINUTE, &[]),
        table::mayor(515),
        table::mayor(516),
        sale(START, START - DAY),
        marker("auctions#1m", START),
        heartbeat("auctions", START, START + DAY - MINUTE, &[]),
    ] {
        put(&cloud, &row).await;
    }
    let response = respond(&cloud, START + DAY + 59).await;
    let feeds = [
        r#"{"name":"bazaar","last_recorded_at":"2026-04-29T15:00:00Z","age_seconds":59,"expected_every_seconds":60,"is_healthy":true,"recorded_since":"2026-04-28T00:00:00Z","last_gap":{"from":"2026-04-28T16:00:00Z","to":"2026-04-28T17:00:00Z"},"minutes_last_hour":60,"data_changed_at":null}"#,
        r#"{"name":"candles","last_recorded_at":"2026-04-29T14:55:00Z","age_seconds":359,"expected_every_seconds":300,"is_healthy":true,"recorded_since":"2026-04-28T00:00:00Z","last_gap":{"from":"2026-04-28T15:00:00Z","to":"2026-04-28T18:00:00Z"},"minutes_last_hour":null,"data_changed_at":null}"#,
        r#"{"name":"mayor","last_recorded_at":"2026-04-29T14:56:00Z","age_seconds":299,"expected_every_seconds":300,"is_healthy":true,"recorded_since":"2026-09-24T19:15:00Z","last_gap":null,"minutes_last_hour":null,"data_changed_at":null}"#,
        r#"{"name":"fire-sales","last_recorded_at":null,"age_seconds":null,"expected_every_seconds":60,"is_healthy":false,"recorded_since":"2026-04-27T15:00:00Z","last_gap":null,"minutes_last_hour":null,"data_changed_at":null}"#,
        r#"{"name":"auctions","last_recorded_at":"2026-04-29T14:59:00Z","age_seconds":119,"expected_every_seconds":60,"is_healthy":true,"recorded_since":"2026-04-28T15:00:00Z","last_gap":null,"minutes_last_hour":59,"data_changed_at":null}"#,
    ];
    let data = format!(
        r#"{{"version":"{}","checked_at":"2026-04-29T15:00:59Z","feeds":[{}],"is_healthy":false}}"#,
        env!("CARGO_PKG_VERSION"),
        feeds.join(",")
    );
    let meta = r#"{"cached":false,"api_version":"v1"}"#;
    assert_eq!(response.text, format!(r#"{{"success":true,"data":{data},"meta":{meta}}}"#));
    response.data();
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn what_was_never_recorded_is_null_and_unhealthy() {
    let cloud = start().await;
    let status = get_status(&cloud, START).await;
    for (feed, interval) in FEEDS {
        let expected = json!({
            "name": feed, "last_recorded_at": null, "age_seconds": null, "expected_every_seconds": interval,
            "is_healthy": false, "recorded_since": null, "last_gap": null, "minutes_last_hour": null,
            "data_changed_at": null,
        });
        assert_eq!(*entry(&status, feed), expected);
    }
    assert_eq!(status["is_healthy"], false);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_feed_is_healthy_until_a_second_run_is_missed_and_only_its_own_age_counts() {
    let cloud = start().await;
    let all = async |time: i64| {
        for (feed, _) in FEEDS {
            put(&cloud, &heartbeat(feed, time, time, &[])).await;
        }
    };
    for (feed, interval) in FEEDS {
        let longest = 2 * interval + delay(feed);
        for (age, is_healthy) in [(0, true), (1, true), (longest, true), (longest + 1, false), (DAY, false)] {
            all(START).await;
            put(&cloud, &heartbeat(feed, START - DAY, START - age, &[])).await;
            let status = get_status(&cloud, START).await;
            assert_eq!(unhealthy(&status), if is_healthy { vec![] } else { vec![feed] }, "{age} s");
            assert_eq!(entry(&status, feed)["age_seconds"], age);
        }
        // Clocks differ, so a record may be in the future. The age is never negative.
        for (ahead, is_healthy) in [(1, true), (longest + 1, false)] {
            all(START).await;
            put(&cloud, &heartbeat(feed, START, START + ahead, &[])).await;
            let status = get_status(&cloud, START).await;
            assert_eq!(entry(&status, feed)["age_seconds"], 0);
            assert_eq!(unhealthy(&status), if is_healthy { vec![] } else { vec![feed] }, "{ahead} s ahead");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_feed_that_loses_every_second_minute_is_unhealthy_and_sets_off_its_alarm() {
    let cloud = start().await;
    let monitoring = std::fs::read_to_string(in_repository("infra/monitoring.yaml")).unwrap();
    assert!(monitoring.contains(r#"FilterPattern: '{ $.message = "recorded" }'"#));
    let at = |minute: i64| START + minute * MINUTE;
    let feeds = ["bazaar", "fire-sales", "auctions"];
    for minute in (0..=62).step_by(2) {
        let time_ms = at(minute) * 1_000;
        Market::of("A", quote("1.0", "2.0", 3, minute)).show_refreshed(&cloud, time_ms);
        house::serve(&cloud, time_ms, &[house::listing(1, "A", 1, time_ms)], &json!([]));
        for feed in feeds {
            record(&cloud, feed, at(minute)).await;
        }
        for feed in ["candles", "mayor"] {
            put(&cloud, &heartbeat(feed, at(minute), at(minute), &[])).await;
        }
        let status = get_status(&cloud, at(minute)).await;
        let expected: &[&str] = if minute < 60 { &[] } else { &feeds };
        assert_eq!(unhealthy(&status), expected, "{minute} minutes");
        for feed in feeds {
            assert_eq!(entry(&status, feed)["minutes_last_hour"], (minute / 2 + 1).min(30), "{feed}");
            assert_eq!(entry(&status, feed)["last_gap"], Value::Null, "{feed}");
        }
    }
    for feed in feeds {
        let recorder = format!("record-{feed}");
        let alarm = monitoring
            .split("AlarmName: ")
            .find(|alarm| alarm.contains(&format!("Dimensions: [{{Name: Function, Value: {recorder}}}]")));
        let number =
            |name| alarm.unwrap().split(name).nth(1).unwrap().lines().next().unwrap().parse().unwrap();
        let length: i64 = number("Period: ");
        let fewest = usize::try_from(number(" Threshold: ")).unwrap();
        let is_counted = |line: &Value| line["function"] == *recorder && line["message"] == "recorded";
        let lines = await_logs(&cloud, 32, is_counted).await;
        for begin in (0..58).map(at) {
            let period = (begin..begin + length).step_by(60).map(rfc3339);
            let counted = period.filter(|minute| lines.iter().any(|line| line["tick"] == **minute)).count();
            assert!(counted < fewest, "{recorder}: {counted} records from {begin}");
        }
    }
    // These events arrive late.
    for minute in (13..61).step_by(2) {
        record(&cloud, "fire-sales", at(minute)).await;
    }
    assert_eq!(unhealthy(&get_status(&cloud, at(62)).await), feeds);
    record(&cloud, "fire-sales", at(61)).await;
    let status = get_status(&cloud, at(62)).await;
    assert_eq!(entry(&status, "fire-sales")["minutes_last_hour"], 55);
    assert_eq!(unhealthy(&status), ["bazaar", "auctions"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn recorded_since_is_the_oldest_record_that_is_still_there() {
    let cloud = start().await;
    for row in
        [table::mayor(515), table::mayor(512), sale(START, START - HOUR), sale(START - DAY, START - 3 * DAY)]
    {
        put(&cloud, &row).await;
    }
    let status = get_status(&cloud, START).await;
    let since = |feed: &str| entry(&status, feed)["recorded_since"].clone();
    assert_eq!((since("bazaar"), since("candles")), (Value::Null, Value::Null));
    assert_eq!(since("mayor"), "2026-09-09T07:15:00Z");
    assert_eq!(since("fire-sales"), rfc3339(START - 3 * DAY));
    // Until the first day ends, there are only finer candles. Daily candles never expire.
    let midnight = START - 15 * HOUR;
    for (interval, slot) in
        [("5m", midnight), ("3h", midnight), ("5m", START), ("1d", midnight - 2_000 * DAY)]
    {
        put(&cloud, &marker(&format!("candles#{interval}"), slot)).await;
        let expected = if interval == "1d" { slot } else { midnight };
        let status = super::get_status(&cloud, START).await;
        // The bazaar's minutes stay available as candles, so both feeds are recorded since the oldest candle.
        for feed in ["bazaar", "candles"] {
            assert_eq!(entry(&status, feed)["recorded_since"], rfc3339(expected), "{feed}");
        }
    }
    expect_clean_logs(&cloud);
}

/// Pads the row to almost 8 kB: one read unit, or two in a consistent read.
fn padded(mut row: Row) -> Row {
    row.insert("padding".to_owned(), json!({"S": "x".repeat(7_700)}));
    row
}

#[tokio::test]
async fn at_most_nine_rows_are_read_however_many_there_are() {
    let cloud = start().await;
    for number in 0..30 {
        let time = START - number * DAY;
        let day = time - 15 * HOUR;
        let year = 515 - u32::try_from(number).unwrap();
        let markers = [("candles#1d", day), ("candles#5m", time), ("auctions#1d", day)]
            .map(|(series, slot)| marker(series, slot));
        for row in [table::mayor(year), sale(time, time)].into_iter().chain(markers) {
            put(&cloud, &padded(row)).await;
        }
    }
    for (feed, _) in FEEDS {
        put(&cloud, &padded(heartbeat(feed, START, START, &[]))).await;
    }
    // A batch of more than five rows would need a second request.
    cloud.dynamodb().set_fault(Fault::unprocessed_after(5).on("BatchGetItem"));
    let operations = ["BatchGetItem", "Query", "GetItem", "Scan"];
    let requests = || operations.map(|operation| cloud.dynamodb().requests(operation));
    let before = requests();
    let units_before = cloud.dynamodb().consumed().read_units;
    assert_eq!(unhealthy(&get_status(&cloud, START).await), [""; 0]);
    let sent: Vec<_> = requests().iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(sent, [1, 4, 0, 0], "{operations:?}");
    let units = cloud.dynamodb().consumed().read_units - units_before;
    // A row takes one unit. Markers and heartbeats are read consistently and take two.
    assert!((16.0..=16.0).contains(&units), "{units} read units");
    expect_clean_logs(&cloud);
}

/// Panics unless the only warning names the heartbeat of fire sales and the attribute.
#[track_caller]
fn expect_corrupt(log: &Log, attribute: &str) {
    let [warning] = &log.warnings[..] else { panic!("{:?} is not one warning", log.warnings) };
    assert_eq!(
        (&warning["level"], &warning["message"]),
        (&json!("WARN"), &json!("a corrupt row is skipped"))
    );
    assert_eq!((&warning["partition_key"], &warning["sort_key"]), (&json!("feeds"), &json!("fire-sales")));
    assert!(warning["cause"].as_str().unwrap().contains(&format!("attribute {attribute} is ")), "{warning}");
}

#[tokio::test]
async fn a_corrupt_heartbeat_affects_only_its_own_feed_until_it_is_recorded_again() {
    let cloud = start().await;
    let sales = json!({"success": true, "sales": []}).to_string();
    simulator(&cloud).set_fault("/v2/skyblock/firesales", UpstreamFault::default().with_body(sales));
    for (feed, _) in FEEDS {
        put(&cloud, &heartbeat(feed, START, START, &[])).await;
    }
    let good = heartbeat("fire-sales", START - HOUR, START, &[(START - HOUR, START - MINUTE)]);
    let with = |attribute: &str, value: Option<Value>| {
        let mut row = good.clone();
        row.remove(attribute);
        row.extend(value.map(|value| (attribute.to_owned(), value)));
        (row, attribute.to_owned())
    };
    let gap = |from: i64, to: i64| heartbeat("fire-sales", START - HOUR, START, &[(from, to)]);
    let mut cases = vec![
        (gap(START, START - 1), "gaps".to_owned()),
        (gap(START - 2 * HOUR, START), "gaps".to_owned()),
        with("gaps", Some(json!({"L": [{"M": {"from": {"N": "5"}, "to": {"S": "6"}}}]}))),
    ];
    for attribute in ["first_recorded_at", "last_recorded_at", "gaps"] {
        cases.extend(
            [Some(json!({"S": "soon"})), Some(json!({"N": "1.5"})), None].map(|value| with(attribute, value)),
        );
    }
    for (corrupt, attribute) in cases {
        put(&cloud, &corrupt).await;
        let (response, log) = logged(&cloud, respond(&cloud, START)).await;
        let broken = read_status(&response, START);
        assert_eq!(unhealthy(&broken), ["fire-sales"], "{corrupt:?}");
        assert_eq!(entry(&broken, "fire-sales")["last_recorded_at"], Value::Null, "{corrupt:?}");
        expect_corrupt(&log, &attribute);
        // The recorder replaces the row, and also logs a warning.
        let (_, log) = logged(&cloud, record(&cloud, "fire-sales", START)).await;
        expect_corrupt(&log, &attribute);
        assert_eq!(unhealthy(&get_status(&cloud, START).await), [""; 0], "{corrupt:?}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_oldest_record_is_null() {
    let cloud = start().await;
    let mut bad = [table::mayor(515), sale(START, START), marker("candles#1d", START - 15 * HOUR)];
    for (row, attribute) in bad.iter_mut().zip(["name", "price"]) {
        row.remove(attribute);
    }
    bad[2]["sk"] = json!({"S": format!("{}x", START - 15 * HOUR)});
    for row in &bad {
        put(&cloud, row).await;
    }
    let status = get_status(&cloud, START).await;
    for (feed, _) in FEEDS {
        assert_eq!(entry(&status, feed)["recorded_since"], Value::Null, "{feed}");
    }
    let is_warning = |line: &Value| line["level"] == "WARN" && line["message"] == "a corrupt row is skipped";
    await_logs(&cloud, 3, is_warning).await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn when_the_table_fails_so_does_the_route_and_an_old_status_is_not_served() {
    let cloud = start().await;
    put(&cloud, &heartbeat("mayor", START, START, &[])).await;
    let first = respond(&cloud, START).await;
    // Every round uses the same times: the instance still caches the first response.
    let now = START;
    for (what, fault) in [
        ("missing", Fault::missing_table()),
        ("throttled", Fault::throttled()),
        ("broken", Fault::refusal(Refusal::InternalServerError)),
        ("without heartbeats", Fault::missing_table().on("BatchGetItem")),
        ("without histories", Fault::missing_table().on("Query")),
        ("closed", Fault::close()),
        ("silent", Fault::hang()),
    ] {
        cloud.dynamodb().set_fault(fault);
        get_at(&cloud, PATH, now * 1_000 + 59_999).await.expect_replay_of(&first);
        expect_failure(&get_at(&cloud, PATH, (now + MINUTE) * 1_000).await, what);
        cloud.dynamodb().clear_faults();
    }
    assert!(!get_at(&cloud, PATH, (now + MINUTE) * 1_000).await.cached());
    expect_clean_logs(&cloud);
}
