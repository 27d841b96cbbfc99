//! Writes running auctions without the recorder.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use common::coins::Coins;
use common::gzip::Gzip;
use common::time::{Tick, UnixMilliseconds};
use common::upstream::auctions::AuctionId;
use files::listings::{Listing, Listings, Object, Properties, Stamp, block};
use local::Cloud;

/// Running auctions by item.
pub(crate) type House = BTreeMap<String, Vec<Listing>>;

pub(crate) fn clean_auction(number: u128, price: Coins) -> Listing {
    let properties = Properties {
        clean: true,
        level: None,
        stars: None,
        recombobulated: false,
        reforge: None,
        enchantments: None,
        held_item: None,
        skin: None,
    };
    let auction = AuctionId::of_bytes(number.to_be_bytes());
    Listing { price, auction, amount: NonZeroU32::MIN, end: 1_795_411_898_613, properties }
}

/// Returns the object with these auctions, read at `last_updated_ms` and recorded in the minute of `time_ms`.
pub(crate) fn object(house: &House, time_ms: i64, last_updated_ms: i64) -> Object {
    let mut gzip = Gzip::default();
    let mut block = |listings: &[Listing]| {
        let mut rows = listings.to_vec();
        rows.sort_unstable_by_key(Listing::position);
        block(&rows, &mut gzip).unwrap()
    };
    Object {
        stamp: Stamp {
            last_updated: UnixMilliseconds::new(last_updated_ms),
            completed_at: None,
            recorded_at: Tick::of(UnixMilliseconds::new(time_ms)).time(),
        },
        blocks: house.iter().map(|(id, listings)| (id.parse().unwrap(), block(listings))).collect(),
    }
}

/// Returns the running auctions of the cloud, as a function has them.
pub(crate) fn listings_of(cloud: &Cloud) -> Listings {
    cloud.open_listings().unwrap()
}

/// Writes these auctions for the minute of this time in Unix milliseconds. The provider's refresh is one
/// second before the time.
pub(crate) async fn record_listings(cloud: &Cloud, time_ms: i64, house: &House) {
    let object = object(house, time_ms, time_ms - 1_000);
    assert!(listings_of(cloud).replace(&object, UnixMilliseconds::new(time_ms)).await.unwrap());
}
