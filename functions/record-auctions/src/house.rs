//! The running buy-it-now auctions that a recorder knows.
//!
//! A complete reading reads every page of the provider. An auction is dropped when it ends or is sold, when a
//! complete reading of a single refresh does not show it, or when two complete readings in a row do not show
//! it. One reading is not enough if its pages are of several refreshes: a row can move from an unread page to
//! a page that was already read. A sold auction, in a list of ended auctions or on a page, is never added
//! again, even if an old page still shows it.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::Skipped;
use common::upstream::auctions::{self, AuctionId, REFRESH};
use common::upstream::ended_auctions::EndedAuction;
use files::listings::{Listing, Properties};
use foldhash::fast::RandomState;
use tables::auctions::{Coins, Prices, Sale, SoldAuction};

use crate::by_id::ById;
use crate::item::{Buffers, Item, read};

/// How early or late an event or a refresh can be. Limits in whole minutes are corrected by this tolerance.
pub(crate) const JITTER: Duration = Duration::from_secs(30);

/// After a longer pause, the auctions that were read before it are too old to continue from.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_mins(3).saturating_add(JITTER);

/// An auction is dropped after this many successive complete readings that do not show it.
pub(crate) const ABSENCES: u8 = 2;

/// The maximum age of a page relative to the first page: one refresh, because each page has a separate timer,
/// one more for the timer of the provider, and a tolerance for late refreshes.
const OLDEST_PAGE: Duration = REFRESH.saturating_mul(2).saturating_add(JITTER);

/// How long a sold auction is remembered. After this time, no page is old enough to still show the auction.
const SALES_KNOWN: Duration = Duration::from_hours(1);

/// The ids under which an item counts.
type Ids = [AuctionItemId];

/// The items of an auction, which are a stack of one kind.
struct Lot {
    ids: Arc<Ids>,
    count: NonZeroU32,
    properties: Arc<Properties>,
}

/// A running buy-it-now auction.
struct RunningAuction {
    ids: Arc<Ids>,
    price: Coins,
    /// The number of items.
    amount: NonZeroU32,
    /// When the auction ends, in Unix milliseconds.
    end: i64,
    properties: Arc<Properties>,
    /// The number of the last reading that has shown this auction.
    reading: u32,
    /// The number of complete readings after `reading`, all without this auction.
    absences: u8,
}

/// The known running buy-it-now auctions.
#[derive(Default)]
pub(crate) struct House {
    listings: HashMap<AuctionId, RunningAuction, RandomState>,
    by_id: ById,
    /// Each distinct list of ids, stored once, because about ten auctions share a list.
    ids: HashSet<Arc<Ids>, RandomState>,
    /// The distinct properties. About four auctions share them.
    properties: HashSet<Arc<Properties>, RandomState>,
    /// The time of each recent sale.
    sold: HashMap<AuctionId, UnixMilliseconds, RandomState>,
    /// When the provider refreshed the newest first page.
    refreshed: Option<UnixMilliseconds>,
    reading: u32,
    buffers: Buffers,
}

impl House {
    /// Returns when the provider refreshed the newest first page.
    pub(crate) const fn refreshed(&self) -> Option<UnixMilliseconds> {
        self.refreshed
    }

    /// Returns the number of running auctions.
    pub(crate) fn len(&self) -> usize {
        self.listings.len()
    }

    /// Returns the prices of the items, and the auction of each lowest price.
    pub(crate) fn prices(&self) -> (Prices, Vec<AuctionId>) {
        self.by_id.prices()
    }

    /// Returns the block of each id.
    ///
    /// # Errors
    /// If auctions cannot be written as JSON or compressed.
    pub(crate) fn blocks(&mut self) -> Result<Vec<(AuctionItemId, Bytes)>, files::Error> {
        self.by_id.blocks(|auction| {
            let RunningAuction { price, amount, end, properties, .. } = self.listings.get(&auction)?;
            Some(Listing { auction, price: *price, amount: *amount, end: *end, properties: &**properties })
        })
    }

    /// Forgets the running auctions, but not the sales.
    pub(crate) fn forget(&mut self) {
        self.refreshed = None;
        self.listings.clear();
        self.by_id.clear();
    }

    /// Records when the provider refreshed a first page. Returns false, and records nothing, if an earlier
    /// first page had a later refresh.
    pub(crate) fn refresh(&mut self, refresh: UnixMilliseconds) -> bool {
        let is_new = self.refreshed.is_none_or(|refreshed| refreshed <= refresh);
        if is_new {
            self.refreshed = Some(refresh);
        }
        is_new
    }

    /// Whether a page of this refresh is too old compared with the newest first page.
    pub(crate) fn is_stale(&self, refresh: UnixMilliseconds) -> bool {
        self.refreshed.is_none_or(|refreshed| refresh.plus(OLDEST_PAGE) < refreshed)
    }

