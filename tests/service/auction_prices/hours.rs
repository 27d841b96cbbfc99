//! Candles, averages, sales and public files equal a naive computation from random minutes, even if hours are
//! built at random times. The table also equals the table after a single run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use fastrand::Rng;
use local::{Cloud, Options};
use serde_json::{Value, json};
use tables::auctions::{Coins, List, Minute, PetLevel, Price, SERIES, Sale, SoldAuction, record};
use tables::series::build_again;

use super::house::table;
use crate::candles::build;
use crate::history::interrupted::expect_completed;
use crate::history::table::{self as rows, Dump, expect_same};
use crate::history::{DAY, HOUR, MINUTE, START, rfc3339, start};
use crate::public_files::{get, unpacked};
use crate::support::{expect_clean_logs, get_at, one_instance_each, start_with};

const BUILDER: &str = "record-candles";

/// The start of the minutes, which contain a midnight and a window of a day.
const FIRST: i64 = START;
const MINUTES: i64 = 27 * 60;
/// A time at which every hour of the minutes is complete.
const NOW: i64 = FIRST + MINUTES * MINUTE + 6 * MINUTE;

const IDS: [&str; 5] = ["ALWAYS", "GOLDEN_DRAGON;4", "GOLDEN_DRAGON;4+100", "ONLY_SOLD", "SELDOM"];

#[derive(Debug, Default)]
struct Recorded {
    /// The lowest price in hundredths of a coin and the number of listings, by item. It is empty if the pages
    /// could not be read.
    prices: BTreeMap<&'static str, (u64, u32)>,
    /// The end of the list of sales in Unix milliseconds, if the minute has a list.
    until: Option<i64>,
}

/// A sale that happened, whether or not a recorded list of sales contains it.
#[derive(Debug, Clone)]
struct Happened {
    time_ms: i64,
    ids: Vec<&'static str>,
    price: u64,
    count: u32,
    bin: bool,
    clean: bool,
    level: Option<u32>,
}

/// All sales, and the recorded minutes.
#[derive(Default)]
struct World {
    minutes: BTreeMap<i64, Recorded>,
    sales: Vec<Happened>,
}

/// The provider refreshes the list of sales this long after a minute begins.
const REFRESH_MS: i64 = 43_000;
/// The time before the refresh that the list covers.
const COVERED_MS: i64 = 60_000;
/// The list also has the sales of this much time before the covered time.
const OVERLAP_MS: i64 = 1_000;

impl World {
    fn random(random: &mut Rng) -> Self {
        let mut world = Self::default();
        for number in 0..MINUTES {
            let minute = FIRST + number * MINUTE;
            for _ in 0..random.u8(..3) {
                let ids = match random.u8(..4) {
                    0 => vec!["GOLDEN_DRAGON;4", "GOLDEN_DRAGON;4+100"],
                    1 => vec!["ONLY_SOLD"],
                    2 => vec!["GOLDEN_DRAGON;4"],
                    _ => vec!["ALWAYS"],
                };
                let is_pet = ids[0].contains(';');
                // Some sales have the same millisecond.
                let same = match world.sales.last() {
                    Some(last) if random.u8(..8) == 0 => Some(last.time_ms),
                    _ => None,
                };
                world.sales.push(Happened {
                    time_ms: same.unwrap_or(minute * 1_000 + random.i64(0..60_000)),
                    ids,
                    price: random.u64(1..3_015_293_760),
                    count: random.u32(1..=64).saturating_sub(50).max(1),
                    bin: random.bool(),
                    clean: random.bool(),
                    level: is_pet.then_some(random.u32(1..=200)),
                });
            }
            // Ten successive minutes are missing, then several hours, and a quarter of the other minutes.
            if (130..140).contains(&number) || (600..800).contains(&number) || random.u8(..4) == 0 {
                continue;
            }
            let mut recorded = Recorded::default();
            // For more than an hour, only lists are read.
            let are_pages_read = !(400..530).contains(&number) && random.u8(..20) > 0;
            for &id in if are_pages_read { &IDS[..] } else { &[] } {
                let is_listed = match id {
                    "ALWAYS" => true,
                    "ONLY_SOLD" => false,
                    "SELDOM" => random.u16(..300) == 0,
                    _ => (number / 100) % 3 > 0,
                };
                if is_listed {
                    recorded.prices.insert(id, (random.u64(1..200_000_000_000), random.u32(1..90)));
                }
            }
            // No list, a list that is a minute old, or a new list.
            recorded.until = match random.u8(..10) {
                0 => None,
                1 => Some(minute * 1_000 - 60_000 + REFRESH_MS),
                _ => Some(minute * 1_000 + REFRESH_MS),
            };
            world.minutes.insert(minute, recorded);
        }
        world
    }

