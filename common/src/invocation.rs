//! The state of one invocation: its time, its deadlines, and its waiting time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::UnixMilliseconds;

/// The time limit for all requests to upstreams and all table queries that a client waits for, together and
/// with retries. Each attempt of a recorder has a new time limit.
const UPSTREAM_TIMEOUT: Duration = Duration::from_secs(8);

/// The time before the deadline that is reserved for writing the response.
const RESERVED_TIME: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Invocation {
    now: UnixMilliseconds,
    deadline: Instant,
    upstream_deadline: Instant,
    waits: Arc<Waits>,
}

/// The waiting times and retries of all attempts of an invocation.
#[derive(Debug, Default)]
struct Waits {
    upstream_nanoseconds: AtomicU64,
    retried: Mutex<Option<String>>,
    is_retry_forbidden: AtomicBool,
    /// The largest `Age` of a response in seconds, plus 1; 0 if no response has an `Age`.
    age_plus_1: AtomicU64,
    /// The `Age` of the latest response in seconds; 0 if it has none.
    latest_age: AtomicU64,
}

impl Invocation {
    /// Returns an invocation that starts now, has the time `now` of its event, and must end before
    /// `deadline`.
    #[must_use]
    pub fn new(now: UnixMilliseconds, deadline: Instant) -> Self {
        let latest = deadline.checked_sub(RESERVED_TIME).unwrap_or(deadline);
        let upstream_deadline = latest.min(Instant::now() + UPSTREAM_TIMEOUT);
        Self { now, deadline: latest, upstream_deadline, waits: Arc::default() }
    }

    /// Returns the same invocation for a further attempt, which starts now, `elapsed` after the start of the
    /// first attempt. The upstream requests of the attempt have a new time limit, and end before `latest`.
    #[must_use]
    pub fn next_attempt(&self, elapsed: Duration, latest: Instant) -> Self {
        Self {
            now: self.now.plus(elapsed),
            deadline: self.deadline,
            upstream_deadline: latest.min(Instant::now() + UPSTREAM_TIMEOUT),
            waits: Arc::clone(&self.waits),
        }
    }

    /// The time of the event. Everything that depends on the current time uses this time.
    #[must_use]
    pub const fn now(&self) -> UnixMilliseconds {
        self.now
    }

    /// The deadline for everything that this invocation waits for.
    #[must_use]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The deadline for requests to upstreams, and for queries of tables that a client waits for.
    #[must_use]
    pub const fn upstream_deadline(&self) -> Instant {
        self.upstream_deadline
    }

    /// Awaits `future`, and adds the time that it takes to the waiting time of this invocation.
    pub async fn waiting_for<T>(&self, future: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let result = future.await;
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waits.upstream_nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        result
    }

    /// Forbids immediate retries of this invocation's requests, because the upstream has just failed.
    pub fn never_retry(&self) {
        self.waits.is_retry_forbidden.store(true, Ordering::Relaxed);
    }

    /// Whether a failed request may be retried immediately.
    #[must_use]
    pub fn may_retry(&self) -> bool {
        !self.waits.is_retry_forbidden.load(Ordering::Relaxed)
    }

    /// Notes that a request was retried, and why.
    pub fn note_retry(&self, cause: String) {
        *self.waits.retried.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause);
    }

    /// Returns the cause of the last retry, if there was one.
    #[must_use]
    pub fn retried(&self) -> Option<String> {
        self.waits.retried.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes the `Age` of an upstream's response, in seconds, if it has one.
    pub fn note_age(&self, age: Option<u64>) {
        self.waits.latest_age.store(age.unwrap_or_default(), Ordering::Relaxed);
        self.waits.age_plus_1.fetch_max(age.map_or(0, |age| age.saturating_add(1)), Ordering::Relaxed);
    }

    /// Returns the largest `Age` of the upstream responses in seconds; `None` if no response has an `Age`.
    /// The `Age` of a response is the time for which a cache on the way has held the response.
    #[must_use]
    pub fn upstream_age(&self) -> Option<u64> {
        self.waits.age_plus_1.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Returns the `Age` of the latest response of an upstream; zero if it has none.
    #[must_use]
    pub fn latest_age(&self) -> Duration {
        Duration::from_secs(self.waits.latest_age.load(Ordering::Relaxed))
    }

    /// Returns how long this invocation has waited for upstreams and tables.
    #[must_use]
    pub fn upstream_time(&self) -> Duration {
        Duration::from_nanos(self.waits.upstream_nanoseconds.load(Ordering::Relaxed))
    }
}
