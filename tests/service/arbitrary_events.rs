//! For any event, a function responds or fails cleanly, its process survives, and it responds to the next
//! good event as before. The events are arbitrary JSON, or sample events with arbitrary changes.
//!
//! `PROPTEST_CASES=1000 cargo test -p tests arbitrary_events` sends many more events.

use common::routes::{ASSETS, AUCTIONS_LISTINGS, AUCTIONS_PRICES, DOCS, INDEX, NAMES, USAGE, VERSION_1};
use local::{Cloud, InvocationError};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::auction_prices::house;
use crate::support::{
    AUTHORIZER, RECORDERS, expect_clean_logs, in_repository, log_lines, one_instance_each, record_prices,
    start_with,
};

/// The number of arbitrary events before each good event.
const EVENTS: usize = 6;

/// The number of good events per function, unless `PROPTEST_CASES` is set.
const CASES: u32 = 8;

/// The routes that respond with a 500 to some changed events: their rows are of the time of the sample event,
/// or of the account in it.
const CAN_FAIL: [&str; 4] =
    [AUCTIONS_LISTINGS.function, AUCTIONS_PRICES.function, NAMES.function, USAGE.function];

/// One second after the time of the sample events. The provider refreshes nothing in this second.
const NOW_MS: i64 = 1_794_830_401_000;

