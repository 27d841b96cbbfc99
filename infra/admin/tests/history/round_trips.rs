//! An export has all rows of the table, its import gives the same table, and an import can be interrupted anywhere.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{
    Dump, DynamoDb, candles, fed, file, interval_ago, messages, minutes, path, products, slot, text,
    this_morning, tick,
};

const MAYORS: &str = concat!(
    r#"{"year":1,"name":"Paul","key":"dungeons","perks":[]}"#,
    "\n",
    r#"{"year":517,"name":"Jerry §6","key":"perkpocalypse","perks":[{"name":"Q\"1","description":""}]}"#,
    "\n",
    r#"{"year":518,"name":"Diana ✨","key":"pets","perks":[{"name":"A","description":"§aB\nC"},{"name":"D","description":"E"}]}"#,
    "\n",
);

const FIRE_SALES: &str = concat!(
    r#"{"item_id":"PET_SKIN:A#é","start":1700000000000,"end":1700000600000,"amount":9000000000,"price":900,"recorded_at":"2023-11-13T00:00:00Z","seen_at":"2023-11-14T22:20:00Z"}"#,
    "\n",
    r#"{"item_id":"B","start":1700000000001,"end":-1,"amount":0,"price":-5,"recorded_at":"2023-11-14T00:00:00Z","seen_at":"2023-11-14T00:00:00Z"}"#,
    "\n",
);

/// Imports the lines, exports them, imports that into an empty table and exports it again.
#[track_caller]
fn round_trip(dynamodb: &DynamoDb, kind: &str, lines: &str) -> (String, Dump) {
    let (messages, code) = dynamodb.import(kind, "History", lines.as_bytes());
    assert_eq!(code, Some(0), "{messages}");
    let exported = path("exported");
    dynamodb.succeed(&["export", kind, text(&exported)]);
    dynamodb.create("Copy");
    dynamodb.succeed(&["import", "--table", "Copy", kind, text(&exported)]);
    let dump = dynamodb.dump("History");
    assert_eq!(dump, dynamodb.dump("Copy"));
    let exported = std::fs::read_to_string(exported).unwrap();
    assert_eq!(exported, dynamodb.export(kind, "Copy"));
    (exported, dump)
}

#[test]
fn mayors_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let (exported, dump) = round_trip(&dynamodb, "mayors", MAYORS);
    assert_eq!(exported, MAYORS);
    assert_eq!(dump.len(), 3);
    let again = dynamodb.import("mayors", "History", MAYORS.as_bytes());
    assert_eq!(again, ("imported 0, already there 3, too old 0, bad lines 0\n".to_owned(), Some(0)));
    // The recorded mayor stays.
    let other = MAYORS.replace("Paul", "Marina");
    assert!(
        dynamodb.import("mayors", "History", other.as_bytes()).0.starts_with("imported 0, already there 3")
    );
    assert_eq!(dynamodb.export("mayors", "History"), MAYORS);
}

#[test]
fn fire_sales_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let (exported, dump) = round_trip(&dynamodb, "fire-sales", FIRE_SALES);
    assert_eq!(exported, FIRE_SALES);
    assert_eq!(dump.len(), 2);
    let again = dynamodb.import("fire-sales", "History", FIRE_SALES.as_bytes());
    assert_eq!(again, ("imported 0, already there 2, too old 0, bad lines 0\n".to_owned(), Some(0)));
}

#[test]
fn a_later_sighting_corrects_a_fire_sale() {
    let dynamodb = DynamoDb::start();
    let sale = |price: u32, day: u32| {
        format!(
            r#"{{"item_id":"A","start":1700000000000,"end":1,"amount":2.0,"price":{price},"recorded_at":"2023-11-{day}T00:00:00+00:00"}}"#
        )
    };
    for (price, day) in [(5, 12), (7, 13), (4, 11)] {
        let (messages, _) = dynamodb.import("fire-sales", "History", sale(price, day).as_bytes());
        assert!(messages.starts_with("imported 1,"), "{messages}");
    }
    assert_eq!(
        dynamodb.export("fire-sales", "History"),
        "{\"item_id\":\"A\",\"start\":1700000000000,\"end\":1,\"amount\":2,\"price\":7,\
         \"recorded_at\":\"2023-11-11T00:00:00Z\",\"seen_at\":\"2023-11-13T00:00:00Z\"}\n"
    );
}

