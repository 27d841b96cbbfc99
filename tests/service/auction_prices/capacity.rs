//! With 6,500 items, recording, building and reading auctions stays within the limits of capacity and size,
//! and costs what the operators' page says.

use std::collections::BTreeMap;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use fastrand::Rng;
use local::Cloud;
use serde_json::Value;
use tables::Session;
use tables::auctions::{Coins, List, Minute, Price, Sale, SoldAuction, record};
use tables::names::names_of;

use super::captured::{PAGE, capture};
use super::house::table;
use crate::candles::{MIDNIGHT, build};
use crate::capacity::row_size::{bytes_of, float, read_units, write_units};
use crate::history::table::{self as rows, Row};
use crate::history::{HOUR, MINUTE, start};
use crate::support::{expect_clean_logs, get_at, in_repository, record_names};

/// The most write units for auctions in a month of 730 hours.
const WRITE_UNITS: f64 = 9e6;
const HOURS_A_MONTH: f64 = 730.0;

// Prices in dollars, as in `capacity/cost.rs`.
const PER_WRITE_UNIT: f64 = 0.625e-6;
const PER_READ_UNIT: f64 = 0.125e-6;
/// The monthly cost of storage with point-in-time recovery, in dollars: two days of minutes of 100 kB, nine
/// days of hourly sums and sales of 100 kB per hour, 90 days of hours of 400 kB, and 90 days of sales.
const KEPT: f64 = 0.45 * (0.29 + 0.02 + 0.86 + SALES_GIGABYTES);

/// The most gigabytes of stored sales.
const SALES_GIGABYTES: f64 = 0.35;
/// The highest cost of writing and storing sales, in dollars per month.
const SALES_DOLLARS: f64 = 0.5;

/// The most read units of building an hour from its minutes and lists.
const READ_UNITS_OF_HOUR: f64 = 600.0;
/// The most read units of building the averages of all windows. Most are for the sales of 168 hours, each
/// with its time.
const READ_UNITS_OF_AVERAGES: f64 = 1_300.0;

/// The number of hours in the measured page of candles.
const PAGE_HOURS: usize = 500;
/// The most read units of a page of candles or of sales, on average.
const READ_UNITS_OF_PAGE: f64 = 60.0;

/// The most rows of a page of sales.
const SALES_ROWS: usize = 200;
/// The most bytes that one DynamoDB query reads.
const LARGEST_PAGE: usize = 1_024 * 1_024;

/// The most bytes of a response that a stage cache stores.
const STAGE_CACHE: usize = 1_048_576;

/// The end of the recorded hour: an hour before midnight.
const END: i64 = MIDNIGHT - HOUR;

/// The number of items that are listed at a time.
const ITEMS: usize = 6_500;
/// The number of sales in a minute: the mean of 73 captured lists.
const SALES: usize = 108;

/// The ids of real items, and further ids from real words, [`ITEMS`] in all.
fn ids(random: &mut Rng) -> Vec<String> {
    let list: Value = serde_json::from_str(&captures::text("../../auctions/neu-ids.json").unwrap()).unwrap();
    let names = list.as_array().unwrap().iter().map(|name| name["internalname"].as_str().unwrap().to_owned());
    let mut ids: Vec<_> = names.collect();
    let words: Vec<_> = ids.iter().flat_map(|id| id.split(['_', ';'])).map(str::to_owned).collect();
    while ids.len() < ITEMS {
        let mut word = || words[random.usize(..words.len())].as_str();
        let id = format!("{}_{}_{}", word(), word(), word());
        if id.len() <= 64 {
            ids.push(id);
        }
        ids.sort();
        ids.dedup();
    }
    ids
}

