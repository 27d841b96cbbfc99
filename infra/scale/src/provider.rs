//! The provider: when it was fetched from, and the limit of its key.

use crate::assumptions::{AHEAD, PROFILE_WINDOW_S};
use crate::figures::float;

/// The provider as the service sees it.
#[derive(Debug, Default)]
pub(crate) struct Provider {
    /// The times of all fetches, in seconds.
    pub(crate) fetched_at: Vec<f64>,
    /// How many profiles may be fetched in a window.
    limit: f64,
    window: f64,
    used: f64,
}

impl Provider {
    pub(crate) fn new(profile_fetches: f64) -> Self {
        Self { limit: profile_fetches, ..Self::default() }
    }

    /// Counts a fetch that requires no key.
    pub(crate) fn fetch(&mut self, now: f64) {
        self.fetched_at.push(now);
    }

    /// Counts a fetch with the key. Returns when an even pace allows the next one, from the headers of the response: the service
    /// may be ahead of that pace by the share [`AHEAD`] of the limit.
    ///
    /// # Errors
    /// When the window ends, if the key is used up. The provider received the request nevertheless.
    pub(crate) fn fetch_with_key(&mut self, now: f64) -> Result<f64, f64> {
        self.fetched_at.push(now);
        let window = (now / PROFILE_WINDOW_S).floor();
        if window > self.window {
            (self.window, self.used) = (window, 0.0);
        }
        if self.used >= self.limit {
            return Err((self.window + 1.0) * PROFILE_WINDOW_S);
        }
        self.used += 1.0;
        let even = (self.used / self.limit - AHEAD) * PROFILE_WINDOW_S;
        Ok(self.window * PROFILE_WINDOW_S + even)
    }
}

/// The most entries of these sorted times within any such number of seconds, per second.
pub(crate) fn worst(times: &[f64], seconds: f64) -> f64 {
    let (mut most, mut start) = (0_usize, 0_usize);
    for (end, time) in times.iter().enumerate() {
        while times.get(start).is_some_and(|first| first + seconds <= *time) {
            start += 1;
        }
        most = most.max(end + 1 - start);
    }
    float(most) / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_seconds_are_found_wherever_they_begin() {
        let times = [0.0, 9.7, 9.9, 10.1, 10.6, 30.0];
        assert!((worst(&times, 1.0) - 4.0).abs() < 1e-9);
        assert!((worst(&times, 60.0) - 0.1).abs() < 1e-9);
        assert!(worst(&[], 60.0).abs() < 1e-9);
    }

    #[test]
    fn the_key_is_used_up_until_its_window_ends() {
        let mut provider = Provider::new(300.0);
        let accepted = (0..400).filter(|_| provider.fetch_with_key(10.0).is_ok()).count();
        assert_eq!(accepted, 300);
        assert_eq!(provider.fetch_with_key(299.0), Err(300.0));
        assert_eq!(provider.fetch_with_key(300.0), Ok(301.0 - 30.0));
        assert_eq!(provider.fetched_at.len(), 402);
    }
}