#[test]
fn more_rows_than_a_page_holds_come_back_in_order() {
    let dynamodb = DynamoDb::start();
    let perk = "x".repeat(250_000);
    let mayor = |year| {
        format!(
            "{{\"year\":{year},\"name\":\"N\",\"key\":\"k\",\"perks\":[{{\"name\":\"P\",\"description\":\"{perk}\"}}]}}\n"
        )
    };
    let lines: String = (1..=12).map(mayor).collect();
    let (exported, _) = round_trip(&dynamodb, "mayors", &lines);
    assert!(exported == lines);
}

/// Ticks of an eventful morning, in the order of time.
fn morning() -> Vec<String> {
    let start = this_morning();
    let extremes =
        r#""A-B:1":[0.01,499999999.99,9007199254740993,4294967296],"INK_SACK:3":[1000000000000.0,0.0,0,0]"#;
    vec![
        // The first tick of its slots is late: only in the finest tier does a slot begin at its time.
        tick(start + minutes(7), extremes),
        tick(start + minutes(8), &products(300, 8)),
        tick(start + minutes(9), &products(100, 9)),
        // After minutes without a tick, a tick within its slots.
        tick(start + minutes(64), &products(300, 64)),
        tick(start + minutes(65), extremes),
        tick(start + minutes(110), &products(200, 110)),
        tick(start + minutes(111), &products(300, 111)),
    ]
}

#[test]
fn prices_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let lines = morning().concat();
    let (exported, dump) = round_trip(&dynamodb, "bazaar", &lines);
    assert_eq!(exported, lines);
    let again = dynamodb.import("bazaar", "History", lines.as_bytes());
    assert_eq!(again, ("imported 0, already there 7, too old 0, bad lines 0\n".to_owned(), Some(0)));
    assert_eq!(dynamodb.dump("History"), dump);
}

#[test]
fn the_order_of_ticks_does_not_matter() {
    let dynamodb = DynamoDb::start();
    let lines = morning();
    let (_, dump) = round_trip(&dynamodb, "bazaar", &lines.concat());
    dynamodb.create("Backwards");
    let backwards: String = lines.into_iter().rev().collect();
    let (messages, _) = dynamodb.import("bazaar", "Backwards", backwards.as_bytes());
    assert_eq!(messages, "imported 7, already there 0, too old 0, bad lines 0\n");
    assert_eq!(dynamodb.dump("Backwards"), dump);
}

