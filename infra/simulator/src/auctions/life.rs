//! The times of an auction: start, bids, sale and end. A refresh computes the times of half a million
//! auctions, so this must be fast.

use crate::chance::hash;

/// Time between two new auctions. With the lengths below, about 60,000 auctions run at a time, and there are
/// about 95 sales a minute.
const SPACING_MS: i64 = 441;

pub(super) const HOUR_MS: i64 = 3_600_000;

/// Cumulative percentages, and the usual lengths of auctions in hours.
const LENGTHS: &[(u64, i64)] = &[(66, 6), (88, 24), (96, 48), (99, 12), (100, 1)];

const LONGEST_USUAL_MS: i64 = 48 * HOUR_MS;

/// One auction in this many has the longest length.
const LONG_EVERY: i64 = 64;

const LONGEST_MS: i64 = 336 * HOUR_MS;

/// The life of an auction. It follows from the auction's number; numbers are in the order of creation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub(super) number: i64,
    pub(super) start: i64,
    pub(super) end: i64,
    /// When the auction leaves the list: sold, cancelled, or over.
    pub(super) gone: i64,
    pub(super) is_bin: bool,
    /// Whether the auction leaves the list because it is sold.
    pub(super) is_sold: bool,
    pub(super) bids: i64,
}

impl Life {
    /// All auctions that can be listed between `from` and `until`, in Unix milliseconds.
    pub(super) fn between(seed: u64, from: i64, until: i64) -> impl Iterator<Item = Self> {
        let number_at = |time: i64| time.div_euclid(SPACING_MS);
        let first_usual = number_at(from - LONGEST_USUAL_MS);
        let long = (number_at(from - LONGEST_MS)..first_usual).filter(|number| number % LONG_EVERY == 0);
        long.chain(first_usual..=number_at(until)).map(move |number| Self::new(seed, number))
    }

    fn new(seed: u64, number: i64) -> Self {
        let chance = hash(seed, "auction life", number.cast_unsigned());
        let start = number * SPACING_MS + (chance % SPACING_MS.unsigned_abs()).cast_signed();
        let draw = (chance >> 10) % 100;
        let usual = LENGTHS.iter().find(|(below, _)| draw < *below).map_or(6, |(_, hours)| hours * HOUR_MS);
        let length = if number % LONG_EVERY == 0 { LONGEST_MS } else { usual };
        let is_bin = (chance >> 20) % 100 < 94;
        // Of the buy-it-now auctions, 68 % are sold and 17 % cancelled before their end, most of them soon.
        let fate = (chance >> 30) % 100;
        let part = ((chance >> 40) % 1_000).cast_signed();
        let early = length * part.pow(3) / 1_000_000_000;
        let bids = if is_bin { 0 } else { (((chance >> 52) % 16).cast_signed() - 4).max(0) };
        let is_sold = if is_bin { fate < 68 } else { bids > 0 };
        let gone = if is_bin && fate < 85 { start + early } else { start + length };
        Self { number, start, end: start + length, gone, is_bin, is_sold, bids }
    }

    pub(super) fn bid_at(&self, bid: i64) -> i64 {
        self.start + (self.end - self.start) / (self.bids + 1) * (bid + 1)
    }

    /// The time of the last update at or before `refresh`; `None` if the auction is not listed at `refresh`.
    pub(super) fn updated_at(&self, refresh: i64) -> Option<i64> {
        if refresh < self.start || refresh >= self.gone {
            return None;
        }
        let last_bid = (0..self.bids).rev().map(|bid| self.bid_at(bid)).find(|at| *at <= refresh);
        Some(last_bid.unwrap_or(self.start))
    }
}
