//! Two recorders may run at the same time: a schedule delivers an event at least once, and a retry may overlap the next tick.

use std::time::Duration;

use local::Fault;

use super::market::{Market, RECORDER, quote};
use super::{START, event, recorded, start_with_instances, table};
use crate::support::{expect_clean_logs, invoke};

/// So long that both recorders write at the same time, even on a busy machine.
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