    /// Records the minute as `record-auctions` does.
    async fn record(&self, cloud: &Cloud, minute: i64) {
        let recorded = &self.minutes[&minute];
        let id = |id: &&str| id.parse().unwrap();
        let price = |(name, (lowest, listings)): (&&'static str, &(u64, u32))| {
            (id(name), Price { lowest: Coins::of_hundredths(*lowest), second: None, listings: *listings })
        };
        let sold = |(number, sale): (usize, &Happened)| SoldAuction {
            auction: AuctionId::of_bytes((number as u128).to_be_bytes()),
            items: sale.ids.iter().map(id).collect(),
            sale: Sale {
                sold_at: UnixMilliseconds::new(sale.time_ms),
                price: sale.price,
                amount: sale.count.try_into().unwrap(),
                bin: sale.bin,
                clean: sale.clean,
                level: sale.level.and_then(PetLevel::new),
            },
        };
        let history = table(cloud);
        let session = history.with_timeout(Duration::from_mins(1));
        if let Some(until) = recorded.until {
            let auctions = self.sales.iter().enumerate().filter(|(_, sale)| is_in_list(until, sale));
            let list = List { until: UnixMilliseconds::new(until), auctions: auctions.map(sold).collect() };
            list.write(session).await.unwrap();
        }
        if recorded.prices.is_empty() {
            return;
        }
        let minute_of = Minute {
            last_updated: UnixMilliseconds::new(minute * 1_000),
            completed_at: None,
            prices: recorded.prices.iter().map(price).collect(),
            lowest_auctions: Vec::new(),
        };
        record(session, Tick::of(UnixSeconds::new(minute)), &minute_of).await.unwrap();
    }

    /// The ends of the recorded lists of sales, in Unix milliseconds.
    fn lists(&self) -> impl Iterator<Item = i64> {
        self.minutes.values().filter_map(|recorded| recorded.until)
    }

    /// The sales of an item between two times in seconds that are in a recorded list.
    fn sold(&self, id: &str, from: i64, end: i64) -> Vec<&Happened> {
        let is_listed = |sale: &&Happened| self.lists().any(|until| is_in_list(until, sale));
        let is_inside = |sale: &&Happened| (from * 1_000..end * 1_000).contains(&sale.time_ms);
        self.sales.iter().filter(is_inside).filter(|sale| sale.ids.contains(&id)).filter(is_listed).collect()
    }

    /// The number of minutes with known sales between two times.
    fn covered(&self, from: i64, end: i64) -> i64 {
        let seconds = |until: i64| (until - COVERED_MS..until).step_by(1_000);
        let known: BTreeSet<i64> = self.lists().flat_map(seconds).collect();
        i64::try_from(known.range(from * 1_000..end * 1_000).count()).unwrap() / 60
    }

    /// The lowest prices of an item between two times, with their minutes and numbers of listings.
    fn listed(&self, id: &str, from: i64, end: i64) -> Vec<(i64, u64, u32)> {
        let minutes = self.minutes.range(from..end);
        minutes
            .filter_map(|(minute, recorded)| {
                recorded.prices.get(id).map(|(price, listings)| (*minute, *price, *listings))
            })
            .collect()
    }

