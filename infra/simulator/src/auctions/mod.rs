//! The auction house: about 60,000 auctions on pages of 1,000, refreshed every 60 s, each page at its own
//! time.
//!
//! Auctions are numbered in the order of their creation, and everything about an auction follows from its
//! number. A refresh lists the auctions that are not yet sold, cancelled or over, the latest `last_updated`
//! first. [`ended`] lists the sold auctions.

mod auction;
pub mod ended;
mod life;

use std::cmp::Reverse;

use fastrand::Rng;

use crate::chance::{generator, hash, text_hash, wave};
use crate::gson;
use auction::Auction;
pub use auction::Offer;
use life::{HOUR_MS, Life};

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 60_000;

pub const PAGE_SIZE: usize = 1_000;

/// Refreshes fall on second :39.
const PHASE_MS: i64 = 39_056;

/// The maximum delay of a page's refresh.
const MOST_LAG_MS: u64 = 25_000;

/// Returns the `lastUpdated` of the refresh that `page` shows at `now_ms`, in Unix milliseconds. Page 0 is up
/// to date. Each other page has its own delay, so pages that are read together can come from different
/// refreshes.
#[must_use]
pub fn refreshed_at(seed: u64, page: usize, now_ms: i64) -> i64 {
    let lag = if page == 0 { 0 } else { hash(seed, "page lag", page as u64) % MOST_LAG_MS };
    (now_ms - PHASE_MS - lag.cast_signed()).div_euclid(REFRESH_MS) * REFRESH_MS + PHASE_MS
}

/// All auctions of one refresh.
#[derive(Debug)]
pub struct Snapshot {
    seed: u64,
    refresh: i64,
    /// When each auction was last updated, and its life; newest first.
    listed: Vec<(i64, Life)>,
}

impl Snapshot {
    /// The auctions of the refresh at `refresh` (Unix milliseconds, from [`refreshed_at`]).
    #[must_use]
    pub fn new(seed: u64, refresh: i64) -> Self {
        let mut listed: Vec<(i64, Life)> = Life::between(seed, refresh, refresh)
            .filter_map(|life| life.updated_at(refresh).map(|updated| (updated, life)))
            .collect();
        listed.sort_unstable_by_key(|(updated, life)| Reverse((*updated, life.number)));
        // A refresh can miss the oldest auctions, so totals vary and the last page is not always there.
        let missed = hash(seed, "missed auctions", refresh.cast_unsigned()) % 700;
        listed.truncate(listed.len().saturating_sub(usize::try_from(missed).unwrap_or_default()));
        Self { seed, refresh, listed }
    }

    #[must_use]
    pub fn total_auctions(&self) -> usize {
        self.listed.len()
    }

    /// How many pages the auctions fill.
    #[must_use]
    pub fn total_pages(&self) -> usize {
        self.listed.len().div_ceil(PAGE_SIZE)
    }

    /// The body of page `page`; `None` after the last page.
    #[must_use]
    pub fn page(&self, page: usize) -> Option<String> {
        let rows = self.listed.chunks(PAGE_SIZE).nth(page)?;
        let integer = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        Some(gson::object(3 << 20, |root| {
            root.key("success").boolean(true);
            root.key("page").integer(integer(page));
            root.key("totalPages").integer(integer(self.total_pages()));
            root.key("totalAuctions").integer(integer(self.total_auctions()));
            root.key("lastUpdated").integer(self.refresh);
            root.key("auctions").array(|list| {
                for (updated, life) in rows {
                    list.object(|row| Auction::new(self.seed, *life).write(*updated, row));
                }
            });
        }))
    }
}

/// The running buy-it-now auctions at `now_ms`. Computing them takes a tenth of the time that computing the
/// pages takes.
pub fn offers(seed: u64, now_ms: i64) -> impl Iterator<Item = Offer> {
    let listed = Snapshot::new(seed, refreshed_at(seed, 0, now_ms)).listed.into_iter();
    listed.filter(|(_, life)| life.is_bin).map(move |(_, life)| Auction::new(seed, life).into_offer())
}

/// The past price of an item, hour by hour. Computing all auctions of past months would take hours. Instead,
/// a past price is the current price times the level of the past hour divided by the level of the current
/// hour.
#[derive(Debug)]
pub struct Trend {
    number: u64,
    /// The price changes every two to 32 hours.
    pause: i64,
    phases: [f64; 4],
}

