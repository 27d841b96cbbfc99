//! The lowest prices of items.

use std::collections::HashMap;

use common::request::auction_item_id::AuctionItemId;
use common::upstream::auctions::AuctionId;
use foldhash::fast::RandomState;
use tables::auctions::{Coins, Price, Prices};

/// The auctions of an item: the two lowest prices, and the number of auctions.
struct Auctions {
    lowest: (Coins, AuctionId),
    second: Option<(Coins, AuctionId)>,
    listings: u32,
}

/// Returns the prices of the items, sorted by id, and the auction of each lowest price. Each of the `auctions` has the ids of its item and
/// the price of one item. If several auctions have the lowest price, the smallest auction id wins, so the order of `auctions` is irrelevant.
pub(crate) fn prices<'a>(
    auctions: impl Iterator<Item = (AuctionId, &'a [AuctionItemId], Coins)>,
) -> (Prices, Vec<AuctionId>) {
    let mut items = HashMap::<_, Auctions, RandomState>::default();
    for (auction, ids, price) in auctions {
        let added = (price, auction);
        for id in ids {
            items
                .entry(id)
                .and_modify(|item| {
                    let higher = added.max(item.lowest);
                    item.lowest = added.min(item.lowest);
                    item.second = Some(item.second.map_or(higher, |second| second.min(higher)));
                    item.listings += 1;
                })
                .or_insert(Auctions { lowest: added, second: None, listings: 1 });
        }
    }
    let mut items: Vec<_> = items.into_iter().collect();
    items.sort_unstable_by_key(|(id, _)| *id);
    items
        .into_iter()
        .map(|(id, Auctions { lowest: (lowest, auction), second, listings })| {
            let second = second.map(|(second, _)| second);
            ((id.clone(), Price { lowest, second, listings }), auction)
        })
        .unzip()
}
