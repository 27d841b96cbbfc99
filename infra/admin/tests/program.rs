//! The program without a cloud. The helpers search all output for keys.

use std::process::{Command, Output};

use serde_json::Value;

use crate::dynamodb::{self, fed};

/// A key that was not issued. Its KEY-ID follows.
pub(crate) const UNKNOWN_KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
pub(crate) const UNKNOWN_ID: &str = "95f291419f81e24891fed21a";

/// An address at which nothing listens.
pub(crate) const NOWHERE: &str = "http://127.0.0.1:9";

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
}

/// The program for a local cloud that is not running.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = dynamodb::command(NOWHERE, arguments);
    command.env("AWS_ENDPOINT_URL_LAMBDA", NOWHERE);
    command
}

/// Runs the command with this input. The command must not print a key.
#[track_caller]
pub(crate) fn run(command: &mut Command, input: &str) -> Outcome {
    let Output { status, stdout, stderr } = fed(command, input.as_bytes());
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    let outcome = Outcome { stdout, stderr, code: status.code().unwrap() };
    assert!(!has_key(&outcome.stdout) && !has_key(&outcome.stderr), "{outcome:?}");
    outcome
}

/// Whether a part of the text looks like a key.
fn has_key(text: &str) -> bool {
    let is_long = |rest: &str| rest.bytes().take_while(u8::is_ascii_alphanumeric).count() > 8;
    text.split("gd_").skip(1).any(is_long)
}