#[test]
fn other_spellings_give_the_same_tick() {
    let dynamodb = DynamoDb::start();
    let start = this_morning();
    let seconds = start + jiff::SignedDuration::from_secs(59);
    let line = format!(
        "\u{feff} {{ \"products\" : {{\"A\":[1,2.004,3.0,4], \"NOTHING\":[0,0,5,6]}}, \"recorded_at\":\"{seconds}\" }}"
    );
    let (messages, code) = dynamodb.import("bazaar", "History", format!("{line}\r\n\r\n  \n").as_bytes());
    assert_eq!((messages.as_str(), code), ("imported 1, already there 0, too old 0, bad lines 0\n", Some(0)));
    assert_eq!(dynamodb.export("bazaar", "History"), tick(start, r#""A":[1.0,2.0,3,4]"#));
}

#[test]
fn a_tick_fills_only_tiers_that_keep_it() {
    let dynamodb = DynamoDb::start();
    let day = minutes(24 * 60);
    let now = this_morning();
    let lines: String = [100, 60, 20, 3, 0].map(|days| tick(now - day * days, &products(50, 1))).concat();
    let (messages, code) = dynamodb.import("bazaar", "History", lines.as_bytes());
    assert_eq!((messages.as_str(), code), ("imported 4, already there 0, too old 1, bad lines 0\n", Some(0)));
    let dump = dynamodb.dump("History");
    let markers =
        |tier: &str| dump.keys().filter(|(partition, _)| *partition == format!("bazaar#{tier}")).count();
    assert_eq!(["1m", "5m", "30m", "1h", "3h"].map(markers), [1, 1, 2, 3, 4]);
    assert_eq!(dynamodb.export("bazaar", "History").lines().count(), 4);
}

#[test]
fn an_incomplete_tick_is_not_exported_and_the_same_import_completes_it() {
    let dynamodb = DynamoDb::start();
    let lines = morning();
    let (_, dump) = round_trip(&dynamodb, "bazaar", &lines.concat());
    // The tick of minute 9 has only its own slot of the finest tier.
    let slot = format!("{:010}", (this_morning() + minutes(9)).as_second());
    let is_of_tick =
        |(partition, sort): &(String, String)| partition.starts_with("bazaar#1m") && *sort == slot;
    let rows: Vec<_> = dump.keys().filter(|key| is_of_tick(key)).collect();
    assert!(rows.len() > 10 && rows[0].0 == "bazaar#1m");
    for key in &rows[..rows.len() / 2] {
        dynamodb.delete("History", key);
    }
    let exported = dynamodb.export("bazaar", "History");
    assert_eq!(exported, [&lines[..2], &lines[3..]].concat().concat());
    dynamodb.create("Whole");
    dynamodb.import("bazaar", "Whole", exported.as_bytes());
    let mut whole = dump.clone();
    whole.retain(|key, _| !is_of_tick(key));
    assert_eq!(dynamodb.dump("Whole"), whole);
    let (messages, _) = dynamodb.import("bazaar", "History", lines.concat().as_bytes());
    assert_eq!(messages, "imported 1, already there 6, too old 0, bad lines 0\n");
    assert_eq!(dynamodb.dump("History"), dump);
}

#[test]
fn expired_rows_are_not_exported() {
    let dynamodb = DynamoDb::start();
    let (_, dump) = round_trip(&dynamodb, "bazaar", &morning()[0]);
    let slot = this_morning() - minutes(100 * 24 * 60);
    for (key, row) in &dump {
        let mut row = row.clone();
        row["sk"]["S"] = format!("{:010}", slot.as_second()).into();
        row["recorded_at"] = serde_json::json!({"N": slot.as_second().to_string()});
        dynamodb.put("History", &row);
        dynamodb.delete("History", key);
    }
    assert_eq!(dynamodb.export("bazaar", "History"), "");
}

#[test]
fn a_killed_import_is_completed_by_the_same_import() {
    let dynamodb = DynamoDb::start();
    let lines = morning();
    let (_, dump) = round_trip(&dynamodb, "bazaar", &lines.concat());
    dynamodb.create("Killed");
    let mut child = dynamodb
        .history(&["import", "bazaar", "-", "--table", "Killed"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines[..4].concat().as_bytes()).unwrap();
    // In the middle of its input.
    while dynamodb.dump("Killed").len() < 100 {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (messages, code) = dynamodb.import("bazaar", "Killed", lines.concat().as_bytes());
    assert_eq!(code, Some(0), "{messages}");
    assert_eq!(dynamodb.dump("Killed"), dump);
}

#[test]
fn an_interrupted_import_prints_its_summary() {
    let dynamodb = DynamoDb::start();
    let mut child = dynamodb
        .history(&["import", "mayors", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let first = MAYORS.lines().next().unwrap();
    stdin.write_all(format!("{first}\n").as_bytes()).unwrap();
    while dynamodb.dump("History").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal = ["-INT", &child.id().to_string()];
    assert!(std::process::Command::new("kill").args(signal).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(1));
    // The row is written a moment before it counts.
    let summary = |imported: u8| {
        format!(
            "imported {imported}, already there 0, too old 0, bad lines 0\n\
             error: interrupted; run the same command again to do the rest\n"
        )
    };
    assert!([0, 1].map(summary).contains(&messages(&output)), "{}", messages(&output));
    let (messages, _) = dynamodb.import("mayors", "History", MAYORS.as_bytes());
    assert_eq!(messages, "imported 2, already there 1, too old 0, bad lines 0\n");
}

#[test]
fn the_table_is_named_by_the_option_or_the_environment() {
    let dynamodb = DynamoDb::start();
    dynamodb.create("Other");
    dynamodb.create("Third");
    let import = |variable: &str, more: &[&str]| {
        let arguments = [&["import", "mayors", "-"], more].concat();
        fed(dynamodb.history(&arguments).env("HISTORY_TABLE", variable), MAYORS.as_bytes());
    };
    import("Other", &[]);
    assert_eq!(["History", "Other", "Third"].map(|table| dynamodb.dump(table).len()), [0, 3, 0]);
    import("Other", &["--table", "Third"]);
    assert_eq!(["History", "Other", "Third"].map(|table| dynamodb.dump(table).len()), [0, 3, 3]);
    import("", &[]);
    assert_eq!(["History", "Other", "Third"].map(|table| dynamodb.dump(table).len()), [3, 3, 3]);
}

#[test]
fn a_file_is_replaced_only_by_force_and_never_half_written() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("mayors", "History", MAYORS.as_bytes());
    let existing = file("mayors.ndjson", "precious");
    let output = dynamodb.history(&["export", "mayors", text(&existing)]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let name = text(&existing);
    assert_eq!(
        messages(&output),
        format!("error: {name} already exists; choose another name, or replace it with --force\n")
    );
    let forced = ["export", "mayors", name, "--force"];
    // If the table fails, the file stays as it was, without another beside it.
    let output = dynamodb.history(&forced).args(["--table", "Missing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&existing).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(existing.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(dynamodb.succeed(&forced), "exported 3\n");
    assert_eq!(std::fs::read_to_string(&existing).unwrap(), MAYORS);
    assert_eq!(std::fs::read_dir(existing.parent().unwrap()).unwrap().count(), 1);
    // The target of a link is replaced; a device is not.
    let link = existing.with_file_name("link");
    std::os::unix::fs::symlink(&existing, &link).unwrap();
    dynamodb.succeed(&["export", "fire-sales", text(&link), "--force"]);
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&existing).unwrap(), "");
    let output = dynamodb.history(&["export", "mayors", "/dev/null", "--force"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(messages(&output).starts_with("error: /dev/null is not a regular file"), "{}", messages(&output));
}

#[test]
fn a_replaced_file_keeps_its_mode_and_a_new_one_gets_that_of_the_umask() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("mayors", "History", MAYORS.as_bytes());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for (umask, new) in [("022", 0o644), ("077", 0o600), ("000", 0o666)] {
        let export = |path: &Path| {
            let history = dynamodb.history(&["export", "mayors", text(path), "--force"]);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("umask {umask} && exec \"$0\" \"$@\"")]).arg(history.get_program());
            shell.args(history.get_args()).env_clear();
            shell.envs(history.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = shell.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
            assert_eq!(std::fs::read_to_string(path).unwrap(), MAYORS);
        };
        let created = path("mayors.ndjson");
        export(&created);
        assert_eq!(mode(&created), new, "umask {umask}");
        for existing in [0o600, 0o640, 0o644, 0o664, 0o400, 0o666] {
            let replaced = file("mayors.ndjson", "old");
            std::fs::set_permissions(&replaced, Permissions::from_mode(existing)).unwrap();
            export(&replaced);
            assert_eq!(mode(&replaced), existing, "umask {umask}");
            // Through a link, too.
            let link = replaced.with_file_name("link");
            std::os::unix::fs::symlink(&replaced, &link).unwrap();
            export(&link);
            assert_eq!(mode(&replaced), existing, "umask {umask}");
        }
    }
}

#[test]
fn while_an_export_runs_only_the_readers_of_the_old_file_can_read_the_new_one() {
    let dynamodb = DynamoDb::start();
    let existing = file("mayors.ndjson", "old");
    std::fs::set_permissions(&existing, Permissions::from_mode(0o600)).unwrap();
    // The endpoint accepts the connection and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut export = dynamodb.history(&["export", "mayors", text(&existing), "--force"]);
    export.env("AWS_ENDPOINT_URL_DYNAMODB", format!("http://{}", silent.local_addr().unwrap()));
    let mut child = export.stderr(Stdio::piped()).spawn().unwrap();
    let (_connection, _) = silent.accept().unwrap();
    let entries = std::fs::read_dir(existing.parent().unwrap()).unwrap();
    let modes: Vec<_> =
        entries.map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o7777).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(modes, [0o600, 0o600]);
}

#[test]
fn a_later_tick_with_more_than_twice_as_many_products_gets_the_slots() {
    let dynamodb = DynamoDb::start();
    let start = this_morning();
    let lines = [
        tick(start, &products(3, 1)),
        tick(start + minutes(1), &products(100, 2)),
        tick(start + minutes(2), &products(40, 3)),
        tick(start + minutes(3), &products(100, 4)),
    ];
    let (exported, dump) = round_trip(&dynamodb, "bazaar", &lines.concat());
    assert_eq!(exported, lines.concat());
    let slots: Vec<_> = dump
        .iter()
        .filter(|((partition, _), row)| partition != "bazaar#1m" && row["recorded_at"].is_object())
        .map(|((partition, _), row)| (partition.as_str(), row["recorded_at"]["N"].as_str().unwrap()))
        .collect();
    let full = (start + minutes(1)).as_second().to_string();
    assert_eq!(
        slots,
        ["bazaar#1h", "bazaar#30m", "bazaar#3h", "bazaar#5m"].map(|tier| (tier, full.as_str()))
    );
    let again = dynamodb.import("bazaar", "History", lines.concat().as_bytes());
    assert_eq!(again, ("imported 0, already there 4, too old 0, bad lines 0\n".to_owned(), Some(0)));
    dynamodb.create("Backwards");
    dynamodb.import("bazaar", "Backwards", lines.iter().rev().cloned().collect::<String>().as_bytes());
    assert_eq!(dynamodb.dump("Backwards"), dump);
    // A marker of an older version has no number of products: its tick counts as full, and is exported.
    for ((partition, sort), row) in &dump {
        if !partition.ends_with(|last: char| last.is_ascii_digit()) {
            let mut row = row.clone();
            row.as_object_mut().unwrap().remove("products");
            assert!(sort.len() == 10 && row["rows"].is_object());
            dynamodb.put("History", &row);
        }
    }
    assert_eq!(dynamodb.export("bazaar", "History"), lines.concat());
    let again = dynamodb.import("bazaar", "History", lines.concat().as_bytes());
    assert_eq!(again, ("imported 0, already there 4, too old 0, bad lines 0\n".to_owned(), Some(0)));
}

/// Slots of every interval in the order of an export, with and without a version.
fn slots() -> Vec<String> {
    let extremes = r#""A-B:1":[0.01,499999999.99,0.01,0.02,0.0,0.0,0.0,0.0,9007199254740993,4294967296,1],"INK_SACK:3":[1000000000000.0,1000000000000.0,1.5,1.5,0.0,0.0,0.0,0.0,0,0,3]"#;
    let lengths = [("5m", 5), ("30m", 30), ("1h", 60), ("3h", 180), ("1d", 1_440)];
    let of_interval = |(name, length): (&'static str, i64)| {
        let newest = interval_ago(length);
        [
            slot(name, newest - minutes(2 * length), Some(0), &candles(300, length)),
            slot(name, newest - minutes(length), None, extremes),
            slot(name, newest, Some(u32::MAX), &candles(40, 2 * length)),
        ]
    };
    lengths.into_iter().flat_map(of_interval).collect()
}

#[test]
fn candles_come_back_as_they_were() {
    let dynamodb = DynamoDb::start();
    let lines = slots();
    let (exported, dump) = round_trip(&dynamodb, "candles", &lines.concat());
    assert_eq!(exported, lines.concat());
    let markers = |partition: &str| dump.keys().filter(|key| key.0 == partition).count();
    for interval in ["5m", "30m", "1h", "3h", "1d"] {
        assert_eq!(markers(&format!("candles#{interval}")), 3, "{interval}");
    }
    let again = dynamodb.import("candles", "History", lines.concat().as_bytes());
    assert_eq!(again, ("imported 0, already there 15, too old 0, bad lines 0\n".to_owned(), Some(0)));
    // What is there stays, whatever a file says about it.
    let others = lines.concat().replace("ITEM:", "OTHER:");
    let again = dynamodb.import("candles", "History", others.as_bytes());
    assert_eq!(again, ("imported 0, already there 15, too old 0, bad lines 0\n".to_owned(), Some(0)));
    assert_eq!(dynamodb.dump("History"), dump);
    dynamodb.create("Backwards");
    dynamodb.import("candles", "Backwards", lines.iter().rev().cloned().collect::<String>().as_bytes());
    assert_eq!(dynamodb.dump("Backwards"), dump);
    // The other kinds of history are not affected.
    assert_eq!(dynamodb.export("bazaar", "History"), "");
}

#[test]
fn candles_are_imported_as_far_back_as_their_interval_is_kept() {
    let dynamodb = DynamoDb::start();
    let kept = [
        ("5m", 5, Some(30)),
        ("30m", 30, Some(90)),
        ("1h", 60, Some(365)),
        ("3h", 180, Some(1_095)),
        ("1d", 1_440, None),
    ];
    let mut lines = Vec::new();
    for (name, length, days) in kept {
        let newest = interval_ago(length);
        let day = minutes(24 * 60);
        for age in [days.unwrap_or(6_000) - 1, days.unwrap_or(6_000) + 1] {
            lines.push(slot(name, newest - day * age, None, &candles(2, 1)));
        }
    }
    let (messages, code) = dynamodb.import("candles", "History", lines.concat().as_bytes());
    assert_eq!((messages.as_str(), code), ("imported 6, already there 0, too old 4, bad lines 0\n", Some(0)));
    let exported = [&lines[0], &lines[2], &lines[4], &lines[6], &lines[9], &lines[8]].map(String::as_str);
    assert_eq!(dynamodb.export("candles", "History"), exported.concat());
}

#[test]
fn an_interrupted_import_of_candles_is_not_exported_and_the_same_import_completes_it() {
    let dynamodb = DynamoDb::start();
    let lines = slots();
    let (_, dump) = round_trip(&dynamodb, "candles", &lines.concat());
    // The marker is written last.
    let slot = format!("{:010}", (interval_ago(60) - minutes(120)).as_second());
    let rows: Vec<_> = dump.keys().filter(|key| key.0.starts_with("candles#1h") && key.1 == slot).collect();
    assert!(rows.len() > 100 && rows[0].0 == "candles#1h");
    for key in &rows[..rows.len() / 2] {
        dynamodb.delete("History", key);
    }
    assert_eq!(dynamodb.export("candles", "History"), [&lines[..6], &lines[7..]].concat().concat());
    let (messages, _) = dynamodb.import("candles", "History", lines.concat().as_bytes());
    assert_eq!(messages, "imported 1, already there 14, too old 0, bad lines 0\n");
    assert_eq!(dynamodb.dump("History"), dump);
    // Rows that are lost later are reported.
    dynamodb.delete("History", rows[1]);
    let output = dynamodb.history(&["export", "candles", "-"]).output().unwrap();
    let opened_at = interval_ago(60) - minutes(120);
    let expected = format!("1h at {opened_at} is incomplete in the table and is skipped\nexported 14\n");
    assert_eq!(crate::support::messages(&output), expected);
}

#[test]
fn candles_in_other_spellings_give_the_same_slot() {
    let dynamodb = DynamoDb::start();
    let opened_at = interval_ago(60);
    let line = format!(
        "{{ \"products\": {{\"A\":[1,2.004,1,2,0,0,0,0,6.0E7,4,60.0],\"NOTHING\":[0,0,0,0,0,0,0,0,5,6,7]}}, \"version\": 7.0, \
         \"opened_at\":\"{opened_at}\", \"interval\":\"1h\"}}\r\n"
    );
    let (messages, code) = dynamodb.import("candles", "History", line.as_bytes());
    assert_eq!((messages.as_str(), code), ("imported 1, already there 0, too old 0, bad lines 0\n", Some(0)));
    let expected = slot("1h", opened_at, Some(7), r#""A":[1.0,2.0,1.0,2.0,0.0,0.0,0.0,0.0,60000000,4,60]"#);
    assert_eq!(dynamodb.export("candles", "History"), expected);
}

#[test]
fn a_marker_at_the_limits_of_time_is_skipped() {
    let dynamodb = DynamoDb::start();
    let (exported, dump) = round_trip(&dynamodb, "bazaar", &morning()[0]);
    let (_, marker) = dump.iter().find(|((partition, _), _)| partition == "bazaar#3h").unwrap();
    for number in [i64::MIN, i64::MIN + 1, -1, i64::MAX] {
        for sort in [number.to_string(), format!("{number:010}"), "0".to_owned()] {
            let mut row = marker.clone();
            row["sk"]["S"] = sort.into();
            row["recorded_at"]["N"] = number.to_string().into();
            dynamodb.put("History", &row);
        }
    }
    assert_eq!(dynamodb.export("bazaar", "History"), exported);
    let again = dynamodb.import("bazaar", "History", exported.as_bytes());
    assert_eq!(again.1, Some(0), "{}", again.0);
    assert!(again.0.ends_with("imported 0, already there 1, too old 0, bad lines 0\n"), "{}", again.0);
}

#[test]
fn a_closed_pipe_ends_an_export_quietly() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("mayors", "History", MAYORS.as_bytes());
    let mut export = dynamodb.history(&["export", "mayors", "-"]);
    let mut child = export.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), messages(&output).as_str()), (Some(0), ""));
}
