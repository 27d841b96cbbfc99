//! Candles follow from the recorded minutes, even if `record-candles` runs repeatedly or late, or is
//! interrupted. `GET /v1/bazaar/candles` and `GET /v1/bazaar/candles/all` serve them.

mod all;
mod corrupt_rows;
mod interrupted;
mod kept;
mod minutes;
mod outages;
mod pages;
mod random_ticks;
mod repeated;
mod responses;
mod traded;

use jiff::Timestamp;
use local::Cloud;
use serde::Deserialize;

use crate::history::table::{self, Dump, Row, with};
use crate::history::{DAY, HOUR, MINUTE, START, event, rfc3339};
use crate::oracle::Candle;
use crate::support::{Response, get_at, invoke};

/// The function that builds candles.
const BUILDER: &str = "record-candles";

/// The function that serves candles.
const READER: &str = "bazaar-candles";

/// Candles are built this many seconds after their interval ends.
const SETTLE: i64 = 2 * MINUTE;

/// An interval of candles: its length and how long its candles are kept, in seconds (`functions/README.md`,
/// Bazaar candles).
struct Interval {
    name: &'static str,
    length: i64,
    kept: Option<i64>,
}

const INTERVALS: [Interval; 5] = [
    Interval { name: "5m", length: 5 * MINUTE, kept: Some(30 * DAY) },
    Interval { name: "30m", length: 30 * MINUTE, kept: Some(90 * DAY) },
    Interval { name: "1h", length: HOUR, kept: Some(365 * DAY) },
    Interval { name: "3h", length: 3 * HOUR, kept: Some(3 * 365 * DAY) },
    Interval { name: "1d", length: DAY, kept: None },
];

impl Interval {
    fn slot(&self, time: i64) -> i64 {
        time - time.rem_euclid(self.length)
    }
}

#[track_caller]
fn interval(name: &str) -> &'static Interval {
    INTERVALS.iter().find(|interval| interval.name == name).unwrap()
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    item_id: String,
    interval: String,
    count: usize,
    candles: Vec<Candle>,
    next_before: Option<String>,
}

impl Page {
    /// The starts of the candles in Unix seconds.
    fn times(&self) -> Vec<i64> {
        self.candles.iter().map(|candle| candle.slot().unwrap()).collect()
    }

    /// `next_before` in Unix seconds.
    fn next(&self) -> Option<i64> {
        self.next_before.as_deref().map(seconds)
    }
}

/// The time in Unix seconds. Panics unless the text is a time in whole seconds and UTC.
#[track_caller]
fn seconds(text: &str) -> i64 {
    let time: Timestamp = text.parse().unwrap();
    assert_eq!(time.to_string(), text);
    time.as_second()
}

/// Requests a page at the time `now` in Unix seconds, with further parameters such as `&limit=5`.
async fn get_page(cloud: &Cloud, id: &str, interval: &'static Interval, further: &str, now: i64) -> Page {
    let path = format!("/v1/bazaar/candles?item_id={id}&interval={}{further}", interval.name);
    read(&get_at(cloud, &path, now * 1_000).await, id, interval)
}

/// Reads the page of a response. Panics unless it is consistent.
#[track_caller]
fn read(response: &Response, id: &str, interval: &'static Interval) -> Page {
    let page: Page = serde_json::from_value(response.data()).unwrap();
    assert_eq!((page.item_id.as_str(), page.interval.as_str()), (id, interval.name));
    assert_eq!(page.count, page.candles.len());
    let times = page.times();
    assert!(
        times.iter().all(|time| interval.slot(*time) == *time),
        "{times:?} must be starts of {}",
        interval.name
    );
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "the oldest must come first: {times:?}");
    if let (Some(next), Some(first)) = (page.next(), times.first()) {
        assert!(next <= *first, "the next page must be older: {page:?}");
    }
    page
}

/// A built candle's interval: its name, and its start in Unix seconds.
pub(crate) type Slot = (String, i64);

/// Sends `record-candles` the event for this time in Unix seconds, and returns the slots that it reports.
/// Panics if it fails.
pub(crate) async fn build(cloud: &Cloud, now: i64) -> Vec<Slot> {
    built(&invoke(cloud, BUILDER, event(now)).await)
}

/// The key of the row with the time up to which candles are built.
const PROGRESS: [&str; 2] = ["candles", "built"];

/// Sends `record-candles` the event for this time in Unix seconds until nothing is left to build.
pub(crate) async fn build_all(cloud: &Cloud, now: i64) {
    for _ in 0..1_000 {
        build(cloud, now).await;
        if until(cloud).await == Some(now - SETTLE - (now - SETTLE).rem_euclid(5 * MINUTE)) {
            return;
        }
    }
    panic!("after 1,000 runs, candles are still left to build");
}

/// The time up to which candles are built, in Unix seconds. `None` if late minutes require building candles
/// again.
async fn until(cloud: &Cloud) -> Option<i64> {
    let dump = table::dump(cloud).await;
    let progress = dump.get(&PROGRESS.map(str::to_owned).into())?;
    let is_done = !progress.contains_key("added") && !progress.contains_key("again");
    is_done.then(|| progress["until"]["N"].as_str().unwrap().parse().unwrap())
}

/// The slots in a response of `record-candles`. Panics if the recorder has failed.
#[track_caller]
fn built(response: &Response) -> Vec<Slot> {
    assert!(!response.headers.contains_key("x-amz-function-error"), "{}", response.text);
    let body = response.json();
    assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
    let slots = body["recorded"]["slots"].as_array().unwrap();
    let slot = |slot: &serde_json::Value| {
        let text = |field: &str| slot[field].as_str().unwrap();
        (text("interval").to_owned(), seconds(text("slot")))
    };
    slots.iter().map(slot).collect()
}

/// All rows and markers of candles.
async fn candles(cloud: &Cloud) -> Dump {
    let mut dump = table::dump(cloud).await;
    dump.retain(|(partition, _), _| partition.starts_with("candles#"));
    dump
}

/// Deletes all rows and markers of candles, and their progress.
async fn clear(cloud: &Cloud) {
    let keys: Vec<_> = candles(cloud).await.into_keys().chain([PROGRESS.map(str::to_owned).into()]).collect();
    table::delete_all(cloud, &keys).await;
}

/// The only row of candles of the interval in the dump.
#[track_caller]
fn only_row<'dump>(dump: &'dump Dump, interval: &Interval) -> &'dump Row {
    let front = format!("candles#{}#", interval.name);
    let mut rows = dump.iter().filter(|((partition, _), _)| partition.starts_with(&front));
    let (_, row) = rows.next().unwrap();
    assert!(rows.next().is_none(), "a product must be in one row");
    row
}

fn copies(row: &Row, slots: impl IntoIterator<Item = i64>) -> impl Iterator<Item = Row> {
    slots.into_iter().map(|slot| with(row, "sk", serde_json::json!({"S": format!("{slot:010}")})))
}

/// The parameter `&before=` with this time in Unix seconds.
fn before(time: i64) -> String {
    format!("&before={}", rfc3339(time))
}

/// The midnight after [`START`], when a slot of every interval ends.
pub(crate) const MIDNIGHT: i64 = START + 9 * HOUR;
