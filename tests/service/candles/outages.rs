//! After an outage of `record-candles`, its next runs build all candles whose minutes have not expired.
//! During the outage, responses are computed from the recorded minutes.

use local::{Cloud, Fault};

use super::minutes::Minutes;
use super::{BUILDER, INTERVALS, MIDNIGHT, PROGRESS, READER, SETTLE, build, build_all};
use crate::history::market::{Market, quote};
use crate::history::{HOUR, MINUTE, event, failure, start, table};
use crate::public_files;
use crate::support::{expect_clean_logs, record_prices_of, start_with};

/// Records a minute of two products at each of these times.
async fn record(cloud: &Cloud, minutes: &mut Minutes, times: impl IntoIterator<Item = i64>) {
    for time in times {
        let number = time / MINUTE % 1_000;
        let market = Market::of("A", quote(number + 1, "5000.25", number, 4));
        let market = if number % 3 == 0 { market.with("B", quote("0.5", number + 1, 1, 2)) } else { market };
        minutes.record(cloud, time, &market).await;
    }
}

/// The times from `first` to `last`, this many minutes apart.
fn every(minutes: i64, first: i64, last: i64) -> impl Iterator<Item = i64> {
    (first..=last).step_by(usize::try_from(minutes * MINUTE).unwrap())
}

#[tokio::test]
async fn an_outage_of_36_hours_loses_nothing_at_any_step_of_catching_up() {
    let cloud = start().await;
    let end = MIDNIGHT + 2 * MINUTE;
    let last_run = end - 36 * HOUR;
    let mut minutes = Minutes::default();
    record(&cloud, &mut minutes, every(31, last_run - HOUR, MIDNIGHT - MINUTE)).await;
    build_all(&cloud, last_run).await;
    let mut frontier = last_run - SETTLE;
    let mut runs = 0;
    while frontier < MIDNIGHT {
        minutes.expect(&cloud, &["A", "B"], frontier, end).await;
        let built = build(&cloud, end).await;
        assert!(built.len() < 30, "a run must be bounded: {built:?}");
        let progress = table::dump(&cloud).await.remove(&PROGRESS.map(str::to_owned).into()).unwrap();
        frontier = progress["until"]["N"].as_str().unwrap().parse().unwrap();
        cloud.kill(READER).await.unwrap();
        runs += 1;
    }
    assert!(runs > 3, "{runs} runs");
    minutes.expect(&cloud, &["A", "B"], frontier, end).await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn after_more_than_two_days_there_is_a_gap_and_what_is_left_gets_into_coarse_candles() {
    let cloud = start().await;
    let end = MIDNIGHT + 2 * MINUTE;
    let last_run = end - 60 * HOUR;
    let mut minutes = Minutes::default();
    record(&cloud, &mut minutes, every(29, last_run - 30 * MINUTE, last_run - 3 * MINUTE)).await;
    build_all(&cloud, last_run).await;
    record(&cloud, &mut minutes, every(179, last_run, MIDNIGHT - MINUTE)).await;
    build_all(&cloud, end).await;
    // Slots with an expired minute are not built.
    let left = minutes.without(last_run - SETTLE, end - 48 * HOUR + 3 * MINUTE);
    left.expect(&cloud, &["A", "B"], end - SETTLE, end).await;
    let missing =
        |interval| minutes.candles("A", interval, end).len() - left.candles("A", interval, end).len();
    assert!(missing(&INTERVALS[0]) > 2, "fine candles must have a gap");
    assert_eq!(missing(&INTERVALS[4]), 0, "the day must have a candle");
    expect_clean_logs(&cloud);
}

/// Records prices of the bazaar and of auctions this many hours before midnight, and runs `record-candles`
/// while `faults` reads fail. The faults begin after the two reads of the progress: one fault fails the
/// series that is built first, two faults fail both series. Panics unless exactly the expected series are
/// built.
async fn expect_built(bazaar_hours: i64, auctions_hours: i64, faults: u64, [bazaar, auctions]: [bool; 2]) {
    let cloud = start_with(public_files::options()).await;
    for time in [MIDNIGHT - bazaar_hours * HOUR, MIDNIGHT - MINUTE] {
        Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, time).await;
    }
    let time_ms = (MIDNIGHT - auctions_hours * HOUR) * 1_000;
    record_prices_of(&cloud, time_ms, &[("A", 500, None, 1)]).await;
    cloud.dynamodb().set_fault(Fault::missing_table().on("GetItem").after(2).times(faults));
    let message = failure(&cloud, BUILDER, event(MIDNIGHT + 10 * MINUTE)).await;
    cloud.dynamodb().clear_faults();
    let named = ["candles of the bazaar: ", "candles of auctions: "].map(|part| message.contains(part));
    assert_eq!(named, [!bazaar, !auctions], "{message}");
    let dump = table::dump_with_heartbeats(&cloud).await;
    let has = |front: &str| dump.keys().any(|(partition, _)| partition.starts_with(front));
    let has_heartbeat = dump.contains_key(&(table::HEARTBEATS.to_owned(), "candles".to_owned()));
    assert_eq!([has("candles#5m"), has_heartbeat], [bazaar; 2]);
    let averages = public_files::get(&cloud, "/auction_averages_lbin/1day.json").await;
    assert_eq!([has("auctions#1h"), averages.status.is_success()], [auctions; 2]);
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_series_that_is_further_behind_goes_first_and_each_goes_on_without_the_other() {
    expect_built(4, 2, 1, [false, true]).await;
    expect_built(2, 4, 1, [true, false]).await;
    expect_built(2, 4, 2, [false, false]).await;
}
