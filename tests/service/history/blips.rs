//! A short failure of the provider loses no tick: a recorder repeats the fetch while there is time left to
//! write.

use futures_util::future::join_all;
use serde_json::Value;
use simulator::{Fault, Garbage};

use super::market::{BAZAAR, RECORDER};
use super::{MINUTE, START, event, failure, record, start, table};
use crate::support::{await_logs, simulator, start_with, without_repeated_fetches};

/// The recorders that fetch, with the paths that they request.
const FETCHING: [(&str, &str); 3] = [
    (RECORDER, BAZAAR),
    ("record-mayor", "/v2/resources/skyblock/election"),
    ("record-fire-sales", "/v2/skyblock/firesales"),
];

#[tokio::test]
async fn a_failure_of_the_provider_that_passes_within_a_run_loses_no_tick() {
    // Every fetch, also for a client's request, retries a failed connection, a 5xx or a 404 once. So these
    // faults occur an even number of times.
    let faults = [
        (Fault::status(503).times(4), "503"),
        (Fault::close().times(4), "cannot reach the upstream"),
        (Fault::garbage(Garbage::Html).times(2), "is invalid"),
        (Fault::garbage(Garbage::Bytes).times(1), "is invalid"),
        (Fault::truncate(10).times(1), "cannot be read"),
        (Fault::rate_limit(1).times(2), "limits the rate"),
        // During a refresh, the provider sometimes loses a path for a moment.
        (Fault::status(404).times(2), "404"),
        (Fault::status(403).times(1), "403"),
        (Fault { status: Some(403), ..Fault::garbage(Garbage::Html) }.times(1), "403"),
    ];
    let runs = FETCHING.into_iter().map(async |(recorder, path)| {
        let cloud = start().await;
        // Every run finds the same election and the same sales.
        cloud.clock().stop();
        record(&cloud, recorder, START).await;
        let rows = table::dump(&cloud).await.into_keys().collect::<Vec<_>>();
        for (fault, cause) in &faults {
            table::clear(&cloud).await;
            let times = u64::from(fault.times.unwrap());
            simulator(&cloud).set_fault(path, fault.clone());
            let before = simulator(&cloud).requests(path);
            record(&cloud, recorder, START).await;
            assert_eq!(simulator(&cloud).requests(path), before + times + 1, "{recorder}: {fault:?}");
            assert_eq!(
                table::dump(&cloud).await.into_keys().collect::<Vec<_>>(),
                rows,
                "{recorder}: {fault:?}"
            );
            let is_retried = |line: &Value| line["retried"].as_str().is_some_and(|text| text.contains(cause));
            await_logs(&cloud, 1, is_retried).await;
        }
    });
    join_all(runs).await;
}

#[tokio::test]
async fn while_the_provider_refuses_a_request_no_earlier_response_is_recorded() {
    let cloud = start_with(without_repeated_fetches()).await;
    for (recorder, path) in FETCHING {
        record(&cloud, recorder, START).await;
        let before = table::dump_with_heartbeats(&cloud).await;
        simulator(&cloud).set_fault(path, Fault::status(403));
        let cause = failure(&cloud, recorder, event(START + MINUTE)).await;
        assert!(cause.contains("403") && cause.contains(path), "{cause}");
        assert_eq!(simulator(&cloud).requests(path), 2, "{recorder}");
        table::expect_same(&table::dump_with_heartbeats(&cloud).await, &before, recorder);
    }
}