/// The minutes and the lists of an hour, with prices from a real page. Few items have most of the sales.
fn minutes(random: &mut Rng) -> Vec<(Minute, List)> {
    let page = capture(PAGE);
    let auctions = page["auctions"].as_array().unwrap();
    let real: Vec<_> = auctions.iter().map(|row| row["starting_bid"].as_u64().unwrap()).collect();
    let ids: Vec<AuctionItemId> = ids(random).iter().map(|id| id.parse().unwrap()).collect();
    let mut lowest: Vec<_> = ids.iter().map(|_| real[random.usize(..real.len())]).collect();
    let minute = |number: i64| {
        let refreshed = UnixMilliseconds::new((END - HOUR + number * MINUTE) * 1_000 + 43_162);
        for price in &mut lowest {
            // One price in a hundred falls or rises by up to 1 %.
            if random.u8(..100) == 0 {
                *price = (*price + random.u64(..=*price / 50)).saturating_sub(*price / 100).max(1);
            }
        }
        let mut price = |price: &u64| Price {
            lowest: Coins::of_hundredths(price * 100),
            second: Some(Coins::of_hundredths((price + random.u64(..=price / 10)) * 100)),
            listings: random.u32(1..60),
        };
        let prices: Vec<_> = ids.iter().cloned().zip(lowest.iter().map(&mut price)).collect();
        let mut sale = || {
            // This choice makes 1,400 items sell in an hour, as in the captured lists.
            let item = (0..4).fold(ITEMS, |most, _| random.usize(..=most)).min(ITEMS - 1);
            let sale = Sale {
                sold_at: UnixMilliseconds::new(refreshed.get() - random.i64(0..60_000)),
                price: lowest[item] + random.u64(..=lowest[item] / 3),
                amount: 1.try_into().unwrap(),
                bin: true,
                clean: random.bool(),
                level: None,
            };
            let auction = AuctionId::of_bytes(random.u128(..).to_be_bytes());
            SoldAuction { auction, items: vec![ids[item].clone()], sale }
        };
        let list = List { until: refreshed, auctions: (0..=SALES).map(|_| sale()).collect() };
        let auctions = ids.iter().map(|_| AuctionId::of_bytes(random.u128(..).to_be_bytes()));
        let minute = Minute {
            last_updated: refreshed,
            completed_at: None,
            prices,
            lowest_auctions: auctions.collect(),
        };
        (minute, list)
    };
    (0..60).map(minute).collect()
}

/// The rows of auctions, by series: the first two parts of their partition keys. The first list also has a
/// few sales from the hour before the recorded one, which is left out.
async fn dump(cloud: &Cloud) -> BTreeMap<String, Vec<Row>> {
    let mut rows = BTreeMap::<_, Vec<_>>::new();
    let before = (END - 2 * HOUR).to_string();
    for ((partition, _), row) in rows::dump(cloud).await.into_iter().filter(|((_, sort), _)| *sort != before)
    {
        let series = partition.splitn(3, '#').take(2).collect::<Vec<_>>().join("#");
        let is_marker = partition.split('#').count() == 2 && series.ends_with(['m', 'h', 'd']);
        rows.entry(if is_marker { format!("{series} marker") } else { series }).or_default().push(row);
    }
    rows
}

fn units(rows: &[Row]) -> f64 {
    rows.iter().map(write_units).sum()
}

/// Records the minutes and lists of the hour, and returns the average write units of a minute without its
/// list.
async fn record_hour(session: Session<'_>) -> f64 {
    let mut of_minute = 0.0;
    for ((minute, list), number) in minutes(&mut Rng::with_seed(1)).iter().zip(-60..) {
        let tick = Tick::of(UnixSeconds::new(END + number * MINUTE));
        list.write(session).await.unwrap();
        // The marker and the heartbeat take one unit each.
        of_minute += (record(session, tick, minute).await.unwrap().unwrap().write_units + 2.0) / 60.0;
    }
    of_minute
}

/// Builds the hour, and returns its read units, computed from the sizes of rows. Checks that DynamoDB bills
/// about as many.
async fn build_hour(cloud: &Cloud) -> f64 {
    let minutes = dump(cloud).await;
    let bytes = |rows: &[Row]| rows.iter().map(bytes_of).sum::<usize>();
    // The lists are read twice, each time eventually consistent: to find hours with sales, and to build them.
    let read_by_hour = read_units(bytes(&minutes["auctions#1m"])) / 2.0
        + read_units(bytes(&minutes["auctions#1m marker"]))
        + read_units(bytes(&minutes["auctions#lists"]));
    assert!(read_by_hour <= READ_UNITS_OF_HOUR, "an hour of minutes: {read_by_hour} read units");
    // The run need not build the names.
    let names = names_of(&["COAL".to_owned()].into(), &["HYPERION".to_owned()].into(), &BTreeMap::new());
    record_names(cloud, (END + 6 * MINUTE) * 1_000, &names).await;
    let before = cloud.dynamodb().consumed().read_units;
    build(cloud, END + 6 * MINUTE).await;
    let billed = cloud.dynamodb().consumed().read_units - before;
    // The bill also includes building the averages, which read only this hour so far.
    let built = dump(cloud).await;
    let texts = ["auctions#sales", "auctions#sums"].map(|series| read_units(bytes(&built[series])));
    let expected = read_by_hour + texts.iter().sum::<f64>();
    assert!(
        (0.9..1.1).contains(&(billed / expected)),
        "{billed} read units are billed, not {expected}: {texts:?}"
    );
    read_by_hour
}

