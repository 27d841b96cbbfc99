//! A cache whose entries expire by the cloud's clock.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use simulator::Clock;

/// The maximum number of entries; the least recently used are dropped. An AWS account can have the same
/// number of API keys.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

pub(super) struct ExpiringCache<Key, Value> {
    entries: Mutex<LruCache<Key, Entry<Value>>>,
    clock: Clock,
}

struct Entry<Value> {
    value: Value,
    stored_at_ms: i64,
    ttl: Duration,
}

impl<Key: Hash + Eq, Value: Clone> ExpiringCache<Key, Value> {
    pub(super) fn new(clock: Clock) -> Self {
        Self { entries: Mutex::new(LruCache::new(CAPACITY)), clock }
    }

    /// The value of the key, unless it is expired. If the clock was set back, values from the future count as
    /// expired.
    pub(super) fn get(&self, key: &Key) -> Option<Value> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(key)?;
        let age_ms = u64::try_from(self.clock.now_ms().saturating_sub(entry.stored_at_ms)).ok();
        if age_ms.is_some_and(|age_ms| Duration::from_millis(age_ms) < entry.ttl) {
            return Some(entry.value.clone());
        }
        entries.pop(key);
        None
    }

    pub(super) fn put(&self, key: Key, value: Value, ttl: Duration) {
        let entry = Entry { value, stored_at_ms: self.clock.now_ms(), ttl };
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).put(key, entry);
    }
}
