//! The progress of generating the past.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::logs::Logs;

/// The maximum number of attempts of each step, and the pause between them.
const ATTEMPTS: u32 = 10;
const BACKOFF: Duration = Duration::from_secs(1);

/// The parts of the past.
pub(super) const NEWEST_MINUTES: &str = "the newest minutes of the bazaar";
pub(super) const BAZAAR: &str = "minutes and candles of the bazaar";
pub(super) const AUCTIONS: &str = "candles and averages of auctions";
pub(super) const EVENTS: &str = "past mayors and fire sales";
pub(super) const NAMES: &str = "names of items";

pub(super) struct Progress {
    missing: Mutex<Vec<&'static str>>,
    failed: AtomicU64,
    begun: Instant,
    logs: Logs,
}

impl Progress {
    pub(super) fn new(logs: Logs) -> Self {
        let missing = vec![NEWEST_MINUTES, BAZAAR, AUCTIONS, EVENTS, NAMES];
        let failed = AtomicU64::new(0);
        let progress = Self { missing: Mutex::new(missing), failed, begun: Instant::now(), logs };
        // Logs all parts, because none is complete yet.
        progress.complete("");
        progress
    }

    /// Runs a step until it succeeds, at most [`ATTEMPTS`] times, and returns its result. Logs the last
    /// failure.
    pub(super) async fn retry<T, E: fmt::Display, F: Future<Output = Result<T, E>>>(
        &self,
        what: impl fmt::Display,
        step: impl Fn() -> F,
    ) -> Option<T> {
        for _ in 1..ATTEMPTS {
            if let Ok(result) = step().await {
                return Some(result);
            }
            tokio::time::sleep(BACKOFF).await;
        }
        let failed = |failure: &E| {
            self.failed.fetch_add(1, Ordering::Relaxed);
            self.logs.push(&format!("local: history: {what}: {failure}"));
        };
        step().await.inspect_err(failed).ok()
    }

    /// Marks a part as complete, and logs the missing parts.
    pub(super) fn complete(&self, part: &str) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.retain(|other| *other != part);
        let message = match (missing.is_empty(), self.failed.load(Ordering::Relaxed)) {
            (false, _) => format!("still missing: {}", missing.join(", ")),
            (true, 0) => format!("complete after {:.1} s", self.begun.elapsed().as_secs_f32()),
            (true, failed) => format!("{failed} ticks and intervals could not be recorded"),
        };
        self.logs.push(&format!("history: {message}"));
    }
}
