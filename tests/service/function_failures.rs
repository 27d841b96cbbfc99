//! If a function fails, the client gets the 500 envelope, the log gets one line with the cause, and the next
//! request succeeds. The function `faulty` fails on demand.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use common::error::INTERNAL_MESSAGE;
use local::{Cloud, Options};
use serde_json::{Value, json};

use crate::support::{
    Response, await_logs, expect_clean_logs, get, invoke, line_of, one_instance_each, start_with,
    with_parameters,
};

/// The message of the gateway's own error response, from `faulty`'s template.
const GATEWAY_MESSAGE: &str = "The gateway responds.";

/// The fields of the log line of a successful request.
const FIELDS: [&str; 11] = [
    "timestamp",
    "level",
    "message",
    "route",
    "status",
    "duration_ms",
    "upstream_ms",
    "bytes",
    "cached",
    "cold_start",
    "request_id",
];

/// Options for a cloud with one instance of `faulty`.
fn faulty() -> Options {
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/faulty/template.yaml");
    Options { template, ..one_instance_each() }
}

async fn get_fault(cloud: &Cloud, fault: &str) -> Response {
    get(cloud, &format!("/v1/faulty/{fault}")).await
}

/// Waits for the local cloud's own line about a failed invocation.
async fn await_platform_line(cloud: &Cloud, words: &str) {
    let start = Instant::now();
    while !cloud.logs().iter().any(|line| line.starts_with("local: faulty: ") && line.contains(words)) {
        assert!(start.elapsed() < Duration::from_mins(3), "no line with {words}: {:#?}", cloud.logs());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[track_caller]
fn expect_fields(line: &Value, more: &[&str]) {
    let expected: BTreeSet<_> = FIELDS.iter().chain(more).copied().collect();
    let fields: BTreeSet<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, expected);
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
    assert!(line["request_id"].as_str().unwrap().len() == 36, "{line}");
    for number in ["duration_ms", "upstream_ms"] {
        assert!(line[number].as_f64().unwrap() >= 0.0, "{line}");
    }
}

#[tokio::test]
async fn a_successful_request_logs_one_line_with_the_documented_fields() {
    let cloud = start_with(faulty()).await;
    let mut ids = BTreeSet::new();
    for is_cold in [true, false] {
        let response = get_fault(&cloud, "nothing").await;
        assert_eq!(response.data(), "xx");
        let line = line_of(&cloud, &response).await;
        expect_fields(&line, &[]);
        assert_eq!(line["status"], 200);
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["bytes"], response.text.len());
        assert_eq!(line["cached"], false);
        assert_eq!(line["cold_start"], is_cold);
        assert_eq!(line["upstream_ms"], 0.0);
        ids.insert(line["request_id"].to_string());
    }
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert_eq!(cloud.logs().len(), 2, "every request must log one JSON line: {:#?}", cloud.logs());
}

#[tokio::test]
async fn a_failure_is_the_500_envelope_and_one_log_line_and_the_instance_survives() {
    let cloud = start_with(faulty()).await;
    assert_eq!(get_fault(&cloud, "nothing").await.data(), "xx");
    let mut count = 1;
    for (fault, cause) in [
        ("panic", "asked to panic"),
        ("error", "asked to fail"),
        ("undeclared", "parameter 'other' is not declared"),
        ("too-large", " bytes"),
        ("panic", "asked to panic"),
    ] {
        let response = get_fault(&cloud, fault).await;
        assert_eq!(response.error("INTERNAL_ERROR"), INTERNAL_MESSAGE, "{fault}");
        count += 2;
        let line = line_of(&cloud, &response).await;
        expect_fields(&line, &["cause"]);
        assert!(line["cause"].as_str().unwrap().contains(cause), "{line}");
        assert_eq!((&line["status"], &line["level"]), (&json!(500), &json!("ERROR")), "{line}");
        assert_eq!(line["bytes"], response.text.len(), "{line}");
        assert_eq!(line["cold_start"], false, "{line}");

        let next = get_fault(&cloud, "nothing").await;
        assert_eq!(next.data(), "xx", "after {fault}");
        assert_eq!(line_of(&cloud, &next).await["cold_start"], false, "after {fault}");
    }
    assert_eq!(cloud.logs().len(), count, "every request must log one line: {:#?}", cloud.logs());
}

