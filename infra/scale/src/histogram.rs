//! A histogram of latencies in steps of two percent.

const SMALLEST_MS: f64 = 0.1;
const STEP: f64 = 1.02;
const STEPS: u32 = 800;

/// How many requests took how long.
#[derive(Debug)]
pub(crate) struct Histogram {
    /// The upper bounds of the steps, in milliseconds.
    bounds: Vec<f64>,
    counts: Vec<f64>,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        let bounds: Vec<f64> = (0..STEPS).map(|step| SMALLEST_MS * STEP.powf(f64::from(step))).collect();
        Self { counts: vec![0.0; bounds.len()], bounds }
    }

    pub(crate) fn add(&mut self, milliseconds: f64) {
        let step = self.bounds.partition_point(|bound| *bound < milliseconds);
        if let Some(count) = self.counts.get_mut(step) {
            *count += 1.0;
        }
    }

    /// The latency in milliseconds that this share of the requests does not exceed; 0 without requests.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let wanted = self.counts.iter().sum::<f64>() * share;
        let mut sum = 0.0;
        for (bound, count) in self.bounds.iter().zip(&self.counts) {
            sum += count;
            if sum >= wanted && sum > 0.0 {
                return *bound;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_two_percent() {
        let mut histogram = Histogram::new();
        for milliseconds in 1..=100 {
            histogram.add(f64::from(milliseconds));
        }
        for (share, expected) in [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0)] {
            let found = histogram.quantile(share);
            assert!((expected..expected * 1.03).contains(&found), "{found} and not {expected}");
        }
    }
}
