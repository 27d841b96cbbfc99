//! A clock that tests can set, so that they need not wait for a refresh, an election or a fire sale.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// System time plus an adjustable offset, or a time that stands still. Clones share the offset or the time.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The offset from the system time, or the time itself if the clock stands still.
    offset_ms: Arc<AtomicI64>,
    stands_still: Arc<AtomicBool>,
}

impl Clock {
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Now, in Unix milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        let offset_ms = self.offset_ms.load(Ordering::Relaxed);
        if self.stands_still.load(Ordering::Relaxed) {
            return offset_ms;
        }
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        milliseconds(since_epoch).saturating_add(offset_ms)
    }

    /// Whether the clock shows the system's time: neither this clock nor a clone of it was changed.
    #[must_use]
    pub fn is_of_system(&self) -> bool {
        !self.stands_still.load(Ordering::Relaxed) && self.offset_ms.load(Ordering::Relaxed) == 0
    }

    /// Stops this clock and its clones at a time in Unix milliseconds: from now on only [`Clock::advance`]
    /// changes it.
    pub fn stop_at(&self, now_ms: i64) {
        self.stands_still.store(true, Ordering::Relaxed);
        self.offset_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Stops this clock and its clones at the time that they show.
    pub fn stop(&self) {
        self.stop_at(self.now_ms());
    }

    /// Sets this clock and its clones to a time in Unix milliseconds, from which they continue.
    pub fn set(&self, now_ms: i64) {
        self.stands_still.store(false, Ordering::Relaxed);
        let offset = now_ms.saturating_sub(Self::system().now_ms());
        self.offset_ms.store(offset, Ordering::Relaxed);
    }

    /// Advances this clock and its clones. Parts of a millisecond are dropped.
    pub fn advance(&self, by: Duration) {
        self.offset_ms.fetch_add(milliseconds(by), Ordering::Relaxed);
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
