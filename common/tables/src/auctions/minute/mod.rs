//! A minute: the prices that one run of the recorder has found.

pub(super) mod read;
pub(super) mod stored;
#[cfg(test)]
mod tests;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::auctions::AuctionId;

use common::coins::Coins;

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

/// The prices that one run of the recorder has found.
#[derive(Debug, Clone)]
pub struct Minute {
    /// When the provider refreshed the auctions with these prices.
    pub last_updated: UnixMilliseconds,
    /// When this run or an earlier run last read all pages of running auctions; `None` if unknown.
    pub completed_at: Option<UnixMilliseconds>,
    pub prices: Prices,
    /// The auction of each lowest price, in the order of the prices.
    pub lowest_auctions: Vec<AuctionId>,
}
