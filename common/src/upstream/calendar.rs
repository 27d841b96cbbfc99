//! The part of the game's calendar that elections need. A mayor's term follows from the year of the election
//! alone, so the term does not depend on when the provider shows the new mayor.
//!
//! Year 1 began at 2019-06-11 17:55:00 UTC. A year has 12 months of 31 days of 20 minutes. The booth of an
//! election, in which players vote, closes on the 27th day of the third month of the next year. Captures of
//! the provider's responses confirm this.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::UnixSeconds;

/// The start of year 1.
const EPOCH: UnixSeconds = UnixSeconds::new(1_560_275_700);
/// The length of a year: 124 hours.
pub const YEAR: Duration = Duration::from_hours(124);
/// An election closes this long after the start of the next year.
const CLOSE: Duration = Duration::from_mins(1_760);

/// The year of an election, counted from 1. The winner is mayor until the next election closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct ElectionYear(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the year of an election must be a whole number from 1 to {last}", last = ElectionYear::LAST)]
pub struct InvalidElectionYear;

impl ElectionYear {
    /// The last year that fits into the four digits of a sort key.
    pub const LAST: u32 = 9_999;

    /// The year with this number.
    ///
    /// # Errors
    /// If it is 0 or greater than [`ElectionYear::LAST`].
    pub fn new(number: u32) -> Result<Self, InvalidElectionYear> {
        (1..=Self::LAST).contains(&number).then_some(Self(number)).ok_or(InvalidElectionYear)
    }

    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// When the election closes and the term of its winner begins.
    #[must_use]
    pub fn term_begins(self) -> UnixSeconds {
        EPOCH.plus(YEAR * self.0 + CLOSE)
    }

    /// When the next election closes and the term of this winner ends.
    #[must_use]
    pub fn term_ends(self) -> UnixSeconds {
        self.term_begins().plus(YEAR)
    }

    /// Returns the election whose winner is mayor at the time `now`; `None` before the first term and after
    /// the last one.
    #[must_use]
    pub fn sitting_at(now: UnixSeconds) -> Option<Self> {
        let since = now.get().checked_sub(EPOCH.plus(CLOSE).get())?;
        let years = since.div_euclid(YEAR.as_secs().cast_signed());
        u32::try_from(years).ok().and_then(|number| Self::new(number).ok())
    }

    /// Returns the previous year; `None` for year 1.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        Self::new(self.0 - 1).ok()
    }
}

impl TryFrom<u32> for ElectionYear {
    type Error = InvalidElectionYear;

    fn try_from(number: u32) -> Result<Self, InvalidElectionYear> {
        Self::new(number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elections_close_when_captures_show_new_mayors() {
        let close = |number| ElectionYear::new(number).unwrap().term_begins().to_string();
        assert_eq!(close(515), "2026-09-24T19:15:00Z");
        assert_eq!(close(518), "2026-10-10T07:15:00Z");
    }

    #[test]
    fn years_outside_of_the_bounds_are_invalid() {
        for number in [0, 10_000, u32::MAX] {
            assert_eq!(ElectionYear::new(number), Err(InvalidElectionYear));
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