    /// The candle of the item that the route must return. `None` if the item was neither listed nor sold.
    fn candle(&self, id: &str, from: i64, length: i64, complete: bool) -> Option<Value> {
        let listed = self.listed(id, from, from + length);
        let sold = self.sold(id, from, from + length);
        let lowest = |price: Option<u64>| price.map(coins);
        let prices = || listed.iter().map(|(_, price, _)| *price);
        let mut ones: Vec<_> = sold.iter().map(|sale| of_one(sale)).collect();
        ones.sort_unstable();
        // The median of a day is computed from the medians of its hours, each repeated for every sale of the
        // hour.
        let mut medians = Vec::new();
        for hour in (from..from + length).step_by(3_600) {
            let mut ones: Vec<_> = self.sold(id, hour, hour + HOUR).into_iter().map(of_one).collect();
            let number = ones.len();
            medians.extend(median(&mut ones).into_iter().flat_map(|median| vec![median; number]));
        }
        (!listed.is_empty() || !sold.is_empty()).then(|| {
            json!({
                "opened_at": rfc3339(from),
            "lowest_open": lowest(listed.first().map(|(_, price, _)| *price)),
                "lowest_high": lowest(prices().max()),
                "lowest_low": lowest(prices().min()),
            "lowest_close": lowest(listed.last().map(|(_, price, _)| *price)),
                "lowest_average": lowest(quotient(prices().sum(), listed.len() as u64)),
            "listings": listed.last().map(|(_, _, listings)| *listings),
                "sales": sold.len(),
                "sold": sold.iter().map(|sale| sale.count).sum::<u32>(),
                "sale_low": lowest(ones.first().copied()),
                "sale_average": lowest(average(&sold)),
                "sale_median": lowest(median(&mut medians)),
                "sale_high": lowest(ones.last().copied()),
                "samples": listed.len(),
                "complete": complete,
            })
        })
    }

    /// The averages that the route must return for an item, over the hours between two times.
    fn averages(&self, id: &str, from: i64, end: i64) -> Option<Value> {
        let close = |hour| self.listed(id, hour, hour + HOUR).last().map(|(_, price, _)| *price);
        let closes: Vec<_> = (from..end).step_by(3_600).filter_map(close).collect();
        let sold = self.sold(id, from, end);
        let clean: Vec<_> = sold.iter().copied().filter(|sale| sale.clean).collect();
        let ones = |sold: &[&Happened]| sold.iter().map(|sale| of_one(sale)).collect::<Vec<_>>();
        (!closes.is_empty() || !sold.is_empty()).then(|| {
            json!({
                "id": id,
                "lowest": quotient(closes.iter().sum(), closes.len() as u64).map(coins),
                "sale": average(&sold).map(coins),
                "sale_median": median(&mut ones(&sold)).map(coins),
                "sales": sold.len(),
                "sold": sold.iter().map(|sale| sale.count).sum::<u32>(),
                "minutes": self.covered(from, end),
                "sale_clean": average(&clean).map(coins),
                "sale_median_clean": median(&mut ones(&clean)).map(coins),
                "sales_clean": clean.len(),
            })
        })
    }
}

/// Whether the list of sales that ends at `until`, in Unix milliseconds, has the sale.
fn is_in_list(until: i64, sale: &Happened) -> bool {
    (until - COVERED_MS - OVERLAP_MS..until).contains(&sale.time_ms)
}

#[expect(clippy::cast_precision_loss, reason = "prices have fewer than 53 bits")]
fn coins(hundredths: u64) -> f64 {
    hundredths as f64 / 100.0
}

/// The rounded quotient. `None` if the divisor is 0.
fn quotient(sum: u64, by: u64) -> Option<u64> {
    (by > 0).then(|| (2 * sum + by) / (2 * by))
}

fn of_one(sale: &Happened) -> u64 {
    quotient(sale.price * 100, sale.count.into()).unwrap()
}

/// The average price per sold item.
fn average(sales: &[&Happened]) -> Option<u64> {
    let sum: u64 = sales.iter().map(|sale| sale.price * 100).sum();
    quotient(sum, sales.iter().map(|sale| u64::from(sale.count)).sum())
}

fn median(prices: &mut [u64]) -> Option<u64> {
    prices.sort_unstable();
    let middle = prices.len() / 2;
    let upper = prices.get(middle)?;
    Some(if prices.len() % 2 == 1 { *upper } else { (prices[middle - 1] + upper).div_ceil(2) })
}

fn encoded(id: &str) -> String {
    id.replace(';', "%3B").replace('+', "%2B")
}

async fn candles(cloud: &Cloud, id: &str, interval: &str) -> Vec<Value> {
    let path = format!("/v1/auctions/candles?id={}&interval={interval}", encoded(id));
    let data = get_at(cloud, &path, NOW * 1_000).await.data();
    data["candles"].as_array().unwrap().clone()
}

