//! Starts the service in the local cloud, with a past that charts can show.

use std::f64::consts::TAU;

use common::time::UnixSeconds;
use local::{Cloud, Options};
use serde_json::json;
use tables::Table;
use tables::history::bazaar::Quote;
use tables::history::candles::{Candle, Candles, INTERVALS, store};

/// The product with a past.
pub(crate) const ITEM: &str = "INK_SACK:3";

/// The name of that product.
pub(crate) const NAME: &str = "Cocoa Beans";

/// How many slots of each interval have candles, from fine to coarse: as a deployment has after a month, but with days of two
/// years.
const SLOTS: [i64; 5] = [600, 400, 730, 245, 730];

/// The service with a simulator of its own, on free ports.
pub(crate) async fn start() -> Cloud {
    start_with(Options::for_tests()).await
}

/// The service with these options.
pub(crate) async fn start_with(options: Options) -> Cloud {
    Cloud::start(options).await.unwrap()
}

/// The service with a past: candles of one product, some minutes of all products, mayors and fire sales.
pub(crate) async fn start_with_past() -> Cloud {
    let cloud = start().await;
    record_minutes(&cloud).await;
    store_candles(&cloud).await;
    cloud
}

/// The key of the account with the tier `pro`.
pub(crate) fn key(cloud: &Cloud) -> String {
    cloud.keys().unwrap().pro.expose().to_owned()
}

/// Lets the recorders record some of the latest minutes. The clock of the cloud is that of the system, as that of the browser is.
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

/// Stores candles that move in waves, with a gap.
async fn store_candles(cloud: &Cloud) {
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "History");
    let table = table.with_timeout(std::time::Duration::from_mins(1));
    let now = UnixSeconds::new(now(cloud));
    for (interval, count) in INTERVALS.iter().zip(SLOTS) {
        let length = i64::try_from(interval.length.as_secs()).unwrap();
        for number in 1..count {
            if (40..52).contains(&number) {
                continue;
            }
            let slot = UnixSeconds::new(interval.slot(now).get() - number * length);
            let candle = [0, length / 3, 2 * length / 3]
                .map(|offset| Candle::of(quote(slot.get() + offset)))
                .into_iter()
                .reduce(Candle::followed_by)
                .unwrap();
            let candles = Candles::from([(ITEM.parse().unwrap(), candle)]);
            assert!(store(table, interval, slot, None, &candles).await.unwrap());
        }
    }
}

/// What the product costs at this time in Unix seconds.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]
fn quote(time: i64) -> Quote {
    let wave = |days: f64| (time as f64 / 86_400.0 / days * TAU).sin();
    let level = 350.0 + 60.0 * wave(200.0) + 25.0 * wave(9.0) + 8.0 * wave(0.9) + 2.0 * wave(0.07);
    let volume = 30_000.0 + 9_000.0 * wave(1.0) + 3_000.0 * wave(0.3);
    let [sell, buy] = [level, level * 1.025 + wave(0.4)].map(|price| (price * 10.0).round() / 10.0);
    Quote::nearest(sell, buy, volume as i64, (volume * 0.9) as i64).unwrap()
}

fn now(cloud: &Cloud) -> i64 {
    cloud.clock().now_ms() / 1_000
}
