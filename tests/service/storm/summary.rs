//! What came out of a storm.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::past::Checked;
use super::verdict::{Exchange, Verdict};

/// After this many wrong responses, the storm ends early.
const ENOUGH: usize = 5;

/// The highest peak of resident memory (`VmHWM`) of each function, in KiB, in a storm of 420 s with development builds, before
/// unusable rows were left out. For `profile` it was 37,984 KiB; since then responses with unusable profiles are served and
/// cached, too, and a storm of 1,800 s has a peak of 51,944 KiB. Those of `bazaar-candles`, `record-candles` and `status` are from
/// storms of 30 s; `record-candles` has some room, because it takes more the more it has to catch up on.
const PEAKS: [(&str, u64); 17] = [
    ("auctions", 26_308),
    ("authorizer", 14_556),
    ("bazaar", 32_380),
    ("bazaar-candles", 15_400),
    ("bazaar-history", 15_072),
    ("collections", 10_928),
    ("fire-sales", 10_984),
    ("fire-sales-history", 14_672),
    ("items", 15_592),
    ("mayor", 10_712),
    ("mayor-history", 14_860),
    ("profile", 43_500),
    ("record-bazaar", 26_804),
    ("record-candles", 24_000),
    ("record-fire-sales", 15_388),
    ("record-mayor", 15_204),
    ("status", 14_900),
];

/// How much more a function may take, in per cent.
const TOLERANCE: u64 = 20;

/// What each further request at the same time may take, in KiB: a body, and what is made of it.
const REQUEST_KIB: u64 = 4 * 1_024;

#[derive(Debug, Default)]
pub(super) struct Summary {
    verdicts: BTreeMap<Verdict, u64>,
    by_function: BTreeMap<&'static str, [u64; 2]>,
    wrong: Vec<String>,
    slowest: (Duration, String),
    /// The longest that timers were late during a request.
    stalled: Duration,
    ticks: usize,
    points: usize,
    candles: usize,
    faults: BTreeMap<&'static str, u64>,
    peaks: BTreeMap<String, u64>,
}

impl Summary {
    pub(super) fn add(&mut self, verdict: Verdict, exchange: &Exchange) {
        *self.verdicts.entry(verdict).or_default() += 1;
        let [good, failed] = self.by_function.entry(exchange.query.function).or_default();
        match verdict {
            Verdict::Right | Verdict::Stale => *good += 1,
            Verdict::HonestFailure => *failed += 1,
            Verdict::RightError | Verdict::Throttled => {}
        }
        self.stalled = self.stalled.max(exchange.stalled);
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

    pub(super) fn add_history(&mut self, Checked { ticks, points, candles }: Checked) {
        self.ticks += ticks;
        self.points += points;
        self.candles += candles;
    }

    pub(super) fn add_counts(&mut self, counts: &BTreeMap<&'static str, u64>) {
        for (kind, count) in counts {
            *self.faults.entry(kind).or_default() += count;
        }
    }

    pub(super) fn set_peaks(&mut self, peaks: BTreeMap<String, u64>) {
        self.peaks = peaks;
    }

    /// Panics if something was wrong, if a function took too much memory, or if the storm tested nothing.
    #[track_caller]
    pub(super) fn expect_good(&self, seed: u64, requests_per_instance: u8) {
        let repeat = format!("Repeat with STORM_SEED={seed}.");
        assert!(
            self.wrong.is_empty(),
            "{} were wrong:\n{}\n{repeat}",
            self.wrong.len(),
            self.wrong.join("\n")
        );
        for (function, usual) in PEAKS {
            let peak = self.peaks.get(function).copied().unwrap_or_default();
            let others = u64::from(requests_per_instance - 1) * REQUEST_KIB;
            let bound = usual * (100 + TOLERANCE) / 100 + others;
            assert!(peak <= bound, "{function} took {peak} KiB of {bound} KiB. {repeat}");
        }
        for (function, [good, _]) in &self.by_function {
            assert!(*good > 0, "no right response of {function}. {repeat}");
        }
        assert_eq!(self.by_function.len(), 12, "every route was requested. {repeat}");
        assert!(self.points > 0 && self.ticks > 0 && self.candles > 0, "nothing was recorded. {repeat}");
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
        writeln!(formatter, "longest delay of timers during a request: {:.1?}", self.stalled)?;
        writeln!(
            formatter,
            "history: {} ticks, {} points and {} candles checked",
            self.ticks, self.points, self.candles
        )?;
        writeln!(formatter, "function: right, failed, peak in KiB")?;
        for (function, peak) in &self.peaks {
            let [good, failed] = self.by_function.get(function.as_str()).copied().unwrap_or_default();
            writeln!(formatter, "  {function}: {good}, {failed}, {peak}")?;
        }
        writeln!(formatter, "trouble:")?;
        for (kind, count) in &self.faults {
            writeln!(formatter, "  {kind}: {count}")?;
        }
        Ok(())
    }
}