/// Panics unless every candle and average equals the naive computation.
async fn expect_equal(cloud: &Cloud, world: &World) {
    let until = NOW - NOW.rem_euclid(HOUR);
    let mut compared = 0;
    for id in IDS {
        let of_hour = |hour| world.candle(id, hour, HOUR, true);
        let hours: Vec<_> = (FIRST..until).step_by(3_600).filter_map(of_hour).collect();
        compared += hours.len();
        assert_eq!(candles(cloud, id, "1h").await, hours, "{id}");
        let of_day = |day| world.candle(id, day, DAY, day + DAY <= until);
        let first_day = FIRST - FIRST.rem_euclid(DAY);
        let days: Vec<_> = (first_day..until).step_by(24 * 3_600).filter_map(of_day).collect();
        assert_eq!(candles(cloud, id, "1d").await, days, "{id}");
    }
    assert!(compared > 50, "{compared}");
    for (window, days) in [("1d", 1), ("3d", 3), ("7d", 7)] {
        let from = (until - days * DAY).max(FIRST);
        let expected: Vec<_> = IDS.iter().filter_map(|id| world.averages(id, from, until)).collect();
        let ids = IDS.map(encoded).join(",");
        let path = format!("/v1/auctions/averages?window={window}&ids={ids}");
        let data = get_at(cloud, &path, NOW * 1_000).await.data();
        let unknown: Vec<_> =
            IDS.iter().filter(|id| expected.iter().all(|item| item["id"] != **id)).collect();
        let response = json!({
        "window": window, "until": rfc3339(until), "count": expected.len(), "items": expected,
        "unknown": unknown,
        });
        assert_eq!(data, response, "{window}");
    }
}

/// Requests all sales of an item, page by page. Panics if sales of the same millisecond are on different
/// pages.
async fn sales(cloud: &Cloud, id: &str, limit: usize) -> Vec<Value> {
    let mut sales: Vec<Value> = Vec::new();
    let mut path = format!("/v1/auctions/sales?id={}&limit={limit}", encoded(id));
    loop {
        let data = get_at(cloud, &path, NOW * 1_000).await.data();
        let page = data["sales"].as_array().unwrap();
        assert_eq!(data["count"], page.len());
        if let (Some(last), Some(first)) = (sales.last(), page.first()) {
            assert!(last["sold_at"].as_str() > first["sold_at"].as_str(), "{last} {first}");
        }
        if let Some(last) = page.get(limit - 1) {
            assert!(page[limit..].iter().all(|sale| sale["sold_at"] == last["sold_at"]), "{page:?}");
        }
        sales.extend(page.iter().cloned());
        let Some(before) = data["next_before"].as_str() else { return sales };
        path = format!("/v1/auctions/sales?id={}&limit={limit}&before={before}", encoded(id));
    }
}

/// Panics unless the pages of every item have each of its sales once.
async fn expect_sales(cloud: &Cloud, world: &World) {
    let until = NOW - NOW.rem_euclid(HOUR);
    for id in IDS {
        let mut sold = world.sold(id, FIRST, until);
        sold.sort_by_key(|sale| {
            Reverse((sale.time_ms, sale.price, sale.count, sale.bin, sale.clean, sale.level))
        });
        let sale = |sale: &&Happened| {
            json!({
                "sold_at": format!("{}.{:03}Z", rfc3339(sale.time_ms / 1_000).trim_end_matches('Z'), sale.time_ms % 1_000),
                "price": coins(of_one(sale)),
                "amount": sale.count,
                "bin": sale.bin,
                "clean": sale.clean,
                "level": sale.level,
            })
        };
        let expected: Vec<_> = sold.iter().map(sale).collect();
        assert!(id == "SELDOM" || expected.len() > 100, "{id}: {}", expected.len());
        for limit in [1, 7, 500] {
            if limit > 1 || id == "ONLY_SOLD" {
                assert_eq!(sales(cloud, id, limit).await, expected, "{id}");
            }
        }
    }
}

