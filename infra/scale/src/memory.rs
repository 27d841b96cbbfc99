//! What an instance keeps between requests: responses by question, least recently used first to go.

use std::collections::{BTreeMap, HashMap};

/// A kept response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// Until when it is served without a fetch.
    pub(crate) fresh_until: f64,
    /// Until when the provider has nothing newer; 0 if that is not known.
    pub(crate) latest_until: f64,
    /// When its fetch ends. Later requests of the same process wait for it.
    pub(crate) ready_at: f64,
    pub(crate) bytes: f64,
}

/// The memory of one instance.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    kept: HashMap<usize, (Kept, u64)>,
    by_use: BTreeMap<u64, usize>,
    bytes: f64,
    uses: u64,
}

impl Memory {
    /// The response to this question.
    pub(crate) fn get(&mut self, question: usize) -> Option<&mut Kept> {
        let (kept, used) = self.kept.get_mut(&question)?;
        self.by_use.remove(used);
        self.uses += 1;
        *used = self.uses;
        self.by_use.insert(self.uses, question);
        Some(kept)
    }

    /// Keeps a response, and drops others until all fit into the capacity.
    pub(crate) fn put(&mut self, question: usize, kept: Kept, capacity: f64) {
        self.uses += 1;
        if let Some((replaced, used)) = self.kept.insert(question, (kept, self.uses)) {
            self.by_use.remove(&used);
            self.bytes -= replaced.bytes;
        }
        self.by_use.insert(self.uses, question);
        self.bytes += kept.bytes;
        while self.bytes > capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.bytes -= self.kept.remove(&oldest).map_or(0.0, |(dropped, _)| dropped.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_response_goes_first() {
        let mut memory = Memory::default();
        let kept = Kept { fresh_until: 5.0, latest_until: 0.0, ready_at: 0.0, bytes: 10.0 };
        memory.put(1, kept, 25.0);
        memory.put(2, kept, 25.0);
        assert!(memory.get(1).is_some());
        memory.put(3, kept, 25.0);
        assert_eq!([1, 2, 3].map(|question| memory.get(question).is_some()), [true, false, true]);
        memory.put(3, Kept { bytes: 12.0, ..kept }, 25.0);
        assert_eq!([1, 3].map(|question| memory.get(question).is_some()), [true, true]);
    }
}
