//! The past of the simulated game when `cargo local` starts: `infra/local/README.md`, The past.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use jiff::Timestamp;
use local::{Cloud, Options, Progress};
use simulator::Clock;

use crate::oracle::Candle;
use crate::support::{await_logs, expect_clean_logs, get, one_instance_each, start_with};

const ITEM: &str = "INK_SACK:3";
/// 2026-11-21T15:05:10Z.
const NOW: i64 = 1_795_273_510;
/// An interval is built two minutes after its end.
const SETTLED: i64 = NOW - 120;
const DAY: i64 = 86_400;
/// The intervals and their lengths in seconds.
const INTERVALS: [(&str, i64); 5] = [("5m", 300), ("30m", 1_800), ("1h", 3_600), ("3h", 10_800), ("1d", DAY)];
/// How long the past may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(30);

/// The complete candles of the item that open before the start, oldest first.
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

/// How far back the candles of the interval go by default.
fn depth(interval: &str) -> i64 {
    if interval == "1d" { 90 * DAY } else { DAY }
}

#[tokio::test]
async fn a_fresh_cloud_has_candles_of_a_day_and_days_of_ninety_days() {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let progress = move |progress: &Progress| sink.lock().unwrap().extend(progress.message.clone());
    let clock = Clock::system();
    clock.set(NOW * 1_000);
    let options = Options { history: 1, clock, progress: Some(Arc::new(progress)), ..Options::for_tests() };
    let cloud = start_with(options).await;
    let begun = Instant::now();
    // One before each of the four parts, and one at the end.
    while messages.lock().unwrap().len() < 5 {
        assert!(begun.elapsed() < PATIENCE, "{:#?}", cloud.logs());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let messages = messages.lock().unwrap().clone();
    let [missing @ .., complete] = &messages[..] else { unreachable!() };
    assert!(missing.iter().all(|message| message.starts_with("history: still missing: ")), "{messages:?}");
    assert!(missing[0].contains("the last hour") && !missing[1].contains("the last hour"), "{messages:?}");
    assert!(complete.starts_with("history: complete after "), "{messages:?} {:#?}", cloud.logs());
    expect_clean_logs(&cloud);

    let (mut finer, mut finer_length) = (Vec::<Candle>::new(), DAY);
    for (interval, length) in INTERVALS {
        let candles = candles(&cloud, interval, 1_000).await;
        let (first, last) = (&candles[0], candles.last().unwrap());
        let (oldest, newest) = (first.slot().unwrap(), last.slot().unwrap());
        // Without a gap, from the beginning of the past to the interval under way.
        assert_eq!(newest + length, SETTLED - SETTLED % length, "{interval}");
        assert_eq!(count(&candles), (newest - oldest) / length + 1, "{interval}");
        let (from, part) = (NOW - depth(interval), length.max(10_800));
        assert_eq!(oldest, from - from % part, "{interval}");
        // Wherever there are all finer candles, a coarse one is made of them.
        let mut compared = 0;
        for candle in candles.iter().filter(|_| finer_length < length) {
            let opened_at = candle.slot().unwrap();
            let parts =
                finer.iter().filter(|part| (opened_at..opened_at + length).contains(&part.slot().unwrap()));
            let parts: Vec<_> = parts.cloned().collect();
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
        (finer, finer_length) = (candles, length);
    }
}

/// With the schedules of the template, by the system's clock.
#[tokio::test]
async fn the_first_events_make_every_feed_healthy() {
    let options = Options { history: 1, schedules: true, schedules_at_start: true, ..one_instance_each() };
    let cloud = start_with(options).await;
    // Its first event waits for the minutes of which candles are built, so that no later one is needed.
    for recorder in
        ["record-bazaar", "record-auctions", "record-mayor", "record-fire-sales", "record-candles"]
    {
        let line = await_logs(&cloud, 1, |line| line["function"] == recorder).await.remove(0);
        assert_eq!(line["message"], "recorded", "{line}");
    }
    let status = get(&cloud, "/v1/status").await.data();
    assert_eq!(status["is_healthy"], true, "{status}");
    assert_eq!(get(&cloud, "/v1/auctions/prices").await.status, StatusCode::OK);
    cloud.shutdown().await;
}
