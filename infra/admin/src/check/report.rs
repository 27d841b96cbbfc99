//! The report of a run: the checks, which pass, fail or are skipped.

use std::fmt::Write as _;

use common::auth::without_keys;
use conformance::Mismatch;
use serde::Serialize;

use super::judge::Verdict;
use crate::error::Error;
use crate::output::{Format, write};

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

/// Everything that a run found.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    url: String,
    passed: usize,
    failed: usize,
    skipped: usize,
    checks: Vec<Check>,
    /// How many requests were sent.
    requests: u32,
    /// How many of them were retried after a 429.
    throttled: u32,
}

impl Report {
    pub(super) fn new(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }

    /// Adds a check with its result.
    pub(super) fn check(&mut self, name: impl Into<String>, result: &Verdict) {
        let outcome = if result.is_ok() { Outcome::Passed } else { Outcome::Failed };
        self.add(name.into(), outcome, result.as_ref().err(), None);
    }

    /// Adds a check that could not run.
    pub(super) fn skip(&mut self, name: impl Into<String>, reason: &str) {
        self.add(name.into(), Outcome::Skipped, None, Some(reason.to_owned()));
    }

    fn add(&mut self, name: String, outcome: Outcome, mismatch: Option<&Mismatch>, reason: Option<String>) {
        let count = match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
        };
        *count += 1;
        let expected = mismatch.map(|mismatch| without_keys(&mismatch.expected));
        let received = mismatch.map(|mismatch| without_keys(&mismatch.received));
        self.checks.push(Check { name, outcome, expected, received, reason });
    }

    /// Adds the totals of the run.
    pub(super) fn finish(&mut self, requests: u32, throttled: u32) {
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
        let retried = match self.throttled {
            0 => String::new(),
            throttled => format!(", {throttled} of them retried after a 429"),
        };
        let _ = write!(
            text,
            "\n{} passed, {} failed, {} skipped; {} requests{retried}\n",
            self.passed, self.failed, self.skipped, self.requests
        );
        text
    }
}
