//! What came out of a storm.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use common::routes::VERSION_1;

use super::exchange::Exchange;
use super::past::Checked;
use super::query::Kind;
use super::verdict::Verdict;

/// After this many wrong responses, the storm ends early.
const ENOUGH: usize = 5;

#[derive(Debug, Default)]
pub(super) struct Summary {
    verdicts: BTreeMap<Verdict, u64>,
    by_function: BTreeMap<&'static str, [u64; 2]>,
    wrong: Vec<String>,
    slowest: (Duration, String),
    ticks: usize,
    points: usize,
    candles: usize,
    prices: usize,
    faults: BTreeMap<&'static str, u64>,
}

impl Summary {
    pub(super) fn add(&mut self, verdict: Verdict, exchange: &Exchange) {
        *self.verdicts.entry(verdict).or_default() += 1;
        let [good, failed] = self.by_function.entry(exchange.query.function).or_default();
        match verdict {
            Verdict::Right | Verdict::Stale => *good += 1,
            // A storm knows no complete interval in advance.
            Verdict::RightError if exchange.query.kind == Kind::NoCandles => *good += 1,
            Verdict::HonestFailure => *failed += 1,
            Verdict::RightError | Verdict::Throttled => {}
        }
        let waited = exchange.received.real - exchange.sent.real;
        if waited > self.slowest.0 {
            self.slowest = (waited, exchange.query.path.clone());
        }
    }

    pub(super) fn add_wrong(&mut self, reason: String) {
        self.wrong.push(reason);
    }

    /// Whether enough responses are wrong.
    pub(super) fn is_lost(&self) -> bool {
        self.wrong.len() >= ENOUGH
    }

    pub(super) fn add_history(&mut self, Checked { ticks, points, candles, prices }: Checked) {
        self.ticks += ticks;
        self.points += points;
        self.candles += candles;
        self.prices += prices;
    }

    pub(super) fn add_counts(&mut self, counts: &BTreeMap<&'static str, u64>) {
        for (kind, count) in counts {
            *self.faults.entry(kind).or_default() += count;
        }
    }

    /// Panics if something was wrong, or if the storm tested nothing.
    #[track_caller]
    pub(super) fn expect_good(&self, seed: u64) {
        let repeat = format!("Repeat with STORM_SEED={seed}.");
        assert!(
            self.wrong.is_empty(),
            "{} were wrong:\n{}\n{repeat}",
            self.wrong.len(),
            self.wrong.join("\n")
        );
        for (function, [good, _]) in &self.by_function {
            assert!(*good > 0, "no right response of {function}. {repeat}");
        }
        assert_eq!(self.by_function.len(), VERSION_1.len(), "every route was requested. {repeat}");
        let are_checked = [self.points, self.ticks, self.candles, self.prices].iter().all(|count| *count > 0);
        assert!(are_checked, "nothing was recorded. {repeat}");
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |verdict| self.verdicts.get(&verdict).copied().unwrap_or_default();
        writeln!(
            formatter,
            "responses: {} right, {} right and stale, {} right errors, {} throttled, {} honest failures, {} wrong",
            count(Verdict::Right),
            count(Verdict::Stale),
            count(Verdict::RightError),
            count(Verdict::Throttled),
            count(Verdict::HonestFailure),
            self.wrong.len(),
        )?;
        writeln!(formatter, "slowest: {:.1?} for {}", self.slowest.0, self.slowest.1)?;
        writeln!(
            formatter,
            "history: {} ticks, {} points, {} candles and {} prices checked",
            self.ticks, self.points, self.candles, self.prices
        )?;
        writeln!(formatter, "function: right, failed")?;
        for (function, [good, failed]) in &self.by_function {
            writeln!(formatter, "  {function}: {good}, {failed}")?;
        }
        writeln!(formatter, "trouble:")?;
        for (kind, count) in &self.faults {
            writeln!(formatter, "  {kind}: {count}")?;
        }
        Ok(())
    }
}
