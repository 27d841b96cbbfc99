//! A page of the running auctions of an item.

use common::auction_filters::AfterAuction;
use common::cache::Weight;
use common::request::auction_item_id::AuctionItemId;
use common::response::envelope::Document;
use files::listings::{Listing, Stamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::filters::Filters;

/// The bytes of an auction with its texts. Most take less.
const AUCTION_BYTES: usize = 1_024;

/// A page of the running buy-it-now auctions of an item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsListings")]
pub(crate) struct Page<'a> {
    /// The item's id.
    id: &'a str,
    /// When the provider refreshed the auctions, in Unix milliseconds.
    #[serde(rename = "lastUpdated")]
    last_updated: i64,
    /// The filters as the service reads them.
    filters: &'a Filters,
    /// The number of auctions on all pages. A stack counts once.
    count: usize,
    /// The auctions, cheapest first. Of several with the same price, the one with the smallest id is first.
    listings: &'a [&'a Listing],
    /// The `after` of the next page, with more expensive auctions; null if there are no more.
    #[schemars(with = "Option<String>")]
    next_after: Option<AfterAuction>,
}

/// The running auctions of an item.
#[derive(Debug)]
pub(crate) struct Auctions {
    pub(crate) stamp: Stamp,
    /// Sorted by price and id.
    pub(crate) listings: Vec<Listing>,
}

impl Auctions {
    /// Returns the first `limit` auctions behind `after` that pass the filters.
    pub(crate) fn page(
        &self,
        id: &AuctionItemId,
        filters: &Filters,
        after: Option<AfterAuction>,
        limit: usize,
    ) -> serde_json::Result<Document> {
        let passing: Vec<_> = self.listings.iter().filter(|listing| filters.pass(listing)).collect();
        let start =
            passing.partition_point(|listing| Some(listing.position()) <= after.map(AfterAuction::position));
        let rest = passing.get(start..).unwrap_or_default();
        let shown = rest.get(..limit).unwrap_or(rest);
        Document::of(&Page {
            id: id.as_str(),
            last_updated: self.stamp.last_updated.get(),
            filters,
            count: passing.len(),
            listings: shown,
            next_after: match shown.last() {
                Some(last) if rest.len() > limit => Some(AfterAuction::of(last.position())),
                _ => None,
            },
        })
    }
}

impl Weight for Auctions {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.listings.len() * AUCTION_BYTES
    }
}
