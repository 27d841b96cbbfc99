//! When DynamoDB fails, `record-candles` retries or fails, and the same event completes its candles. Clients get the last good
//! page or the 500 envelope.

use common::response::error::INTERNAL_MESSAGE;
use local::{Cloud, Fault, Refusal};
use serde_json::Value;

use super::{BUILDER, READER, build, candles, clear, interval, path};
use crate::history::market::{Market, quote};
use crate::history::{MINUTE, START, event, failure, start, table};
use crate::support::{await_logs, expect_clean_logs, get_at};

/// Records a market of more than one batch.
async fn record(cloud: &Cloud) {
    let market = (0..40).fold(Market::default(), |market, number| {
        market.with(&format!("PRODUCT_{number}"), quote(format!("{number}.5"), "50.25", number, 7))
    });
    market.record(cloud, START + MINUTE).await;
    market.record(cloud, START + 4 * MINUTE).await;
}

#[tokio::test]
async fn a_fault_of_the_table_fails_a_run_and_the_same_event_completes_its_candles() {
    let cloud = start().await;
    record(&cloud).await;
    let now = START + 7 * MINUTE;
    build(&cloud, now).await;
    let clean = candles(&cloud).await;
    let mut failures = 0;
    for operation in ["Query", "GetItem", "UpdateItem", "PutItem"] {
        for (fault, word) in [
            (Fault::missing_table(), "ResourceNotFoundException: "),
            (Fault::refusal(Refusal::InternalServerError), "InternalServerError: "),
            (Fault::close(), "connection"),
        ] {
            let what = format!("{operation}: {word}");
            clear(&cloud).await;
            cloud.dynamodb().set_fault(fault.on(operation));
            let cause = failure(&cloud, BUILDER, event(now)).await;
            assert!(
                cause.contains(operation) && cause.contains(word) && cause.contains(table::NAME),
                "{cause}"
            );
            failures += 1;
            let is_failure = |line: &Value| line["function"] == BUILDER && line["level"] == "ERROR";
            let line = await_logs(&cloud, failures, is_failure).await.pop().unwrap();
            assert_eq!(
                (&line["message"], &line["cause"]),
                (&"not recorded".into(), &cause.as_str().into()),
                "{what}"
            );
            cloud.dynamodb().clear_faults();
            build(&cloud, now).await;
            table::expect_same(&candles(&cloud).await, &clean, &what);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_short_fault_of_the_table_is_retried_within_a_run() {
    let cloud = start().await;
    record(&cloud).await;
    let now = START + 7 * MINUTE;
    let slots = build(&cloud, now).await;
    let clean = candles(&cloud).await;
    for (operation, fault) in [
        ("Query", Fault::throttled().times(3)),
        ("Query", Fault::refusal(Refusal::InternalServerError).after(40).times(3)),
        ("Query", Fault::close().after(2).times(2)),
        ("GetItem", Fault::throttled().times(3)),
        ("UpdateItem", Fault::throttled().times(3)),
        ("UpdateItem", Fault::close().after(1).times(1)),
        ("PutItem", Fault::throttled().times(3)),
        ("PutItem", Fault::close().times(2)),
    ] {
        clear(&cloud).await;
        let what = format!("{operation}: {fault:?}");
        cloud.dynamodb().set_fault(fault.on(operation));
        assert_eq!(build(&cloud, now).await, slots, "{what}");
        cloud.dynamodb().clear_faults();
        table::expect_same(&candles(&cloud).await, &clean, &what);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_fault_of_the_table_is_the_500_envelope_or_the_last_good_page() {
    let cloud = start().await;
    record(&cloud).await;
    build(&cloud, START + 7 * MINUTE).await;
    let five = path("PRODUCT_1", interval("5m"), "");
    let now = (START + 8 * MINUTE) * 1_000;
    for (fault, word) in [
        (Fault::missing_table(), "ResourceNotFoundException: "),
        (Fault::throttled(), "ProvisionedThroughputExceededException: "),
        (Fault::close(), "connection"),
    ] {
        cloud.kill(READER).await.unwrap();
        cloud.dynamodb().set_fault(fault.clone().on("Query"));
        assert_eq!(get_at(&cloud, &five, now).await.error("INTERNAL_ERROR"), INTERNAL_MESSAGE, "{word}");
        let has_cause = |line: &Value| line["cause"].as_str().is_some_and(|cause| cause.contains(word));
        let line = await_logs(&cloud, 1, has_cause).await.remove(0);
        assert_eq!(
            (&line["level"], &line["route"]),
            (&"ERROR".into(), &"/v1/bazaar/candles".into()),
            "{line}"
        );
        cloud.dynamodb().clear_faults();
        let good = get_at(&cloud, &five, now).await;
        assert!(!good.cached());
        cloud.dynamodb().set_fault(fault.on("Query"));
        // The TTL is five minutes, ten further ones follow.
        for minutes in [4, 5, 55] {
            get_at(&cloud, &five, now + minutes * 60_000).await.expect_replay_of(&good);
        }
        assert_eq!(
            get_at(&cloud, &five, now + 55 * 60_000 + 1).await.error("INTERNAL_ERROR"),
            INTERNAL_MESSAGE
        );
        cloud.dynamodb().clear_faults();
    }
    expect_clean_logs(&cloud);
}