/// Panics unless the page of sales before this time is empty and the last page. No sale before this time is
/// stored.
async fn expect_end_before(cloud: &Cloud, before: &str) {
    let path = format!("/v1/auctions/sales?id=ALWAYS&before={before}");
    let data = get_at(cloud, &path, NOW * 1_000).await.data();
    assert_eq!(data, json!({"id": "ALWAYS", "count": 0, "sales": [], "next_before": null}), "{before}");
}

/// Panics unless the public files agree with the routes.
async fn expect_files(cloud: &Cloud, world: &World) {
    let ids = IDS.map(|id| id.replace(';', "%3B").replace('+', "%2B")).join(",");
    for (window, name) in [("1d", "1day"), ("3d", "3day"), ("7d", "7day")] {
        let path = format!("/v1/auctions/averages?window={window}&ids={ids}");
        let data = get_at(cloud, &path, NOW * 1_000).await.data();
        let items = || data["items"].as_array().unwrap().iter();
        let by_id = |value: fn(&Value) -> Option<Value>| {
            let with_id = |item: &Value| Some((item["id"].as_str().unwrap().to_owned(), value(item)?));
            Value::Object(items().filter_map(with_id).collect())
        };
        let lowest = by_id(|item| Some(item["lowest"].clone()).filter(|lowest| !lowest.is_null()));
        let path = format!("/auction_averages_lbin/{name}.json");
        assert_eq!(get(cloud, &path).await.json(), lowest, "{path}");
        if window != "3d" {
            continue;
        }
        let sales = get(cloud, "/auction_averages/3day.json").await.json();
        let sold = items().filter(|item| !item["sale"].is_null());
        assert_eq!(sales.as_object().unwrap().len(), sold.clone().count());
        for item in sold {
            let file = &sales[item["id"].as_str().unwrap()];
            let number = |value: &Value| value.as_f64().unwrap();
            let count = number(&item["sold"]) / number(&item["sales"]);
            assert_eq!(file["count"], json!(count), "{item}");
            assert!((number(&file["price"]) / count - number(&item["sale"])).abs() < 0.01, "{item} {file}");
            let a_day = |sales: &Value| (number(sales) * 1_440.0 / number(&item["minutes"])).round().max(1.0);
            assert!((number(&file["sales"]) - a_day(&item["sales"])).abs() < 0.5, "{item} {file}");
            let has_clean = !item["sale_clean"].is_null() && item["sales_clean"] != item["sales"];
            let clean = if has_clean { &item["sale_clean"] } else { &Value::Null };
            assert_eq!(&file["clean_price"], clean, "{item} {file}");
            if has_clean {
                let clean_sales = number(&file["clean_sales"]);
                assert!((clean_sales - a_day(&item["sales_clean"])).abs() < 0.5, "{item} {file}");
            }
        }
    }
    // The first day has ended, so it has a file.
    let csv =
        String::from_utf8(unpacked(&get(cloud, "/days/auctions/2026-04-28.csv.gz").await.body)).unwrap();
    let (header, lines) = csv.split_once('\n').unwrap();
    assert!(header.starts_with("id,lowest_open,"), "{header}");
    let day = FIRST - FIRST.rem_euclid(DAY);
    let items = IDS.iter().filter(|id| world.candle(id, day, DAY, true).is_some());
    assert_eq!(lines.lines().count(), items.count(), "{csv}");
    let path = "/v1/auctions/candles?id=ALWAYS&interval=1d";
    let candle = get_at(cloud, path, NOW * 1_000).await.data()["candles"][0].take();
    let line = lines.lines().find(|line| line.starts_with("ALWAYS,")).unwrap();
    for (name, value) in header.split(',').zip(line.split(',')).skip(1) {
        assert_eq!(value.parse::<f64>().ok(), candle[name].as_f64(), "{name}");
    }
    assert_eq!(get(cloud, "/days/auctions/2026-04-29.csv.gz").await.status, 404, "the day has not ended");
}

/// The rows of the table without the row `auctions#averages`, `built`. That row counts the writes of hourly
/// sums and sales, so it depends on the number of runs. Panics unless the averages include every write.
async fn dump(cloud: &Cloud) -> Dump {
    let mut dump = rows::dump(cloud).await;
    // Names have the time of the run.
    dump.remove(&("names".to_owned(), "all".to_owned()));
    if let Some(state) = dump.remove(&("auctions#averages".to_owned(), "built".to_owned())) {
        assert_eq!(state["seen"], state["changes"]);
    }
    dump
}