/// Panics unless an item's page of candles is small enough, if every hour has rows like these.
fn expect_small_pages(hours: &[Row]) {
    let ids_of = |row: &Row| row["products"]["M"].as_object().unwrap().len();
    assert_eq!(hours.iter().map(ids_of).sum::<usize>(), ITEMS);
    let page = |row: &Row| float(ids_of(row)) * read_units(PAGE_HOURS * bytes_of(row)) / 2.0;
    let average = hours.iter().map(page).sum::<f64>() / float(ITEMS);
    assert!(average <= READ_UNITS_OF_PAGE, "{average:.1} read units per page of candles");
    let largest = hours.iter().map(bytes_of).max().unwrap();
    assert!(PAGE_HOURS * largest < LARGEST_PAGE, "{largest} bytes in a row");
}

/// Panics unless sales are cheap to write, store and read, if every hour has rows like these.
fn expect_cheap_sales(sold: &[Row]) {
    let bytes = sold.iter().map(bytes_of).sum::<usize>();
    let gigabytes = float(90 * 24 * bytes) / 1e9;
    assert!(gigabytes <= SALES_GIGABYTES, "{gigabytes} GB of sales");
    let dollars = HOURS_A_MONTH * units(sold) * PER_WRITE_UNIT + 0.45 * gigabytes;
    assert!(dollars <= SALES_DOLLARS, "sales cost {dollars:.2} dollars per month");
    let page = read_units(SALES_ROWS * bytes) / 2.0 / float(sold.len());
    assert!(page <= READ_UNITS_OF_PAGE, "{page:.1} read units per page of sales");
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn recording_building_and_reading_auctions_stays_within_the_limits() {
    let cloud = start().await;
    let history = table(&cloud);
    let session = history.with_timeout(Duration::from_mins(1));
    let of_minute = record_hour(session).await;
    let read_by_hour = build_hour(&cloud).await;

    for path in ["/v1/auctions/prices", "/v1/auctions/averages?window=7d"] {
        let response = get_at(&cloud, path, (END + 6 * MINUTE) * 1_000).await;
        assert_eq!(response.data()["count"], ITEMS, "{path}");
        assert!(response.text.len() < STAGE_CACHE, "{path}: {} bytes", response.text.len());
    }

    build(&cloud, MIDNIGHT + 6 * MINUTE).await;
    let recorded = dump(&cloud).await;
    let of = |series: &str| units(&recorded[series]);
    // The last two units are for the progress of building, and for the row `auctions#averages`, `built`,
    // which counts hourly writes.
    let of_hour = of("auctions#1h")
        + of("auctions#1h marker")
        + of("auctions#sales")
        + of("auctions#sold")
        + of("auctions#sums")
        + of("auctions#averages")
        + 2.0;
    let of_day = of("auctions#1d") + of("auctions#1d marker");
    let of_list = of("auctions#lists") / 60.0;
    let month = HOURS_A_MONTH * (60.0 * (of_minute + of_list) + of_hour + of_day / 24.0);
    let parts = format!(
        "{of_minute:.0} per minute, {of_list:.1} per list, {of_hour:.0} per hour ({:.0} rows, {:.0} sales, {:.0} sums, {:.0} averages), {of_day:.0} per day",
        of("auctions#1h"),
        of("auctions#sales"),
        of("auctions#sums"),
        of("auctions#averages"),
    );
    assert!(month <= WRITE_UNITS, "{month:.0} write units per month: {parts}");

    // The averages of a week read the sums of twelve hours, only the last one consistently, and the sales of
    // 168 hours.
    let bytes = |series: &str| recorded[series].iter().map(bytes_of).sum::<usize>();
    let read_by_averages =
        6.5 * read_units(bytes("auctions#sums")) + read_units(168 * bytes("auctions#sales")) / 2.0;
    assert!(read_by_averages <= READ_UNITS_OF_AVERAGES, "averages: {read_by_averages} read units ({parts})");

    expect_small_pages(&recorded["auctions#1h"]);
    expect_cheap_sales(&recorded["auctions#sold"]);
    expect_clean_logs(&cloud);
    let read = HOURS_A_MONTH * (read_by_hour + read_by_averages);
    let row = format!(
        "recording prices and candles of auctions of 6,500 items: {:.1} million write units, {:.1} million read units, and keeping them | {:.1} |",
        month / 1e6,
        read / 1e6,
        month * PER_WRITE_UNIT + read * PER_READ_UNIT + KEPT
    );
    let page = std::fs::read_to_string(in_repository("infra/README.md")).unwrap();
    assert!(
        page.contains(&row),
        "infra/README.md does not say {row} ({parts}; {read_by_hour} and {read_by_averages} read units)"
    );
}
