//! Records auction prices in the local cloud, and a history for the charts.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use common::gzip::Gzip;
use common::pet_level::PetLevel;
use common::request::auction_item_id::AuctionItemId;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use files::listings::{Listing, Object, Properties, Stamp, block};
use local::Cloud;
use serde_json::Value;
use tables::auctions::{
    Candle, Candles, Coins, HourSales, INTERVALS, Listed, Minute, Price, SERIES, Sale, Sold, SoldAuction,
    build_averages, record, write_texts,
};
use tables::names::{Names, names_of, plain, store as store_names};
use tables::series::{begin_at, store};
use tables::{Session, Table};

pub(crate) const TABLE: &str = "History";

/// A pet with a history.
pub(crate) const PET: &str = "GOLDEN_DRAGON;4";

/// A book with a history.
pub(crate) const BOOK: &str = "GROWTH;5";

/// The id of [`BOOK`] in the bazaar.
pub(crate) const PRODUCT: &str = "ENCHANTMENT_GROWTH_5";

/// The id that is recorded as the cheapest auction of every item.
const AUCTION: u128 = 0xc6d2_267d_73a0_4f2f_9d0c_5b1e_8f6a_4b32;

/// The lowest price of the first item, in hundredths of a coin. Each further item costs a hundredth of a coin
/// more.
const PRICE: u64 = 21_900_000_000;

/// The number of listed items, which fill seven pages of the market page's table.
const ITEMS: usize = 650;

/// The number of hourly candles: three days.
const HOURS: i64 = 72;

/// The number of daily candles: a month.
const DAYS: i64 = 30;

const HOUR: i64 = 3_600;

fn time(cloud: &Cloud) -> UnixSeconds {
    UnixSeconds::new(cloud.clock().now_ms() / 1_000)
}

fn session(table: &Table) -> Session<'_> {
    table.with_timeout(Duration::from_mins(1))
}

/// Records the prices of the current minute, and the names of these items and of the products of the bazaar.
pub(crate) async fn record_prices(cloud: &Cloud) {
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), TABLE);
    let now = time(cloud);
    let others = (2..ITEMS).map(|number| format!("ITEM_{number:04}"));
    let ids = others.chain([PET, BOOK].map(str::to_owned));
    let price = |(id, number): (String, u64)| {
        let lowest = Coins::of_hundredths(PRICE + number);
        let price = Price { lowest, second: Some(Coins::of_hundredths(PRICE + 1_000_000)), listings: 41 };
        (id.parse::<AuctionItemId>().unwrap(), price)
    };
    let mut prices: Vec<_> = ids.zip(0..).map(price).collect();
    prices.sort_by(|(one, _), (other, _)| one.cmp(other));
    let minute = Minute {
        last_updated: UnixMilliseconds::new(now.get() * 1_000),
        completed_at: None,
        lowest_auctions: vec![AuctionId::of_bytes(AUCTION.to_be_bytes()); prices.len()],
        prices,
    };
    let ids = minute.prices.iter().map(|(id, _)| id.as_str().to_owned()).collect();
    record(session(&table), Tick::of(now), &minute).await.unwrap();
    record_running(cloud, now).await;
    record_names(cloud, &ids, &simulator::items::body(1, cloud.clock().now_ms())).await;
}

