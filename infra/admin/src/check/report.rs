//! The report of a run. Each check passes, fails or is skipped.

use std::fmt::Write as _;

use common::auth::without_keys;
use conformance::Mismatch;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Outcome {
    Passed,
    Failed { expected: String, received: String },
    Skipped { reason: String },
}

/// A promise of the API, and the outcome of its check. Programs read these fields, so their names do not
/// change.
#[derive(Serialize)]
struct Check {
    name: String,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    url: String,
    passed: usize,
    pub(super) failed: usize,
    skipped: usize,
    checks: Vec<Check>,
    pub(super) requests: u64,
}

impl Report {
    /// A report about the deployment at this URL.
    pub(super) fn of(url: &str) -> Self {
        Self { url: without_keys(url), ..Self::default() }
    }

    pub(super) fn add(&mut self, name: impl Into<String>, result: Result<(), Mismatch>) {
        let outcome = if let Err(Mismatch { expected, received }) = result {
            self.failed += 1;
            Outcome::Failed { expected: without_keys(&expected), received: without_keys(&received) }
        } else {
            self.passed += 1;
            Outcome::Passed
        };
        self.checks.push(Check { name: name.into(), outcome });
    }

    /// Adds a check that cannot run.
    pub(super) fn skip(&mut self, name: impl Into<String>, reason: &str) {
        self.skipped += 1;
        self.checks
            .push(Check { name: name.into(), outcome: Outcome::Skipped { reason: reason.to_owned() } });
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for Check { name, outcome } in &self.checks {
            let _ = match outcome {
                Outcome::Passed => writeln!(text, "pass  {name}"),
                Outcome::Failed { expected, received } => {
                    writeln!(text, "FAIL  {name}\n      expected {expected}\n      received {received}")
                }
                Outcome::Skipped { reason } => writeln!(text, "skip  {name}: {reason}"),
            };
        }
        let Self { passed, failed, skipped, requests, .. } = self;
        let _ = write!(text, "\n{passed} passed, {failed} failed, {skipped} skipped; {requests} requests");
        text
    }
}
