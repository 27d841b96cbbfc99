//! Reads the responses of `GET /v1/bazaar/history` and checks what holds for each of them.

use local::Cloud;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::RANGES;
use super::market::Quote;
use crate::support::{Response, get_at};

/// A point of a chart, without further fields (`functions/README.md`, Bazaar history). Prices keep their spelling.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Point {
    pub(super) sell_price: Box<RawValue>,
    pub(super) buy_price: Box<RawValue>,
    pub(super) sell_volume: i64,
    pub(super) buy_volume: i64,
    spread: f64,
    spread_percent: f64,
    pub(super) recorded_at: String,
}

impl Point {
    /// Panics unless the point has the numbers of the quote, digit for digit.
    #[track_caller]
    pub(super) fn expect(&self, quote: &Quote) {
        let shown = [
            self.sell_price.get(),
            self.buy_price.get(),
            &self.sell_volume.to_string(),
            &self.buy_volume.to_string(),
        ];
        let expected = [&quote.sell_price, &quote.buy_price, &quote.sell_volume, &quote.buy_volume];
        assert_eq!(shown, expected.map(String::as_str), "at {}", self.recorded_at);
    }
}

#[derive(Debug, Deserialize)]
struct Envelope {
    data: Chart,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chart {
    item_id: String,
    range: String,
    #[serde(rename = "dataPoints")]
    data_points: usize,
    history: Vec<Point>,
}

/// The points of the product in the range before the moment `now` in Unix seconds.
pub(super) async fn points(cloud: &Cloud, id: &str, range: &str, now: i64) -> Vec<Point> {
    let path = format!("/v1/bazaar/history?item_id={id}&range={range}");
    read(&get_at(cloud, &path, now * 1_000).await, id, range)
}

/// The points of a response for the product and the range.
#[track_caller]
pub(super) fn read(response: &Response, id: &str, range: &str) -> Vec<Point> {
    response.data();
    let Envelope { data: chart } = serde_json::from_str(&response.text).unwrap();
    assert_eq!((chart.item_id.as_str(), chart.range.as_str()), (id, range));
    assert_eq!(chart.data_points, chart.history.len());
    let (_, _, _, slots) = RANGES.iter().find(|(name, ..)| *name == range).unwrap();
    assert!(i64::try_from(chart.data_points).unwrap() <= *slots, "{} points in {range}", chart.data_points);
    for pair in chart.history.windows(2) {
        // RFC 3339 texts sort by time.
        assert!(pair[0].recorded_at < pair[1].recorded_at, "{id}: oldest first");
    }
    for point in &chart.history {
        let price = |price: &RawValue| price.get().parse::<f64>().unwrap();
        let (sell, buy) = (price(&point.sell_price), price(&point.buy_price));
        let percent = if sell == 0.0 { 0.0 } else { (buy - sell) / sell * 100.0 };
        assert_eq!(point.spread.to_bits(), (buy - sell).to_bits(), "{point:?}");
        assert_eq!(point.spread_percent.to_bits(), percent.to_bits(), "{point:?}");
    }
    chart.history
}

/// When the points were recorded.
pub(super) fn times(points: &[Point]) -> Vec<&str> {
    points.iter().map(|point| point.recorded_at.as_str()).collect()
}
