//! The stage cache: until when it has which response, and how many bytes it holds.

use std::collections::VecDeque;

use crate::assumptions::STORABLE_BYTES;
use crate::schedule::Arrival;

#[derive(Debug)]
pub(crate) struct StageCache {
    is_on: bool,
    /// Until when it has the response, by kind and question.
    until: Vec<Vec<f64>>,
    /// What it holds, by pool: until when, and how many bytes. All responses of a pool have the same TTL.
    held: Vec<VecDeque<(f64, f64)>>,
    bytes: f64,
}

impl StageCache {
    pub(crate) fn new(is_on: bool, kinds: usize, pools: usize) -> Self {
        Self { is_on, until: vec![Vec::new(); kinds], held: vec![VecDeque::new(); pools], bytes: 0.0 }
    }

    /// Whether it has the response to this request.
    pub(crate) fn has(&self, arrival: Arrival, now: f64) -> bool {
        let until = self.until.get(arrival.kind).and_then(|questions| questions.get(arrival.question));
        until.is_some_and(|until| now < *until)
    }

    /// Stores a response of this size, if it is on and the response is small enough.
    pub(crate) fn store(&mut self, arrival: Arrival, pool: usize, bytes: f64, until: f64) {
        if !self.is_on || bytes > STORABLE_BYTES {
            return;
        }
        let Arrival { kind, question, .. } = arrival;
        let Some(questions) = self.until.get_mut(kind) else { return };
        if questions.len() <= question {
            questions.resize(question + 1, 0.0);
        }
        if let Some(stored_until) = questions.get_mut(question) {
            *stored_until = until;
        }
        self.bytes += bytes;
        if let Some(held) = self.held.get_mut(pool) {
            held.push_back((until, bytes));
        }
    }

    /// How many bytes it holds.
    pub(crate) fn bytes(&mut self, now: f64) -> f64 {
        for held in &mut self.held {
            while let Some((_, bytes)) = held.pop_front_if(|(until, _)| *until <= now) {
                self.bytes -= bytes;
            }
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_held_until_its_end_if_it_is_small_enough() {
        let arrival = |question| Arrival { at: 0.0, kind: 0, question, key: 0 };
        let mut cache = StageCache::new(true, 1, 1);
        cache.store(arrival(2), 0, STORABLE_BYTES, 5.0);
        cache.store(arrival(3), 0, STORABLE_BYTES + 1.0, 5.0);
        let has = |cache: &StageCache, now| [1, 2, 3].map(|question| cache.has(arrival(question), now));
        assert_eq!((has(&cache, 4.9), has(&cache, 5.0)), ([false, true, false], [false; 3]));
        assert_eq!([4.9, 5.0].map(|now| cache.bytes(now).total_cmp(&1.0).is_gt()), [true, false]);

        let mut off = StageCache::new(false, 1, 1);
        off.store(arrival(2), 0, 1.0, 5.0);
        assert!(!off.has(arrival(2), 1.0));
    }
}