async fn build_all(cloud: &Cloud) {
    for _ in 0..10 {
        build(cloud, NOW).await;
    }
}

#[tokio::test]
async fn candles_and_averages_of_random_minutes_equal_a_naive_computation_whenever_they_are_built() {
    let random = &mut Rng::with_seed(2_026);
    let world = World::random(random);
    let cloud = start_with(Options { public_files: true, ..one_instance_each() }).await;
    let mut late = Vec::new();
    let mut runs = 0;
    for number in 0..MINUTES {
        let minute = FIRST + number * MINUTE;
        if world.minutes.contains_key(&minute) {
            // Some minutes are recorded hours later.
            if random.u8(..40) == 0 { late.push(minute) } else { world.record(&cloud, minute).await }
        }
        if random.u8(..70) == 0 {
            build(&cloud, minute).await;
            runs += 1;
        }
    }
    assert!(runs > 15 && late.len() > 15, "{runs} runs, {} late minutes", late.len());
    random.shuffle(&mut late);
    for minute in late {
        world.record(&cloud, minute).await;
        let from = UnixSeconds::new(minute - 3 * MINUTE);
        build_again(table(&cloud).with_timeout(Duration::from_mins(1)), &SERIES, from).await.unwrap();
    }
    build_all(&cloud).await;
    expect_equal(&cloud, &world).await;
    expect_sales(&cloud, &world).await;
    for before in ["2020-01-01T00:00:00Z", "0000-01-01T00:00:00%2B23:59", &rfc3339(NOW - 90 * DAY)] {
        expect_end_before(&cloud, before).await;
    }
    expect_files(&cloud, &world).await;
    let at_random_times = dump(&cloud).await;
    let is_recorded = |key: &(String, String)| {
        ["auctions#1m", "auctions#lowest", "auctions#lists"].iter().any(|front| key.0.starts_with(front))
    };
    let built: Vec<_> = rows::dump(&cloud).await.into_keys().filter(|key| !is_recorded(key)).collect();
    rows::delete_all(&cloud, &built).await;
    build_all(&cloud).await;
    expect_same(&at_random_times, &dump(&cloud).await, "runs at random times, and a single run");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_row_of_an_hour_stops_neither_the_recorder_nor_a_route() {
    let cloud = start().await;
    let world = World::random(&mut Rng::with_seed(7));
    for minute in world.minutes.keys().take(3) {
        world.record(&cloud, *minute).await;
    }
    let now = FIRST + HOUR + 7 * MINUTE;
    build(&cloud, now).await;
    let built = dump(&cloud).await;
    let is_built = |key: &&(String, String)| {
        ["auctions#1m", "auctions#lowest", "auctions#lists"].iter().all(|front| !key.0.starts_with(front))
    };
    let mut later = now;
    for key in built.keys().filter(is_built) {
        for attribute in built[key].keys().filter(|name| !["pk", "sk", "ttl"].contains(&name.as_str())) {
            for value in
                [json!({"S": "soon"}), json!({"N": "-1.5"}), json!({"B": "H4sIAAAA"}), json!({"L": []})]
            {
                rows::put(&cloud, built.values().cloned()).await;
                rows::put(&cloud, [rows::with(&built[key], attribute, value)]).await;
                // An hour later, no cached response is valid.
                later += HOUR;
                build(&cloud, now).await;
                for path in ["averages", "candles?id=ALWAYS", "candles?id=ALWAYS&interval=1d"] {
                    let response = get_at(&cloud, &format!("/v1/auctions/{path}"), later * 1_000).await;
                    if path == "averages" && key.0 == "auctions#averages" && key.1 == "1d" {
                        response.error("INTERNAL_ERROR");
                    } else {
                        response.data();
                    }
                }
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_run_killed_after_any_write_of_an_hour_is_completed_by_the_next_one() {
    let cloud = Arc::new(start().await);
    let world = World::random(&mut Rng::with_seed(7));
    for minute in [0, 1, 2, 59].map(|number| FIRST + number * MINUTE) {
        if world.minutes.contains_key(&minute) {
            world.record(&cloud, minute).await;
        }
    }
    expect_completed(&cloud, BUILDER, FIRST + HOUR + 7 * MINUTE, 10).await;
}
