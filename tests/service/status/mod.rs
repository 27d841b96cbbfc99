//! `GET /v1/status` shows which feeds are up to date, from heartbeats that the recorders write. The header of
//! each file states its promise.

mod heartbeats;
mod response;
mod standstill;

use std::collections::BTreeMap;

use local::Cloud;
use serde_json::{Value, json};

use crate::history::table::{self, HEARTBEATS, Row};
use crate::history::{DAY, HOUR, MINUTE, START, rfc3339, start, start_with_instances};
use crate::support::{Response, get_at, invoke};

const PATH: &str = "/v1/status";

/// The feeds in the order of the response, with the intervals of their recorders in seconds
/// (`functions/README.md`, Status).
const FEEDS: [(&str, i64); 5] = [
    ("bazaar", MINUTE),
    ("candles", 5 * MINUTE),
    ("mayor", 5 * MINUTE),
    ("fire-sales", MINUTE),
    ("auctions", MINUTE),
];

/// The seconds by which a healthy feed's latest record may be older than two intervals.
fn delay(feed: &str) -> i64 {
    if feed == "candles" { 230 } else { 110 }
}

/// The event of a recorder that is due at this time and arrives at `now`, both in Unix seconds.
fn event(time: i64, now: i64) -> String {
    json!({"time": rfc3339(time), "now": rfc3339(now), "backfill": true}).to_string()
}

/// Runs the recorder of a feed on time. Panics if it fails.
async fn record(cloud: &Cloud, feed: &str, time: i64) -> Response {
    let response = invoke(cloud, &format!("record-{feed}"), event(time, time)).await;
    assert!(!response.headers.contains_key("x-amz-function-error"), "{feed}: {}", response.text);
    response
}

/// The heartbeats by feed, without the recorded minutes of the last hour.
async fn heartbeats(cloud: &Cloud) -> BTreeMap<String, Row> {
    let request = json!({
        "TableName": table::NAME, "KeyConditionExpression": "pk = :partition", "ConsistentRead": true,
        "ExpressionAttributeValues": {":partition": {"S": HEARTBEATS}},
    });
    let mut response = table::call(cloud, "Query", &request).await;
    let mut rows: Vec<Row> = serde_json::from_value(response["Items"].take()).unwrap();
    for row in &mut rows {
        row.remove("recorded_minutes");
    }
    rows.into_iter().map(|row| (table::key(&row).1, row)).collect()
}

/// The heartbeat of a feed that was recorded from the first to the last time, with these gaps.
fn heartbeat(feed: &str, first: i64, last: i64, gaps: &[(i64, i64)]) -> Row {
    let number = |number: i64| json!({"N": number.to_string()});
    let gap = |(from, to): &(i64, i64)| json!({"M": {"from": number(*from), "to": number(*to)}});
    let row = json!({
        "pk": {"S": HEARTBEATS}, "sk": {"S": feed}, "first_recorded_at": number(first),
        "last_recorded_at": number(last), "gaps": {"L": gaps.iter().map(gap).collect::<Vec<_>>()},
    });
    row.as_object().unwrap().clone()
}

async fn put(cloud: &Cloud, row: &Row) {
    table::put(cloud, [row.clone()]).await;
}

async fn delete_heartbeats(cloud: &Cloud) {
    for feed in heartbeats(cloud).await.into_keys() {
        table::delete(cloud, HEARTBEATS, &feed).await;
    }
}

/// Requests the status at this time in Unix seconds from a new instance, which has cached nothing.
async fn respond(cloud: &Cloud, now: i64) -> Response {
    cloud.kill("status").await.unwrap();
    let response = get_at(cloud, PATH, now * 1_000).await;
    assert!(!response.cached());
    response
}

/// Requests the status at this time in Unix seconds. Panics if the status contradicts itself.
async fn get_status(cloud: &Cloud, now: i64) -> Value {
    read_status(&respond(cloud, now).await, now)
}

/// Reads the status, which was requested at this time in Unix seconds. Panics if the status contradicts
/// itself.
#[track_caller]
fn read_status(response: &Response, now: i64) -> Value {
    let data = response.data();
    assert_eq!(data["checked_at"], rfc3339(now));
    let feeds = data["feeds"].as_array().unwrap();
    let names = feeds.iter().map(|feed| feed["name"].as_str().unwrap());
    assert!(names.eq(FEEDS.iter().map(|(name, _)| *name)), "{data}");
    let is_healthy = feeds.iter().all(|feed| feed["is_healthy"] == true);
    assert_eq!(data["is_healthy"], is_healthy, "{data}");
    // A monitor can search for the text instead of parsing the body.
    assert_eq!(!response.text.contains(r#""is_healthy":false"#), is_healthy, "{}", response.text);
    data
}

#[track_caller]
fn entry<'status>(status: &'status Value, feed: &str) -> &'status Value {
    status["feeds"].as_array().unwrap().iter().find(|entry| entry["name"] == feed).unwrap()
}

fn unhealthy(status: &Value) -> Vec<&str> {
    let feeds = status["feeds"].as_array().unwrap().iter();
    feeds.filter(|feed| feed["is_healthy"] == false).map(|feed| feed["name"].as_str().unwrap()).collect()
}

/// Requests the status at this time in Unix seconds, and returns the feed's `last_gap`.
async fn last_gap(cloud: &Cloud, feed: &str, now: i64) -> Value {
    entry(&get_status(cloud, now).await, feed)["last_gap"].clone()
}

/// A gap in the format of the response.
fn gap(from: i64, to: i64) -> Value {
    json!({"from": rfc3339(from), "to": rfc3339(to)})
}
