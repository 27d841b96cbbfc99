//! Mayors and elections, on the game's real calendar. Candidates, winners and votes depend on the seed.

use crate::chance::{generator, hash};
use crate::gson::{self, Writer};
use crate::people::{Person, regulars, special};

/// The start of the game's year 1, Unix milliseconds (2019-06-11 17:55:00 UTC).
pub const EPOCH_MS: i64 = 1_560_275_700_000;

/// The length of a year in the game: 124 hours.
pub const YEAR_MS: i64 = 446_400_000;

/// Time between two refreshes, in milliseconds. All opening and closing times are multiples of it.
pub const REFRESH_MS: i64 = 60_000;

/// The voting booth opens on Late Summer 27, this long after the start of the election year.
const OPENS_AFTER_MS: i64 = 217_200_000;
/// The booth closes on Late Spring 27 of the next year, this long after the start of that year.
const CLOSES_AFTER_MS: i64 = 105_600_000;

const HOUR_MS: i64 = 3_600_000;

/// When the booth of election `year` opens, Unix milliseconds.
#[must_use]
pub fn opens_at(year: i64) -> i64 {
    EPOCH_MS + (year - 1) * YEAR_MS + OPENS_AFTER_MS
}

/// When the booth of election `year` closes and its winner takes office, Unix milliseconds.
#[must_use]
pub fn closes_at(year: i64) -> i64 {
    EPOCH_MS + year * YEAR_MS + CLOSES_AFTER_MS
}

/// The year of the election that the mayor in office at `now_ms` won.
#[must_use]
pub fn seated_year(now_ms: i64) -> i64 {
    (now_ms - EPOCH_MS - CLOSES_AFTER_MS).div_euclid(YEAR_MS)
}

/// The year of the election whose booth is open at `now_ms`; `None` if no booth is open.
#[must_use]
pub fn open_year(now_ms: i64) -> Option<i64> {
    let next = seated_year(now_ms) + 1;
    (opens_at(next) <= now_ms).then_some(next)
}

/// Returns the `lastUpdated` of the refresh that is visible at `now_ms`, in Unix milliseconds.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    now_ms.div_euclid(REFRESH_MS) * REFRESH_MS
}

/// The body of `/v2/resources/skyblock/election` at `now_ms`.
#[must_use]
pub fn body(seed: u64, now_ms: i64) -> String {
    let refresh = refreshed_at(now_ms);
    let year = seated_year(refresh);
    let seated = Election::new(seed, year);
    gson::object(8 << 10, |root| {
        root.key("success").boolean(true);
        root.key("lastUpdated").integer(refresh);
        root.key("mayor").object(|mayor| seated.write_mayor(mayor));
        if let Some(open) = open_year(refresh) {
            root.key("current").object(|current| Election::new(seed, open).write_booth(refresh, current));
        }
    })
}

struct Candidate {
    person: &'static Person,
    /// The perks of this candidacy: name, description, and whether the candidate would bring the perk as
    /// minister.
    perks: Vec<(&'static str, &'static str, bool)>,
    /// Votes when the booth closes.
    votes: i64,
    /// How late the candidate's votes arrive: 1 is evenly, more is later.
    lateness: f64,
}

struct Election {
    seed: u64,
    year: i64,
    candidates: Vec<Candidate>,
    has_special: bool,
}

impl Election {
    fn new(seed: u64, year: i64) -> Self {
        let rng = &mut generator(seed, "election", year.cast_unsigned());
        let special = special(year);
        let mut people = rng.choose_multiple(regulars(), if special.is_some() { 4 } else { 5 });
        people.extend(special);
        rng.shuffle(&mut people);
        let favourite = rng.usize(..5);
        let mut candidates = Vec::with_capacity(5);
        for (position, person) in people.into_iter().enumerate() {
            let is_special = special.is_some_and(|special| special.key == person.key);
            let (wanted, minister) = if is_special {
                (person.perks.len(), None)
            } else {
                let wanted = rng.usize(1..=person.perks.len());
                (wanted, Some(rng.usize(..wanted)))
            };
            let mut chosen = rng.choose_multiple(person.perks.iter().copied(), wanted);
            // The provider always lists a person's perks in the same order.
            chosen.sort_by_key(|(name, _)| person.perks.iter().position(|(known, _)| known == name));
            let offered = chosen.into_iter().enumerate();
            let perks = offered.map(|(place, (name, text))| (name, text, Some(place) == minister)).collect();
            let rounded = match (special.is_some(), is_special) {
                (true, true) => rng.i64(850_000..1_300_000),
                (true, false) => rng.i64(2_000..90_000),
                (false, _) if position == favourite => rng.i64(300_000..750_000),
                (false, _) => rng.i64(25_000..400_000),
            };
            // The last digit differs between candidates, so there are no ties.
            let votes = rounded / 10 * 10 + i64::try_from(position).unwrap_or_default();
            candidates.push(Candidate { person, perks, votes, lateness: 0.6 + 0.6 * rng.f64() });
        }
        Self { seed, year, candidates, has_special: special.is_some() }
    }

