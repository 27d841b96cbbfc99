//! The content of a minute: JSON, compressed with gzip.

use std::num::NonZeroU32;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixMilliseconds;
use common::upstream::auctions::AuctionId;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use serde::{Deserialize, Serialize};

use super::minute::{Coins, Minute, Price, Prices, Sale, Sales};

/// The most bytes of JSON that are read: ten times those of a usual minute.
const LARGEST: usize = 4 * 1024 * 1024;

/// The last level that takes less than 50 ms. The two above it save two bytes in a thousand.
const LEVEL: i32 = 10;

/// The content. Values of one kind in a row compress to four fifths of entries with everything.
#[derive(Serialize, Deserialize)]
struct Content {
    ids: Vec<AuctionItemId>,
    /// Per id the lowest price, by how much the second lowest is higher, and the number of listings. Prices are in hundredths of a coin.
    prices: Vec<(u64, Option<u64>, u32)>,
    /// Per sale the auction, the ids of the item, the count, the price of the stack in coins, the time, and whether it was buy-it-now.
    sales: Vec<(AuctionId, Vec<AuctionItemId>, NonZeroU32, u64, i64, bool)>,
}

/// Returns the compressed content.
///
/// # Errors
/// If it cannot be written as JSON.
pub(super) fn compress(minute: &Minute) -> serde_json::Result<Vec<u8>> {
    let price = |(_, price): &(AuctionItemId, Price)| {
        let lowest = price.lowest.hundredths();
        (lowest, price.second.map(|second| second.hundredths().saturating_sub(lowest)), price.listings)
    };
    let sales = minute.sales.iter().flat_map(|sales| sales.list.clone());
    let content = serde_json::to_vec(&Content {
        ids: minute.prices.iter().map(|(id, _)| id.clone()).collect(),
        prices: minute.prices.iter().map(price).collect(),
        sales: sales
            .map(|Sale { auction, items, count, price, time, bin }| {
                (auction, items, count, price, time.get(), bin)
            })
            .collect(),
    })?;
    let mut compressor = Compressor::new(CompressionLvl::new(LEVEL).unwrap_or_default());
    let mut compressed = vec![0; compressor.gzip_compress_bound(content.len())];
    // It has the size that the library asks for.
    let length = compressor.gzip_compress(&content, &mut compressed).unwrap_or_default();
    compressed.truncate(length);
    Ok(compressed)
}

/// Reads the content of a minute whose list of sales was refreshed at `sales_until`. `None` if it is corrupt.
pub(super) fn read(
    compressed: &[u8],
    sales_until: Option<UnixMilliseconds>,
) -> Option<(Prices, Option<Sales>)> {
    let length = u32::from_le_bytes(*compressed.last_chunk()?) as usize;
    let mut content = vec![0; Some(length).filter(|length| *length <= LARGEST)?];
    Decompressor::new().gzip_decompress(compressed, &mut content).ok()?;
    let Content { ids, prices, sales } = serde_json::from_slice(&content).ok()?;
    let price = |(lowest, above, listings): (u64, Option<u64>, u32)| {
        let second = above.map(|above| Coins::of_hundredths(lowest.saturating_add(above)));
        Price { lowest: Coins::of_hundredths(lowest), second, listings }
    };
    let are_all = ids.len() == prices.len();
    let prices = ids.into_iter().zip(prices.into_iter().map(price)).collect();
    let sales = sales.into_iter().map(|(auction, items, count, price, time, bin)| {
        let time = UnixMilliseconds::new(time);
        Sale { auction, items, count, price, time, bin }
    });
    let sales = sales_until.map(|until| Sales { until, list: sales.collect() });
    are_all.then_some((prices, sales))
}
