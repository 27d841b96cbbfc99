//! How fast a key is used: slower than the smallest tier allows, so that nobody's limit is spent on checks.

use std::time::Duration;

use tokio::time::Instant;

/// How many seconds' worth of requests may come at once.
const BURST_SECONDS: f64 = 20.0;
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 10_000.0;

/// A bucket of requests that fills as time goes by, as API Gateway has one for each key, but smaller.
pub(super) struct Pace {
    rate: f64,
    left: f64,
    counted_at: Instant,
}

impl Pace {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, left: rate * BURST_SECONDS, counted_at: Instant::now() }
    }

    /// Takes a request out, and says how long to wait before it may be made.
    pub(super) fn take(&mut self, now: Instant) -> Duration {
        let gained = now.saturating_duration_since(self.counted_at).as_secs_f64() * self.rate;
        self.left = (self.left + gained).min(self.rate * BURST_SECONDS) - 1.0;
        self.counted_at = now;
        Duration::from_secs_f64((-self.left / self.rate).max(0.0))
    }
}

/// A number of requests a second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok().filter(|rate| (SLOWEST..=FASTEST).contains(rate));
    rate.ok_or_else(|| format!("it must be a number from {SLOWEST} to {FASTEST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let mut pace = Pace::new(1.5);
        let start = pace.counted_at;
        let mut now = start;
        let mut made = 0;
        while now - start < Duration::from_secs(40) {
            now += pace.take(now);
            made += 1;
        }
        // Thirty at once, and sixty in forty seconds.
        assert!((89..=91).contains(&made), "{made}");
        now += Duration::from_hours(1);
        assert_eq!(pace.take(now), Duration::ZERO);
        assert!(pace.left <= 29.0);
    }

    #[test]
    fn a_rate_is_a_number_within_reason() {
        assert_eq!(rate("1.5"), Ok(1.5));
        for text in ["", "0", "-1", "NaN", "inf", "x", "1e9"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
