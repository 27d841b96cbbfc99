//! The values of a cache, bounded in bytes. The least recently used value is evicted first.

use std::hash::Hash;
use std::time::Duration;

use lru::LruCache;

use super::weight::Weight;
use crate::time::UnixMilliseconds;

/// The approximate number of bytes that an entry takes in addition to its value.
pub(super) const ENTRY_BYTES: usize = 128;

/// The values of a cache by their keys.
#[derive(Debug)]
pub(super) struct Entries<K: Hash + Eq, V> {
    by_key: LruCache<K, Entry<V>>,
    bytes: usize,
    capacity_bytes: usize,
}

/// A value and when it was fetched.
#[derive(Debug, Clone)]
pub(super) struct Entry<V> {
    pub(super) value: V,
    pub(super) fetched_at: UnixMilliseconds,
    /// How old the source's copy of the value was when it was fetched.
    pub(super) age: Duration,
}

impl<K: Hash + Eq, V: Weight> Entries<K, V> {
    /// Returns an empty `Entries` with room for about `capacity_bytes`.
    pub(super) fn new(capacity_bytes: usize) -> Self {
        Self { by_key: LruCache::unbounded(), bytes: 0, capacity_bytes }
    }

    /// Returns the entry of `key`, and makes it the most recently used one.
    pub(super) fn get(&mut self, key: &K) -> Option<&Entry<V>> {
        self.by_key.get(key)
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some(removed) = self.by_key.pop(key) {
            self.bytes = self.bytes.saturating_sub(removed.bytes());
        }
    }

    /// Stores the entry in place of the earlier entry of `key`, and evicts the least recently used entries
    /// until all fit. An entry larger than the capacity is not stored, but the earlier entry is still
    /// removed.
    pub(super) fn put(&mut self, key: K, entry: Entry<V>) {
        self.remove(&key);
        if entry.bytes() > self.capacity_bytes {
            return;
        }
        self.bytes += entry.bytes();
        self.by_key.put(key, entry);
        while self.bytes > self.capacity_bytes {
            let Some((_, evicted)) = self.by_key.pop_lru() else { return };
            self.bytes = self.bytes.saturating_sub(evicted.bytes());
        }
    }
}

impl<V: Weight> Entry<V> {
    fn bytes(&self) -> usize {
        self.value.bytes().saturating_add(ENTRY_BYTES)
    }
}
