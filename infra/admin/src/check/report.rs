//! What was found: checks, which pass or fail, observations, which only tell, and how long answers took.

use std::fmt::Write as _;

use common::auth::without_keys;
use serde::Serialize;

use super::latency::{Latency, Row};
use crate::answer::{Format, table, write};
use crate::error::Error;

/// Why a check failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// What should have come.
    pub(super) expected: String,
    /// What came.
    pub(super) came: String,
}

impl Failure {
    pub(super) fn new(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { expected: expected.into(), came: came.into() }
    }
}

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// A promise that was looked at. The names of fields are for good, and so are the names of checks.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    outcome: Outcome,
    expected: Option<String>,
    came: Option<String>,
    /// Why it was skipped.
    reason: Option<String>,
}

/// What was found out about the gateway.
#[derive(Debug, Serialize)]
struct Observation {
    name: &'static str,
    /// For programs: one of a few words, or a number.
    value: String,
    /// For people.
    text: String,
}

/// Everything that was found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    url: String,
    passed: usize,
    failed: usize,
    skipped: usize,
    checks: Vec<Check>,
    observations: Vec<Observation>,
    latency: Vec<Row>,
    /// How many requests were made.
    requests: u32,
    /// How many of them were made again because of a 429.
    throttled: u32,
}

impl Report {
    pub(super) fn of(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            passed: 0,
            failed: 0,
            skipped: 0,
            checks: Vec::new(),
            observations: Vec::new(),
            latency: Vec::new(),
            requests: 0,
            throttled: 0,
        }
    }

    /// Notes how a check ended.
    pub(super) fn check(&mut self, name: impl Into<String>, result: Result<(), Failure>) {
        let (outcome, failure) = match result {
            Ok(()) => (Outcome::Passed, None),
            Err(failure) => (Outcome::Failed, Some(failure)),
        };
        *if failure.is_some() { &mut self.failed } else { &mut self.passed } += 1;
        let (expected, came) = failure.map(|failure| (failure.expected, failure.came)).unzip();
        self.checks.push(Check {
            name: name.into(),
            outcome,
            expected: expected.as_deref().map(without_keys),
            came: came.as_deref().map(without_keys),
            reason: None,
        });
    }

    /// Notes that a check could not be made.
    pub(super) fn skip(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.skipped += 1;
        self.checks.push(Check {
            name: name.into(),
            outcome: Outcome::Skipped,
            expected: None,
            came: None,
            reason: Some(reason.into()),
        });
    }

    /// Notes what was seen.
    pub(super) fn observe(&mut self, name: &'static str, value: impl Into<String>, text: impl Into<String>) {
        self.observations.push(Observation { name, value: value.into(), text: without_keys(&text.into()) });
    }

    /// Notes what only the end shows.
    pub(super) fn finish(&mut self, latency: Latency, requests: u32, throttled: u32) {
        self.latency = latency.into_rows();
        self.requests = requests;
        self.throttled = throttled;
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// Writes everything to standard output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, format: Format) -> Result<(), Error> {
        write(format, || self.text(), self)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for check in &self.checks {
            let word = match check.outcome {
                Outcome::Passed => "pass",
                Outcome::Failed => "FAIL",
                Outcome::Skipped => "skip",
            };
            let _ = write!(text, "{word}  {}", check.name);
            if let Some(reason) = &check.reason {
                let _ = write!(text, ": {reason}");
            }
            text.push('\n');
            if let (Some(expected), Some(came)) = (&check.expected, &check.came) {
                let _ = writeln!(text, "      expected {expected}\n      came     {came}");
            }
        }
        text.push('\n');
        for Observation { name, value, text: reason } in &self.observations {
            let _ = writeln!(text, "seen  {name}: {value}\n      {reason}");
        }
        text.push('\n');
        let header = ["REQUEST (times in ms)", "FIRST", "AGAIN", "P50", "P90", "MAX"];
        text.push_str(&table(Some(header), self.latency.iter().map(Row::cells)));
        let again = match self.throttled {
            0 => String::new(),
            throttled => format!(", {throttled} of them made again after a 429"),
        };
        let _ = write!(
            text,
            "\n\n{} passed, {} failed, {} skipped; {} requests{again}\n",
            self.passed, self.failed, self.skipped, self.requests
        );
        text
    }
}
