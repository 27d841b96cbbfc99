//! Prices of auctions that are recorded without the recorder.

use std::time::Duration;

use common::time::{Tick, UnixMilliseconds};
use common::upstream::auctions::AuctionId;
use local::Cloud;
use tables::Table;
use tables::auctions::{Coins, Minute, Price, record};

/// The items of the examples in the documentation, each with its prices in hundredths of a coin, and its auctions.
const ITEMS: [(&str, u64, Option<u64>, u32); 4] = [
    ("GOLDEN_DRAGON;4", 21_900_000_000, Some(22_450_000_000), 41),
    ("HYPERION", 90_000_000_000, Some(90_000_000_000), 12),
    ("ICE_RUNE;1", 980_392, None, 1),
    ("NEW_YEAR_CAKE+383", 30_000_000, Some(31_000_001), 2),
];

/// Records prices at the minute of this time in Unix milliseconds.
pub(crate) async fn record_prices(cloud: &Cloud, time_ms: i64) {
    record_prices_of(cloud, time_ms, &ITEMS).await;
}

/// Records the prices of these items, which are sorted by id, at the minute of this time in Unix milliseconds. The auction of the lowest
/// price is the position of the item, and the provider's refresh was a second before.
pub(crate) async fn record_prices_of(cloud: &Cloud, time_ms: i64, items: &[(&str, u64, Option<u64>, u32)]) {
    let price = |(id, lowest, second, listings): &(&str, u64, Option<u64>, u32)| {
        let (lowest, second) = (Coins::of_hundredths(*lowest), second.map(Coins::of_hundredths));
        (id.parse().unwrap(), Price { lowest, second, listings: *listings })
    };
    let minute = Minute {
        last_updated: UnixMilliseconds::new(time_ms - 1_000),
        prices: items.iter().map(price).collect(),
        lowest: (0_u128..)
            .take(items.len())
            .map(|number| AuctionId::of_bytes(number.to_be_bytes()))
            .collect(),
        sales: None,
    };
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "History");
    let session = table.with_timeout(Duration::from_mins(1));
    record(session, Tick::of(UnixMilliseconds::new(time_ms)), &minute).await.unwrap();
}
