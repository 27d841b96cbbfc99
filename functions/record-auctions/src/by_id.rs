//! The running auctions by item: their lowest prices, and the blocks with all of them. A block is made again
//! only if the auctions of its id have changed.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use common::gzip::Gzip;
use common::request::auction_item_id::AuctionItemId;
use common::upstream::auctions::AuctionId;
use files::listings::{Listing, Properties, block};
use tables::auctions::{Coins, Price, Prices};

/// The auctions of each id.
#[derive(Default)]
pub(crate) struct ById {
    items: BTreeMap<AuctionItemId, Auctions>,
    gzip: Gzip,
}

/// The auctions of an id; at least one.
#[derive(Default)]
struct Auctions {
    /// Cheapest first. If several auctions have the same price, the smallest auction id comes first.
    sorted: BTreeSet<(Coins, AuctionId)>,
    /// `None` if the auctions have changed since the last block.
    block: Option<Bytes>,
}

impl ById {
    pub(crate) fn insert(&mut self, ids: &[AuctionItemId], price: Coins, auction: AuctionId) {
        for id in ids {
            let auctions = self.items.entry(id.clone()).or_default();
            auctions.sorted.insert((price, auction));
            auctions.block = None;
        }
    }

    pub(crate) fn remove(&mut self, ids: &[AuctionItemId], price: Coins, auction: AuctionId) {
        for id in ids {
            let Some(auctions) = self.items.get_mut(id) else { continue };
            auctions.sorted.remove(&(price, auction));
            auctions.block = None;
            if auctions.sorted.is_empty() {
                self.items.remove(id);
            }
        }
    }

    /// Notes that an auction of these ids has changed, but not its price.
    pub(crate) fn note_change(&mut self, ids: &[AuctionItemId]) {
        for id in ids {
            if let Some(auctions) = self.items.get_mut(id) {
                auctions.block = None;
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }

    /// Returns the prices of the items, and the auction of each lowest price.
    pub(crate) fn prices(&self) -> (Prices, Vec<AuctionId>) {
        let price = |(id, auctions): (&AuctionItemId, &Auctions)| {
            let mut cheapest = auctions.sorted.iter();
            let (lowest, auction) = *cheapest.next()?;
            let second = cheapest.next().map(|(price, _)| *price);
            let listings = u32::try_from(auctions.sorted.len()).unwrap_or(u32::MAX);
            Some(((id.clone(), Price { lowest, second, listings }), auction))
        };
        self.items.iter().filter_map(price).unzip()
    }

    /// Returns the block of each id. `listing` returns an auction as in responses.
    ///
    /// # Errors
    /// If auctions cannot be written as JSON or compressed.
    pub(crate) fn blocks<'a>(
        &mut self,
        listing: impl Fn(AuctionId) -> Option<Listing<&'a Properties>>,
    ) -> Result<Vec<(AuctionItemId, Bytes)>, files::Error> {
        let mut blocks = Vec::with_capacity(self.items.len());
        for (id, Auctions { sorted, block: known }) in &mut self.items {
            let current = if let Some(current) = known.take() {
                current
            } else {
                let rows: Vec<_> = sorted.iter().filter_map(|(_, auction)| listing(*auction)).collect();
                block(&rows, &mut self.gzip)?
            };
            blocks.push((id.clone(), known.insert(current).clone()));
        }
        Ok(blocks)
    }
}
