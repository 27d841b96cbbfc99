//! What belongs to one invocation and to no other: its moment, how long it may take, and what it has spent waiting.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::UnixMilliseconds;

/// All upstream requests of an invocation together, retries included, get this long.
const UPSTREAM_TIMEOUT: Duration = Duration::from_secs(8);

/// What is left between the last upstream answer and the function's own deadline, to shape and write an answer.
const SHAPING_TIME: Duration = Duration::from_millis(500);

/// One invocation of a function.
#[derive(Debug)]
pub struct Invocation {
    now: UnixMilliseconds,
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
        Self { now, upstream_deadline, upstream_time: Cell::new(Duration::ZERO), retried: RefCell::new(None) }
    }

    /// The moment that the event carries: what counts as "now".
    #[must_use]
    pub const fn now(&self) -> UnixMilliseconds {
        self.now
    }

    /// When every upstream request must have ended.
    #[must_use]
    pub const fn upstream_deadline(&self) -> Instant {
        self.upstream_deadline
    }

    /// Adds to the time that this invocation has waited for upstreams.
    pub fn add_upstream_time(&self, spent: Duration) {
        self.upstream_time.set(self.upstream_time.get() + spent);
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

    /// How long this invocation has waited for upstreams so far.
    #[must_use]
    pub const fn upstream_time(&self) -> Duration {
        self.upstream_time.get()
    }
}
