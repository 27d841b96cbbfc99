//! The table, the program and the files of the tests.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub(crate) use crate::dynamodb::{DynamoDb, command, fed};

/// The rows of a table by key.
pub(crate) type Dump = BTreeMap<(String, String), Value>;

impl DynamoDb {
    /// With an empty table `History`.
    pub(crate) fn start() -> Self {
        let started = Self::serve();
        started.create("History");
        started
    }

    pub(crate) fn create(&self, table: &str) {
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

    pub(crate) fn dump(&self, table: &str) -> Dump {
        let key = |row: &Value, name: &str| row[name]["S"].as_str().unwrap().to_owned();
        self.rows(table).into_iter().map(|row| ((key(&row, "pk"), key(&row, "sk")), row)).collect()
    }

    pub(crate) fn delete(&self, table: &str, (partition, sort): &(String, String)) {
        self.delete_row(table, &json!({"pk": {"S": partition}, "sk": {"S": sort}}));
    }

    /// `history` with this table's endpoint and no other configuration of the AWS SDK.
    pub(crate) fn history(&self, arguments: &[&str]) -> Command {
        history(&self.endpoint, arguments)
    }

    /// The messages of a command that succeeds.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.history(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        messages(&output)
    }

    /// The lines of an export.
    #[track_caller]
    pub(crate) fn export(&self, kind: &str, table: &str) -> String {
        let output = self.history(&["export", kind, "-", "--table", table]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Imports these lines through standard input; returns the messages and the exit code.
    pub(crate) fn import(&self, kind: &str, table: &str, lines: &[u8]) -> (String, Option<i32>) {
        let output = fed(&mut self.history(&["import", kind, "-", "--table", table]), lines);
        (messages(&output), output.status.code())
    }
}

pub(crate) fn history(endpoint: &str, arguments: &[&str]) -> Command {
    command(endpoint, &[&["history"], arguments].concat())
}

pub(crate) fn messages(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A listener on a free port, and its URL.
pub(crate) fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    (listener, endpoint)
}

/// A path of a new file for one test.
pub(crate) fn path(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{count}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = path(name);
    std::fs::write(&path, content).unwrap();
    path
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A mayor, as an export writes it.
pub(crate) const MAYOR: &str = r#"{"year":1,"name":"N","key":"k","perks":[]}"#;

/// Two mayors and two fire sales, as an export writes them.
pub(crate) const EVENTS: &str = concat!(
    r#"{"year":1,"name":"Paul","key":"dungeons","perks":[]}"#,
    "\n",
    r#"{"year":518,"name":"Diana ✨","key":"pets","perks":[{"name":"Q\"1","description":"§aB\nC"},{"name":"D","description":""}],"last_updated":1791616500123}"#,
    "\n",
    r#"{"item_id":"PET_SKIN:A#é","start":1700000000000,"end":1700000600000,"amount":9000000000,"price":900,"recorded_at":"2023-11-13T00:00:00Z","seen_at":"2023-11-14T22:20:00Z"}"#,
    "\n",
    r#"{"item_id":"B","start":1700000000001,"end":-1,"amount":0,"price":-5,"recorded_at":"2023-11-14T00:00:00Z","seen_at":"2023-11-14T00:00:00Z"}"#,
    "\n",
);

/// The last message of an import, with the number of lines that had each result.
pub(crate) fn summary(imported: usize, already_there: usize, too_old: usize, bad_lines: usize) -> String {
    format!("imported {imported}, already there {already_there}, too old {too_old}, bad lines {bad_lines}\n")
}

pub(crate) fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

/// The start of the interval of this many minutes that contains the time.
pub(crate) fn start(time: Timestamp, minutes: i64) -> Timestamp {
    let seconds = time.as_second();
    Timestamp::from_second(seconds - seconds.rem_euclid(minutes * 60)).unwrap()
}

/// The beginning of an hour, two to three hours ago.
pub(crate) fn this_morning() -> Timestamp {
    start(Timestamp::now() - minutes(120), 60)
}

/// The line of an interval with these products, as an export writes it.
pub(crate) fn line(interval: &str, opened_at: Timestamp, products: &str) -> String {
    format!("{{\"interval\":\"{interval}\",\"opened_at\":\"{opened_at}\",\"products\":{{{products}}}}}\n")
}

/// `count` candles with prices that depend on `seed`, as an export writes them.
pub(crate) fn candles(count: i64, seed: i64, samples: i64) -> String {
    let candle = |number: i64| {
        let (high, low) = (number + seed, number);
        format!(
            "\"ITEM:{number:05}\":[{high}.0,{high}.25,{low}.0,{low}.5,0.0,0.01,0.0,0.01,{seed},{number},{samples},1]"
        )
    };
    (0..count).map(candle).collect::<Vec<_>>().join(",")
}
