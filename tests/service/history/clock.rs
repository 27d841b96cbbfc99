//! A recorder records the present by the system's clock. It refuses an event of another time, and stores the
//! fetched data under the event's minute, or under the fetch's minute if the fetch is too early or too late.
//! Only a backfill always uses the event's minute.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::chart::{points, times};
use super::market::{Market, RECORDER, quote};
use super::table;
use super::{HOUR, MINUTE, cause, rfc3339, start};
use crate::auction_prices::house;
use crate::support::{RECORDERS, expect_clean_logs, invoke, line_of, simulator};

/// The time of the system's clock, in Unix seconds.
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
    for recorder in RECORDERS {
        // The clock advances before the recorder reads it, so distances in the future are well above the
        // bound.
        for distance in [-121, -3 * MINUTE, -300 * 24 * HOUR, 10 * MINUTE, HOUR] {
            let time = clock() + distance;
            let now = rfc3339(time);
            for event in [
                scheduled(time),
                json!({"time": now, "backfill": false}).to_string(),
                // Events cannot set the clock; only a backfill chooses its time.
                json!({"time": now, "now": now}).to_string(),
            ] {
                let response = invoke(&cloud, recorder, event.clone()).await;
                let cause = cause(&response);
                let expected = "the event must be of the present, at most 120 s from the clock, or have \"backfill\": true: \
                                its time is ";
                assert!(
                    cause.starts_with(&format!("{expected}{now}, and the clock shows 20")),
                    "{event}: {cause}"
                );
                let line = line_of(&cloud, &response).await;
                assert_eq!(line["message"], "the event is not of the present", "{line}");
            }
        }
    }
    assert!(table::dump(&cloud).await.is_empty());
    assert_eq!(simulator(&cloud).requests("*"), 0, "a recorder must not fetch for a refused event");
    expect_clean_logs(&cloud);
}

/// The minute under which a run stores its data, by the times of the event and the fetch.
fn filed(event: i64, fetched: i64) -> String {
    let minute = event - event.rem_euclid(MINUTE);
    let is_in_time = (minute - 10..=minute + 100).contains(&fetched);
    rfc3339(if is_in_time { minute } else { fetched - fetched.rem_euclid(MINUTE) })
}

#[tokio::test]
async fn an_event_is_filed_under_its_own_minute_and_a_late_one_under_the_minute_of_the_fetch() {
    let cloud = start().await;
    let market = Market::of("A", quote("1.0", "2.0", 3, 4));
    market.show(&cloud);
    for distance in [-105, -95, -80, -MINUTE, -30, -10, 0, 5, 90] {
        table::clear(&cloud).await;
        let before = clock();
        let event = before + distance;
        let response = invoke(&cloud, RECORDER, scheduled(event)).await;
        let after = clock();
        assert!(!response.headers.contains_key("x-amz-function-error"), "{distance}: {}", response.text);
        let tick = response.json()["tick"].as_str().unwrap().to_owned();
        // The fetch was in one of these seconds.
        assert!((before..=after + 1).any(|fetched| filed(event, fetched) == tick), "{distance}: {tick}");
        assert_eq!(response.json()["recorded"]["products"], 1, "{}", response.text);
        // A new instance, because the chart is cached for five minutes.
        cloud.kill("bazaar-history").await.unwrap();
        // An event that comes a few seconds early can be of the next minute.
        let requested_at = after.max(event);
        assert_eq!(times(&points(&cloud, "A", "1h", requested_at).await), [tick], "{distance}");
    }
    house::serve(&cloud, clock() * 1_000, &[house::listing(1, "A", 1, clock() * 1_000)], &json!([]));
    for recorder in RECORDERS {
        let response = invoke(&cloud, recorder, scheduled(clock() - MINUTE)).await;
        assert!(!response.headers.contains_key("x-amz-function-error"), "{recorder}: {}", response.text);
    }
    expect_clean_logs(&cloud);
}
