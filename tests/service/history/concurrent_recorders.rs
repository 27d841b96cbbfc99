//! Two recorders may run at the same time: a schedule delivers an event at least once, and a retry may overlap the next tick.

use std::sync::Arc;
use std::time::Duration;

use local::Fault;
use serde_json::{Value, json};

use super::market::{BAZAAR, Market, RECORDER, quote};
use super::table::{self, Row};
use super::{MINUTE, START, event, record, recorded, start_with_instances};
use crate::support::{expect_clean_logs, invoke, simulator};

/// So long that both recorders write the same tier at the same time, even on a busy machine.
const LATENCY: Duration = Duration::from_millis(60);

/// Two thirds of eighty products: those whose number modulo 3 is not `without`.
fn market(without: i64, price: i64) -> Market {
    (0..80).filter(|number| number % 3 != without).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{price}.5"), "99.25", number, price))
    })
}

#[tokio::test]
async fn two_recorders_of_the_same_tick_leave_what_one_leaves() {
    let cloud = start_with_instances(2).await;
    let market = market(0, 7);
    market.record(&cloud, START).await;
    let clean = table::dump(&cloud).await;
    for round in 0..4 {
        table::clear(&cloud).await;
        cloud.dynamodb().set_fault(Fault::delay(LATENCY));
        let (one, other) =
            tokio::join!(invoke(&cloud, RECORDER, event(START)), invoke(&cloud, RECORDER, event(START)));
        cloud.dynamodb().clear_faults();
        for response in [one, other] {
            recorded(&response, START);
        }
        table::expect_same(&table::dump(&cloud).await, &clean, &format!("round {round}"));
    }
    expect_clean_logs(&cloud);
}

/// The tick of a row of products.
fn tick_of(row: &Row) -> i64 {
    let key = row["sk"]["S"].as_str().unwrap();
    let (slot, minutes) = key.split_once('#').unwrap_or((key, "0"));
    slot.parse::<i64>().unwrap() + minutes.parse::<i64>().unwrap() * MINUTE
}

#[tokio::test]
async fn two_recorders_of_different_ticks_leave_what_one_after_the_other_leaves() {
    let cloud = Arc::new(start_with_instances(2).await);
    // The markets differ in price, and each has products that the other lacks.
    let ticks = [(START + MINUTE, market(0, 1)), (START + 2 * MINUTE, market(1, 2))];
    for (tick, market) in &ticks {
        market.record(&cloud, *tick).await;
    }
    let in_order = table::dump(&cloud).await;
    for (round, pause) in [0, 10, 40, 70, 110, 160].into_iter().enumerate() {
        table::clear(&cloud).await;
        cloud.dynamodb().set_fault(Fault::delay(LATENCY));
        // The two take turns in starting first.
        let (first, second) = (&ticks[round % 2], &ticks[(round + 1) % 2]);
        let before = simulator(&cloud).requests(BAZAAR);
        first.1.show(&cloud);
        let earlier = tokio::spawn({
            let (cloud, tick) = (Arc::clone(&cloud), first.0);
            async move { recorded(&invoke(&cloud, RECORDER, event(tick)).await, tick) }
        });
        while simulator(&cloud).requests(BAZAAR) == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(pause)).await;
        second.1.record(&cloud, second.0).await;
        earlier.await.unwrap();
        cloud.dynamodb().clear_faults();

        let dump = table::dump(&cloud).await;
        table::expect_same(&dump, &in_order, &format!("round {round}"));
        let mut rows = 0;
        for ((partition, _), row) in
            dump.iter().filter(|(_, row)| row["pk"]["S"].as_str().unwrap().matches('#').count() == 2)
        {
            let tick = tick_of(row);
            let (_, market) = ticks.iter().find(|(known, _)| *known == tick).unwrap();
            for (id, quote) in row["products"]["M"].as_object().unwrap() {
                let kept =
                    &market.0.get(id).unwrap_or_else(|| panic!("{id} was not in the market at {tick}"));
                let number = |text: &str| json!({"N": text});
                let expected = [&kept.sell_price, &kept.buy_price, &kept.sell_volume, &kept.buy_volume];
                let expected: Value = expected.map(|text| number(text)).into_iter().collect();
                assert_eq!(quote["L"], expected, "round {round}: {id} in {partition}");
            }
            rows += 1;
        }
        assert!(rows > 100, "{rows}");
        // The slots are marked as complete with the earlier tick, so neither event has anything left to write.
        for (tick, market) in &ticks {
            market.show(&cloud);
            assert_eq!(record(&cloud, RECORDER, *tick).await["products"], 0, "round {round}");
        }
        table::expect_same(&table::dump(&cloud).await, &dump, "after both events again");
    }
    expect_clean_logs(&cloud);
}
