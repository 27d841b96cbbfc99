//! Repeated, late and unordered events leave the same table as the same ticks in order. Invalid events fail.

use std::collections::BTreeSet;

use local::Cloud;
use serde_json::json;

use super::market::{BAZAAR, Market, RECORDER, quote};
use super::table::{self, Dump};
use super::{DAY, MINUTE, START, failure, nothing, recorded, rfc3339, start};
use crate::support::{RECORDERS, expect_clean_logs, invoke, simulator};

/// Ticks in minutes after [`START`], in neighbouring slots of every range.
const TICKS: [i64; 20] = [-3, 0, 1, 2, 4, 5, 7, 11, 29, 31, 33, 59, 60, 64, 89, 121, 179, 181, 183, 200];

/// The market at a tick: a random selection of forty products, at prices that are unique to the tick.
fn market_at(tick: i64) -> Market {
    let mut random = fastrand::Rng::with_seed(tick.cast_unsigned());
    let mut market = Market::default();
    for product in 0..40 {
        if random.f64() < 0.6 {
            let price = format!("{}.{product:02}", tick / MINUTE % 100_000);
            market =
                market.with(&format!("PRODUCT_{product}"), quote(&price, price.clone() + "5", product, tick));
        }
    }
    assert!(!market.0.is_empty());
    market
}

/// Empties the table, records the ticks in this order, and returns the rows.
async fn table_after(cloud: &Cloud, ticks: &[i64]) -> Dump {
    table::clear(cloud).await;
    for tick in ticks {
        market_at(*tick).record(cloud, *tick).await;
    }
    table::dump(cloud).await
}

#[tokio::test]
async fn events_in_any_order_leave_the_same_table() {
    let cloud = start().await;
    let mut ticks = TICKS.map(|minute| START + minute * MINUTE);
    let in_order = table_after(&cloud, &ticks).await;
    // Most rows have different products.
    let ids: BTreeSet<_> =
        in_order.values().filter_map(|row| row.get("products")).map(ToString::to_string).collect();
    assert!(ids.len() > 300, "{} different rows", ids.len());
    ticks.reverse();
    table::expect_same(&table_after(&cloud, &ticks).await, &in_order, "in reverse order");
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..2 {
        random.shuffle(&mut ticks);
        let minutes = ticks.map(|tick| (tick - START) / MINUTE);
        let mut twice = ticks.to_vec();
        // Repeats some ticks at the end.
        twice.extend(random.choose_multiple(ticks, 5));
        table::expect_same(&table_after(&cloud, &twice).await, &in_order, &format!("{minutes:?}"));
        // Repeating an event changes nothing, even if the provider has refreshed.
        assert_eq!(market_at(START + 1).record(&cloud, ticks[0] + 59).await, nothing());
        table::expect_same(&table::dump(&cloud).await, &in_order, "after a repeated event");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_invalid_event_fails_and_the_message_shows_a_valid_one() {
    let cloud = start().await;
    market_at(START).show(&cloud);
    for recorder in RECORDERS {
        for event in [
            "null",
            r#"{"time":1777388400}"#,
            r#"{"Time":"2026-04-28T15:00:00Z"}"#,
            r#"{"time":"2026-04-28T15:00:00Z","backfill":"true"}"#,
            r#"{"time":"2026-04-28T15:00:00Z","backfill":true,"now":5}"#,
            r#"{"time":"<aws.scheduler.scheduled-time>"}"#,
        ] {
            let cause = failure(&cloud, recorder, event.to_owned()).await;
            let expected = r#"the event must be {"time": "2026-11-21T15:04:00Z"}: "#;
            assert!(
                cause.starts_with(expected) && cause.len() > expected.len(),
                "{recorder}, {event}: {cause}"
            );
        }
    }
    assert!(table::dump(&cloud).await.is_empty());
    assert_eq!(simulator(&cloud).requests("*"), 0, "a recorder must not fetch without a tick");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_event_may_have_its_own_now_and_unknown_fields() {
    let cloud = start().await;
    market_at(START).show(&cloud);
    let at = |time: i64, now: i64| {
        json!({"time": rfc3339(time), "backfill": true, "now": rfc3339(now), "id": 5, "detail-type": "Scheduled Event"})
            .to_string()
    };
    // A recorder does not write rows whose expiry is in the past.
    let response = invoke(&cloud, RECORDER, at(START, START + 3 * DAY)).await;
    assert_eq!(recorded(&response, START), nothing());
    assert_eq!(simulator(&cloud).requests(BAZAAR), 0, "a recorder without anything to record must not fetch");
    let response = invoke(&cloud, RECORDER, at(START, START + DAY)).await;
    assert_ne!(recorded(&response, START), nothing());
}
