//! The progress of generating history.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::logs::Logs;

/// The attempts of each step, and the backoff between them.
const ATTEMPTS: u32 = 10;
const BACKOFF: Duration = Duration::from_secs(1);

/// The progress of generating history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The number of finished steps: ticks, minutes and slots of candles.
    pub done: u64,
    /// The number of all steps.
    pub total: u64,
    /// What is still missing, whenever that changes; a message about the whole when nothing is.
    pub message: Option<String>,
}

/// Receives each step of the progress.
pub type ProgressSink = Arc<dyn Fn(&Progress) + Send + Sync>;

/// A part of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Minutes,
    Candles,
    Auctions,
    Events,
}

impl Part {
    const ALL: [Self; 4] = [Self::Minutes, Self::Candles, Self::Auctions, Self::Events];

    const fn name(self) -> &'static str {
        match self {
            Self::Minutes => "the last hour of the bazaar",
            Self::Candles => "older candles of the bazaar",
            Self::Auctions => "candles and averages of auctions",
            Self::Events => "past mayors and fire sales",
        }
    }
}

/// The state of generating history.
pub(super) struct State {
    total: u64,
    done: AtomicU64,
    failed: AtomicU64,
    missing: Mutex<Vec<Part>>,
    begun: Instant,
    logs: Logs,
    progress: Option<ProgressSink>,
}

impl State {
    pub(super) fn new(total: u64, logs: Logs, progress: Option<ProgressSink>) -> Self {
        let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        let missing = Mutex::new(Part::ALL.to_vec());
        let state = Self { total, done, failed, missing, begun: Instant::now(), logs, progress };
        state.report(0, Some(missing_parts(&Part::ALL)));
        state
    }

    /// Logs a message.
    pub(super) fn log(&self, message: &str) {
        self.logs.push(message);
    }

    /// Runs a step until it succeeds, a few times, and logs its last failure.
    pub(super) async fn retry<T, E: fmt::Display, F: Future<Output = Result<T, E>>>(
        &self,
        what: String,
        step: impl Fn() -> F,
    ) {
        for attempt in 1..=ATTEMPTS {
            match step().await {
                Ok(_) => return,
                Err(failure) if attempt == ATTEMPTS => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    self.logs.push(&format!("local: history: {what}: {failure}"));
                }
                Err(_) => tokio::time::sleep(BACKOFF).await,
            }
        }
    }

    /// Notes that this many steps are finished.
    pub(super) fn advance(&self, finished: u64) {
        self.report(self.done.fetch_add(finished, Ordering::Relaxed) + finished, None);
    }

    /// Notes that a part is complete, and says what is still missing.
    pub(super) fn complete(&self, part: Part) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.retain(|other| *other != part);
        let message = match (missing.is_empty(), self.failed.load(Ordering::Relaxed)) {
            (false, _) => missing_parts(&missing),
            (true, 0) => format!("history: complete after {:.1} s", self.begun.elapsed().as_secs_f32()),
            (true, failed) => {
                format!("history: {failed} of {} ticks and intervals could not be recorded", self.total)
            }
        };
        self.report(self.done.load(Ordering::Relaxed), Some(message));
    }

    fn report(&self, done: u64, message: Option<String>) {
        if let Some(progress) = &self.progress {
            progress(&Progress { done, total: self.total, message });
        }
    }
}

fn missing_parts(parts: &[Part]) -> String {
    let names: Vec<_> = parts.iter().map(|part| part.name()).collect();
    format!("history: still missing: {}", names.join(", "))
}