    /// Adds the new buy-it-now auctions of a page, and marks the known ones as shown by the current reading.
    /// Removes those that are sold.
    pub(crate) fn add(&mut self, page: &[auctions::Listing<'_>], left_out: &mut Skipped) {
        for row in page.iter().filter(|row| row.bin) {
            if row.is_sold() {
                self.remove(row.uuid, UnixMilliseconds::new(row.last_updated));
            } else if let Some(listing) = self.listings.get_mut(&row.uuid) {
                if listing.end != row.end {
                    self.by_id.note_change(&listing.ids);
                }
                (listing.end, listing.reading, listing.absences) = (row.end, self.reading, 0);
            } else if !self.sold.contains_key(&row.uuid) && !self.is_over(row.end) {
                let Some(Lot { ids, count: amount, properties }) =
                    self.lot(row.uuid, &row.item_bytes, left_out)
                else {
                    continue;
                };
                let price = Coins::of_one(row.starting_bid.unsigned_abs(), amount);
                let (end, reading) = (row.end, self.reading);
                self.by_id.insert(&ids, price, row.uuid);
                let listing = RunningAuction { ids, price, amount, end, properties, reading, absences: 0 };
                self.listings.insert(row.uuid, listing);
            }
        }
    }

    /// Removes the auctions in `ended`, which were sold, and returns those whose item has an id.
    pub(crate) fn sell(&mut self, ended: &[EndedAuction<'_>], left_out: &mut Skipped) -> Vec<SoldAuction> {
        let mut list = Vec::with_capacity(ended.len());
        for row in ended {
            let auction = row.auction_id;
            let sold_at = UnixMilliseconds::new(row.timestamp);
            self.remove(auction, sold_at);
            if let Some(Lot { ids, count, properties }) = self.lot(auction, &row.item_bytes, left_out) {
                let price = row.price.unsigned_abs();
                let Properties { clean, level, .. } = *properties;
                let sale = Sale { sold_at, price, amount: count, bin: row.bin, clean, level };
                list.push(SoldAuction { auction, items: ids.to_vec(), sale });
            }
        }
        list
    }

    /// Removes a sold auction, which no later page adds again.
    fn remove(&mut self, auction: AuctionId, sold_at: UnixMilliseconds) {
        if let Some(listing) = self.listings.remove(&auction) {
            self.by_id.remove(&listing.ids, listing.price, auction);
        }
        self.sold.insert(auction, sold_at);
    }

    /// Begins a reading. The caller decides later whether it is complete.
    pub(crate) const fn begin_reading(&mut self) {
        self.reading = self.reading.wrapping_add(1);
    }

    /// Ends a complete reading, in which every page was added. `is_one_snapshot` means that all pages are of
    /// one refresh, so no row can have moved between pages.
    pub(crate) fn end_reading(&mut self, is_one_snapshot: bool) {
        let most = if is_one_snapshot { 1 } else { ABSENCES };
        let reading = self.reading;
        self.drop_if(|listing| {
            if listing.reading != reading {
                listing.absences += 1;
            }
            listing.absences >= most
        });
    }

    /// Removes ended auctions, unused lists of ids, unused properties, and old sales.
    pub(crate) fn expire(&mut self) {
        if let Some(refreshed) = self.refreshed {
            self.drop_if(|listing| listing.end <= refreshed.get());
        }
        self.ids.retain(|ids| Arc::strong_count(ids) > 1);
        self.properties.retain(|properties| Arc::strong_count(properties) > 1);
        // Sales also go while no first page can be read.
        let newest = self.refreshed.or_else(|| self.sold.values().max().copied());
        self.sold.retain(|_, time| newest < Some(time.plus(SALES_KNOWN)));
    }

    fn drop_if(&mut self, mut is_dropped: impl FnMut(&mut RunningAuction) -> bool) {
        for (auction, listing) in self.listings.extract_if(|_, listing| is_dropped(listing)) {
            self.by_id.remove(&listing.ids, listing.price, auction);
        }
    }

    fn is_over(&self, end: i64) -> bool {
        self.refreshed.is_some_and(|refreshed| end <= refreshed.get())
    }

    /// Returns the items of an auction. If they have no id, adds the auction to `left_out` and returns
    /// `None`.
    fn lot(&mut self, auction: AuctionId, item_bytes: &str, left_out: &mut Skipped) -> Option<Lot> {
        let Item { id, also, count, properties } = read(item_bytes, &mut self.buffers)
            .map_err(|reason| left_out.add(auction.to_string(), reason))
            .ok()?;
        let ids: Vec<_> = [id].into_iter().chain(also).collect();
        let ids = shared(&mut self.ids, ids.into());
        Some(Lot { ids, count, properties: shared(&mut self.properties, properties.into()) })
    }
}

/// Returns the known value that equals `new`, or adds `new` to the known values.
fn shared<T: ?Sized + Eq + Hash>(known: &mut HashSet<Arc<T>, RandomState>, new: Arc<T>) -> Arc<T> {
    if let Some(known) = known.get(&new) {
        return Arc::clone(known);
    }
    known.insert(Arc::clone(&new));
    new
}
