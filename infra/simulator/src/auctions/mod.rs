//! The auction house: about 60,000 auctions on pages of 1,000, refreshed every 60 s, each page at its own time.
//!
//! Auctions are numbered in the order of their creation, and everything about an auction follows from its number. A
//! refresh lists those that are neither sold nor over by `last_updated`, newest first.

use fastrand::Rng;

use crate::chance::{self, base64_text, generator, hash, magnitude};
use crate::goods::Goods;
use crate::gson::{self, Writer};
use crate::item_bytes;
use crate::names;

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 60_000;

/// Auctions on a full page.
pub const PAGE_SIZE: usize = 1_000;

/// Refreshes fall on second :39.
const PHASE_MS: i64 = 39_056;

/// The maximum delay of a page's refresh.
const MOST_LAG_MS: u64 = 25_000;

/// Time between two new auctions. With the lengths below, there are about 60,000 at a time.
const SPACING_MS: i64 = 1_310;

const HOUR_MS: i64 = 3_600_000;

/// Lengths of auctions in hours, with cumulative percentages.
const LENGTHS: &[(u64, i64)] = &[(52, 6), (77, 48), (87, 24), (92, 12), (97, 1), (100, 336)];

const LONGEST_MS: i64 = 336 * HOUR_MS;

/// The refresh that `page` shows at `now_ms`: its `lastUpdated`, Unix milliseconds. Page 0 is up to date. Each other
/// page has its own delay, so pages that are read together can come from different refreshes.
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
    /// When each auction was last updated, and its number; newest first.
    listed: Vec<(i64, i64)>,
}

impl Snapshot {
    /// The auctions of the refresh at `refresh` (Unix milliseconds, from [`refreshed_at`]).
    #[must_use]
    pub fn new(seed: u64, refresh: i64) -> Self {
        let newest = refresh.div_euclid(SPACING_MS);
        let oldest = (refresh - LONGEST_MS).div_euclid(SPACING_MS);
        let mut listed: Vec<(i64, i64)> = (oldest..=newest)
            .filter_map(|number| Life::new(seed, number).updated_at(refresh).map(|updated| (updated, number)))
            .collect();
        listed.sort_unstable_by(|a, b| b.cmp(a));
        // A refresh can miss the oldest auctions, so totals vary and the last page is not always there.
        let missed = hash(seed, "missed auctions", refresh.cast_unsigned()) % 700;
        listed.truncate(listed.len().saturating_sub(usize::try_from(missed).unwrap_or_default()));
        Self { seed, refresh, listed }
    }

    /// How many auctions there are.
    #[must_use]
    pub fn total_auctions(&self) -> usize {
        self.listed.len()
    }

    /// How many pages they fill.
    #[must_use]
    pub fn total_pages(&self) -> usize {
        self.listed.len().div_ceil(PAGE_SIZE)
    }

