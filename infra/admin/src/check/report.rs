//! The report of a run: checks, which pass or fail, observations, which cannot fail, and latencies.

use std::fmt::Write as _;

use common::auth::without_keys;
use conformance::Mismatch;
use serde::Serialize;

use super::latency::{Latency, Row};
use crate::error::Error;
use crate::output::{Format, table, write};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// A promise of the API that was checked. Programs read these fields: their names do not change.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    outcome: Outcome,
    expected: Option<String>,
    received: Option<String>,
    /// Why the check was skipped.
    reason: Option<String>,
}

/// Behaviour of API Gateway.
#[derive(Debug, Serialize)]
struct Observation {
    name: &'static str,
    /// For programs: a word or a number.
    value: String,
    /// For people.
    text: String,
}

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    url: String,
    passed: usize,
    failed: usize,
    skipped: usize,
    checks: Vec<Check>,
    observations: Vec<Observation>,
    latency: Vec<Row>,
    /// How many requests were sent.
    requests: u32,
    /// How many of them were retried after a 429.
    throttled: u32,
}

impl Report {
    pub(super) fn new(url: &str) -> Self {
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

    /// Adds a check with its result.
    pub(super) fn check(&mut self, name: impl Into<String>, result: Result<(), Mismatch>) {
        let (outcome, count) = match &result {
            Ok(()) => (Outcome::Passed, &mut self.passed),
            Err(_) => (Outcome::Failed, &mut self.failed),
        };
        *count += 1;
        let mismatch = result.err();
        self.checks.push(Check {
            name: name.into(),
            outcome,
            expected: mismatch.as_ref().map(|mismatch| without_keys(&mismatch.expected)),
            received: mismatch.as_ref().map(|mismatch| without_keys(&mismatch.received)),
            reason: None,
        });
    }

    /// Adds a check that could not run.
    pub(super) fn skip(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.skipped += 1;
        self.checks.push(Check {
            name: name.into(),
            outcome: Outcome::Skipped,
            expected: None,
            received: None,
            reason: Some(reason.into()),
        });
    }

    /// Adds an observation.
    pub(super) fn observe(&mut self, name: &'static str, value: impl Into<String>, text: impl Into<String>) {
        self.observations.push(Observation { name, value: value.into(), text: without_keys(&text.into()) });
    }

    /// Adds the totals of the run.
    pub(super) fn finish(&mut self, latency: Latency, requests: u32, throttled: u32) {
        self.latency = latency.into_rows();
        self.requests = requests;
        self.throttled = throttled;
    }

    pub(super) fn has_failures(&self) -> bool {
        self.failed > 0
    }

    /// Writes the report to standard output.
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
            if let (Some(expected), Some(received)) = (&check.expected, &check.received) {
                let _ = writeln!(text, "      expected {expected}\n      received {received}");
            }
        }
        text.push('\n');
        for Observation { name, value, text: reason } in &self.observations {
            let _ = writeln!(text, "note  {name}: {value}\n      {reason}");
        }
        text.push('\n');
        let header = ["REQUEST (latencies in ms)", "FIRST", "REPEATED", "P50", "P90", "MAX"];
        text.push_str(&table(Some(header), self.latency.iter().map(Row::cells)));
        let retried = match self.throttled {
            0 => String::new(),
            throttled => format!(", {throttled} of them retried after a 429"),
        };
        let _ = write!(
            text,
            "\n\n{} passed, {} failed, {} skipped; {} requests{retried}\n",
            self.passed, self.failed, self.skipped, self.requests
        );
        text
    }
}
