//! The auction house as far as a recorder knows it: every running buy-it-now auction.
//!
//! An auction is dropped when it ends, is sold, or is missing from a complete reading whose pages are all of one refresh, or from two
//! complete readings in a row: pages have timers of their own, so a row can move from one that is not read yet to one that was. A sold
//! auction never comes back, whatever an old page shows.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::Skipped;
use common::upstream::auctions::{self, AuctionId, REFRESH};
use common::upstream::ended_auctions::EndedAuction;
use foldhash::fast::RandomState;
use tables::auctions::{Coins, Sale};

use crate::item::{Buffers, Item, read};

/// By how much events and refreshes can be early or late. Times that are a number of minutes apart are compared with this tolerance.
pub(crate) const JITTER: Duration = Duration::from_secs(30);

/// The number of successive complete readings after which an auction that none of them shows is gone.
pub(crate) const ABSENCES: u8 = 2;

/// The most time by which a page is older than the first one: each has a timer of one refresh, and the provider one more. The rest is for
/// refreshes that are late.
const OLDEST_PAGE: Duration = REFRESH.saturating_mul(2).saturating_add(JITTER);

/// For how long a sale is known. No page is so old.
const SALES_KNOWN: Duration = Duration::from_hours(1);

/// The ids that an item counts under.
pub(crate) type Ids = [AuctionItemId];

/// A running buy-it-now auction.
struct Listing {
    ids: Arc<Ids>,
    /// The price of one item.
    price: Coins,
    end: i64,
    /// The reading that has shown it last.
    reading: u32,
    /// The number of complete readings since then.
    absences: u8,
}

/// Every running buy-it-now auction that is known.
#[derive(Default)]
pub(crate) struct House {
    listings: HashMap<AuctionId, Listing, RandomState>,
    /// Each combination of ids once: there are ten times as many auctions.
    ids: HashSet<Arc<Ids>, RandomState>,
    sold: HashMap<AuctionId, UnixMilliseconds, RandomState>,
    /// When the provider refreshed the newest first page.
    refreshed: Option<UnixMilliseconds>,
    reading: u32,
    buffers: Buffers,
}

impl House {
    /// When the provider refreshed what is known.
    pub(crate) const fn refreshed(&self) -> Option<UnixMilliseconds> {
        self.refreshed
    }

    /// Returns the auctions, each with the ids of its item and the price of one.
    pub(crate) fn listings(&self) -> impl ExactSizeIterator<Item = (AuctionId, &Ids, Coins)> {
        self.listings.iter().map(|(auction, listing)| (*auction, &*listing.ids, listing.price))
    }

    /// Forgets the running auctions, which are known no longer. Sales stay known.
    pub(crate) fn forget(&mut self) {
        self.refreshed = None;
        self.listings.clear();
    }

    /// Notes the refresh of a first page, and returns whether it is not older than an earlier one.
    pub(crate) fn refresh(&mut self, refresh: UnixMilliseconds) -> bool {
        let is_new = self.refreshed.is_none_or(|refreshed| refreshed <= refresh);
        if is_new {
            self.refreshed = Some(refresh);
        }
        is_new
    }

    /// Whether a page with this refresh is too old.
    pub(crate) fn is_stale(&self, refresh: UnixMilliseconds) -> bool {
        self.refreshed.is_none_or(|refreshed| refresh.plus(OLDEST_PAGE) < refreshed)
    }

    /// Adds the buy-it-now auctions of a page that are not known.
    pub(crate) fn add(&mut self, page: &[auctions::Listing<'_>], left_out: &mut Skipped) {
        for row in page.iter().filter(|row| row.bin) {
            if let Some(listing) = self.listings.get_mut(&row.uuid) {
                (listing.end, listing.reading, listing.absences) = (row.end, self.reading, 0);
            } else if !self.sold.contains_key(&row.uuid) && !self.is_over(row.end) {
                let Some((ids, count, _)) = self.item(row.uuid, &row.item_bytes, left_out) else { continue };
                let price = Coins::of_one(row.starting_bid.unsigned_abs(), count);
                let listing = Listing { ids, price, end: row.end, reading: self.reading, absences: 0 };
                self.listings.insert(row.uuid, listing);
            }
        }
    }

    /// Removes the auctions of a list of ended ones, and returns the sales.
    pub(crate) fn sell(&mut self, ended: &[EndedAuction<'_>], left_out: &mut Skipped) -> Vec<Sale> {
        let mut list = Vec::with_capacity(ended.len());
        for row in ended {
            let auction = row.auction_id;
            let time = UnixMilliseconds::new(row.timestamp);
            self.listings.remove(&auction);
            self.sold.insert(auction, time);
            if let Some((ids, count, clean)) = self.item(auction, &row.item_bytes, left_out) {
                let items = ids.to_vec();
                let price = row.price.unsigned_abs();
                list.push(Sale { auction, items, count, price, time, bin: row.bin, clean });
            }
        }
        list
    }

    /// Begins a reading, which may become a complete one.
    pub(crate) const fn begin_reading(&mut self) {
        self.reading = self.reading.wrapping_add(1);
    }

    /// Ends a complete reading: every page was added since it began. `is_one_snapshot` says that no row can have moved meanwhile.
    pub(crate) fn end_reading(&mut self, is_one_snapshot: bool) {
        let most = if is_one_snapshot { 1 } else { ABSENCES };
        self.listings.retain(|_, listing| {
            if listing.reading != self.reading {
                listing.absences += 1;
            }
            listing.absences < most
        });
    }

    /// Removes the auctions that are over, and what only they needed.
    pub(crate) fn expire(&mut self) {
        let refreshed = self.refreshed.map_or(i64::MIN, UnixMilliseconds::get);
        self.listings.retain(|_, listing| listing.end > refreshed);
        self.ids.retain(|ids| Arc::strong_count(ids) > 1);
        self.sold.retain(|_, time| time.plus(SALES_KNOWN).get() > refreshed);
    }

    fn is_over(&self, end: i64) -> bool {
        self.refreshed.is_some_and(|refreshed| end <= refreshed.get())
    }

    /// Returns the ids and the count of an item, and whether it is clean. `None` if it is left out.
    fn item(
        &mut self,
        auction: AuctionId,
        item_bytes: &str,
        left_out: &mut Skipped,
    ) -> Option<(Arc<Ids>, NonZeroU32, bool)> {
        match read(item_bytes, &mut self.buffers) {
            Ok(Item { id, also, count, clean }) => {
                let ids: Vec<_> = [id].into_iter().chain(also).collect();
                if let Some(ids) = self.ids.get(&*ids) {
                    return Some((Arc::clone(ids), count, clean));
                }
                let ids: Arc<Ids> = ids.into();
                self.ids.insert(Arc::clone(&ids));
                Some((ids, count, clean))
            }
            Err(reason) => {
                left_out.add(auction.to_string(), reason);
                None
            }
        }
    }
}