#[tokio::test]
async fn a_slow_handler_is_cancelled_a_second_before_lambdas_timeout() {
    let cloud = start_with(faulty()).await;
    get_fault(&cloud, "nothing").await;
    let slow = get_fault(&cloud, "slow").await;
    assert_eq!(slow.error("INTERNAL_ERROR"), INTERNAL_MESSAGE);
    let line = line_of(&cloud, &slow).await;
    expect_fields(&line, &["cause"]);
    assert!(line["cause"].as_str().unwrap().contains("deadline"), "{line}");
    let next = get_fault(&cloud, "nothing").await;
    assert_eq!(line_of(&cloud, &next).await["cold_start"], false, "the instance must be the same");
}

#[tokio::test]
async fn an_instance_that_hangs_or_exits_is_replaced_and_the_gateway_responds() {
    let cloud = start_with(faulty()).await;
    get_fault(&cloud, "nothing").await;
    for (fault, words) in [("stuck", "took longer than 3.00 s"), ("exit", "exit status: 3")] {
        let response = get_fault(&cloud, fault).await;
        assert_eq!(response.error("INTERNAL_ERROR"), GATEWAY_MESSAGE, "{fault}");
        assert_eq!(response.headers["retry-after"], "5");
        await_platform_line(&cloud, words).await;

        let next = get_fault(&cloud, "nothing").await;
        assert_eq!(next.data(), "xx", "after {fault}");
        assert_eq!(line_of(&cloud, &next).await["cold_start"], true, "after {fault}");
    }
}

#[tokio::test]
async fn a_response_just_below_lambdas_limit_arrives_whole() {
    let cloud = start_with(faulty()).await;
    let response = get_fault(&cloud, "large").await;
    let data = response.data();
    let text = data.as_str().unwrap();
    assert_eq!(text.len(), 6 * 1024 * 1024 - 4_096);
    assert!(text.bytes().all(|byte| byte == b'x'));
    assert_eq!(line_of(&cloud, &response).await["bytes"], response.text.len());
}

#[tokio::test]
async fn behind_a_gateway_cache_a_failure_is_a_failed_invocation() {
    let cloud = start_with(with_parameters(faulty(), &[("GatewayCache", "on")])).await;
    for (count, fault) in ["panic", "error", "slow", "undeclared", "too-large"].into_iter().enumerate() {
        let response = get_fault(&cloud, fault).await;
        assert_eq!(response.error("INTERNAL_ERROR"), GATEWAY_MESSAGE, "{fault}");
        let line = line_of(&cloud, &response).await;
        expect_fields(&line, &["cause"]);
        assert_eq!(line["status"], 500, "{line}");
        assert_eq!(line["cold_start"], count == 0, "{line}");
    }
    await_platform_line(&cloud, "the invocation failed").await;
    // The gateway may replay a successful response, so even a fresh response says `cached: true`.
    assert!(get_fault(&cloud, "nothing").await.cached());
}

#[tokio::test]
async fn a_function_that_cannot_start_logs_its_name() {
    let cloud = start_with(with_parameters(one_instance_each(), &[("UserAgent", "two\nlines")])).await;
    get(&cloud, "/v1/mayor").await.error("INTERNAL_ERROR");
    invoke(&cloud, "record-mayor", r#"{"time":"2026-11-21T15:04:00Z","backfill":true}"#.to_owned()).await;
    for (name, value) in [("route", "/v1/mayor"), ("function", "record-mayor")] {
        let matches = |line: &Value| line["message"] == "cannot start" && line[name] == value;
        let line = await_logs(&cloud, 1, matches).await.pop().unwrap();
        assert!(line["level"] == "ERROR" && line["cause"].is_string(), "{line}");
    }
}

#[tokio::test]
async fn an_invalid_event_fails_with_one_log_line() {
    let cloud = start_with(one_instance_each()).await;
    for payload in ["{}", "null", "[]", r#"{"httpMethod":7}"#] {
        let failed = invoke(&cloud, "mayor", payload.to_owned()).await;
        assert_eq!(failed.headers["x-amz-function-error"], "Unhandled", "{failed:?}");
        assert!(failed.text.contains("not a proxy event"), "{failed:?}");
        let line = line_of(&cloud, &failed).await;
        assert_eq!(
            (&line["message"], &line["route"]),
            (&json!("the event is not a proxy event"), &json!("/v1/mayor"))
        );
        assert!(line["cause"].is_string(), "{line}");
    }
    expect_clean_logs(&cloud);
}
