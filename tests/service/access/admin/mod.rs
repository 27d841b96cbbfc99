//! `cargo admin account` and `cargo admin key` as operators run them, on a local cloud. No command prints a
//! key, except `key issue`. `tests/emulator` runs them on a stack.

mod accounts;
mod explained;
mod exported;
mod issued;
mod refused;
mod revoked;
mod works;

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use local::Cloud;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::rows::{key_row, of_account, put, with};
use crate::support::{cargo, expect_clean_logs, one_instance_each, start_with};

/// A key that was not issued. Its KEY-ID and its SHA-256 follow.
const UNKNOWN_KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
const UNKNOWN_ID: &str = "95f291419f81e24891fed21a";
const UNKNOWN_DIGEST: &str = "95f291419f81e24891fed21a80a0fd7257ff4b302889026618c65d4d2d2e11b1";

/// A local cloud, and the program that manages its accounts.
struct Access {
    cloud: Cloud,
    program: PathBuf,
}

/// The output and exit code of a command.
#[derive(Debug)]
struct Outcome {
    stdout: String,
    stderr: String,
    code: i32,
}

impl Outcome {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The words of each line on standard output.
    fn words(&self) -> Vec<Vec<&str>> {
        self.stdout.lines().map(|line| line.split_whitespace().collect()).collect()
    }

    #[track_caller]
    fn expect_keys(&self, on_standard_output: usize) {
        let keys = (keys_in(&self.stdout), keys_in(&self.stderr));
        assert_eq!(keys, (on_standard_output, 0), "{self:?}");
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        Self { stdout, stderr, code: output.status.code().unwrap() }
    }
}

/// How many parts of the text look like keys.
fn keys_in(text: &str) -> usize {
    let is_long = |rest: &str| rest.bytes().take_while(u8::is_ascii_alphanumeric).count() > 8;
    text.split("gd_").skip(1).filter(|rest| is_long(rest)).count()
}

/// Returns the program, which `cargo admin` builds once.
async fn program() -> PathBuf {
    static BUILT: OnceCell<()> = OnceCell::const_new();
    BUILT
        .get_or_init(|| async {
            let output = cargo("admin", &["--version"]).output().await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        })
        .await;
    std::env::current_exe().unwrap().parent().unwrap().with_file_name("admin")
}

impl Access {
    async fn start() -> Self {
        Self { cloud: start_with(one_instance_each()).await, program: program().await }
    }

    /// Starts with the paying account `bots`.
    async fn with_bots() -> Self {
        let access = Self::start().await;
        access.succeed(&["account", "set", "bots", "--tier", "starter", "--paid-until", "2200-01-01"]).await;
        access
    }

    /// The program for this cloud, with no other configuration of AWS.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().env("AWS_ENDPOINT_URL_LAMBDA", self.cloud.lambda_url());
        command
    }

    /// Runs the command with this input.
    async fn output(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let write = async {
            // The program may exit before it has read everything.
            let _ = stdin.write_all(input.as_bytes()).await;
            drop(stdin);
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), write);
        output.unwrap().into()
    }

    /// Runs the command with this input. The command must not print a key.
    async fn run_with(&self, arguments: &[&str], input: &str) -> Outcome {
        let outcome = self.output(arguments, input).await;
        outcome.expect_keys(0);
        outcome
    }

    async fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, "").await
    }

    async fn succeed(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.run(arguments).await;
        assert_eq!(outcome.code, 0, "{outcome:?}");
        outcome
    }

    /// Runs the command, which must fail, and returns the reason.
    async fn fail(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome:?}");
        let reason = outcome.stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("{outcome:?}"));
        reason.trim_end().to_owned()
    }

    /// Issues a key to `bots`; returns it with its KEY-ID.
    async fn issue(&self, label: &str) -> (String, String) {
        let outcome = self.output(&["key", "issue", "bots", "--label", label], "").await;
        assert_eq!(outcome.code, 0, "{outcome:?}");
        outcome.expect_keys(1);
        let key = outcome.stdout.trim_end().to_owned();
        assert!(!format!("{:?}", self.rows().await).contains(&key));
        let explained = self.run_with(&["key", "explain", "-", "--json"], &key).await;
        (key, explained.json()["key"]["id"].as_str().unwrap().to_owned())
    }

    /// The rows of `bots` and of its keys, in order. The rows of requests, which expire, are left out.
    async fn rows(&self) -> Vec<Value> {
        let mut rows = of_account(&self.cloud, "bots").await;
        rows.retain(|row| !row["pk"]["S"].as_str().unwrap().starts_with("request#"));
        rows.sort_by_key(|row| row["pk"]["S"].as_str().unwrap().to_owned());
        rows
    }

    async fn key_rows(&self) -> Vec<Value> {
        let mut rows = self.rows().await;
        rows.retain(|row| row["pk"]["S"].as_str().unwrap().starts_with("key#"));
        rows
    }

    /// Stores the row of [`UNKNOWN_KEY`] with this label and the attributes `more`.
    async fn put_key(&self, label: &str, more: &[(&str, Value)]) {
        let row = key_row(&UNKNOWN_KEY.parse().unwrap(), "bots");
        let labelled = with(&row, "label", json!({"S": label}));
        let row = more.iter().fold(labelled, |row, (name, value)| with(&row, name, value.clone()));
        put(&self.cloud, &row).await;
    }

    /// Stores the row of [`UNKNOWN_KEY`], which was revoked at 2025-10-09T08:53:20Z.
    async fn put_revoked_key(&self, label: &str) {
        let end = [("ends_at", json!({"N": "1760000000"})), ("revoked", json!({"BOOL": true}))];
        self.put_key(label, &end).await;
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            expect_clean_logs(&self.cloud);
        }
    }
}

/// A path of a new file for one test.
fn path(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("admin-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}
