//! When which requests arrive.

use crate::chance::{Chance, Weighted};
use crate::workload::{Kind, Questions};

/// A request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// When it arrives, in seconds.
    pub at: f64,
    /// The index of its kind.
    pub kind: usize,
    /// Which of the questions of its kind it asks, from 0.
    pub question: usize,
    /// Which of the keys in use it has, from 0.
    pub key: usize,
}

/// Independent arrivals at a constant rate, without end.
#[derive(Debug)]
pub struct Schedule {
    chance: Chance,
    requests_per_s: f64,
    now: f64,
    kinds: Weighted,
    questions: Vec<Weighted>,
    keys: usize,
}

impl Schedule {
    /// Requests of these kinds at this rate, with this many keys. The same seed gives the same ones.
    #[must_use]
    pub fn new(seed: u64, requests_per_s: f64, keys: u32, kinds: &[Kind]) -> Self {
        Self {
            chance: Chance::new(seed),
            requests_per_s,
            now: 0.0,
            kinds: Weighted::new(kinds.iter().map(|kind| kind.percent)),
            questions: kinds
                .iter()
                .map(|kind| Weighted::zipf(questions(kind, keys), kind.exponent))
                .collect(),
            keys: usize::try_from(keys).unwrap_or(1),
        }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        self.now += self.chance.exponential(1.0 / self.requests_per_s);
        let kind = self.kinds.draw(&mut self.chance);
        let question = self.questions.get(kind)?.draw(&mut self.chance);
        Some(Arrival { at: self.now, kind, question, key: self.chance.one_of(self.keys) })
    }
}

/// How many questions of this kind there are.
fn questions(kind: &Kind, keys: u32) -> u32 {
    match kind.questions {
        Questions::Fixed(count) => count,
        Questions::PerKey(count) => count.saturating_mul(keys),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::KINDS;

    #[test]
    fn arrivals_repeat_with_the_seed_and_keep_the_rate_and_the_mix() {
        let arrivals = |seed| Schedule::new(seed, 100.0, 100, &KINDS).take(20_000).collect::<Vec<_>>();
        let first = arrivals(1);
        assert_eq!(first, arrivals(1));
        assert_ne!(first, arrivals(2));
        assert!((190.0..210.0).contains(&first.last().unwrap().at));
        for (index, kind) in KINDS.iter().enumerate() {
            let share = first.iter().filter(|arrival| arrival.kind == index).count();
            let share = f64::from(u32::try_from(share).unwrap()) / 200.0;
            assert!((share - kind.percent).abs() < 1.0, "{}: {share} %", kind.name);
        }
    }
}
