//! While `record-candles` does not run, the minutes are still recorded. The next runs catch up as far as these are kept.

use local::Cloud;

use super::naive::Minutes;
use super::{BUILDER, INTERVALS, MIDNIGHT, SETTLE, build, candles, clear};
use crate::history::market::{Market, quote};
use crate::history::{HOUR, MINUTE, event, rfc3339, start, table};
use crate::support::{expect_clean_logs, invoke};

/// Records a minute of two products at each of these times.
async fn record(cloud: &Cloud, minutes: &mut Minutes, times: impl IntoIterator<Item = i64>) {
    for time in times {
        let number = time / MINUTE % 1_000;
        let market = Market::of("A", quote(number + 1, "5000.25", number, 4));
        let market = if number % 3 == 0 { market.with("B", quote("0.5", number + 1, 1, 2)) } else { market };
        minutes.record(cloud, time, &market).await;
    }
}

/// Builds candles like [`build`]. A run that has much to catch up on may reach its deadline on a busy machine; a retry goes on where
/// it stopped, as the retries of the schedule do.
async fn catch_up(cloud: &Cloud, now: i64) {
    for attempt in 1.. {
        let response = invoke(cloud, BUILDER, event(now)).await;
        if !response.headers.contains_key("x-amz-function-error") {
            return;
        }
        assert!(attempt < 4 && response.text.contains("in time"), "{}", response.text);
    }
}

/// Times from `first` to `last`, so far apart.
fn every(minutes: i64, first: i64, last: i64) -> impl Iterator<Item = i64> {
    (first..=last).step_by(usize::try_from(minutes * MINUTE).unwrap())
}

#[tokio::test]
async fn after_an_outage_of_up_to_three_and_a_half_hours_the_next_run_catches_up() {
    let cloud = start().await;
    let end = MIDNIGHT + 2 * MINUTE;
    let mut minutes = Minutes::default();
    record(&cloud, &mut minutes, every(31, MIDNIGHT - 215 * MINUTE, MIDNIGHT - MINUTE)).await;
    let mut tables = Vec::new();
    for outage in [HOUR, 210 * MINUTE] {
        clear(&cloud).await;
        // The last run before the outage, and the first one after it.
        catch_up(&cloud, end - outage).await;
        catch_up(&cloud, end).await;
        cloud.kill(super::READER).await.unwrap();
        minutes.expect(&cloud, &["A", "B"], end - SETTLE, end).await;
        tables.push(candles(&cloud).await);
    }
    table::expect_same(&tables[1], &tables[0], "three and a half hours and one");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn after_a_longer_outage_there_is_a_gap_and_what_is_left_gets_into_coarse_candles() {
    let cloud = start().await;
    let (last_run, end) = (MIDNIGHT - 8 * HOUR + 2 * MINUTE, MIDNIGHT + 2 * MINUTE);
    let mut minutes = Minutes::default();
    record(&cloud, &mut minutes, every(29, last_run - 30 * MINUTE, MIDNIGHT - MINUTE)).await;
    catch_up(&cloud, last_run).await;
    catch_up(&cloud, end).await;
    // Slots that began more than 225 minutes ago are left out, because their minutes are about to expire.
    let gap = (last_run - SETTLE)..(end - 225 * MINUTE + 5 * MINUTE).div_euclid(5 * MINUTE) * 5 * MINUTE;
    let left = minutes.without(gap.start, gap.end);
    let compared = left.expect(&cloud, &["A", "B"], end - SETTLE, end).await;
    assert!(compared > 10, "{compared} candles");
    let missing =
        |interval| minutes.candles("A", interval, end).len() - left.candles("A", interval, end).len();
    assert!(missing(&INTERVALS[0]) > 5 && missing(&INTERVALS[1]) > 3, "the gap");
    assert_eq!(missing(&INTERVALS[4]), 0, "the day has a candle");
    // The gap stays as it is, also when later runs follow.
    let table = candles(&cloud).await;
    assert_eq!(build(&cloud, end + 5 * MINUTE - 1).await, [], "at {}", rfc3339(end));
    table::expect_same(&candles(&cloud).await, &table, "a later run");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_catch_up_that_fails_in_between_is_completed_by_the_next_run() {
    let cloud = start().await;
    let end = MIDNIGHT + 2 * MINUTE;
    let mut minutes = Minutes::default();
    record(&cloud, &mut minutes, every(37, MIDNIGHT - 200 * MINUTE, MIDNIGHT - MINUTE)).await;
    for written in [3, 12] {
        clear(&cloud).await;
        let fault = local::Fault::refusal(local::Refusal::InternalServerError).on("PutItem").after(written);
        cloud.dynamodb().set_fault(fault);
        let response = invoke(&cloud, BUILDER, event(end)).await;
        assert!(response.headers.contains_key("x-amz-function-error"), "{}", response.text);
        cloud.dynamodb().clear_faults();
        // The next run is five minutes later.
        catch_up(&cloud, end + 5 * MINUTE).await;
        cloud.kill(super::READER).await.unwrap();
        minutes.expect(&cloud, &["A"], end + 5 * MINUTE - SETTLE, end + 5 * MINUTE).await;
    }
    expect_clean_logs(&cloud);
}
