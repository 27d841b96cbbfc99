//! The prices of one recorded minute. A cached snapshot serves requests with and without `ids`.

use std::sync::Arc;

use common::cache::Weight;
use common::response::envelope::Document;
use common::routes::AuctionIds;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use schemars::JsonSchema;
use serde::Serialize;
use tables::auctions::{Coins, Price, Prices, select};

/// The lowest prices of items in auctions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsPrices")]
#[serde(rename_all = "camelCase")]
pub(crate) struct LowestPrices<'a> {
    /// When the provider refreshed the auctions with these prices, in Unix milliseconds.
    last_updated: i64,
    /// The number of items.
    count: usize,
    /// The listed items: with `ids` in the order of the request, otherwise sorted by id.
    items: Vec<ItemPrices<'a>>,
    /// Only with `ids`: the requested ids that are not listed, in the order of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip_serializing_if = "Option::is_none", with = "Vec<String>")]
    unknown: Option<Vec<&'a str>>,
}

/// The prices of an item in its running buy-it-now auctions. All prices are per item, even for stacks.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsItemPrices")]
struct ItemPrices<'a> {
    /// The item's id.
    id: &'a str,
    /// The lowest price in coins, exact to 0.01.
    lowest: f64,
    /// The second lowest price in coins, exact to 0.01; null if there is only one auction. If it is much
    /// higher, `lowest` is probably an outlier.
    second: Option<f64>,
    /// The number of running buy-it-now auctions. A stack counts once.
    listings: u32,
    /// Only with `ids`: the auction with the lowest price, 32 hexadecimal digits; null if unknown. In the
    /// game, `/viewauction` opens it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip_serializing_if = "Option::is_none", with = "Option<String>")]
    auction: Option<LowestAuction>,
}

/// The id of an auction; null if it is unknown.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct LowestAuction(Option<String>);

impl<'a> ItemPrices<'a> {
    fn new(id: &'a str, Price { lowest, second, listings }: Price) -> Self {
        Self { id, lowest: lowest.coins(), second: second.map(Coins::coins), listings, auction: None }
    }
}

/// One recorded minute.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) recorded_at: UnixSeconds,
    last_updated: UnixMilliseconds,
    /// Sorted by id.
    prices: Prices,
    /// The auctions of the lowest prices, in the order of `prices`; empty if they are unknown.
    lowest: Vec<AuctionId>,
    /// The data of the response with all items, which most clients request.
    all: Arc<Document>,
}

impl Snapshot {
    /// Returns the snapshot of the minute `recorded_at`. `prices` are sorted by id.
    pub(crate) fn new(
        recorded_at: UnixSeconds,
        last_updated: UnixMilliseconds,
        prices: Prices,
        lowest: Vec<AuctionId>,
    ) -> Result<Self, tables::Error> {
        let items: Vec<_> = prices.iter().map(|(id, price)| ItemPrices::new(id.as_str(), *price)).collect();
        let data =
            LowestPrices { last_updated: last_updated.get(), count: items.len(), items, unknown: None };
        let all = Document::of(&data).map_err(tables::Error::unwritable)?;
        Ok(Self { recorded_at, last_updated, prices, lowest, all: Arc::new(all) })
    }

    /// Returns the data of the response: all items, or only the items with these ids.
    pub(crate) fn document(&self, ids: Option<&AuctionIds>) -> Result<Arc<Document>, serde_json::Error> {
        let Some(ids) = ids else { return Ok(Arc::clone(&self.all)) };
        let (found, unknown) = select(ids, &self.prices);
        let mut items = Vec::with_capacity(found.len());
        for (position, id, price) in found {
            let auction = LowestAuction(self.lowest.get(position).map(ToString::to_string));
            items.push(ItemPrices { auction: Some(auction), ..ItemPrices::new(id.as_str(), *price) });
        }
        let last_updated = self.last_updated.get();
        Document::of(&LowestPrices { last_updated, count: items.len(), items, unknown: Some(unknown) })
            .map(Arc::new)
    }
}

impl Weight for Snapshot {
    fn bytes(&self) -> usize {
        size_of_val(self.prices.as_slice()) + self.all.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: UnixSeconds = UnixSeconds::new(1_777_388_580);

    /// As many items as are listed today, with the longest possible ids and prices.
    fn largest() -> Prices {
        let highest = Coins::of_hundredths(199_999_999_999);
        let price = Price { lowest: highest, second: Some(highest), listings: 65_000 };
        (0..6_500).map(|number| (format!("{number:064}").parse().unwrap(), price)).collect()
    }

    #[test]
    fn the_response_with_all_items_fits_into_the_stage_cache() {
        let snapshot = Snapshot::new(MINUTE, UnixMilliseconds::new(0), largest(), Vec::new()).unwrap();
        let bytes = snapshot.document(None).unwrap().envelope_bytes(true);
        assert!((800_000..1_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_made_of_all_items_is_made_once() {
        let snapshot = Snapshot::new(MINUTE, UnixMilliseconds::new(0), largest(), Vec::new()).unwrap();
        let [first, second] = [(); 2].map(|()| snapshot.document(None).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
    }
}
