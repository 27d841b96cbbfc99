//! A minute: the result of one run of the recorder.

pub(super) mod read;
pub(super) mod stored;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::auctions::AuctionId;

use super::coins::Coins;

/// The prices of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// The lowest buy-it-now price of one item.
    pub lowest: Coins,
    /// The second lowest price, which may equal the lowest; `None` if there is only one listing.
    pub second: Option<Coins>,
    /// The number of running buy-it-now auctions.
    pub listings: u32,
}

/// The prices of all items that are listed, sorted by id.
pub type Prices = Vec<(AuctionItemId, Price)>;

/// An auction that a player won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sale {
    pub auction: AuctionId,
    /// The ids that the item counts under.
    pub items: Vec<AuctionItemId>,
    /// The number of items in the stack.
    pub count: NonZeroU32,
    /// The price of the whole stack, in coins.
    pub price: u64,
    /// When the auction was won.
    pub time: UnixMilliseconds,
    /// Whether it was a buy-it-now auction.
    pub bin: bool,
    /// Whether the item is clean: nothing has been added to it.
    pub clean: bool,
}

impl Sale {
    /// Returns the price of one item.
    #[must_use]
    pub const fn price_of_one(&self) -> Coins {
        Coins::of_one(self.price, self.count)
    }
}

/// The sales of successive lists of ended auctions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sales {
    /// The time from which the lists have every sale, up to `until`.
    pub since: UnixMilliseconds,
    /// When the provider refreshed the last list.
    pub until: UnixMilliseconds,
    /// The sales, each once.
    pub list: Vec<Sale>,
}

impl Sales {
    /// Returns these sales joined with `later`. Drops sales of `self` that are older than `kept` at the end of `later`. If there is a gap
    /// between the two lists, `since` is the end of the gap.
    #[must_use]
    pub fn followed_by(self, later: Self, kept: Duration) -> Self {
        let Self { since, until, mut list } = later;
        let known: HashSet<_> = list.iter().map(|sale| sale.auction).collect();
        let oldest = until.minus(kept);
        list.extend(
            self.list.into_iter().filter(|sale| sale.time >= oldest && !known.contains(&sale.auction)),
        );
        let are_joined = since <= self.until && self.since <= until;
        let since = if are_joined { since.min(self.since.max(oldest)) } else { since };
        Self { since, until: if are_joined { until.max(self.until) } else { until }, list }
    }
}

/// The result of one run of the recorder.
#[derive(Debug, Clone)]
pub struct Minute {
    /// When the provider refreshed the auctions with these prices.
    pub last_updated: UnixMilliseconds,
    /// When this run or an earlier run last read all pages of running auctions; `None` if unknown.
    pub completed_at: Option<UnixMilliseconds>,
    pub prices: Prices,
    /// The auction of each lowest price, in the order of the prices.
    pub lowest_auctions: Vec<AuctionId>,
    /// The sales of the lists of ended auctions that no run has recorded yet; `None` if there is no such list. Sales of a recorded list may
    /// be among them, because lists overlap.
    pub sales: Option<Sales>,
}
