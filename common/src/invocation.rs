//! What belongs to one invocation and to no other: its moment, how long it may take, and what it has spent waiting.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::UnixMilliseconds;

/// All upstream requests of an invocation together, retries included, get this long.
const UPSTREAM_TIMEOUT: Duration = Duration::from_secs(8);

/// What is left between the last answer from elsewhere and the function's own deadline, to shape and write an answer.
const SHAPING_TIME: Duration = Duration::from_millis(500);

/// One invocation of a function.
#[derive(Debug)]
pub struct Invocation {
    now: UnixMilliseconds,
    deadline: Instant,
    upstream_deadline: Instant,
    upstream_time: Cell<Duration>,
    retried: RefCell<Option<String>>,
}

impl Invocation {
    /// An invocation that begins here, is about the moment `now`, and must have ended before `deadline`.
    #[must_use]
    pub fn new(now: UnixMilliseconds, deadline: Instant) -> Self {
        let latest = deadline.checked_sub(SHAPING_TIME).unwrap_or(deadline);
        let upstream_deadline = latest.min(Instant::now() + UPSTREAM_TIMEOUT);
        Self {
            now,
            deadline: latest,
            upstream_deadline,
            upstream_time: Cell::new(Duration::ZERO),
            retried: RefCell::new(None),
        }
    }

    /// The moment that the event carries: what counts as "now".
    #[must_use]
    pub const fn now(&self) -> UnixMilliseconds {
        self.now
    }

    /// When everything that this invocation waits for must have ended.
    #[must_use]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// When every upstream request must have ended.
    #[must_use]
    pub const fn upstream_deadline(&self) -> Instant {
        self.upstream_deadline
    }

    /// What `answer` brings; the time that it takes counts as waiting.
    pub async fn waiting_for<T>(&self, answer: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let answer = answer.await;
        self.upstream_time.set(self.upstream_time.get() + start.elapsed());
        answer
    }

    /// Notes that an upstream was asked once more, and why.
    pub fn note_retry(&self, cause: String) {
        self.retried.replace(Some(cause));
    }

    /// Why an upstream was asked once more, if one was.
    #[must_use]
    pub fn retried(&self) -> Option<String> {
        self.retried.borrow().clone()
    }

    /// How long this invocation has waited so far, for upstreams and tables.
    #[must_use]
    pub const fn upstream_time(&self) -> Duration {
        self.upstream_time.get()
    }
}
