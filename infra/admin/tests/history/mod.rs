//! `cargo admin history` as operators run it: the real program against an embedded `DynamoDB`.

mod bad_lines;
mod files;
mod round_trips;

use std::collections::BTreeMap;
use std::process::{Command, Output};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::dynamodb::{DynamoDb, command, fed};

/// The rows of a table by key.
type Dump = BTreeMap<(String, String), Value>;

impl DynamoDb {
    /// Starts with an empty table `History`.
    fn start() -> Self {
        let started = Self::serve();
        started.create("History");
        started
    }

    fn create(&self, table: &str) {
        self.create_table(json!({
            "TableName": table,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
        }));
    }

    fn dump(&self, table: &str) -> Dump {
        let key = |row: &Value, name: &str| row[name]["S"].as_str().unwrap().to_owned();
        self.rows(table).into_iter().map(|row| ((key(&row, "pk"), key(&row, "sk")), row)).collect()
    }

    /// Exports the table to standard output; returns the lines, the messages and the exit code.
    fn export(&self, kind: &str, table: &str) -> (String, String, Option<i32>) {
        let output = history(&self.endpoint, &["export", kind, "-", "--table", table]).output().unwrap();
        (String::from_utf8(output.stdout.clone()).unwrap(), messages(&output), output.status.code())
    }

    /// Imports these lines through standard input; returns the messages and the exit code.
    fn import(&self, kind: &str, table: &str, lines: &[u8]) -> (String, Option<i32>) {
        let output = fed(&mut history(&self.endpoint, &["import", kind, "-", "--table", table]), lines);
        (messages(&output), output.status.code())
    }
}

fn history(endpoint: &str, arguments: &[&str]) -> Command {
    command(endpoint, &[&["history"], arguments].concat())
}

fn messages(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A mayor, as an export writes it.
const MAYOR: &str = r#"{"year":1,"name":"N","key":"k","perks":[]}"#;

/// Two mayors and two fire sales, as an export writes them.
const EVENTS: &str = concat!(
    r#"{"year":1,"name":"Paul","key":"dungeons","perks":[]}"#,
    "\n",
    r#"{"year":518,"name":"Diana ✨","key":"pets","perks":[{"name":"Q\"1","description":"§aB\nC"},{"name":"D","description":""}],"last_updated":1791616500123}"#,
    "\n",
    r#"{"item_id":"PET_SKIN:A#é","start":1700000000000,"end":1700000600000,"amount":9000000000,"price":900,"recorded_at":"2023-11-13T00:00:00Z","seen_at":"2023-11-14T22:20:00Z"}"#,
    "\n",
    r#"{"item_id":"B","start":1700000000001,"end":1700000000001,"amount":0,"price":0,"recorded_at":"2023-11-14T00:00:00Z","seen_at":"2023-11-14T00:00:00Z"}"#,
    "\n",
);

/// The last message of an import, with the number of lines that had each result.
fn summary(imported: usize, already_there: usize, too_old: usize, bad_lines: usize) -> String {
    format!("imported {imported}, already there {already_there}, too old {too_old}, bad lines {bad_lines}\n")
}

fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

/// The start of the interval that contains `time` and is `minutes` long.
fn start(time: Timestamp, minutes: i64) -> Timestamp {
    let seconds = time.as_second();
    Timestamp::from_second(seconds - seconds.rem_euclid(minutes * 60)).unwrap()
}

/// The beginning of an hour, two to three hours ago.
fn this_morning() -> Timestamp {
    start(Timestamp::now() - minutes(120), 60)
}

/// The line of an interval with these products, as an export writes it.
fn line(interval: &str, opened_at: Timestamp, products: &str) -> String {
    format!("{{\"interval\":\"{interval}\",\"opened_at\":\"{opened_at}\",\"products\":{{{products}}}}}\n")
}
