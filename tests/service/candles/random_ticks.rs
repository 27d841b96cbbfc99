//! Candles from random minutes equal a naive computation at any time, even if their interval is under way,
//! and whenever `record-candles` runs. The table does not depend on the order of the runs.

use fastrand::Rng;

use super::minutes::Minutes;
use super::{MIDNIGHT, READER, SETTLE, build, build_all, candles, clear};
use crate::history::market::{Market, quote};
use crate::history::{MINUTE, start, table};
use crate::support::expect_clean_logs;

const SEED: u64 = 2_026;

/// Two hours around midnight, when slots of every interval end.
const FIRST: i64 = MIDNIGHT - 100 * MINUTE;
const MINUTES: i64 = 122;

const IDS: [&str; 10] =
    ["A", "B:1", "INK_SACK:3", "ALWAYS", "SELDOM", "EMPTY_SIDES", "COMES", "GOES", "WILD", "CONSTANT"];

/// A price with two decimal places, which is stored exactly.
fn price(random: &mut Rng) -> String {
    let cents = 10_f64.powf(random.f64() * 12.0);
    format!("{}.{:02}", (cents / 100.0).floor(), random.u8(..100))
}

/// A list of orders, in any order. Some lists are empty, have invalid levels, or are no lists.
fn orders(random: &mut Rng) -> String {
    let level = |random: &mut Rng| {
        let tenths = random.i64(1..=100_000);
        let (price, amount) = (format!("{}.{}", tenths / 10, tenths % 10), random.u32(1..9));
        match random.u8(..10) {
            0 => "null".to_owned(),
            1 => format!(r#"{{"amount":0,"pricePerUnit":{price},"orders":1}}"#),
            2 => format!(r#"{{"amount":{amount},"pricePerUnit":-{price},"orders":1}}"#),
            _ => format!(r#"{{"amount":{amount},"pricePerUnit":{price},"orders":{amount}}}"#),
        }
    };
    if random.u8(..12) == 0 {
        return "{}".to_owned();
    }
    let levels: Vec<_> = (0..random.u8(..5)).map(|_| level(random)).collect();
    format!("[{}]", levels.join(","))
}

/// The market at a minute. In one of twelve minutes, most of its products are invalid.
fn market(random: &mut Rng, minute: i64) -> Market {
    let is_poor = random.u8(..12) == 0;
    let mut market = Market::default();
    for id in IDS {
        let is_there = match id {
            "ALWAYS" | "CONSTANT" => true,
            "SELDOM" => random.u8(..20) == 0,
            "COMES" => minute > 60,
            "GOES" => !(45..=110).contains(&minute),
            _ => random.u8(..8) > 0,
        };
        if !is_there {
            continue;
        }
        let sell = price(random);
        let buy = price(random);
        let bits = random.u32(..63);
        let volumes = (random.i64(0..=i64::MAX >> bits), random.u32(..9));
        let mut quote = quote(sell, buy, volumes.0, volumes.1);
        quote.buy_orders = orders(random);
        quote.sell_offers = orders(random);
        quote.sell_moving_week = random.i64(0..=i64::MAX >> bits).to_string();
        quote.buy_moving_week = random.u32(..9).to_string();
        match id {
            "CONSTANT" => (quote.sell_price, quote.buy_price) = ("4.2".to_owned(), "5.25".to_owned()),
            "EMPTY_SIDES" => {
                if random.bool() {
                    "0".clone_into(&mut quote.sell_price);
                }
                if random.bool() {
                    "0.0".clone_into(&mut quote.buy_price);
                }
            }
            _ => {}
        }
        if is_poor && id != "CONSTANT" && random.u8(..5) > 0 {
            "null".clone_into(&mut quote.sell_price);
        }
        market = market.with(id, quote);
    }
    market
}

#[tokio::test]
async fn candles_of_random_minutes_equal_a_naive_computation_whenever_they_are_built_and_read() {
    let cloud = start().await;
    let random = &mut Rng::with_seed(SEED);
    let mut minutes = Minutes::default();
    let mut settled = i64::MIN;
    let mut compared = 0;
    for minute in 0..MINUTES {
        let time = FIRST + minute * MINUTE;
        // Twelve successive minutes are missing, and one in seven of the other minutes.
        if !(30..42).contains(&minute) && random.u8(..7) > 0 {
            minutes.record(&cloud, time, &market(random, minute)).await;
        }
        if random.u8(..11) == 0 {
            let now = time + random.i64(0..MINUTE);
            build(&cloud, now).await;
            settled = now - SETTLE;
        }
        // A candle whose interval is under way, or that is not yet built, includes all recorded minutes and
        // is not complete.
        if [0, 1, 7, 36, 60, 99, 100, 102, 111].contains(&minute) {
            cloud.kill(READER).await.unwrap();
            compared += minutes.expect(&cloud, &IDS, settled, time + MINUTE - 1).await;
        }
    }
    let now = FIRST + MINUTES * MINUTE;
    build_all(&cloud, now).await;
    assert_eq!(build(&cloud, now).await, [], "nothing may be left to build");
    // Late minutes: the first in a slot without a candle, the second in a slot with a candle.
    for minute in [37, 41] {
        minutes.record(&cloud, FIRST + minute * MINUTE, &market(random, minute)).await;
    }
    build_all(&cloud, now).await;
    cloud.kill(READER).await.unwrap();
    compared += minutes.expect(&cloud, &IDS, now - SETTLE, now).await;
    assert!(compared > 1_000, "{compared} candles");

    let at_random_times = candles(&cloud).await;
    clear(&cloud).await;
    // Repeated runs, and runs with earlier times.
    for minute in [50, 50, 20, 110, 90] {
        build(&cloud, FIRST + minute * MINUTE).await;
    }
    build_all(&cloud, now).await;
    table::expect_same(&at_random_times, &candles(&cloud).await, "runs at random times and in another order");
    expect_clean_logs(&cloud);
}
