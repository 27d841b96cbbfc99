//! History: recorders write it and routes serve it, even if DynamoDB or the provider fails. The header of
//! each file states its promise.

mod bazaar;
mod blips;
mod chart;
mod clock;
pub(crate) mod corrupt_rows;
mod expiry;
mod faults;
mod fire_sales;
pub(crate) mod interrupted;
mod limit_parameter;
pub(crate) mod market;
mod mayors;
mod overlapping;
mod pages;
mod ranges;
pub(crate) mod table;
mod ticks;

use jiff::Timestamp;
use local::{Cloud, Options};
use serde_json::{Value, json};
use simulator::Fault;

use crate::support::{Response, invoke, one_instance_each, simulator, start_with};

/// 2026-04-28 15:00:00 UTC, when a slot of every range begins.
pub(crate) const START: i64 = 1_777_388_400;

pub(crate) const MINUTE: i64 = 60;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Each range with the series that it reads, the series' interval in seconds, and the number of intervals in
/// the range (`functions/README.md`, Resolution of history).
pub(crate) const RANGES: [(&str, &str, i64, i64); 5] = [
    ("1h", "bazaar#1m", MINUTE, 60),
    ("24h", "candles#5m", 5 * MINUTE, 288),
    ("7d", "candles#30m", 30 * MINUTE, 336),
    ("30d", "candles#1h", HOUR, 720),
    ("90d", "candles#3h", 3 * HOUR, 720),
];

/// The routes that serve recorded rows.
const ROUTES: [&str; 4] = [
    "/v1/bazaar/history?item_id=INK_SACK:3",
    "/v1/bazaar/candles?item_id=INK_SACK:3",
    "/v1/mayor/history",
    "/v1/fire-sales/history",
];

/// Starts the service with one instance of each function.
pub(crate) async fn start() -> Cloud {
    let cloud = start_with(one_instance_each()).await;
    // `record-candles` reads the catalogue once an hour.
    let catalogue = json!({"success": true, "lastUpdated": 1, "items": [{"material": "COAL", "name": "Coal", "id": "COAL"}]});
    simulator(&cloud)
        .set_fault("/v2/resources/skyblock/items", Fault::default().with_body(catalogue.to_string()));
    cloud
}

/// Starts the service with this many instances of each function.
pub(crate) async fn start_with_instances(concurrency: u16) -> Cloud {
    start_with(Options { concurrency: concurrency.try_into().unwrap(), ..Options::for_tests() }).await
}

/// The time in Unix seconds as RFC 3339 in UTC.
pub(crate) fn rfc3339(time: i64) -> String {
    Timestamp::from_second(time).unwrap().to_string()
}

/// The event of a backfill for this time in Unix seconds.
pub(crate) fn event(time: i64) -> String {
    json!({"time": rfc3339(time), "backfill": true}).to_string()
}

/// Sends the recorder the event for `time`, and returns `recorded` of its response. Panics if the recorder
/// fails.
pub(crate) async fn record(cloud: &Cloud, recorder: &str, time: i64) -> Value {
    recorded(&invoke(cloud, recorder, event(time)).await, time)
}

/// Records the simulated auctions at this time. On a busy machine, a run reads only some of their pages, and the
/// next run reads the others.
pub(crate) async fn record_auctions(cloud: &Cloud, time: i64) {
    let mut failures = Vec::new();
    while failures.len() < 10 {
        let response = invoke(cloud, "record-auctions", event(time)).await;
        if !response.headers.contains_key("x-amz-function-error") {
            return;
        }
        failures.push(cause(&response));
    }
    panic!("{failures:#?}");
}

/// Returns `recorded` of a recorder's response. Panics if the recorder has failed.
#[track_caller]
pub(crate) fn recorded(response: &Response, time: i64) -> Value {
    assert!(!response.headers.contains_key("x-amz-function-error"), "{}: {}", rfc3339(time), response.text);
    let mut body = response.json();
    assert_eq!(body["tick"], rfc3339(time - time.rem_euclid(MINUTE)), "{body}");
    assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
    body["recorded"].take()
}

/// The report of `record-bazaar` if there is nothing to record.
pub(crate) fn nothing() -> Value {
    json!({"products": 0, "rows": 0, "write_units": 0.0})
}

/// Sends the recorder the event, and returns its error message. Panics if it succeeds.
pub(crate) async fn failure(cloud: &Cloud, recorder: &str, event: String) -> String {
    cause(&invoke(cloud, recorder, event).await)
}

/// Returns the error message of a recorder's response. Panics if the recorder has succeeded.
#[track_caller]
fn cause(response: &Response) -> String {
    assert_eq!(response.headers.get("x-amz-function-error").unwrap(), "Unhandled", "{}", response.text);
    let failure = response.json();
    assert_eq!(failure["errorType"], "INTERNAL_ERROR", "{failure}");
    failure["errorMessage"].as_str().unwrap().to_owned()
}
