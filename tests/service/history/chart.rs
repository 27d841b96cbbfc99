//! Reads responses of `GET /v1/bazaar/history`, and checks the properties of every chart.

use local::Cloud;
use serde_json::json;

use super::RANGES;
use super::market;
use crate::oracle::Quote;
use crate::support::{Response, get_at};

#[derive(Debug)]
pub(super) struct Point {
    pub(super) recorded_at: String,
    quote: Quote,
}

impl Point {
    /// Panics unless the point has the numbers of the quote.
    #[track_caller]
    pub(super) fn expect(&self, quote: &market::Quote) {
        assert_eq!(Some(self.quote), quote.recorded(), "at {}", self.recorded_at);
    }
}

/// Requests the points of the product in the range before the time `now` in Unix seconds.
pub(super) async fn points(cloud: &Cloud, id: &str, range: &str, now: i64) -> Vec<Point> {
    let path = format!("/v1/bazaar/history?item_id={id}&range={range}");
    read(&get_at(cloud, &path, now * 1_000).await, id, range)
}

#[track_caller]
pub(super) fn read(response: &Response, id: &str, range: &str) -> Vec<Point> {
    let data = response.data();
    let history = data["history"].as_array().unwrap();
    let expected = json!({"item_id": id, "range": range, "dataPoints": history.len(), "history": history});
    assert_eq!(data, expected);
    let (_, _, _, slots) = RANGES.iter().find(|(name, ..)| *name == range).unwrap();
    assert!(i64::try_from(history.len()).unwrap() <= *slots, "{} points in {range}", history.len());
    let point = |point: &serde_json::Value| Point {
        recorded_at: point["recorded_at"].as_str().unwrap().to_owned(),
        quote: Quote::of_point(point).unwrap(),
    };
    let points: Vec<_> = history.iter().map(point).collect();
    // RFC 3339 texts sort by time.
    assert!(times(&points).is_sorted_by(|earlier, later| earlier < later), "{id}: must be oldest first");
    points
}

/// The times at which the points were recorded.
pub(super) fn times(points: &[Point]) -> Vec<&str> {
    points.iter().map(|point| point.recorded_at.as_str()).collect()
}
