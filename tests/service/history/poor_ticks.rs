//! A tick on which most products made no sense gives its slots to a later, full one.

use std::sync::Arc;
use std::time::Duration;

use local::{Cloud, Fault};
use serde_json::json;

use super::chart::{points, times};
use super::interrupted::record_and_kill;
use super::market::{BAZAAR, Market, RECORDER, quote, tiers};
use super::table::{self, Dump, Row};
use super::{MINUTE, RANGES, START, event, record, recorded, rfc3339, start, start_with_instances};
use crate::support::{expect_clean_logs, invoke, simulator};

const TIERS: [&str; 5] = ["1m", "5m", "30m", "1h", "3h"];

/// A market of this many products, at prices of its own.
fn market(products: i64, price: i64) -> Market {
    (0..products).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{price}.5"), "9000.25", number, price))
    })
}

/// The provider's response in which only the first product makes sense.
fn one_of(market: &Market) -> String {
    let mut body: serde_json::Value = serde_json::from_str(&market.body()).unwrap();
    for product in body["products"].as_object_mut().unwrap().values_mut().skip(1) {
        product["quick_status"]["sellPrice"] = json!(null);
    }
    body.to_string()
}

/// The marker of the tier's slot that starts with `START`.
fn marker<'a>(dump: &'a Dump, tier: &str) -> &'a Row {
    &dump[&(format!("bazaar#{tier}"), START.to_string())]
}

/// Panics unless the product's points in every range but `1h` are of these ticks.
async fn expect_ticks(cloud: &Cloud, id: &str, ticks: &[i64]) {
    cloud.kill("bazaar-history").await.unwrap();
    for (range, ..) in RANGES.iter().skip(1) {
        let points = points(cloud, id, range, START + 4 * MINUTE).await;
        let expected: Vec<_> = ticks.iter().map(|tick| rfc3339(*tick)).collect();
        assert_eq!(times(&points), expected, "{id} in {range}");
    }
}

/// Records the markets at the minutes after `START`, from an empty table.
async fn table_after(cloud: &Cloud, events: &[(i64, &Market)]) -> Dump {
    table::clear(cloud).await;
    for (minute, market) in events {
        market.record(cloud, START + minute * MINUTE).await;
    }
    table::dump(cloud).await
}

