//! `GET /v1/status`: which feeds are up to date, and the heartbeats that it reads.

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

/// Each feed with the interval of its recorder in seconds, in the order of the response (`functions/README.md`, Status).
const FEEDS: [(&str, i64); 5] = [
    ("bazaar", MINUTE),
    ("candles", 5 * MINUTE),
    ("mayor", 5 * MINUTE),
    ("fire-sales", MINUTE),
    ("auctions", MINUTE),
];

/// How much older than two of its intervals the latest record of a healthy feed may be.
fn delay(feed: &str) -> i64 {
    if feed == "candles" { 230 } else { 110 }
}

/// The event of a recorder that is due at this time, in Unix seconds, when the clock shows `now`.
fn event(time: i64, now: i64) -> String {
    json!({"time": rfc3339(time), "now": rfc3339(now), "backfill": true}).to_string()
}

/// Runs the recorder of a feed on time. Panics if it fails.
async fn record(cloud: &Cloud, feed: &str, time: i64) {
    let response = invoke(cloud, &format!("record-{feed}"), event(time, time)).await;
    assert!(!response.headers.contains_key("x-amz-function-error"), "{feed}: {}", response.text);
}

/// The heartbeats by feed, without the minutes of the last hour.
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

/// The heartbeat of a feed that was recorded from the first time to the last one, with these gaps.
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

/// The response at the time in Unix seconds, which is not from the cache of an instance.
async fn respond(cloud: &Cloud, now: i64) -> Response {
    cloud.kill("status").await.unwrap();
    let response = get_at(cloud, PATH, now * 1_000).await;
    assert!(!response.cached());
    response
}

/// The status at the time in Unix seconds. Panics if it contradicts itself.
async fn get_status(cloud: &Cloud, now: i64) -> Value {
    let response = respond(cloud, now).await;
    let data = response.data();
    assert_eq!(data["checked_at"], rfc3339(now));
    let feeds = data["feeds"].as_array().unwrap();
    let names = feeds.iter().map(|feed| feed["name"].as_str().unwrap());
    assert!(names.eq(FEEDS.iter().map(|(name, _)| *name)), "{data}");
    let is_healthy = feeds.iter().all(|feed| feed["is_healthy"] == true);
    assert_eq!(data["is_healthy"], is_healthy, "{data}");
    // A monitor that only searches for a text finds the same.
    assert_eq!(!response.text.contains(r#""is_healthy":false"#), is_healthy, "{}", response.text);
    data
}

/// The entry of a feed in the status.
#[track_caller]
fn entry<'status>(status: &'status Value, feed: &str) -> &'status Value {
    status["feeds"].as_array().unwrap().iter().find(|entry| entry["name"] == feed).unwrap()
}

/// The names of the feeds that are unhealthy.
fn unhealthy(status: &Value) -> Vec<&str> {
    let feeds = status["feeds"].as_array().unwrap().iter();
    feeds.filter(|feed| feed["is_healthy"] == false).map(|feed| feed["name"].as_str().unwrap()).collect()
}

/// `last_gap` of a feed, in the status at the time in Unix seconds.
async fn last_gap(cloud: &Cloud, feed: &str, now: i64) -> Value {
    entry(&get_status(cloud, now).await, feed)["last_gap"].clone()
}

/// A gap as the response has it.
fn gap(from: i64, to: i64) -> Value {
    json!({"from": rfc3339(from), "to": rfc3339(to)})
}
