//! Starts the service in the local cloud, with a history for the charts.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use common::time::UnixSeconds;
use local::{Cloud, Options};
use serde_json::json;
use tables::Table;
use tables::bazaar::{Candle, Candles, INTERVALS, Quote, SERIES};
use tables::series::{begin_at, store};

use crate::auctions::{self, TABLE};

/// The product with a history.
pub(crate) const ITEM: &str = "ENCHANTED_DIAMOND";

/// The name of [`ITEM`]. In the catalogue it begins with a colour code.
pub(crate) const NAME: &str = "Enchanted Diamond";

/// The number of slots per interval, from the shortest interval to the longest: two days of five minutes,
/// eight days of half hours, a month of hours and of three hours, and two years of days.
const SLOTS: [i64; 5] = [600, 400, 730, 245, 730];

/// The slots without candles in each interval, counted back from the present.
const GAP: std::ops::Range<i64> = 40..52;

/// Both moving weeks of the newest candles of the product.
const WEEK: i64 = 70_000;

/// The length of a mayor's term: a year of the game, in milliseconds.
const TERM_MS: i64 = 446_400_000;

/// Starts the service with a separate simulator, on free ports.
pub(crate) async fn start() -> Cloud {
    start_with(Options::for_tests()).await
}

/// Starts the service with these options, and records auction prices, which the search and the items of both
/// markets need.
pub(crate) async fn start_with(options: Options) -> Cloud {
    let cloud = Cloud::start(options).await.unwrap();
    auctions::record_prices(&cloud).await;
    cloud
}

/// Starts the service with a history of everything except auctions: candles of one product, some minutes of
/// all products, mayors and fire sales.
pub(crate) async fn start_with_past() -> Cloud {
    let cloud = start().await;
    store_candles(&cloud).await;
    record_mayors(&cloud).await;
    record_minutes(&cloud).await;
    cloud
}

/// Starts the service with a history of everything. Storing the history of auctions takes as long as storing
/// everything else.
pub(crate) async fn start_with_past_of_auctions() -> Cloud {
    let cloud = start_with_past().await;
    auctions::record_past(&cloud).await;
    cloud
}

/// The key of an account on the tier `pro`.
pub(crate) fn pro_key(cloud: &Cloud) -> String {
    cloud.keys().unwrap().pro.expose().to_owned()
}

/// Records the mayors of the three terms before the current one.
async fn record_mayors(cloud: &Cloud) {
    let present = cloud.clock().now_ms();
    for term in (1..=3).rev() {
        cloud.clock().set(present - term * TERM_MS);
        let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
        let event = json!({"time": time.to_string(), "backfill": true}).to_string();
        cloud.invoke("record-mayor", event).await.unwrap();
    }
    cloud.clock().set(jiff::Timestamp::now().as_millisecond());
}

/// Records some of the latest minutes, the mayor in office and the current fire sales. Like the browser, the
/// cloud uses the system's clock.
async fn record_minutes(cloud: &Cloud) {
    let now = now(cloud);
    for minutes in [30, 12, 11, 10, 2, 1, 0] {
        let time = jiff::Timestamp::from_second(now - minutes * 60).unwrap();
        let event = json!({"time": time.to_string(), "backfill": true}).to_string();
        cloud.invoke("record-bazaar", event.clone()).await.unwrap();
        if minutes == 0 {
            cloud.invoke("record-mayor", event.clone()).await.unwrap();
            cloud.invoke("record-fire-sales", event).await.unwrap();
        }
    }
}

/// Stores candles whose prices move in waves, with a gap. The table must be empty.
///
/// The recorder's code stores the newest two candles of each interval, the 23rd and the 24th, with the markers
/// that requests for all products need: the market page requests the hour 24 hours ago, which is the 23rd if an
/// hour begins meanwhile, and yesterday, or until 02:00 UTC the day before. Older candles are copies of a row
/// that this code has stored. Copying takes a tenth of the time.
async fn store_candles(cloud: &Cloud) {
    let sdk = cloud.dynamodb().sdk();
    let client = Client::new(&sdk);
    let table = Table::of_sdk(&sdk, TABLE);
    let session = table.with_timeout(Duration::from_mins(1));
    let past = Past::of(cloud);
    let now = UnixSeconds::new(past.now);
    // Recording begins now, so `record-candles` builds no candles of earlier times.
    begin_at(session, &SERIES, now).await.unwrap();
    for (interval, count) in INTERVALS.iter().zip(SLOTS) {
        let length = i64::try_from(interval.length.as_secs()).unwrap();
        let slot = |number: i64| interval.slot(now).get() - number * length;
        for number in [24, 23, 2, 1] {
            let start = UnixSeconds::new(slot(number));
            let [sell, buy] = past.prices(start.get());
            let best = past.best(start.get()).map(Some);
            let quote = Quote::nearest(sell, buy, 650, 650).unwrap().with(best, [Some(WEEK); 2]).unwrap();
            let candles = Candles::from([(ITEM.parse().unwrap(), Candle::of(quote, start))]);
            assert_eq!(store(session, interval.at(start), &candles).await.unwrap(), 1);
        }
        let stored = row(&client, interval.name).await;
        let numbers: Vec<_> = (3..count).filter(|number| !GAP.contains(number)).collect();
        for numbers in numbers.chunks(25) {
            let copies = numbers
                .iter()
                .map(|number| copy(&stored, slot(*number), past.candle(slot(*number), length)))
                .collect();
            let written = client.batch_write_item().request_items(TABLE, copies).send().await.unwrap();
            assert!(written.unprocessed_items().is_none_or(HashMap::is_empty));
        }
    }
}

