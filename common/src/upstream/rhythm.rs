//! When a resource of the provider can have newer data.
//!
//! Every instance fetches data itself, so a thousand instances would fetch the bazaar 200 times a second if
//! each instance fetched it after every TTL. The provider refreshes the bazaar only every 20 seconds and
//! gives the time of the last refresh, so an instance that waits for the next refresh misses nothing.
//! Instances wait only behind a stage cache, where every response says `cached: true`. Without a stage cache,
//! the contract promises a fetch after the TTL.

use std::time::Duration;

use crate::config::{Config, ConfigError, GatewayCache};
use crate::time::UnixMilliseconds;

/// How far the provider's clock may be ahead, in milliseconds.
const CLOCK_TOLERANCE: i64 = 2_000;

/// A refresh of the provider, and when it appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refresh {
    /// The time of the refresh, according to the provider.
    last_updated: UnixMilliseconds,
    /// The last time at which the previous refresh was still served. There are caches between the provider
    /// and this service, so a refresh can appear much later than its own time.
    appeared_after: Option<UnixMilliseconds>,
}

impl Refresh {
    /// The refresh at `last_updated`, in Unix milliseconds.
    #[must_use]
    pub const fn at(last_updated: i64) -> Self {
        Self { last_updated: UnixMilliseconds::new(last_updated), appeared_after: None }
    }

    /// Returns this refresh. If `kept` is an earlier refresh, `appeared_after` becomes the time at which
    /// `kept` was fetched. If `kept` is the same refresh, `appeared_after` stays as in `kept`. `kept` is the
    /// refresh that the function had until now, and when it was last fetched.
    #[must_use]
    pub fn replacing(self, kept: Option<(Self, UnixMilliseconds)>) -> Self {
        match kept {
            Some((earlier, fetched_at)) if earlier.last_updated < self.last_updated => {
                Self { appeared_after: Some(fetched_at), ..self }
            }
            Some((same, _)) if same.last_updated == self.last_updated => same,
            _ => self,
        }
    }
}

/// How often the provider refreshes a resource; `None` if the function does not wait for refreshes.
#[derive(Debug, Clone, Copy)]
pub struct Rhythm(Option<Duration>);

impl Rhythm {
    /// The rhythm of a resource that the provider refreshes every `period`.
    pub fn of(period: Duration, config: &Config) -> Result<Self, ConfigError> {
        Ok(Self((GatewayCache::of(config)? == GatewayCache::On).then_some(period)))
    }

    /// Whether the provider has no newer data than this refresh at the time `now`. Always `false` if the
    /// function does not wait for refreshes.
    #[must_use]
    pub fn is_latest(self, refresh: Refresh, now: UnixMilliseconds) -> bool {
        let Some(period) = self.0.and_then(|period| i64::try_from(period.as_millis()).ok()) else {
            return false;
        };
        let is_within = |start: UnixMilliseconds, tolerance: i64| {
            (-tolerance..period).contains(&now.get().saturating_sub(start.get()))
        };
        is_within(refresh.last_updated, CLOCK_TOLERANCE)
            || refresh.appeared_after.is_some_and(|start| is_within(start, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_777_388_598_584;

    fn rhythm(cache: &'static str) -> Rhythm {
        let config = Config::from_lookup(move |name| (name == "GatewayCache").then(|| String::from(cache)));
        Rhythm::of(Duration::from_secs(20), &config).unwrap()
    }

    fn is_latest(refresh: Refresh, after: i64) -> bool {
        let now = UnixMilliseconds::new(START + after);
        assert!(!rhythm("off").is_latest(refresh, now));
        rhythm("on").is_latest(refresh, now)
    }

    #[test]
    fn news_is_due_after_a_period_and_with_a_clock_that_cannot_be_right() {
        for (after, latest) in
            [(0, true), (19_999, true), (20_000, false), (-2_000, true), (-2_001, false), (-START, false)]
        {
            assert_eq!(is_latest(Refresh::at(START), after), latest, "{after}");
        }
        assert!(!is_latest(Refresh::at(i64::MIN), 0) && !is_latest(Refresh::at(i64::MAX), 0));
    }

    #[test]
    fn news_is_not_due_until_a_period_after_the_earlier_refresh_was_there() {
        let earlier = |last_updated, fetched: i64| {
            Some((Refresh::at(last_updated), UnixMilliseconds::new(START + fetched)))
        };
        let late = Refresh::at(START - 60_000).replacing(earlier(START - 80_000, -5_000));
        for (after, latest) in [(0, true), (14_999, true), (15_000, false)] {
            assert_eq!(is_latest(late, after), latest, "{after}");
        }
        // The same refresh again adds no information.
        let again =
            Refresh::at(START - 60_000).replacing(Some((late, UnixMilliseconds::new(START + 15_000))));
        assert_eq!(again, late);
        assert!(!is_latest(again, 15_000));
        let older = Refresh::at(START - 90_000).replacing(earlier(START - 80_000, -5_000));
        assert!(!is_latest(older, 0));
    }
}