impl Trend {
    #[must_use]
    pub fn new(seed: u64, id: &str) -> Self {
        let number = hash(seed, "trend", text_hash(id));
        let nature = &mut Rng::with_seed(number);
        let phases = [(); 4].map(|()| nature.f64());
        Self { number, pause: 1 << nature.u32(1..=5), phases }
    }

    /// Converts a price at the start of the hour `now` into the price at the start of `hour`. Hours are
    /// counted from 1970.
    #[must_use]
    #[expect(clippy::cast_sign_loss, reason = "levels are positive")]
    pub fn price(&self, price: u64, now: i64, hour: i64) -> u64 {
        ((price as f64 * self.level(hour) / self.level(now)).round() as u64).max(1)
    }

    /// The level of the price at the start of an hour; usually near 1.
    fn level(&self, hour: i64) -> f64 {
        let [months, days, hours, offset] = self.phases;
        let changed = hour - (hour + (32.0 * offset) as i64).rem_euclid(self.pause);
        let swing = |days: i64, phase| wave(changed * HOUR_MS, days * 24 * HOUR_MS, phase);
        let noise = generator(self.number, "change", changed.cast_unsigned()).f64();
        1.0 + 0.16 * swing(61, months) + 0.09 * swing(9, days) + 0.02 * swing(1, hours) + 0.05 * noise
    }

    /// Whether the item was on sale in an hour. `auctions` is its current number of auctions: an item with
    /// few auctions often was not on sale.
    #[must_use]
    pub fn is_listed(&self, hour: i64, auctions: u32) -> bool {
        hash(self.number, "listed", hour.div_euclid(8).cast_unsigned()).trailing_zeros() < auctions
    }
}

/// The sales of a past hour: positions among the `total` auctions that are on sale now, and the time of each
/// sale in Unix milliseconds. There are a third as many sales as in the simulated present, to save time and
/// memory.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "an activity is positive")]
pub fn sold(seed: u64, hour: i64, total: usize) -> Vec<(usize, i64)> {
    let rng = &mut generator(seed, "past sales", hour.cast_unsigned());
    let activity = 1.0 + 0.3 * wave(hour * HOUR_MS, 24 * HOUR_MS, 0.0) + 0.2 * (rng.f64() - 0.5);
    let number = (total as f64 * activity / 30.0) as usize;
    (0..number).map(|_| (rng.usize(..total), hour * HOUR_MS + rng.i64(0..HOUR_MS))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NOW_MS: i64 = 1_790_000_000_000;

    fn snapshot(now_ms: i64) -> Snapshot {
        Snapshot::new(1, refreshed_at(1, 0, now_ms))
    }

    #[test]
    fn there_are_about_sixty_pages_of_about_two_and_a_half_megabytes() {
        for seed in [1, 2] {
            let snapshot = Snapshot::new(seed, refreshed_at(seed, 0, NOW_MS));
            assert!((56..=64).contains(&snapshot.total_pages()), "{}", snapshot.total_auctions());
            for page in [0, 1, 30] {
                let size = snapshot.page(page).unwrap().len();
                assert!((2_000_000..3_000_000).contains(&size), "{size} bytes");
            }
            assert!(snapshot.page(snapshot.total_pages()).is_none());
        }
    }

    #[test]
    fn pages_are_separate_snapshots_and_the_last_one_comes_and_goes() {
        let refreshes: HashSet<i64> = (0..60).map(|page| refreshed_at(1, page, NOW_MS - 40_000)).collect();
        let differences: Vec<i64> =
            refreshes.iter().map(|refresh| refresh - refreshed_at(1, 0, NOW_MS - 40_000)).collect();
        assert!((0..60).any(|second| {
            let at = NOW_MS + second * 1_000;
            (1..60).any(|page| refreshed_at(1, page, at) == refreshed_at(1, 0, at) - REFRESH_MS)
        }));
        assert!(differences.iter().all(|difference| [0, -REFRESH_MS].contains(difference)));
        let totals: HashSet<usize> =
            (0..30).map(|minute| snapshot(NOW_MS + minute * REFRESH_MS).total_pages()).collect();
        assert!(totals.len() > 1, "{totals:?}");
        assert!(refreshed_at(1, 0, NOW_MS) <= NOW_MS);
    }
}
