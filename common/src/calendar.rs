//! The game's calendar, as far as elections need it: a mayor's term follows from the year of the election, whatever the
//! provider says when. The numbers are those of the provider's description, part 10: year 1 began at 2019-06-11 17:55:00
//! UTC, a year is 12 months of 31 days of 20 minutes, and the booth closes on the 27th of the third month.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::UnixSeconds;

/// The beginning of year 1.
const EPOCH: UnixSeconds = UnixSeconds::new(1_560_275_700);
/// The length of a year: 124 hours.
pub const YEAR: Duration = Duration::from_hours(124);
/// How far into the year after its own an election closes.
const CLOSE: Duration = Duration::from_mins(1_760);

/// The year of an election, counted from 1. The mayor elected in it governs until the next election closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct ElectionYear(u32);

/// A number that is no year of an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a year of an election is a whole number from 1 to {last}", last = ElectionYear::LAST)]
pub struct NoElectionYear;

impl ElectionYear {
    /// The last one, so that keys have room for it and its term is a moment that can be written.
    pub const LAST: u32 = 9_999;

    /// The year with this number.
    ///
    /// # Errors
    /// If it is 0 or beyond [`ElectionYear::LAST`].
    pub fn new(number: u32) -> Result<Self, NoElectionYear> {
        (1..=Self::LAST).contains(&number).then_some(Self(number)).ok_or(NoElectionYear)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// When the election closes: the term of its winner begins.
    #[must_use]
    pub fn term_begins(self) -> UnixSeconds {
        EPOCH.plus(YEAR * self.0 + CLOSE)
    }

    /// When the next election closes: the term of its winner ends.
    #[must_use]
    pub fn term_ends(self) -> UnixSeconds {
        self.term_begins().plus(YEAR)
    }

    /// The election whose winner governs at the moment `now`; `None` before the first term and after the last one.
    #[must_use]
    pub fn sitting_at(now: UnixSeconds) -> Option<Self> {
        let since = now.get().checked_sub(EPOCH.plus(CLOSE).get())?;
        let years = since.div_euclid(YEAR.as_secs().cast_signed());
        u32::try_from(years).ok().and_then(|number| Self::new(number).ok())
    }

    /// The year before; `None` before year 1.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        Self::new(self.0 - 1).ok()
    }
}

impl TryFrom<u32> for ElectionYear {
    type Error = NoElectionYear;

    fn try_from(number: u32) -> Result<Self, NoElectionYear> {
        Self::new(number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elections_close_when_the_provider_was_seen_to_close_them() {
        let close = |number| ElectionYear::new(number).unwrap().term_begins().to_string();
        assert_eq!(close(515), "2026-09-24T19:15:00Z");
        assert_eq!(close(518), "2026-10-10T07:15:00Z");
    }

    #[test]
    fn only_years_of_elections_are_taken() {
        for number in [0, 10_000, u32::MAX] {
            assert_eq!(ElectionYear::new(number), Err(NoElectionYear));
        }
        assert_eq!(ElectionYear::new(1).unwrap().previous(), None);
        assert_eq!(ElectionYear::sitting_at(UnixSeconds::new(0)), None);
        assert_eq!(ElectionYear::sitting_at(UnixSeconds::new(i64::MIN)), None);
        assert_eq!(ElectionYear::sitting_at(UnixSeconds::new(i64::MAX)), None);
    }

    proptest! {
        #[test]
        fn terms_follow_each_other_without_a_gap(number in 1..ElectionYear::LAST, into in 0..446_400_i64) {
            let year = ElectionYear::new(number).unwrap();
            prop_assert_eq!(year.term_ends(), ElectionYear::new(number + 1).unwrap().term_begins());
            let during = UnixSeconds::new(year.term_begins().get() + into);
            prop_assert_eq!(ElectionYear::sitting_at(during), Some(year));
        }
    }
}
