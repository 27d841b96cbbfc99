//! The items that a request asks for.

use common::request::auction_item_id::AuctionItemId;
use common::routes::AuctionIds;

/// An item with its position among all.
pub type Selected<'a, T> = (usize, &'a AuctionItemId, &'a T);

/// Returns the items with these ids in the order of the request, and the ids of none. `items` are sorted by id.
#[must_use]
pub fn select<'a, T>(
    ids: &'a AuctionIds,
    items: &'a [(AuctionItemId, T)],
) -> (Vec<Selected<'a, T>>, Vec<&'a str>) {
    let ids = ids.distinct();
    let mut found = Vec::with_capacity(ids.len());
    let mut unknown = Vec::new();
    for id in ids {
        let position = items.binary_search_by(|(known, _)| known.as_str().cmp(id)).ok();
        match position.and_then(|position| Some((position, items.get(position)?))) {
            Some((position, (id, item))) => found.push((position, id, item)),
            None => unknown.push(id),
        }
    }
    (found, unknown)
}
