//! The result of a storm.

use std::collections::BTreeMap;
use std::time::Duration;

use common::routes::{Reads, VERSION_1};

use super::cloud::Exchange;
use super::query::Kind;
use super::verdict::Verdict;

#[derive(Debug, Default)]
pub(super) struct Summary {
    verdicts: BTreeMap<Verdict, u64>,
    /// The number of right responses by function.
    right: BTreeMap<&'static str, u64>,
    pub(super) wrong: Vec<String>,
    slowest: (Duration, String),
    /// The number of points of the bazaar that the check after the storm compared.
    pub(super) points: usize,
    pub(super) trouble: BTreeMap<String, u64>,
}

impl Summary {
    pub(super) fn add(&mut self, verdict: Verdict, exchange: &Exchange) {
        *self.verdicts.entry(verdict).or_default() += 1;
        let right = self.right.entry(exchange.query.route.function).or_default();
        let is_unknown = verdict == Verdict::RightError && exchange.query.kind == Kind::Unknown;
        *right += u64::from(is_unknown || matches!(verdict, Verdict::Right | Verdict::Stale));
        let waited = exchange.received.real - exchange.sent.real;
        if waited > self.slowest.0 {
            self.slowest = (waited, exchange.query.path.clone());
        }
    }

    /// Panics if a response was wrong, or if the storm tested too little.
    #[track_caller]
    pub(super) fn expect_good(&self, seed: u64) {
        let repeat = format!("Repeat with STORM_SEED={seed}.");
        let Self { right, wrong, points, .. } = self;
        assert!(wrong.is_empty(), "{} checks failed:\n{}\n{repeat}", wrong.len(), wrong.join("\n"));
        let requested = VERSION_1.into_iter().filter(|route| route.reads != Reads::Account);
        assert_eq!(right.len(), requested.count(), "a route was not requested. {repeat}");
        assert!(right.values().all(|count| *count > 0), "no right response: {right:?}. {repeat}");
        assert!(*points > 0, "nothing was recorded. {repeat}");
    }
}