#[tokio::test]
async fn a_tick_with_few_products_leaves_no_gap_in_a_coarse_tier() {
    let cloud = start().await;
    let full = market(40, 1);
    simulator(&cloud).set_fault(BAZAAR, ::simulator::Fault::default().with_body(one_of(&full)));
    assert_eq!(record(&cloud, RECORDER, START).await["products"], 1);
    expect_ticks(&cloud, "PRODUCT_0", &[START]).await;
    expect_ticks(&cloud, "PRODUCT_1", &[]).await;
    let recorded = full.record(&cloud, START + MINUTE).await;
    assert_eq!(tiers(&recorded), TIERS);
    for id in ["PRODUCT_0", "PRODUCT_1", "PRODUCT_39"] {
        expect_ticks(&cloud, id, &[START + MINUTE]).await;
    }
    // The minute of the poor tick still has its one product, and no other slot has any of its rows.
    let poor = points(&cloud, "PRODUCT_0", "1h", START + MINUTE).await;
    assert_eq!(times(&poor), [rfc3339(START), rfc3339(START + MINUTE)]);
    let dump = table::dump(&cloud).await;
    let of_start = |(partition, sort): &&(String, String)| {
        *sort == START.to_string() && partition.matches('#').count() == 2
    };
    assert_eq!(dump.keys().filter(of_start).count(), 1, "the row of the finest tier");
    for tier in &TIERS[1..] {
        let marker = marker(&dump, tier);
        assert_eq!(marker["recorded_at"], json!({"N": (START + MINUTE).to_string()}), "{tier}");
        assert_eq!(marker["products"], json!({"N": "40"}), "{tier}");
    }
    // From then on the slots stay.
    assert_eq!(tiers(&market(50, 2).record(&cloud, START + 2 * MINUTE).await), ["1m"]);
    assert_eq!(full.record(&cloud, START).await, json!({"products": 0, "slots": []}));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn half_of_the_products_are_enough_to_keep_a_slot() {
    let cloud = start().await;
    for (products, later, is_replaced) in [(20, 40, false), (20, 41, true), (19, 40, true), (40, 20, false)] {
        table::clear(&cloud).await;
        market(products, 1).record(&cloud, START).await;
        let recorded = market(later, 2).record(&cloud, START + MINUTE).await;
        let expected = if is_replaced { &TIERS[..] } else { &TIERS[..1] };
        assert_eq!(tiers(&recorded), expected, "{products} and then {later}");
    }
}

#[tokio::test]
async fn a_late_event_of_a_poor_tick_takes_no_slot_from_a_full_one() {
    let cloud = start().await;
    market(40, 1).record(&cloud, START + 2 * MINUTE).await;
    assert_eq!(tiers(&market(19, 2).record(&cloud, START).await), ["1m"]);
    expect_ticks(&cloud, "PRODUCT_0", &[START + 2 * MINUTE]).await;
    // One that is not poor does.
    assert_eq!(tiers(&market(20, 3).record(&cloud, START + MINUTE).await), TIERS);
    expect_ticks(&cloud, "PRODUCT_0", &[START + MINUTE]).await;
    expect_ticks(&cloud, "PRODUCT_39", &[]).await;
}

#[tokio::test]
async fn poor_and_full_ticks_in_any_order_leave_the_same_table() {
    let cloud = start().await;
    let (poor, full) = (market(3, 1), market(40, 2));
    let (other, last) = (market(4, 3), market(41, 4));
    let mut events = [(0, &poor), (1, &full), (2, &other), (3, &last), (6, &poor), (8, &last)];
    let in_order = table_after(&cloud, &events).await;
    assert_eq!(marker(&in_order, "3h")["recorded_at"], json!({"N": (START + MINUTE).to_string()}));
    events.reverse();
    table::expect_same(&table_after(&cloud, &events).await, &in_order, "the last one first");
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..4 {
        random.shuffle(&mut events);
        let minutes = events.map(|(minute, _)| minute);
        let mut twice = events.to_vec();
        twice.extend(random.choose_multiple(events, 3));
        table::expect_same(&table_after(&cloud, &twice).await, &in_order, &format!("{minutes:?}"));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_marker_of_an_older_version_counts_as_full() {
    let cloud = start().await;
    let (old, full) = (market(10, 1), market(40, 2));
    old.record(&cloud, START + MINUTE).await;
    let without = |row: &Row| {
        let mut row = row.clone();
        row.remove("products");
        row
    };
    let dump = table::dump(&cloud).await;
    let markers =
        dump.values().filter(|row| row.contains_key("recorded_at")).map(without).collect::<Vec<_>>();
    assert_eq!(markers.len(), 5);
    table::put(&cloud, markers).await;
    assert_eq!(tiers(&full.record(&cloud, START + 2 * MINUTE).await), ["1m"]);
    assert_eq!(full.record(&cloud, START + MINUTE).await, json!({"products": 0, "slots": []}));
    // It has ten rows or nearly so.
    assert_eq!(tiers(&market(3, 3).record(&cloud, START).await), ["1m"]);
    assert_eq!(tiers(&full.record(&cloud, START).await), [] as [&str; 0]);
    expect_ticks(&cloud, "PRODUCT_0", &[START + MINUTE]).await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_event_that_is_not_complete_fills_its_poor_slots_too() {
    let cloud = start().await;
    let (poor, full) = (market(3, 1), market(40, 2));
    let clean = table_after(&cloud, &[(0, &full)]).await;
    // The recorder was killed before it marked the finest slot, and the provider is complete again at the retry.
    table_after(&cloud, &[(0, &poor)]).await;
    table::delete(&cloud, "bazaar#1m", &START.to_string()).await;
    assert_eq!(tiers(&full.record(&cloud, START).await), TIERS);
    table::expect_same(&table::dump(&cloud).await, &clean, "after the retry");
}

#[tokio::test]
async fn if_the_next_tick_comes_instead_of_a_retry_no_product_is_missing() {
    let cloud = Arc::new(start().await);
    let (poor, full) = (market(10, 1), market(60, 2));
    poor.record(&cloud, START).await;
    let before = table::dump(&cloud).await;
    // The finest tier takes a few writes, so these points are in the coarse tiers.
    for done in [6, 7, 8, 9, 10] {
        table::clear(&cloud).await;
        table::put(&cloud, before.values().cloned()).await;
        full.show(&cloud);
        record_and_kill(&cloud, RECORDER, START + MINUTE, done).await;
        assert_eq!(tiers(&full.record(&cloud, START + 2 * MINUTE).await)[0], "1m");
        cloud.kill("bazaar-history").await.unwrap();
        for (id, quote) in full.0.iter().step_by(7) {
            for (range, ..) in RANGES.iter().skip(1) {
                let points = points(&cloud, id, range, START + 4 * MINUTE).await;
                let [point] = &points[..] else { panic!("{id} has {} points in {range}", points.len()) };
                // Of the poor tick, if it is that one's minute.
                point.expect(if point.recorded_at == rfc3339(START) { &poor.0[id] } else { quote });
            }
        }
    }
}

/// So long that both recorders write the same tier at the same time, even on a busy machine.
const LATENCY: Duration = Duration::from_millis(60);

#[tokio::test]
async fn concurrent_recorders_of_a_poor_and_a_full_tick_leave_what_one_after_the_other_leaves() {
    let cloud = Arc::new(start_with_instances(2).await);
    let events = [(0, market(10, 1)), (1, market(80, 2))];
    let in_order = table_after(&cloud, &[(0, &events[0].1), (1, &events[1].1)]).await;
    assert_eq!(marker(&in_order, "3h")["recorded_at"], json!({"N": (START + MINUTE).to_string()}));
    for (round, pause) in [0, 10, 40, 70, 110, 160].into_iter().enumerate() {
        table::clear(&cloud).await;
        cloud.dynamodb().set_fault(Fault::delay(LATENCY));
        let [first, second] = [&events[round % 2], &events[(round + 1) % 2]];
        let before = simulator(&cloud).requests(BAZAAR);
        first.1.show(&cloud);
        let earlier = tokio::spawn({
            let (cloud, tick) = (Arc::clone(&cloud), START + first.0 * MINUTE);
            async move { recorded(&invoke(&cloud, RECORDER, event(tick)).await, tick) }
        });
        while simulator(&cloud).requests(BAZAAR) == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(pause)).await;
        second.1.record(&cloud, START + second.0 * MINUTE).await;
        earlier.await.unwrap();
        cloud.dynamodb().clear_faults();
        table::expect_same(&table::dump(&cloud).await, &in_order, &format!("round {round}"));
        for (minute, market) in &events {
            market.show(&cloud);
            assert_eq!(
                record(&cloud, RECORDER, START + minute * MINUTE).await["products"],
                0,
                "round {round}"
            );
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn after_a_poor_recorder_overwrites_a_full_one_of_its_minute_the_next_tick_repairs_the_slots() {
    let cloud = Arc::new(start_with_instances(2).await);
    let (poor, full) = (market(30, 1), market(80, 2));
    // The response to the first event is poor and slow: the second event is recorded in the meantime.
    let slow = ::simulator::Fault::delay(Duration::from_secs(6)).with_body(poor.body());
    simulator(&cloud).set_fault(BAZAAR, slow);
    let before = simulator(&cloud).requests(BAZAAR);
    let first = tokio::spawn({
        let cloud = Arc::clone(&cloud);
        async move { recorded(&invoke(&cloud, RECORDER, event(START)).await, START) }
    });
    while simulator(&cloud).requests(BAZAAR) == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(full.record(&cloud, START).await["products"], 80);
    assert_eq!(first.await.unwrap()["products"], 30, "the recorders did not overlap");
    assert_eq!(tiers(&full.record(&cloud, START + MINUTE).await), TIERS);
    for id in full.0.keys() {
        expect_ticks(&cloud, id, &[START + MINUTE]).await;
    }
    expect_clean_logs(&cloud);
}