    fn write_mayor(&self, mayor: &mut Writer) {
        let mut by_votes: Vec<&Candidate> = self.candidates.iter().collect();
        by_votes.sort_by_key(|candidate| std::cmp::Reverse(candidate.votes));
        if let Some(winner) = by_votes.first() {
            mayor.key("key").string(winner.person.key);
            mayor.key("name").string(winner.person.name);
            mayor.key("perks").array(|perks| {
                for (name, description, _) in &winner.perks {
                    perks.object(|perk| write_perk(name, description, None, perk));
                }
            });
        }
        if !self.has_special
            && let Some(second) = by_votes.get(1)
        {
            mayor.key("minister").object(|minister| {
                minister.key("key").string(second.person.key);
                minister.key("name").string(second.person.name);
                for (name, description, _) in second.perks.iter().filter(|(_, _, is_ministers)| *is_ministers)
                {
                    minister.key("perk").object(|perk| write_perk(name, description, Some(true), perk));
                }
            });
        }
        mayor.key("election").object(|election| {
            election.key("year").integer(self.year);
            election.key("candidates").array(|list| {
                for candidate in &self.candidates {
                    candidate.write(Some(candidate.votes), list);
                }
            });
        });
    }

    fn write_booth(&self, now_ms: i64, current: &mut Writer) {
        let opened = opens_at(self.year);
        let closes = closes_at(self.year);
        let progress = (now_ms - opened) as f64 / (closes - opened) as f64;
        // One election in three hides its votes for the first day, and one in three for the last twelve
        // hours.
        let hidden = match hash(self.seed, "hidden votes", self.year.cast_unsigned()) % 3 {
            0 => false,
            1 => now_ms < opened + 24 * HOUR_MS,
            _ => now_ms >= closes - 12 * HOUR_MS,
        };
        current.key("year").integer(self.year);
        current.key("candidates").array(|list| {
            for candidate in &self.candidates {
                let votes = (candidate.votes as f64 * progress.powf(candidate.lateness)) as i64;
                candidate.write((!hidden).then_some(votes), list);
            }
        });
    }
}

impl Candidate {
    fn write(&self, votes: Option<i64>, list: &mut Writer) {
        list.object(|row| {
            row.key("key").string(self.person.key);
            row.key("name").string(self.person.name);
            row.key("perks").array(|perks| {
                for (name, description, is_ministers) in &self.perks {
                    perks.object(|perk| write_perk(name, description, Some(*is_ministers), perk));
                }
            });
            if let Some(votes) = votes {
                row.key("votes").integer(votes);
            }
        });
    }
}

fn write_perk(name: &str, description: &str, minister: Option<bool>, perk: &mut Writer) {
    perk.key("name").string(name);
    perk.key("description").string(description);
    if let Some(minister) = minister {
        perk.key("minister").boolean(minister);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elections_close_when_the_real_ones_closed() {
        // Election 518 closed at 2026-10-10 07:15 UTC, election 515 at 2026-09-24 19:15 UTC.
        assert_eq!(closes_at(518), 1_791_616_500_000);
        assert_eq!(closes_at(515), 1_790_277_300_000);
        // In the provider's response of 2026-10-10 09:25 UTC, 518's winner sits, and no booth is open.
        assert_eq!(seated_year(1_791_624_309_524), 518);
        assert_eq!(open_year(1_791_624_309_524), None);
        // In the response of 2025-03-12, 406's winner sits while 407 is open.
        assert_eq!(seated_year(1_741_802_638_810), 406);
        assert_eq!(open_year(1_741_802_638_810), Some(407));
        assert_eq!(closes_at(407) - opens_at(407), 334_800_000);
    }
}
