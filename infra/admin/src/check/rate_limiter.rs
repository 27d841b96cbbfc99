//! Limits how fast `check` uses the key, so that a run stays below the limits of the smallest tier.

use std::time::Duration;

use tokio::time::Instant;

/// The capacity of the bucket, in seconds of the rate.
const BURST_SECONDS: f64 = 20.0;
const MIN_RATE: f64 = 0.1;
const MAX_RATE: f64 = 10_000.0;

/// A token bucket, as API Gateway has one for each key, but smaller.
pub(super) struct RateLimiter {
    /// Requests per second.
    rate: f64,
    /// How many requests may be sent at once. Below zero, requests are waiting.
    tokens: f64,
    refilled_at: Instant,
}

impl RateLimiter {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, tokens: rate * BURST_SECONDS, refilled_at: Instant::now() }
    }

    /// Takes a token and returns how long its request must wait.
    pub(super) fn reserve(&mut self, now: Instant) -> Duration {
        let refill = now.saturating_duration_since(self.refilled_at).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + refill).min(self.rate * BURST_SECONDS) - 1.0;
        self.refilled_at = now;
        Duration::from_secs_f64((-self.tokens / self.rate).max(0.0))
    }
}

/// Parses a number of requests per second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok().filter(|rate| (MIN_RATE..=MAX_RATE).contains(rate));
    rate.ok_or_else(|| format!("must be a number from {MIN_RATE} to {MAX_RATE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let mut limiter = RateLimiter::new(1.5);
        let start = limiter.refilled_at;
        let mut now = start;
        let mut sent = 0;
        while now - start < Duration::from_secs(40) {
            now += limiter.reserve(now);
            sent += 1;
        }
        // 30 at once, and 60 in 40 seconds.
        assert!((89..=91).contains(&sent), "{sent}");
        now += Duration::from_hours(1);
        assert_eq!(limiter.reserve(now), Duration::ZERO);
        assert!(limiter.tokens <= 29.0);
    }

    #[test]
    fn a_rate_is_a_number_within_bounds() {
        assert_eq!(rate("1.5"), Ok(1.5));
        for text in ["", "0", "-1", "NaN", "inf", "x", "1e9"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
