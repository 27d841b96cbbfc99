//! A clock that tests can set, so that they need not wait for a refresh, an election or a fire sale.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// System time plus an adjustable offset. Clones share the offset.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_ms: Arc<AtomicI64>,
}

impl Clock {
    /// A clock with system time.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Now, in Unix milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        milliseconds(since_epoch).saturating_add(self.offset_ms.load(Ordering::Relaxed))
    }

    /// Sets this clock and its clones to a time in Unix milliseconds, from which they continue.
    pub fn set(&self, now_ms: i64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_offset() {
        let clock = Clock::system();
        let before = clock.now_ms();
        clock.clone().advance(Duration::from_hours(1));
        let moved = clock.now_ms() - before;
        assert!((3_600_000..3_660_000).contains(&moved), "{moved}");
    }

    #[test]
    fn a_clock_continues_from_the_time_it_is_set_to() {
        let clock = Clock::system();
        for moment in [1_000_000_000_000, 4_000_000_000_000] {
            clock.clone().set(moment);
            assert!((moment..moment + 60_000).contains(&clock.now_ms()));
        }
    }
}