/// Writes 25 running auctions of the pet, from level 176 to 200. Each costs 10,000 coins more than the one
/// before.
async fn record_running(cloud: &Cloud, now: UnixSeconds) {
    let properties = |number: u32| Properties {
        clean: number.is_multiple_of(2),
        level: PetLevel::new(176 + number),
        stars: None,
        recombobulated: false,
        reforge: None,
        enchantments: None,
        held_item: Some("PET_ITEM_LUCKY_CLOVER".into()),
        skin: None,
    };
    let end = (now.get() + HOUR) * 1_000;
    let listing = |number: u32| Listing {
        auction: AuctionId::of_bytes((AUCTION + u128::from(number)).to_be_bytes()),
        price: Coins::of_hundredths(PRICE + u64::from(number) * 1_000_000),
        amount: NonZeroU32::MIN,
        end,
        properties: properties(number),
    };
    let rows: Vec<_> = (0..25).map(listing).collect();
    let stamp = Stamp {
        last_updated: UnixMilliseconds::new(now.get() * 1_000),
        completed_at: None,
        recorded_at: now,
    };
    let blocks = vec![(PET.parse().unwrap(), block(&rows, &mut Gzip::default()).unwrap())];
    let listings = cloud.open_listings().unwrap();
    listings.replace(&Object { stamp, blocks }, stamp.last_updated).await.unwrap();
}

/// Records the names of these items in auctions and of the products of the bazaar, with the names in this
/// body of the provider's catalogue.
pub(crate) async fn record_names(cloud: &Cloud, ids: &BTreeSet<String>, catalogue: &str) {
    let products = simulator::bazaar::quotes(1, cloud.clock().now_ms()).map(|quote| quote.id.to_owned());
    let items = names_of(&products.collect(), ids, &names_in(catalogue));
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), TABLE);
    store_names(session(&table), &Names { updated_at: time(cloud), count: items.len(), items })
        .await
        .unwrap();
}

fn names_in(catalogue: &str) -> BTreeMap<String, String> {
    let body: Value = serde_json::from_str(catalogue).unwrap();
    let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
    let items = body["items"].as_array().unwrap().iter();
    items.map(|item| (text(item, "id"), plain(&text(item, "name")))).collect()
}

/// Records candles and sales of the pet and the book, and builds the averages. Every third sale is clean.
pub(crate) async fn record_past(cloud: &Cloud) {
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), TABLE);
    let table = session(&table);
    let now = time(cloud);
    begin_at(table, &SERIES, now).await.unwrap();
    for (interval, length, count) in [(&INTERVALS[0], HOUR, HOURS), (&INTERVALS[1], 24 * HOUR, DAYS)] {
        for number in (1..=count).rev() {
            let start = UnixSeconds::new(interval.slot(now).get() - number * length);
            let sold: Vec<_> = (0..number.unsigned_abs() % 5).map(|sale| sold_at(start, sale)).collect();

            let prices = [number % 7, number % 3]
                .map(|step| Coins::of_hundredths(PRICE + step.unsigned_abs() * 100_000_000));
            let [first, last] = prices.map(|lowest| Listed::of(Price { lowest, second: None, listings: 41 }));
            let candle = Candle {
                listed: Some(first.followed_by(last)),
                sold: Sold::of(sold.iter().map(|sold| &sold.sale)),
            };
            let candles = Candles::from([PET, BOOK].map(|id| (id.parse().unwrap(), candle.clone())));
            store(table, interval.at(start), &candles).await.unwrap();
            if length == HOUR && number <= 48 {
                let sales = HourSales::of(sold.iter(), Duration::from_hours(1));
                let stored = sales.store(table, start).await.unwrap();
                write_texts(table, interval.at(start), &stored, &candles, 60).await.unwrap();
            }
        }
    }
    build_averages(table, now).await.unwrap();
}

/// An auction that was sold in the slot that begins at `start`.
fn sold_at(start: UnixSeconds, number: u64) -> SoldAuction {
    SoldAuction {
        auction: AuctionId::of_bytes(u128::from(number).to_be_bytes()),
        items: [PET, BOOK].map(|id| id.parse().unwrap()).into(),
        sale: Sale {
            sold_at: UnixMilliseconds::new(start.get() * 1_000 + 600_000 * number.cast_signed()),
            price: PRICE / 100 + number * 2_000_000,
            amount: 1.try_into().unwrap(),
            bin: true,
            clean: number.is_multiple_of(3),
            level: None,
        },
    }
}