fn sample(function: &str) -> Value {
    let text = std::fs::read_to_string(in_repository("events").join(format!("{function}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the function's response, or `None` if it fails cleanly. Panics if the process ends or Lambda
/// itself reports the failure.
fn invoke(runtime: &Runtime, cloud: &Cloud, function: &str, event: &str) -> Option<Value> {
    cloud.clock().set(NOW_MS);
    match runtime.block_on(cloud.invoke(function, event.to_owned())) {
        Ok(payload) => Some(serde_json::from_slice(&payload).unwrap()),
        Err(InvocationError::Failed { payload, reason, .. }) => {
            let failure: Value = serde_json::from_slice(&payload).unwrap();
            assert!(failure["errorMessage"].is_string(), "{failure}");
            // Any other error type is Lambda's own, for example for a process that ended or a response that
            // is too large.
            let error_type = failure["errorType"].as_str().unwrap();
            let is_clean = error_type == "INTERNAL_ERROR" || error_type.contains("DeserializeError");
            assert!(is_clean, "{reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

struct Events {
    function: &'static str,
    /// The function responds to this event.
    good: Value,
    /// The event from which arbitrary events are made.
    changed: Value,
}

/// Sends arbitrary events to the function, and the good event after every [`EVENTS`] arbitrary events.
/// `check` checks the response to an arbitrary event. `essence` extracts the part that all responses to the
/// good event share.
fn expect_survival(
    (runtime, cloud): (&Runtime, &Cloud),
    Events { function, good, changed }: &Events,
    check: impl Fn(&Value),
    essence: impl Fn(&Value) -> Value,
) {
    let expected = essence(&invoke(runtime, cloud, function, &good.to_string()).unwrap());
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    let events = prop::collection::vec(fuzz::json::event(changed), EVENTS);
    let result = TestRunner::new(config).run(&events, |events| {
        for event in events {
            if let Some(response) = invoke(runtime, cloud, function, &event) {
                check(&response);
            }
        }
        let response = invoke(runtime, cloud, function, &good.to_string());
        prop_assert_eq!(response.as_ref().map(&essence), Some(expected.clone()));
        Ok(())
    });
    if let Err(TestError::Fail(reason, events)) = result {
        let shown: Vec<_> =
            events.iter().map(|event| event.chars().take(2_000).collect::<String>()).collect();
        panic!("{function}: {reason}\n{shown:#?}");
    }
    result.unwrap();
}

/// Panics if a process has been replaced or has panicked.
fn expect_the_same_processes(cloud: &Cloud, functions: usize) {
    let starts = log_lines(cloud).iter().filter(|line| line["cold_start"] == true).count();
    assert!(starts <= functions, "{starts} starts of {functions} functions");
    for line in cloud.logs() {
        assert!(!line.contains("process ended"), "{line}");
    }
    expect_clean_logs(cloud);
}

/// Panics unless the payload is a proxy response with one of the two envelopes.
fn expect_envelope(response: &Value) {
    let status = response["statusCode"].as_u64().unwrap();
    assert!([200, 400, 404].contains(&status), "{response}");
    let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["success"], status == 200, "{body}");
    if status == 200 {
        assert!(body["data"].is_object() && body["meta"]["cached"].is_boolean(), "{body}");
    } else {
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.len() <= 600 && !message.chars().any(char::is_control), "{message}");
        assert_eq!(body["error"]["code"], if status == 400 { "BAD_REQUEST" } else { "NOT_FOUND" });
    }
}

#[test]
fn a_function_behind_a_route_responds_or_fails_cleanly() {
    let runtime = Runtime::new().unwrap();
    let cloud = runtime.block_on(start_with(one_instance_each()));
    runtime.block_on(record_prices(&cloud, NOW_MS));
    let functions = VERSION_1.into_iter().chain([&INDEX]).map(|route| route.function);
    for function in functions.clone() {
        let essence = |response: &Value| {
            let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
            body["data"].clone()
        };
        let good = sample(function);
        let mut changed = good.clone();
        // These functions read no headers.
        changed.as_object_mut().unwrap().retain(|name, _| !name.to_ascii_lowercase().contains("headers"));
        let check = |response: &Value| {
            if !CAN_FAIL.contains(&function) || response["statusCode"] != 500 {
                expect_envelope(response);
            }
        };
        expect_survival((&runtime, &cloud), &Events { function, good, changed }, check, essence);
    }
    expect_the_same_processes(&cloud, functions.count());
}

#[test]
fn the_pages_are_served_or_fail_cleanly() {
    let runtime = Runtime::new().unwrap();
    let cloud = runtime.block_on(start_with(one_instance_each()));
    let good = sample(DOCS.function);
    // A request for a page's file under the hash of another version.
    let mut changed = good.clone();
    changed["resource"] = json!(ASSETS.path);
    changed["path"] = json!("/assets/0123456789abcdef/market.js");
    changed["pathParameters"] = json!({"hash": "0123456789abcdef", "file": "market.js"});
    changed.as_object_mut().unwrap().retain(|name, _| !name.to_ascii_lowercase().contains("headers"));
    let check = |response: &Value| match response["statusCode"].as_u64() {
        Some(200) => assert!(response["headers"]["Content-Security-Policy"].is_string(), "{response}"),
        Some(308) => {
            let location = response["headers"]["Location"].as_str().unwrap();
            assert!(location.starts_with("../docs") || location.starts_with("../market"), "{location}");
        }
        _ => expect_envelope(response),
    };
    let essence = |response: &Value| response["body"].clone();
    expect_survival((&runtime, &cloud), &Events { function: DOCS.function, good, changed }, check, essence);
    expect_the_same_processes(&cloud, 1);
}

#[test]
fn the_authorizer_decides_or_fails_cleanly_and_lets_nobody_in() {
    let runtime = Runtime::new().unwrap();
    let cloud = runtime.block_on(start_with(one_instance_each()));
    // The key in the sample event is not issued.
    let changed = sample(AUTHORIZER);
    let mut good = changed.clone();
    let key = cloud.keys().unwrap().pro.expose();
    good["headers"]["x-api-key"] = json!(key);
    good["multiValueHeaders"]["x-api-key"] = json!([key]);
    let effect = |policy: &Value| policy["policyDocument"]["Statement"][0]["Effect"].clone();
    let check = |policy: &Value| assert_eq!(effect(policy), "Deny", "{policy}");
    let events = Events { function: AUTHORIZER, good, changed };
    expect_survival((&runtime, &cloud), &events, check, |policy| {
        assert_eq!(effect(policy), "Allow", "{policy}");
        policy.clone()
    });
    expect_the_same_processes(&cloud, 1);
}

#[test]
fn a_recorder_records_or_fails_cleanly() {
    let runtime = Runtime::new().unwrap();
    let cloud = runtime.block_on(start_with(one_instance_each()));
    // With the pages of the whole game, a run would take a quarter of a minute.
    house::serve(&cloud, NOW_MS, &[house::listing(1, "A", 1, NOW_MS)], &json!([]));
    for function in RECORDERS {
        let mut good = sample(function);
        // The event's minute is long past, which only a backfill may record.
        good["backfill"] = json!(true);
        let events = Events { function, changed: good.clone(), good };
        let check = |response: &Value| assert!(response["tick"].is_string(), "{response}");
        expect_survival((&runtime, &cloud), &events, check, |response| response["tick"].clone());
    }
    expect_the_same_processes(&cloud, RECORDERS.len());
}
