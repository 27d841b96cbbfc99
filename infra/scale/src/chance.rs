//! Random draws from a seed, so that every run draws the same.

/// A source of random draws.
#[derive(Debug)]
pub(crate) struct Chance(fastrand::Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A draw from 0 to 1, without 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        self.0.f64()
    }

    /// A draw of the exponential distribution, such as the time between two arrivals.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.fraction()).ln()
    }

    /// One of this many, all equally likely.
    pub(crate) fn one_of(&mut self, count: usize) -> usize {
        self.0.usize(..count.max(1))
    }
}

/// Choices of which some are more likely than others.
#[derive(Debug)]
pub(crate) struct Weighted {
    /// The sums of all weights up to each choice.
    sums: Vec<f64>,
}

impl Weighted {
    pub(crate) fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let sums = weights.into_iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    /// Choices by Zipf's law: the choice number n (from 1) has a weight of 1/n to this power. With 0, all are equally likely.
    pub(crate) fn zipf(count: u32, exponent: f64) -> Self {
        Self::new((1..=count.max(1)).map(|rank| f64::from(rank).powf(-exponent)))
    }

    /// The index of a choice.
    pub(crate) fn draw(&self, chance: &mut Chance) -> usize {
        let point = chance.fraction() * self.sums.last().copied().unwrap_or_default();
        self.sums.partition_point(|sum| *sum <= point).min(self.sums.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_choices_are_drawn_more_often_and_the_mean_is_kept() {
        let (mut chance, choices) = (Chance::new(1), Weighted::zipf(3, 1.0));
        let mut drawn = [0_u32; 3];
        for _ in 0..11_000 {
            drawn[choices.draw(&mut chance)] += 1;
        }
        for (drawn, expected) in drawn.into_iter().zip([6_000_u32, 3_000, 2_000]) {
            assert!(drawn.abs_diff(expected) < 200, "{drawn} and not {expected}");
        }
        let sum: f64 = (0..10_000).map(|_| chance.exponential(2.0)).sum();
        assert!((19_000.0..21_000.0).contains(&sum), "{sum}");
    }
}
