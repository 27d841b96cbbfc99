//! Records auction prices, running auctions and names without their recorders.

use std::collections::BTreeMap;
use std::time::Duration;

use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use local::Cloud;
use tables::auctions::{Coins, Minute, Price, record};
use tables::names::{Name, Names, names_of, store};
use tables::{Table, bazaar, series};

use super::listings::{clean_auction, listings_of, object};

/// The items of the documentation's examples: the id, the lowest and second lowest price in hundredths of a
/// coin, and the number of listings.
const ITEMS: [(&str, u64, Option<u64>, u32); 4] = [
    ("GOLDEN_DRAGON;4", 21_900_000_000, Some(22_450_000_000), 41),
    ("HYPERION", 90_000_000_000, Some(90_000_000_000), 12),
    ("ICE_RUNE;1", 980_392, None, 1),
    ("NEW_YEAR_CAKE+383", 30_000_000, Some(31_000_001), 2),
];

/// The day of the example of `/v1/bazaar/candles/all`: 2026-01-01.
const EXAMPLE_DAY: UnixSeconds = UnixSeconds::new(1_767_225_600);

/// Records prices for the minute of this time in Unix milliseconds, names of the same items, and the candle
/// of a product on the example's day.
pub(crate) async fn record_prices(cloud: &Cloud, time_ms: i64) {
    record_prices_of(cloud, time_ms, &ITEMS).await;
    store_day(cloud, EXAMPLE_DAY).await;
    let ids = ITEMS.iter().map(|(id, ..)| (*id).to_owned()).collect();
    record_names(cloud, time_ms, &names_of(&["INK_SACK:3".to_owned()].into(), &ids, &BTreeMap::new())).await;
}

/// Stores the candle of a product on the day of this time.
pub(crate) async fn store_day(cloud: &Cloud, time: UnixSeconds) {
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "History");
    let session = table.with_timeout(Duration::from_mins(1));
    let [.., day] = &bazaar::INTERVALS;
    let slot = day.at(time);
    let text = "332.2,333.6,314.58,327.12,341.92,345,325.5,335.96,22494,24933,1440,0,333.8,314.7,327.3,344.9,325.4,335.9,47911,24362";
    let candle = bazaar::Candle::of_text(slot, text).unwrap();
    series::store(session, slot, &[("COAL".parse().unwrap(), candle)].into()).await.unwrap();
    series::begin_at(session, &bazaar::SERIES, slot.end()).await.unwrap();
}

/// Records these names at this time in Unix milliseconds.
pub(crate) async fn record_names(cloud: &Cloud, time_ms: i64, items: &[Name]) {
    let updated_at = UnixMilliseconds::new(time_ms).into();
    let names = Names { updated_at, count: items.len(), items: items.to_vec() };
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "History");
    store(table.with_timeout(Duration::from_mins(1)), &names).await.unwrap();
}

/// Records the prices of these items for the minute of this time in Unix milliseconds. The items must be
/// sorted by id. The id of an item's cheapest auction is the item's position, and the provider's refresh is
/// one second before the time. The running auctions are the cheapest ones.
pub(crate) async fn record_prices_of(cloud: &Cloud, time_ms: i64, items: &[(&str, u64, Option<u64>, u32)]) {
    let price = |(id, lowest, second, listings): &(&str, u64, Option<u64>, u32)| {
        let (lowest, second) = (Coins::of_hundredths(*lowest), second.map(Coins::of_hundredths));
        (id.parse().unwrap(), Price { lowest, second, listings: *listings })
    };
    let minute = Minute {
        last_updated: UnixMilliseconds::new(time_ms - 1_000),
        completed_at: None,
        prices: items.iter().map(price).collect(),
        lowest_auctions: (0_u128..)
            .take(items.len())
            .map(|number| AuctionId::of_bytes(number.to_be_bytes()))
            .collect(),
    };
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "History");
    let session = table.with_timeout(Duration::from_mins(1));
    record(session, Tick::of(UnixMilliseconds::new(time_ms)), &minute).await.unwrap();
    let lowest = minute
        .prices
        .iter()
        .zip(0..)
        .map(|((id, price), number)| (id.as_str().to_owned(), vec![clean_auction(number, price.lowest)]));
    let object = object(&lowest.collect(), time_ms, time_ms - 1_000);
    listings_of(cloud).replace(&object, UnixMilliseconds::new(time_ms)).await.unwrap();
}
