//! The minutes under which recorders file fetched data.
//!
//! The minute of fetched data is usually the minute of the run's event, so it does not depend on the second
//! at which the run begins, or on how long the run takes. Data that was fetched too late for that minute is
//! filed under the minute of the fetch.

use std::time::Duration;

use common::time::{Tick, UnixMilliseconds};

/// A fetch is filed under the minute of its event if it ends at most this long after the minute begins: the
/// scheduler invokes a recorder at any second of the minute, and a run fetches for up to 40 seconds.
const LONGEST_DELAY: Duration = Duration::from_secs(100);

/// A fetch may end this long before the minute begins, because clocks differ.
const LARGEST_LEAD: Duration = Duration::from_secs(10);

/// The ticks under which a run can file its data.
#[derive(Debug, Clone, Copy)]
pub enum Ticks {
    /// The minute of the event, or the minute in which the fetch ends if that is too long before or after the
    /// minute of the event.
    OfClock(Tick),
    /// Always the minute of the event. Used by backfills.
    OfEvent(Tick),
}

impl Ticks {
    /// Returns the minute of the event.
    #[must_use]
    pub const fn event(self) -> Tick {
        match self {
            Self::OfClock(event) | Self::OfEvent(event) => event,
        }
    }

    /// Returns the minute under which to file a fetch that ends now.
    #[must_use]
    pub fn current(self) -> Filing {
        self.at(UnixMilliseconds::of_system_clock())
    }

    /// Returns the minute under which to file a fetch that ended at this time.
    #[must_use]
    pub fn at(self, fetched_at: UnixMilliseconds) -> Filing {
        match self {
            Self::OfClock(event) => Filing { tick: filed_under(event, fetched_at), event },
            Self::OfEvent(event) => event.into(),
        }
    }
}

/// Returns the minute under which a run for `event` files data that was fetched at `fetched_at`.
fn filed_under(event: Tick, fetched_at: UnixMilliseconds) -> Tick {
    let due = UnixMilliseconds::from(event.time());
    let is_in_time = due <= fetched_at.plus(LARGEST_LEAD) && fetched_at <= due.plus(LONGEST_DELAY);
    if is_in_time { event } else { Tick::of(fetched_at) }
}

/// The minute under which a run files its data.
#[derive(Debug, Clone, Copy)]
pub struct Filing {
    /// The minute under which the data is filed.
    pub tick: Tick,
    /// The minute of the run's event. If it differs from `tick`, the run whose event is `tick` has priority:
    /// its data replaces this data, and this data never replaces its data.
    pub(crate) event: Tick,
}

impl Filing {
    /// Whether the data is filed under the minute of its event.
    pub(crate) fn is_own(self) -> bool {
        self.tick == self.event
    }
}

impl From<Tick> for Filing {
    /// Files data under the minute of the event.
    fn from(tick: Tick) -> Self {
        Self { tick, event: tick }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use common::time::UnixSeconds;

    use super::*;

    #[test]
    fn there_are_as_many_minutes_as_runs_at_any_phase_with_jitter_and_a_slow_provider() {
        const RUNS: usize = 8;
        let start = 1_777_388_400_000;
        let jitters = [0, 2_000, -2_000, 1_999, -1, 1, -1_999, 500];
        for (phase, provider) in (0..60_000)
            .step_by(100)
            .flat_map(|phase| (0..=37_500).step_by(500).map(move |provider| (phase, provider)))
        {
            let ticks: BTreeSet<_> = (0..RUNS)
                .zip((start..).step_by(60_000))
                .map(|(run, due)| {
                    // Every second fetch takes no time.
                    let fetch = if run % 2 == 0 { provider } else { 0 };
                    let fetched_at = due + phase + jitters[run] + fetch;
                    filed_under(Tick::of(UnixMilliseconds::new(due)), UnixMilliseconds::new(fetched_at))
                })
                .collect();
            assert_eq!(ticks.len(), RUNS, "phase {phase} ms, provider {provider} ms");
        }
    }

    #[test]
    fn a_fetch_that_ends_too_late_or_too_early_is_filed_under_its_own_minute() {
        let event = Tick::of(UnixSeconds::new(1_777_388_400));
        for (after_ms, minutes) in [
            (-10_001, -1),
            (-10_000, 0),
            (0, 0),
            (59_999, 0),
            (60_000, 0),
            (100_000, 0),
            (100_001, 1),
            (119_999, 1),
            (120_000, 2),
        ] {
            let fetched_at = UnixMilliseconds::new(event.time().get() * 1_000 + after_ms);
            let expected = Tick::of(UnixSeconds::new(event.time().get() + minutes * 60));
            assert_eq!(filed_under(event, fetched_at), expected, "{after_ms} ms after the event");
        }
    }
}
