//! What the simulated game has recorded when `cargo local` starts: `infra/local/README.md`, The past.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use local::{Cloud, Options, Progress};
use serde_json::{Value, json};
use simulator::Clock;

use crate::support::{expect_clean_logs, get, start_with};

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
async fn candles(cloud: &Cloud, interval: &str, limit: usize) -> Vec<Value> {
    let before = Timestamp::from_second(NOW).unwrap();
    let path = format!("/v1/bazaar/candles?item_id={ITEM}&interval={interval}&limit={limit}&before={before}");
    let mut data = get(cloud, &path).await.data();
    let candles = data["candles"].as_array_mut().unwrap();
    candles.iter_mut().filter(|candle| candle["complete"] == true).map(Value::take).collect()
}

fn seconds(moment: &Value) -> i64 {
    moment.as_str().unwrap().parse::<Timestamp>().unwrap().as_second()
}

fn count(candles: &[Value]) -> i64 {
    candles.len().try_into().unwrap()
}

/// The candle of several together, without the time.
fn together(parts: &[Value]) -> Value {
    let (first, last) = (&parts[0], parts.last().unwrap());
    let all = |name: &str| parts.iter().map(|part| part[name].as_f64().unwrap()).collect::<Vec<_>>();
    let mut whole = last.clone();
    for side in ["sell", "buy"] {
        whole[format!("{side}_open")] = first[format!("{side}_open")].clone();
        whole[format!("{side}_high")] =
            json!(all(&format!("{side}_high")).into_iter().fold(f64::MIN, f64::max));
        whole[format!("{side}_low")] =
            json!(all(&format!("{side}_low")).into_iter().fold(f64::MAX, f64::min));
    }
    whole["samples"] = json!(parts.iter().map(|part| part["samples"].as_u64().unwrap()).sum::<u64>());
    whole["opened_at"] = first["opened_at"].clone();
    whole
}

#[tokio::test]
async fn a_fresh_cloud_has_candles_of_a_day_and_days_of_two_years() {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let progress = move |progress: &Progress| sink.lock().unwrap().extend(progress.message.clone());
    let clock = Clock::system();
    clock.set(NOW * 1_000);
    let options = Options { history: 1, clock, progress: Some(Arc::new(progress)), ..Options::for_tests() };
    let cloud = start_with(options).await;
    let begun = Instant::now();
    // The recorder builds the intervals of the last hour from fine to coarse; this is the last one, and has all its minutes.
    let has_last = |candles: &[Value]| {
        candles.last().is_some_and(|candle| {
            seconds(&candle["opened_at"]) + 10_800 == SETTLED - SETTLED % 10_800 && candle["samples"] == 180
        })
    };
    let wait = async || {
        assert!(begun.elapsed() < PATIENCE, "{:#?} {:#?}", messages.lock().unwrap(), cloud.logs());
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    let says = |part: &str| messages.lock().unwrap().iter().any(|message| message.contains(part));
    while !says("intervals of candles") {
        wait().await;
    }
    assert!(says("recorded in"), "{:#?} {:#?}", messages.lock().unwrap(), cloud.logs());
    // A page is cached for minutes, so each attempt requests another one.
    let mut limit = 2;
    while !has_last(&candles(&cloud, "3h", limit).await) {
        limit += 1;
        wait().await;
    }
    expect_clean_logs(&cloud);
    for interval in ["5m", "30m", "1h", "3h", "1d"] {
        let complete = format!("history: candles of {interval} are complete after ");
        assert!(messages.lock().unwrap().iter().any(|message| message.starts_with(&complete)), "{interval}");
    }

    let (mut finer, mut finer_length) = (Vec::<Value>::new(), DAY);
    for (interval, length) in INTERVALS {
        let candles = candles(&cloud, interval, 1_000).await;
        let (first, last) = (&candles[0], candles.last().unwrap());
        let (oldest, newest) = (seconds(&first["opened_at"]), seconds(&last["opened_at"]));
        // Without a gap, from the beginning of the past to the interval under way.
        assert_eq!(newest + length, SETTLED - SETTLED % length, "{interval}");
        assert_eq!(count(&candles), (newest - oldest) / length + 1, "{interval}");
        let past = if interval == "1d" { 730 * DAY } else { DAY };
        assert!(oldest <= NOW - past && oldest > NOW - past - 2 * DAY.min(10_800.max(length)), "{interval}");
        // Wherever there are all finer candles, a coarse one is made of them.
        let mut compared = 0;
        for candle in candles.iter().filter(|_| finer_length < length) {
            let opened_at = seconds(&candle["opened_at"]);
            let parts = finer
                .iter()
                .filter(|part| (opened_at..opened_at + length).contains(&seconds(&part["opened_at"])));
            let parts: Vec<_> = parts.cloned().collect();
            if count(&parts) == length / finer_length {
                assert_eq!(together(&parts), *candle, "{interval}");
                assert_eq!(candle["samples"], length / 60, "{interval} {opened_at}");
                compared += 1;
            } else if opened_at + length <= NOW - 2 * DAY {
                assert_eq!(candle["samples"], 8, "{interval} {opened_at}");
            }
        }
        assert!(compared > 0 || ["5m", "1d"].contains(&interval), "{interval}");
        (finer, finer_length) = (candles, length);
    }
}
