//! An instance that handles many requests at a time responds as one that handles them one by one: requests for the same data
//! share one fetch, others do not wait for it, and each has its own log line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use common::error::INTERNAL_MESSAGE;
use futures_util::future::join_all;
use local::{Cloud, Options};
use simulator::Fault;

use crate::support::{
    Response, await_logs, cache_authorization, examples, expect_clean_logs, get, log_lines,
    one_instance_each, serve_small_bodies, simulator, start_with,
};

/// As many as Lambda passes to an instance at a time, at most.
const REQUESTS: u8 = 64;

/// The same number, as the number of lines and responses.
const ALL: usize = REQUESTS as usize;

const BAZAAR: &str = "/v2/skyblock/bazaar";
const AUCTIONS: &str = "/v2/skyblock/auctions";

/// Options for a cloud with one instance of each function, which handles 64 requests at a time.
fn many() -> Options {
    Options { requests_per_instance: REQUESTS, ..one_instance_each() }
}

/// The responses to 64 requests at the same time. `path` returns the path of each.
async fn get_at_once(cloud: &Cloud, path: impl Fn(u8) -> String) -> Vec<Response> {
    let paths: Vec<_> = (0..REQUESTS).map(path).collect();
    join_all(paths.iter().map(|path| get(cloud, path))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_the_same_data_share_one_fetch_that_is_fresh_for_one_of_them() {
    let cloud = start_with(many()).await;
    cache_authorization(&cloud).await;
    serve_small_bodies(&cloud);
    for example in examples() {
        let responses = get_at_once(&cloud, |_| example.path.to_owned()).await;
        let fresh: Vec<_> = responses.iter().filter(|response| !response.cached()).collect();
        let [fresh] = fresh.as_slice() else {
            panic!("{}: {} of the responses were fetched for their request", example.path, fresh.len())
        };
        for response in responses.iter().filter(|response| response.cached()) {
            response.expect_replay_of(fresh);
        }
        for path in example.upstream {
            assert_eq!(simulator(&cloud).requests(path), 1, "requests for {path}");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_modes_of_the_bazaar_share_one_fetch() {
    let cloud = start_with(many()).await;
    cache_authorization(&cloud).await;
    simulator(&cloud).set_fault(BAZAAR, Fault::delay(Duration::from_millis(300)));
    let modes = ["full", "list", "flips", "item&id=WHEAT", "items&ids=WHEAT", "book&id=WHEAT"];
    let path = |number: u8| format!("/v1/bazaar?mode={}", modes[usize::from(number) % modes.len()]);
    let responses = get_at_once(&cloud, path).await;
    assert_eq!(responses.iter().filter(|response| !response.cached()).count(), 1);
    assert_eq!(simulator(&cloud).requests(BAZAAR), 1);
    expect_clean_logs(&cloud);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_different_data_do_not_wait_for_each_other() {
    let cloud = start_with(many()).await;
    cache_authorization(&cloud).await;
    // Full pages would take a busy machine longer than the wait.
    simulator(&cloud).set_fault(AUCTIONS, Fault { delay_ms: 1_000, ..Fault::status(404) });
    // Page 0 always exists.
    let responses = get_at_once(&cloud, |number| format!("/v1/auctions?page={}", number + 1)).await;
    assert!(responses.iter().all(|response| response.status == 404), "{responses:?}");
    assert_eq!(simulator(&cloud).requests(AUCTIONS), u64::from(REQUESTS));
    let processes: BTreeSet<_> =
        log_lines(&cloud).iter().map(|line| line["cold_start"].to_string()).collect();
    assert!(processes.contains("true"));
    expect_clean_logs(&cloud);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_the_same_data_share_a_failure() {
    let cloud = start_with(many()).await;
    cache_authorization(&cloud).await;
    let slow_failure = Fault { delay_ms: 300, ..Fault::rate_limit(60) };
    simulator(&cloud).set_fault(BAZAAR, slow_failure);
    for response in get_at_once(&cloud, |_| "/v1/bazaar?mode=list".to_owned()).await {
        assert_eq!(response.error("INTERNAL_ERROR"), INTERNAL_MESSAGE);
    }
    assert_eq!(simulator(&cloud).requests(BAZAAR), 1);
    let lines = await_logs(&cloud, ALL, |line| line["route"] == "/v1/bazaar").await;
    assert!(lines.iter().all(|line| line["cause"].as_str().unwrap().contains("limits the rate")));
    assert_eq!(lines.iter().filter(|line| line["cold_start"] == true).count(), 1, "one process, one start");
    expect_clean_logs(&cloud);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_has_one_log_line_and_a_panic_is_in_that_of_its_own() {
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/faulty/template.yaml");
    let cloud = start_with(Options { template, ..many() }).await;
    let path = |number: u8| match number % 4 {
        0 => format!("/v1/faulty/panic-{number}"),
        1 => format!("/v1/faulty/late-panic-{number}"),
        2 => "/v1/faulty/error".to_owned(),
        _ => "/v1/faulty/nothing".to_owned(),
    };
    let responses = get_at_once(&cloud, path).await;
    let failed = responses.iter().filter(|response| response.status == 500).count();
    assert_eq!(failed, ALL / 4 * 3);
    let lines = await_logs(&cloud, ALL, |line| line["request_id"].is_string()).await;
    let requests: BTreeSet<_> = lines.iter().map(|line| line["request_id"].as_str().unwrap()).collect();
    assert_eq!(requests.len(), ALL, "one line for each");
    let mut causes = BTreeMap::<_, usize>::new();
    for line in lines.iter().filter(|line| line["status"] == 500) {
        let cause = line["cause"].as_str().unwrap();
        *causes.entry(cause.lines().last().unwrap().to_owned()).or_default() += 1;
    }
    for number in 0..REQUESTS {
        let expected = match number % 4 {
            0 => format!("asked to panic: panic-{number}"),
            1 => format!("asked to panic: late-panic-{number}"),
            _ => continue,
        };
        assert_eq!(causes.get(&expected), Some(&1), "{expected} in {causes:#?}");
    }
    assert_eq!(cloud.logs().len(), ALL, "{:#?}", cloud.logs());
}
