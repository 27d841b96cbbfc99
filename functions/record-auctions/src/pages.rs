//! The pages that a run has read. They show which pages are missing, and whether rows can have moved between
//! pages.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use common::time::UnixMilliseconds;
use common::upstream::auctions::{AuctionId, Listing};
use foldhash::fast::RandomState;

/// Too many pages are missing if at least one in this many is.
const LOST: usize = 10;

/// A page repeats another page of the same refresh if at most one in this many of its rows is not on the
/// other page.
const OTHER_ROWS: usize = 20;

/// After this many 404s for the last page, it counts as nonexistent.
const NOT_FOUND: u32 = 2;

/// The pages that a run has read.
#[derive(Default)]
pub(crate) struct Pages {
    read: BTreeMap<u32, Page>,
    /// Pages that were removed because another page repeated their rows.
    repeated: BTreeSet<u32>,
    /// The number of 404s for each page.
    not_found: BTreeMap<u32, u32>,
    /// The number of last pages that the first page includes in its total, but that do not exist.
    nonexistent: usize,
}

pub(crate) struct Page {
    refresh: UnixMilliseconds,
    /// When the last usable row was updated; `None` without a usable row.
    oldest: Option<UnixMilliseconds>,
    auctions: HashSet<AuctionId, RandomState>,
    /// The number of rows, including invalid ones.
    rows: usize,
    /// The number of auctions on all pages, according to this page.
    total_auctions: i64,
}

impl Page {
    /// Returns a page with `rows` rows, including the valid ones in `usable`.
    pub(crate) fn new(
        refresh: UnixMilliseconds,
        usable: &[Listing<'_>],
        rows: usize,
        total_auctions: i64,
    ) -> Self {
        let oldest = usable.last().map(|row| UnixMilliseconds::new(row.last_updated));
        let auctions = usable.iter().map(|row| row.uuid).collect();
        Self { refresh, oldest, auctions, rows, total_auctions }
    }

    /// Whether `other`, a page with another number, has nearly only rows of this page. False for pages of
    /// different refreshes: they may share rows, because rows move between refreshes.
    fn is_repeated_by(&self, other: &Self) -> bool {
        let most = other.auctions.len() / OTHER_ROWS;
        let others = other.auctions.iter().filter(|auction| !self.auctions.contains(auction));
        self.refresh == other.refresh && !other.auctions.is_empty() && others.take(most + 1).count() <= most
    }
}

impl Pages {
    pub(crate) fn len(&self) -> usize {
        self.read.len()
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        self.read.contains_key(&number)
    }

    /// Whether the first page was read and has no usable row.
    pub(crate) fn show_none(&self) -> bool {
        self.read.get(&0).is_some_and(|page| page.auctions.is_empty())
    }

    /// Adds page `number`. If it repeats an earlier page, it is not added, and the error is the number of the
    /// earlier page. Either page may be the wrong one, so the earlier page is also removed, but only once per
    /// number, and never page 0.
    pub(crate) fn add(&mut self, number: u32, page: Page) -> Result<(), u32> {
        let mut others = self.read.iter().filter(|(other, _)| **other != number);
        if let Some((&other, _)) = others.find(|(_, read)| read.is_repeated_by(&page)) {
            if other > 0 && self.repeated.insert(other) {
                self.read.remove(&other);
            }
            return Err(other);
        }
        self.read.insert(number, page);
        Ok(())
    }

    /// Records a 404 for page `number` of `total` pages, and returns the new total. After two 404s, the last
    /// page no longer counts. Pages before it also stop counting after two 404s each, while fewer than a
    /// tenth of all pages is missing.
    pub(crate) fn note_not_found(&mut self, number: u32, total: u32) -> u32 {
        *self.not_found.entry(number).or_default() += 1;
        let counted = total.saturating_add(u32::try_from(self.nonexistent).unwrap_or(u32::MAX));
        let mut total = total;
        while let Some(last) = total.checked_sub(1).filter(|last| *last > 0)
            && self.not_found.get(&last).is_some_and(|times| *times >= NOT_FOUND)
            && (self.nonexistent == 0 || !is_lost(self.nonexistent + 1, counted))
        {
            total = last;
            self.nonexistent += 1;
        }
        total
    }

    /// Returns a time before which all updates of auctions were read. Updates after `since` are on the pages
    /// up to the first page with a row from before `since`, or else on all `total` pages. The time is the
    /// earliest refresh of these pages; `None` if one of them was not read.
    pub(crate) fn read_since(&self, since: Option<UnixMilliseconds>, total: u32) -> Option<UnixMilliseconds> {
        let mut oldest_refresh = None;
        for number in 0..total.max(1) {
            let page = self.read.get(&number)?;
            let refresh = oldest_refresh.unwrap_or(page.refresh).min(page.refresh);
            oldest_refresh = Some(refresh);
            if page.oldest < since {
                break;
            }
        }
        oldest_refresh
    }

    /// Whether all pages are of one refresh, and together have nearly all auctions in the first page's total.
    /// If so, no row moved between pages during the run, and an auction that no page shows is gone.
    pub(crate) fn are_one_snapshot(&self) -> bool {
        let Some(first) = self.read.get(&0) else { return false };
        let read: usize = self.read.values().map(|page| page.rows).sum();
        let rows = read.saturating_add(read / (OTHER_ROWS - 1));
        self.read.values().all(|page| page.refresh == first.refresh)
            && i64::try_from(rows).is_ok_and(|rows| rows >= first.total_auctions)
            && self.nonexistent == 0
    }

    /// Whether all pages were refreshed at or after this time.
    pub(crate) fn are_refreshed_since(&self, time: UnixMilliseconds) -> bool {
        self.read.values().all(|page| page.refresh >= time)
    }
}

/// Whether too many pages are missing: a tenth or more.
pub(crate) const fn is_lost(missing: usize, total: u32) -> bool {
    missing > 0 && missing * LOST >= total as usize
}
