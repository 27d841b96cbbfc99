//! The progress of generating history.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// A message, when everything is complete.
    pub message: Option<String>,
}

/// Receives each step of the progress.
pub type ProgressSink = Arc<dyn Fn(&Progress) + Send + Sync>;

/// The state of generating history.
pub(super) struct State {
    total: u64,
    done: AtomicU64,
    failed: AtomicU64,
    begun: Instant,
    logs: Logs,
    progress: Option<ProgressSink>,
}

impl State {
    pub(super) fn new(total: u64, logs: Logs, progress: Option<ProgressSink>) -> Self {
        let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { total, done, failed, begun: Instant::now(), logs, progress }
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
        let done = self.done.fetch_add(finished, Ordering::Relaxed) + finished;
        let total = self.total;
        let message = (done == total && finished > 0).then(|| match self.failed.load(Ordering::Relaxed) {
            0 => format!("history: complete after {:.1} s", self.begun.elapsed().as_secs_f32()),
            failed => format!("history: {failed} of {total} ticks and intervals could not be recorded"),
        });
        if let Some(progress) = &self.progress {
            progress(&Progress { done, total, message });
        }
    }
}
