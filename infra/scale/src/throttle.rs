//! A token bucket, as API Gateway and Lambda throttle with.

/// A bucket that starts full.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket {
    rate: f64,
    burst: f64,
    tokens: f64,
    updated_at: f64,
}

impl Bucket {
    /// A bucket that holds `burst` and is refilled at `rate` per second.
    pub(crate) const fn new(rate: f64, burst: f64) -> Self {
        Self { rate, burst, tokens: burst, updated_at: 0.0 }
    }

    /// Takes one token at the time `now` in seconds, if there is one.
    pub(crate) fn take(&mut self, now: f64) -> bool {
        self.tokens = (self.tokens + (now - self.updated_at) * self.rate).min(self.burst);
        self.updated_at = now;
        let is_free = self.tokens >= 1.0;
        if is_free {
            self.tokens -= 1.0;
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rate_afterwards() {
        let mut bucket = Bucket::new(2.0, 3.0);
        let mut passed = |now| (0..5).filter(|_| bucket.take(now)).count();
        assert_eq!((passed(0.0), passed(0.25), passed(0.5), passed(100.0)), (3, 0, 1, 3));
    }
}
