//! Pauses after failed fetches. During a pause, requests do not fetch, so a failing source does not get every
//! request.
//!
//! A key pauses after its own failure. The whole source pauses after failures of three different keys in a
//! row. A key that always fails therefore pauses no other key. If all keys are parts of one resource, they
//! pause together.

use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroUsize;
use std::time::Duration;

use lru::LruCache;

use crate::time::UnixMilliseconds;

/// The first pause. The pause after each further failure is twice as long.
const FIRST: Duration = Duration::from_secs(1);
/// The length of the longest pause, in TTLs.
const LONGEST_TTLS: u32 = 2;
/// The length of the longest pause, whatever the TTL.
const LONGEST: Duration = Duration::from_secs(30);

/// A pause is randomly shortened by at most this share, so that instances that failed at the same time do not
/// fetch again at the same time.
const JITTER: f64 = 0.25;

/// After failures of this many different keys in a row, the whole source pauses.
const FAILED_KEYS: usize = 3;

/// The maximum number of keys whose failures are remembered, which bounds the memory.
const KEYS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

#[derive(Debug)]
pub(super) struct Pauses {
    longest: Duration,
    /// Whether all keys pause together.
    pub(super) are_shared: bool,
    hasher: RandomState,
    /// The pause of each key, by the hash of the key. The oldest failure is forgotten first.
    by_key: LruCache<u64, Pause>,
    /// The hashes of different keys that failed in a row, since the last success. At most `FAILED_KEYS`.
    in_a_row: Vec<u64>,
    /// The pause of the whole source.
    whole: Option<Pause>,
}

/// The pause after a failure.
#[derive(Debug)]
struct Pause {
    began_at: UnixMilliseconds,
    /// The length before it is randomly shortened.
    full: Duration,
    length: Duration,
    /// The failure that caused the pause, for the log.
    cause: String,
}

impl Pauses {
    pub(super) fn new(ttl: Duration) -> Self {
        let hasher = RandomState::new();
        let by_key = LruCache::new(KEYS);
        let longest = ttl.saturating_mul(LONGEST_TTLS).min(LONGEST);
        Self { longest, are_shared: false, hasher, by_key, in_a_row: Vec::new(), whole: None }
    }

    /// Returns how long the key still pauses at the time `now`, alone or with the whole source, and the
    /// failure that caused the pause.
    pub(super) fn rest(&self, key: &impl Hash, now: UnixMilliseconds) -> Option<(Duration, &str)> {
        let rests = self.pauses_of(key).filter_map(|pause| Some((pause.rest(now)?, pause.cause.as_str())));
        rests.max_by_key(|(rest, _)| *rest)
    }

    /// Whether the key or the whole source failed recently and has not succeeded since.
    pub(super) fn is_failing(&self, key: &impl Hash, now: UnixMilliseconds) -> bool {
        self.pauses_of(key).any(|pause| pause.is_recent(now, self.longest))
    }

    /// Notes that the fetch that began at the time `now` failed at `failed_at`. The key does not pause for
    /// longer than `at_most`.
    pub(super) fn note_failure(
        &mut self,
        key: &impl Hash,
        now: UnixMilliseconds,
        failed_at: UnixMilliseconds,
        at_most: Duration,
        cause: &str,
    ) {
        let hash = self.hash(key);
        let longest = self.longest;
        let earlier = self.by_key.peek(&hash).filter(|pause| pause.is_recent(now, longest));
        let pause = Pause::after(earlier, failed_at, longest, cause);
        self.by_key.put(hash, Pause { length: pause.length.min(at_most), ..pause });
        let is_recent =
            |failed: &u64| self.by_key.peek(failed).is_some_and(|pause| pause.is_recent(now, longest));
        self.in_a_row.retain(|failed| *failed != hash && is_recent(failed));
        self.in_a_row.push(hash);
        if self.in_a_row.len() >= FAILED_KEYS {
            let earlier = self.whole.as_ref().filter(|pause| pause.is_recent(now, longest));
            self.whole = Some(Pause::after(earlier, failed_at, longest, cause));
            self.in_a_row.truncate(FAILED_KEYS);
        }
    }

    /// Notes that a fetch for the key succeeded.
    pub(super) fn note_success(&mut self, key: &impl Hash) {
        self.by_key.pop(&self.hash(key));
        self.in_a_row.clear();
        self.whole = None;
    }

    fn hash(&self, key: &impl Hash) -> u64 {
        if self.are_shared { 0 } else { self.hasher.hash_one(key) }
    }

    fn pauses_of(&self, key: &impl Hash) -> impl Iterator<Item = &Pause> {
        self.by_key.peek(&self.hash(key)).into_iter().chain(&self.whole)
    }
}

impl Pause {
    /// Returns the pause after a failure at the time `began_at`. `earlier` is the pause after the previous
    /// failure; `None` for the first failure of a row.
    fn after(earlier: Option<&Self>, began_at: UnixMilliseconds, longest: Duration, cause: &str) -> Self {
        let full = earlier.map_or(FIRST, |earlier| earlier.full.saturating_mul(2)).min(longest);
        let length = full.mul_f64(1.0 - JITTER * fastrand::f64());
        Self { began_at, full, length, cause: cause.to_owned() }
    }

    /// Returns the rest of the pause at the time `now`. A failed fetch takes a while, so a request whose
    /// event is from just before the failure also pauses. A failure in an event from far in the future must
    /// not pause the present.
    fn rest(&self, now: UnixMilliseconds) -> Option<Duration> {
        let distance = self.began_at.distance(now);
        let elapsed = if now < self.began_at && distance <= LONGEST { Duration::ZERO } else { distance };
        self.length.checked_sub(elapsed).filter(|rest| !rest.is_zero())
    }

    /// Whether a failure at the time `now` continues the row of failures of this pause. After a longer time
    /// without failures, a new row begins.
    fn is_recent(&self, now: UnixMilliseconds, longest: Duration) -> bool {
        self.began_at.distance(now) <= longest * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_for_failures_is_bounded() {
        let mut pauses = Pauses::new(LONGEST);
        let now = UnixMilliseconds::new(1_777_388_600_000);
        for key in 0..10_000 {
            pauses.note_failure(&key, now, now, LONGEST, "it failed");
        }
        assert_eq!((pauses.by_key.len(), pauses.in_a_row.len()), (KEYS.get(), FAILED_KEYS));
        assert_eq!(pauses.rest(&0, now).unwrap().1, "it failed");
    }
}
