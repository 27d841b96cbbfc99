//! The table and the program under test. The helpers search all output for keys.

use std::process::{Command, Output};

use serde_json::{Value, json};

pub(crate) use crate::dynamodb::command;
use crate::dynamodb::{DynamoDb, fed};

/// A key that was not issued. Its KEY-ID and its SHA-256 follow.
pub(crate) const UNKNOWN_KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
pub(crate) const UNKNOWN_ID: &str = "95f291419f81e24891fed21a";
pub(crate) const UNKNOWN_DIGEST: &str = "95f291419f81e24891fed21a80a0fd7257ff4b302889026618c65d4d2d2e11b1";

/// The table `Access` of one test.
pub(crate) struct Access {
    dynamodb: DynamoDb,
    pub(crate) endpoint: String,
}

/// The output and exit code of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The words of each line on standard output.
    pub(crate) fn words(&self) -> Vec<Vec<&str>> {
        self.stdout.lines().map(|line| line.split_whitespace().collect()).collect()
    }
}

impl Access {
    /// Starts with an empty table. `the_table_is_that_of_the_template` compares the table's schema with template.yaml.
    pub(crate) fn start() -> Self {
        let dynamodb = DynamoDb::serve();
        dynamodb.create_table(json!({
            "TableName": "Access",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "account", "AttributeType": "S"},
            ],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [{
                "IndexName": "by-account",
                "KeySchema": [
                    {"AttributeName": "account", "KeyType": "HASH"},
                    {"AttributeName": "pk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }],
        }));
        let endpoint = dynamodb.endpoint.clone();
        Self { dynamodb, endpoint }
    }

    /// Starts with the paying account `bots`.
    pub(crate) fn with_bots() -> Self {
        let access = Self::start();
        access.succeed(&["account", "set", "bots", "--tier", "starter", "--paid-until", "2200-01-01"]);
        access
    }

    pub(crate) fn rows(&self) -> Vec<Value> {
        self.dynamodb.rows("Access")
    }

    pub(crate) fn key_rows(&self) -> Vec<Value> {
        let is_key = |row: &Value| row["pk"]["S"].as_str().unwrap().starts_with("key#");
        self.rows().into_iter().filter(is_key).collect()
    }

    pub(crate) fn put(&self, row: &Value) {
        self.dynamodb.put("Access", row);
    }

    pub(crate) fn delete(&self, key: &str) {
        self.dynamodb.delete_row("Access", &json!({"pk": {"S": key}}));
    }

    /// Stores the row of [`UNKNOWN_KEY`] with the additional attributes `with`.
    pub(crate) fn put_key(&self, label: &str, with: &Value) {
        let mut row = json!({
            "pk": {"S": format!("key#{UNKNOWN_ID}")}, "sha256": {"S": UNKNOWN_DIGEST}, "account": {"S": "bots"},
            "label": {"S": label}, "created_at": {"N": "1750000000"}, "last_four": {"S": "X4ni"},
        });
        row.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        self.put(&row);
    }

    /// The program with this table's endpoint and no other configuration of the AWS SDK.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(&self.endpoint, arguments)
    }

    /// Runs the command, which must not print a key.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        run(&mut self.command(arguments), "")
    }

    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        outcome
    }

    /// Runs the command, which must fail, and returns the reason.
    #[track_caller]
    pub(crate) fn fail(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome:?}");
        let reason = outcome.stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("{outcome:?}"));
        reason.trim_end().to_owned()
    }

    /// Issues a key; returns it with its KEY-ID.
    #[track_caller]
    pub(crate) fn issue(&self, label: &str) -> (String, String) {
        let outcome = outcome(&self.command(&["key", "issue", "bots", "--label", label]).output().unwrap());
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!((keys_in(&outcome.stdout), keys_in(&outcome.stderr)), (1, 0), "{outcome:?}");
        let key = outcome.stdout.trim_end().to_owned();
        assert!(!format!("{:?}", self.rows()).contains(&key));
        let explained = run(&mut self.command(&["key", "explain", "-", "--json"]), &key);
        (key, explained.json()["key"]["id"].as_str().unwrap().to_owned())
    }
}

/// Runs the command with this input. The command must not print a key.
#[track_caller]
pub(crate) fn run(command: &mut Command, input: &str) -> Outcome {
    let outcome = outcome(&fed(command, input.as_bytes()));
    assert_eq!((keys_in(&outcome.stdout), keys_in(&outcome.stderr)), (0, 0), "{outcome:?}");
    outcome
}

fn outcome(output: &Output) -> Outcome {
    Outcome {
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// How many parts of the text look like keys.
pub(crate) fn keys_in(text: &str) -> usize {
    let is_long = |rest: &str| rest.bytes().take_while(u8::is_ascii_alphanumeric).count() > 8;
    text.split("gd_").skip(1).filter(|rest| is_long(rest)).count()
}

#[test]
fn the_table_is_that_of_the_template() {
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
    let template = std::fs::read_to_string(template).unwrap();
    let section = template.split("\n  Access:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let expected = "
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
        - {AttributeName: account, AttributeType: S}
      KeySchema:
        - {AttributeName: pk, KeyType: HASH}
      GlobalSecondaryIndexes:
        - IndexName: by-account
          KeySchema:
            - {AttributeName: account, KeyType: HASH}
            - {AttributeName: pk, KeyType: RANGE}
          Projection: {ProjectionType: ALL}
";
    assert!(section.contains(expected), "{section}");
}
