//! The local cloud generates a past when it starts: prices, and candles that agree with each other
//! (`infra/local/README.md`, The past).

use std::time::{Duration, Instant};

use hyper::StatusCode;
use jiff::Timestamp;
use local::{Cloud, Options};
use record_auctions::item::{Buffers, read};
use serde_json::Value;
use simulator::auctions::{Offer, offers};
use simulator::{Clock, election};
use tables::auctions::Coins;

use crate::oracle::Candle;
use crate::support::{await_logs, expect_clean_logs, get, log_lines, one_instance_each, start_with};

const ITEM: &str = "INK_SACK:3";
/// An item that is always on sale.
const MANY_AUCTIONS: &str = "GOD_POTION_2";
/// 2026-11-21T15:05:10Z.
const NOW: i64 = 1_795_273_510;
/// Candles are built two minutes after their interval ends, so at [`NOW`], the intervals that end by this
/// time are built.
const SETTLED: i64 = NOW - 120;
const DAY: i64 = 86_400;
/// The intervals and their lengths in seconds.
const INTERVALS: [(&str, i64); 5] = [("5m", 300), ("30m", 1_800), ("1h", 3_600), ("3h", 10_800), ("1d", DAY)];
/// How long generating the past may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(30);

/// The item's candles before [`NOW`], oldest first.
async fn candles(cloud: &Cloud, interval: &str, limit: usize) -> Vec<Candle> {
    let before = Timestamp::from_second(NOW).unwrap();
    let path = format!("/v1/bazaar/candles?item_id={ITEM}&interval={interval}&limit={limit}&before={before}");
    let mut candles: Vec<Candle> =
        serde_json::from_value(get(cloud, &path).await.data()["candles"].take()).unwrap();
    candles.retain(|candle| candle.complete);
    candles
}

fn count(candles: &[Candle]) -> i64 {
    candles.len().try_into().unwrap()
}

/// The default length of the past for candles of this interval, in seconds.
fn depth(interval: &str) -> i64 {
    if interval == "1d" { 90 * DAY } else { DAY }
}

#[tokio::test]
async fn a_fresh_cloud_has_candles_of_a_day_and_days_of_ninety_days() {
    let clock = Clock::system();
    clock.set(NOW * 1_000);
    let options = Options { history: 1, clock, ..Options::for_tests() };
    let cloud = start_with(options).await;
    await_the_past(&cloud).await;
    expect_candles(&cloud).await;
    expect_a_past_of_auctions(&cloud).await;
    expect_items_that_players_know(&cloud).await;
    let mayors = get(&cloud, "/v1/mayor/history?limit=100").await.data();
    assert_eq!(mayors["history"].as_array().unwrap().len(), 100, "the history must fill the largest limit");
    let year_ago: Value = serde_json::from_str(&election::body(1, NOW * 1_000 - election::YEAR_MS)).unwrap();
    for field in ["name", "key", "perks"] {
        assert_eq!(mayors["history"][0][field], year_ago["mayor"][field]);
    }
    let sales = get(&cloud, "/v1/fire-sales/history?limit=200").await.data();
    assert!(sales["history"].as_array().unwrap().len() > 5, "{sales}");
}