    /// The body of page `page`, none beyond the last.
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
                for (updated, number) in rows {
                    list.object(|row| self.write_auction(*updated, *number, row));
                }
            });
        }))
    }

    fn write_auction(&self, updated: i64, number: i64, row: &mut Writer) {
        let life = Life::new(self.seed, number);
        let rng = &mut generator(self.seed, "auction", number.cast_unsigned());
        let auctioneer = names::identity(self.seed, rng.u64(..40_000));
        let is_own_profile = rng.u32(..8) == 0;
        let mut coop = vec![auctioneer.clone()];
        if rng.u32(..4) == 0 {
            let friends = rng.usize(1..8);
            coop.extend((0..friends).map(|_| names::identity(self.seed, rng.u64(..))));
        }
        rng.shuffle(&mut coop);
        let uuid = chance::uuid(rng);
        let profile_id = if is_own_profile { auctioneer.clone() } else { chance::uuid(rng) };
        let goods = Goods::new(rng);
        let item_uuid = (rng.u32(..100) < 84).then(|| dashed_item_uuid(rng));
        let starting_bid = magnitude(rng, 1.0, 1.9e9) as i64;
        let texture = base64_text(rng, 420);
        row.key("uuid").string(&uuid);
        row.key("auctioneer").string(&auctioneer);
        row.key("profile_id").string(&profile_id);
        row.key("coop").strings(&coop);
        row.key("start").integer(life.start);
        row.key("end").integer(life.end);
        row.key("item_name").string(&goods.name);
        row.key("item_lore").string(&goods.lore);
        row.key("extra").string(&format!("{} {}", goods.name, goods.extra));
        row.key("categories").strings([goods.category]);
        row.key("category").string(goods.category);
        row.key("tier").string(goods.tier);
        row.key("starting_bid").integer(starting_bid);
        row.key("item_bytes").string(&item_bytes::encode(&item_bytes::Item {
            id: &goods.id,
            name: &goods.name,
            lore: &goods.lore,
            uuid: item_uuid.as_deref(),
            texture: &texture,
        }));
        row.key("claimed").boolean(false);
        row.key("claimed_bidders").array(|_| {});
        let bids: Vec<i64> = (0..life.bids).take_while(|bid| life.bid_at(*bid) <= updated).collect();
        let amount = |bid: i64| starting_bid.saturating_add(starting_bid / 20 * bid + bid);
        row.key("highest_bid_amount").integer(bids.last().map_or(0, |bid| amount(*bid)));
        row.key("last_updated").integer(updated);
        row.key("bin").boolean(life.is_bin);
        row.key("bids").array(|list| {
            for bid in bids {
                list.object(|row| {
                    row.key("auction_id").string(&uuid);
                    row.key("bidder").string(&names::identity(self.seed, rng.u64(..40_000)));
                    row.key("profile_id").string(&chance::uuid(rng));
                    row.key("amount").integer(amount(bid));
                    row.key("timestamp").integer(life.bid_at(bid));
                });
            }
        });
        if let Some(item_uuid) = &item_uuid {
            row.key("item_uuid").string(&item_uuid.replace('-', ""));
        }
    }
}

fn dashed_item_uuid(rng: &mut Rng) -> String {
    chance::dashed(&chance::uuid(rng))
}

/// The times of an auction: start, bids and end. A refresh computes a million of them, so it is cheap.
struct Life {
    start: i64,
    end: i64,
    /// When it leaves the list: sold, or over.
    gone: i64,
    is_bin: bool,
    bids: i64,
}

impl Life {
    fn new(seed: u64, number: i64) -> Self {
        let chance = hash(seed, "auction life", number.cast_unsigned());
        let start = number * SPACING_MS + (chance % SPACING_MS.unsigned_abs()).cast_signed();
        let draw = (chance >> 16) % 100;
        let hours = LENGTHS.iter().find(|(below, _)| draw < *below).map_or(6, |(_, hours)| *hours);
        let length = hours * HOUR_MS;
        let is_bin = (chance >> 24) % 100 < 88;
        // Half of the buy-it-now auctions are sold before their end.
        let is_sold = is_bin && (chance >> 32).is_multiple_of(2);
        let sold_after = length / 1_000 * ((chance >> 40) % 1_000).cast_signed();
        let gone = if is_sold { start + sold_after } else { start + length };
        let bids = if is_bin { 0 } else { ((chance >> 50) % 16).cast_signed() - 4 };
        Self { start, end: start + length, gone, is_bin, bids: bids.max(0) }
    }

    fn bid_at(&self, bid: i64) -> i64 {
        self.start + (self.end - self.start) / (self.bids + 1) * (bid + 1)
    }

    /// When the auction was last updated as of `refresh`; `None` if it is not listed then.
    fn updated_at(&self, refresh: i64) -> Option<i64> {
        if refresh < self.start || refresh >= self.gone {
            return None;
        }
        let last_bid = (0..self.bids).rev().map(|bid| self.bid_at(bid)).find(|at| *at <= refresh);
        Some(last_bid.unwrap_or(self.start))
    }
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