/// Returns one of the stored rows with candles of the interval.
async fn row(client: &Client, interval: &str) -> HashMap<String, AttributeValue> {
    let rows = client
        .scan()
        .table_name(TABLE)
        .filter_expression("begins_with(pk, :pk)")
        .expression_attribute_values(":pk", AttributeValue::S(format!("candles#{interval}#")))
        .send()
        .await
        .unwrap();
    rows.items()[0].clone()
}

/// Copies the row to another slot, with this candle.
fn copy(row: &HashMap<String, AttributeValue>, slot: i64, candle: String) -> WriteRequest {
    let products = HashMap::from([(ITEM.to_owned(), AttributeValue::S(candle))]);
    let mut row = row.clone();
    row.insert("sk".to_owned(), AttributeValue::S(format!("{slot:010}")));
    row.insert("products".to_owned(), AttributeValue::M(products));
    row.remove("ttl");
    let put = PutRequest::builder().set_item(Some(row)).build().unwrap();
    WriteRequest::builder().put_request(put).build()
}

/// The prices of the product until now.
struct Past {
    now: i64,
    present: simulator::bazaar::Quote,
}

impl Past {
    fn of(cloud: &Cloud) -> Self {
        let present = simulator::bazaar::quotes(1, cloud.clock().now_ms()).find(|quote| quote.id == ITEM);
        Self { now: now(cloud), present: present.unwrap() }
    }

    /// A wave with this period in days, from -1 to 1.
    #[expect(clippy::cast_precision_loss, reason = "times are small enough")]
    fn wave(&self, time: i64, days: f64) -> f64 {
        ((self.now - time) as f64 / 86_400.0 / days * TAU).sin()
    }

    /// The sell and buy price of the product at this time in Unix seconds.
    fn prices(&self, time: i64) -> [f64; 2] {
        let wave = |days| self.wave(time, days);
        let change = 0.17 * wave(230.0) + 0.07 * wave(9.0) + 0.02 * wave(0.9) + 0.006 * wave(0.07);
        [self.present.sell_price, self.present.buy_price + 400.0 * wave(0.4)]
            .map(|price| (price * (1.0 - change) * 10.0).round() / 10.0)
    }

    /// The best buy order and the best sell offer of the product at this time in Unix seconds.
    fn best(&self, time: i64) -> [f64; 2] {
        let [order, offer] = self.prices(time);
        [order + 90.0, offer - 40.0].map(|price| (price * 10.0).round() / 10.0)
    }

    /// The candle of the slot, in the text format of a row (`common/tables/src/bazaar/candle.rs`).
    #[expect(clippy::cast_possible_truncation, reason = "80,000 at most")]
    fn candle(&self, slot: i64, length: i64) -> String {
        let times = [0, length / 3, 2 * length / 3].map(|offset| slot + offset);
        let prices = times.map(|time| self.prices(time));
        let best = times.map(|time| self.best(time));
        let side = |side: usize| {
            let [open, middle, close] = prices.map(|prices| prices[side]);
            format!("{open},{},{},{close}", open.max(middle).max(close), open.min(middle).min(close))
        };
        let order = |side: usize| {
            let [open, middle, close] = best.map(|prices| prices[side]);
            format!("{},{},{close}", open.max(middle).max(close), open.min(middle).min(close))
        };
        let week = |days: f64| WEEK + (9_000.0 * self.wave(slot, days)) as i64;
        let volume = |days: f64| (650.0 + 180.0 * self.wave(slot, days) + 60.0 * self.wave(slot, 0.3)) as i64;
        let averages = format!("{},{},{},{},5,0", side(0), side(1), volume(1.0), volume(1.3));
        format!("{averages},{},{},{},{}", order(0), order(1), week(40.0), week(60.0))
    }
}

fn now(cloud: &Cloud) -> i64 {
    cloud.clock().now_ms() / 1_000
}
