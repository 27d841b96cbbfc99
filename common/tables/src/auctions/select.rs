//! Selects the items of a request.

use common::request::auction_item_id::AuctionItemId;
use common::routes::AuctionIds;

/// An item: its position in the list of all items, its id, and its value.
pub type Selected<'a, T> = (usize, &'a AuctionItemId, &'a T);

/// Returns the requested items in the order of the request, and the unknown ids. `items` must be sorted by
/// id.
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
