//! The content of a minute.

use std::num::NonZeroU32;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::auctions::AuctionId;
use serde::{Deserialize, Serialize};

use super::minute::{Coins, Minute, Price, Prices, Sale, Sales};
use super::packed::{Ids, pack, unpack};

/// The content. Values of one kind in a row compress best.
#[derive(Serialize, Deserialize)]
struct Content {
    ids: Ids,
    /// Per id the lowest price, in hundredths of a coin.
    lowest: Vec<u64>,
    /// Per id by how much the second lowest is higher, in hundredths of a coin.
    second: Vec<Option<u64>>,
    listings: Vec<u32>,
    sales: Vec<SoldAuction>,
}

/// The auction, the ids of the item, the count, the price of the stack in coins, the time, whether it was buy-it-now, and whether the item
/// is clean.
type SoldAuction = (AuctionId, Vec<AuctionItemId>, NonZeroU32, u64, i64, bool, bool);

/// Returns the compressed content.
///
/// # Errors
/// If it cannot be written as JSON.
pub(super) fn compress(minute: &Minute) -> serde_json::Result<Vec<u8>> {
    let prices = || minute.prices.iter().map(|(_, price)| price);
    let above = |price: &Price| {
        price.second.map(|second| second.hundredths().saturating_sub(price.lowest.hundredths()))
    };
    let sales = minute.sales.iter().flat_map(|sales| sales.list.clone());
    let sale = |Sale { auction, items, count, price, time, bin, clean }| {
        (auction, items, count, price, time.get(), bin, clean)
    };
    pack(&Content {
        ids: Ids::of(minute.prices.iter().map(|(id, _)| id)),
        lowest: prices().map(|price| price.lowest.hundredths()).collect(),
        second: prices().map(above).collect(),
        listings: prices().map(|price| price.listings).collect(),
        sales: sales.map(sale).collect(),
    })
}

/// Reads the content of a minute that has all sales between these times, if it has sales. `None` if it is corrupt.
pub(super) fn read(
    compressed: &[u8],
    sales_between: Option<(UnixMilliseconds, UnixMilliseconds)>,
) -> Option<(Prices, Option<Sales>)> {
    let Content { ids, lowest, second, listings, sales } = unpack(compressed)?;
    let ids = ids.ids()?;
    let are_all = [lowest.len(), second.len(), listings.len()] == [ids.len(); 3];
    let prices = lowest.into_iter().zip(second).zip(listings).map(|((lowest, above), listings)| {
        let second = above.map(|above| Coins::of_hundredths(lowest.saturating_add(above)));
        Price { lowest: Coins::of_hundredths(lowest), second, listings }
    });
    let prices = ids.into_iter().zip(prices).collect();
    let sales = sales.into_iter().map(|(auction, items, count, price, time, bin, clean)| {
        let time = UnixMilliseconds::new(time);
        Sale { auction, items, count, price, time, bin, clean }
    });
    let sales = sales_between.map(|(since, until)| Sales { since, until, list: sales.collect() });
    are_all.then_some((prices, sales))
}
