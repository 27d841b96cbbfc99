//! The candle under way, and one that has ended and is not built yet: they have every minute that is recorded, and say that they
//! are not complete.

use fastrand::Rng;

use super::minutes::Minutes;
use super::{MIDNIGHT, READER, SETTLE, before, build, interval, page};
use crate::history::market::{Market, quote};
use crate::history::{MINUTE, START, start};
use crate::support::expect_clean_logs;

#[tokio::test]
async fn at_any_moment_the_candles_under_way_have_all_recorded_minutes_and_are_not_complete() {
    let cloud = start().await;
    let random = &mut Rng::with_seed(7);
    let mut minutes = Minutes::default();
    let mut settled = i64::MIN;
    let mut compared = 0;
    // From the first minutes of the record, over the end of an hour and of a day.
    let first = MIDNIGHT - 66 * MINUTE;
    let checks = [0, 1, 7, 36, 60, 66, 67, 68, 71, 74];
    for minute in 0..75 {
        let time = first + minute * MINUTE;
        if random.u8(..4) > 0 || minute == 66 {
            let mut market = Market::of("A", quote(random.u32(1..1_000), "5000.5", random.u32(..99), 1));
            if random.bool() {
                market = market.with("B", quote("1.5", random.u32(1..1_000), 1, random.u32(..99)));
            }
            minutes.record(&cloud, time, &market).await;
        }
        // The schedule of the recorder: two minutes after the end of an interval of five.
        if time.rem_euclid(5 * MINUTE) == 2 * MINUTE {
            build(&cloud, time).await;
            settled = time - SETTLE;
        }
        if checks.contains(&minute) {
            for now in [time, time + MINUTE - 1] {
                cloud.kill(READER).await.unwrap();
                // A candle that opens now has not been recorded yet, and is not asked for.
                if now > time {
                    compared += minutes.expect(&cloud, &["A", "B"], settled, now).await;
                }
                compared += expect_before_the_future(&cloud, &minutes, settled, now).await;
            }
        }
    }
    assert!(compared > 250, "{compared} candles");
    expect_clean_logs(&cloud);
}

/// Compares the candles that open before a moment in the far future.
async fn expect_before_the_future(cloud: &local::Cloud, minutes: &Minutes, settled: i64, now: i64) -> usize {
    let mut compared = 0;
    for interval in &super::INTERVALS {
        let page = page(cloud, "A", interval, "&before=9999-12-31T23:59:59.999Z", now).await;
        assert_eq!(page.candles, minutes.candles("A", interval, settled), "{} at {now}", interval.name);
        compared += page.count;
    }
    compared
}

#[tokio::test]
async fn pages_of_one_candle_walk_through_two_unbuilt_intervals() {
    let cloud = start().await;
    let mut minutes = Minutes::default();
    for minute in [1, 6, 7, 11] {
        let market = Market::of("A", quote(minute, "9.0", minute, 1));
        minutes.record(&cloud, START + minute * MINUTE, &market).await;
    }
    build(&cloud, START + 7 * MINUTE).await;
    let now = START + 11 * MINUTE + 59;
    let (five, mut walked, mut end) = (interval("5m"), Vec::new(), now);
    for opened_at in [10, 5, 0] {
        let page = page(&cloud, "A", five, &format!("&limit=1{}", before(end)), now).await;
        assert_eq!(page.times(), [START + opened_at * MINUTE]);
        assert_eq!(page.candles[0].complete, opened_at == 0, "{page:?}");
        assert_eq!(page.next(), (opened_at > 0).then_some(START + opened_at * MINUTE));
        walked.insert(0, page.candles[0].clone());
        end = START + opened_at * MINUTE;
    }
    assert_eq!(walked, minutes.candles("A", five, START + 5 * MINUTE));
    expect_clean_logs(&cloud);
}
