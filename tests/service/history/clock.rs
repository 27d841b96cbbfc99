//! A recorder records the present, by the system's clock: it refuses an event of another time, and files what it fetches under
//! the minute in which it fetched it. Only a backfill records the minute of its event.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::chart::{points, times};
use super::market::{Market, RECORDER, quote};
use super::table;
use super::{HOUR, MINUTE, failure, nothing, record, rfc3339, start};
use crate::auction_prices::house;
use crate::support::{RECORDERS, await_logs, expect_clean_logs, invoke, simulator};

/// The time of the system's clock in Unix seconds.
fn clock() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since_epoch.as_secs().try_into().unwrap()
}

fn scheduled(time: i64) -> String {
    json!({"time": rfc3339(time)}).to_string()
}

#[tokio::test]
async fn an_event_that_is_more_than_two_minutes_from_the_clock_is_refused() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).show(&cloud);
    let mut refused = 0;
    for recorder in RECORDERS {
        // The clock goes on until the recorder reads it.
        for distance in [-121, -3 * MINUTE, -300 * 24 * HOUR, 10 * MINUTE, HOUR] {
            let time = clock() + distance;
            let now = rfc3339(time);
            for event in [
                scheduled(time),
                json!({"time": now, "backfill": false}).to_string(),
                // Only a backfill has a time of its own.
                json!({"time": now, "now": now}).to_string(),
            ] {
                let cause = failure(&cloud, recorder, event.clone()).await;
                let expected = "the event must be of the present, at most 120 s from the clock, or have \"backfill\": true: \
                                its time is ";
                assert!(
                    cause.starts_with(&format!("{expected}{now}, and the clock shows 20")),
                    "{event}: {cause}"
                );
                let line = |line: &Value| line["function"] == recorder && line["level"] == "ERROR";
                refused += 1;
                let line = await_logs(&cloud, 1, line).await.pop().unwrap();
                assert_eq!(line["message"], "the event is not of the present", "{line}");
            }
        }
    }
    assert_eq!(refused, 15 * RECORDERS.len());
    assert!(table::dump(&cloud).await.is_empty());
    assert_eq!(simulator(&cloud).requests("*"), 0, "a recorder fetched for an event that it refuses");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_late_event_is_filed_under_the_minute_of_the_fetch() {
    let cloud = start().await;
    let market = Market::of("A", quote("1.0", "2.0", 3, 4));
    market.show(&cloud);
    for distance in [-MINUTE, 0, 90] {
        table::clear(&cloud).await;
        let before = clock();
        let response = invoke(&cloud, RECORDER, scheduled(before + distance)).await;
        let after = clock();
        assert!(!response.headers.contains_key("x-amz-function-error"), "{distance}: {}", response.text);
        let minutes = [before, after].map(|time| rfc3339(time - time.rem_euclid(MINUTE)));
        let tick = response.json()["tick"].as_str().unwrap().to_owned();
        assert!(minutes.contains(&tick), "{distance}: {tick}");
        assert_eq!(response.json()["recorded"]["products"], 1, "{}", response.text);
        // The chart is cached for five minutes.
        cloud.kill("bazaar-history").await.unwrap();
        assert_eq!(times(&points(&cloud, "A", "1h", after).await), [tick], "{distance}");
    }
    // A second event in the same minute finds it recorded.
    let repeated = invoke(&cloud, RECORDER, scheduled(clock())).await.json();
    let is_same_minute =
        times(&points(&cloud, "A", "1h", clock()).await) == [repeated["tick"].as_str().unwrap()];
    assert!(!is_same_minute || repeated["recorded"] == nothing(), "{repeated}");
    house::serve(&cloud, clock() * 1_000, &[house::listing(1, "A", 1, clock() * 1_000)], &json!([]));
    for recorder in RECORDERS {
        let response = invoke(&cloud, recorder, scheduled(clock() - MINUTE)).await;
        assert!(!response.headers.contains_key("x-amz-function-error"), "{recorder}: {}", response.text);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_backfill_is_filed_under_the_minute_of_its_event() {
    let cloud = start().await;
    let market = Market::of("A", quote("1.0", "2.0", 3, 4));
    market.show(&cloud);
    for distance in [-24 * HOUR, -MINUTE, MINUTE, HOUR] {
        let time = clock() + distance;
        assert_eq!(record(&cloud, RECORDER, time).await["products"], 1, "{distance}");
    }
    expect_clean_logs(&cloud);
}