/// Waits until the past is complete. Panics unless the log names the missing parts before each part.
async fn await_the_past(cloud: &Cloud) {
    let begun = Instant::now();
    // The log has a message before each of the five parts of the past, and a message at the end.
    let is_message = |line: &String| line.starts_with("history: ");
    while cloud.logs().iter().filter(|line| is_message(line)).count() < 6 {
        assert!(begun.elapsed() < PATIENCE, "{:#?}", cloud.logs());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let messages: Vec<_> = cloud.logs().into_iter().filter(is_message).collect();
    let [missing @ .., complete] = &messages[..] else { unreachable!() };
    assert!(missing.iter().all(|message| message.starts_with("history: still missing: ")), "{messages:?}");
    assert!(missing[0].contains("the newest minutes") && !missing[1].contains("the newest"), "{messages:?}");
    assert!(complete.starts_with("history: complete after "), "{messages:?} {:#?}", cloud.logs());
    expect_clean_logs(cloud);
}

/// Panics unless the candles of each interval have no gap, and follow from the candles of the next shorter
/// interval.
async fn expect_candles(cloud: &Cloud) {
    let mut finer = Vec::<Candle>::new();
    let mut finer_length = DAY;
    for (interval, length) in INTERVALS {
        let recorded = candles(cloud, interval, 1_000).await;
        let oldest = recorded[0].slot().unwrap();
        let newest = recorded.last().unwrap().slot().unwrap();
        // There is no gap from the beginning of the past to the interval under way.
        assert_eq!(newest + length, SETTLED - SETTLED % length, "{interval}");
        assert_eq!(count(&recorded), (newest - oldest) / length + 1, "{interval}");
        let from = NOW - depth(interval);
        assert_eq!(oldest, from - from % length.max(10_800), "{interval}");
        // If all finer candles of an interval exist, the candle must follow from them.
        let mut compared = 0;
        let checked = if finer_length < length { &recorded[..] } else { &[] };
        for candle in checked {
            let opened_at = candle.slot().unwrap();
            let is_part = |part: &&Candle| (opened_at..opened_at + length).contains(&part.slot().unwrap());
            let parts: Vec<_> = finer.iter().filter(is_part).cloned().collect();
            if count(&parts) == length / finer_length {
                assert_eq!(
                    Candle::of_parts(&candle.opened_at, parts.into_iter()).as_ref(),
                    Some(candle),
                    "{interval}"
                );
                assert_eq!(i64::from(candle.samples), length / 60, "{interval} {opened_at}");
                compared += 1;
            } else if opened_at + length <= NOW - 2 * DAY {
                assert_eq!(candle.samples, 8, "{interval} {opened_at}");
            }
        }
        assert!(compared > 0 || ["5m", "1d"].contains(&interval), "{interval}");
        finer = recorded;
        finer_length = length;
    }
}

/// Panics unless the items that the reference names have a past in their market: prices in both, and sales in
/// auctions.
async fn expect_items_that_players_know(cloud: &Cloud) {
    for id in ["BOOSTER_COOKIE", "RECOMBOBULATOR_3000", "HOT_POTATO_BOOK"] {
        let data = get(cloud, &format!("/v1/bazaar/candles?item_id={id}&interval=1d")).await.data();
        let candles = data["candles"].as_array().unwrap();
        assert!(candles.len() >= 90, "{id}: {} days", candles.len());
        let is_traded = |candle: &Value| {
            candle["sell_low"].as_f64() > Some(0.0) && candle["buy_low"].as_f64() > Some(0.0)
        };
        assert!(candles.iter().all(is_traded), "{id}");
    }
    let ids = ["HYPERION", "TERMINATOR", "ASPECT_OF_THE_VOID", "NECRON_HANDLE"];
    let path = format!("/v1/auctions/averages?window=7d&ids={}", ids.join(","));
    let averages = get(cloud, &path).await.data();
    for (id, average) in ids.into_iter().zip(averages["items"].as_array().unwrap()) {
        assert_eq!(average["id"], id);
        assert!(average["lowest"].is_number() && average["sales"].as_u64() > Some(7), "{average}");
    }
}

/// Panics unless auctions have hourly candles of a week and daily candles of ninety days, without a gap,
/// whose prices change little and end at the present price.
async fn expect_a_past_of_auctions(cloud: &Cloud) {
    let price_of_one = |offer: Offer| {
        let item = read(&offer.item_bytes, &mut Buffers::default()).ok()?;
        (item.id.as_str() == MANY_AUCTIONS).then(|| Coins::of_one(offer.price, item.count))
    };
    let lowest = offers(1, NOW * 1_000).filter_map(price_of_one).min().unwrap().coins();
    for (interval, length, days) in [("1h", 3_600, 7), ("1d", DAY, 90)] {
        let path = format!("/v1/auctions/candles?id={MANY_AUCTIONS}&interval={interval}&limit=1000");
        let data = get(cloud, &path).await.data();
        let all = data["candles"].as_array().unwrap().iter();
        let complete: Vec<&Value> = all.filter(|candle| candle["complete"] == true).collect();
        let start = |candle: &Value| -> i64 {
            candle["opened_at"].as_str().unwrap().parse::<Timestamp>().unwrap().as_second()
        };
        let [first, .., last] = complete[..] else { panic!("{data}") };
        assert!((NOW - days * DAY - DAY..=NOW - days * DAY).contains(&start(first)), "{first}");
        assert_eq!(start(last) + length, NOW - NOW % length, "{last}");
        let price = |candle: &Value, field: &str| candle[field].as_f64().unwrap();
        for pair in complete.windows(2) {
            assert_eq!(start(pair[0]) + length, start(pair[1]), "{interval}");
            assert_eq!(pair[0]["lowest_close"], pair[1]["lowest_open"], "{interval}");
            let moved = price(pair[0], "lowest_close") / price(pair[0], "lowest_open");
            assert!((0.5..2.0).contains(&moved), "{}", pair[0]);
            assert_eq!(pair[0]["samples"], length / 60, "{}", pair[0]);
        }
        assert!(complete.iter().any(|candle| candle["lowest_open"] != candle["lowest_close"]), "{interval}");
        assert!(complete.iter().all(|candle| candle["sales"].as_i64() > Some(0)), "{interval}");
        if interval == "1h" {
            assert_eq!(last["lowest_close"], lowest);
        }
    }
    for window in ["1d", "3d", "7d"] {
        let path = format!("/v1/auctions/averages?window={window}&ids={MANY_AUCTIONS}");
        let averages = get(cloud, &path).await.data();
        assert!(averages["items"][0]["lowest"].is_number(), "{averages}");
        assert!(averages["items"][0]["sales"].as_i64() > Some(0), "{averages}");
    }
}

/// Uses the schedules of the template, by the system's clock.
#[tokio::test]
async fn the_first_events_make_every_feed_healthy() {
    let options = Options { history: 1, schedules: true, schedules_at_start: true, ..one_instance_each() };
    let cloud = start_with(options).await;
    // The first event of `record-candles` waits for the recorded minutes.
    for recorder in
        ["record-bazaar", "record-auctions", "record-mayor", "record-fire-sales", "record-candles"]
    {
        await_logs(&cloud, 1, |line| line["function"] == recorder && line["message"] == "recorded").await;
    }
    let begun = Instant::now();
    while !is_healthy(&cloud).await {
        assert!(begun.elapsed() < PATIENCE, "{:#?}", cloud.logs());
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    for failed in log_lines(&cloud).into_iter().filter(|line| line["message"] == "not recorded") {
        let cause = failed["cause"].as_str().unwrap();
        assert!(cause.contains("deadline has elapsed") || cause.contains("in time"), "{failed}");
    }
    cloud.shutdown().await;
}

/// Whether every feed is healthy, and prices are served. On a busy machine, a run or a request can reach its
/// deadline; a later one succeeds.
async fn is_healthy(cloud: &Cloud) -> bool {
    let status = get(cloud, "/v1/status").await;
    let prices = get(cloud, "/v1/auctions/prices").await;
    [&status, &prices].iter().all(|response| response.status == StatusCode::OK)
        && status.data()["is_healthy"] == true
}
