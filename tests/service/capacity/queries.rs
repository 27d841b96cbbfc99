//! Charts and pages without gaps stay within their bounds of read units and queries. Copies of a recorded
//! slot fill the table.

use local::Cloud;
use serde_json::json;

use super::recording::{PRODUCTS, Recording, Slot, ids};
use super::row_size::{bytes_of, float, read_units};
use crate::candles::MIDNIGHT;
use crate::history::table::{self, Row, with};
use crate::history::{MINUTE, RANGES, rfc3339, start};
use crate::support::{expect_clean_logs, get_at};

/// The intervals of candles, shortest first.
const INTERVALS: [&str; 5] = ["5m", "30m", "1h", "3h", "1d"];

/// The default number of candles of a page.
const CANDLES: usize = 288;
/// The largest number of candles of a page.
const MOST_CANDLES: usize = 1_000;

/// The time after midnight, in seconds, at which a page of the newest candles reads the most. The candle of
/// the day before may not be built yet.
const BUSIEST: i64 = 9 * MINUTE + 30;

/// The most minutes that a page of the newest candles reads.
const UNBUILT_MINUTES: usize = 15;
/// The most finer candles of each interval that a page of the newest candles reads, such as the hours of a
/// day.
const UNBUILT_CANDLES: usize = 24;

/// The most queries of a page of the newest candles, by interval: for its own candles, finer candles,
/// minutes, and the progress of building.
const NEWEST_QUERIES: [u64; 5] = [3, 4, 4, 5, 5];

/// The most queries of a chart, by range. In the shards with the most products, 720 candles take a second
/// page of DynamoDB.
const CHART_QUERIES: [u64; 5] = [1, 3, 4, 5, 6];

/// The most read units of a chart beyond its own candles.
const BESIDES: f64 = 5.0;

/// The limits of a query's read units: averaged over all products, and for the worst product.
#[derive(Debug, Clone, Copy)]
struct Bound {
    average: f64,
    worst: f64,
}

const CHART: Bound = Bound { average: 76.0, worst: 141.0 };
/// The bound of a page of 288 candles.
const PAGE: Bound = Bound { average: 34.0, worst: 62.0 };
/// The bound of a page of the newest daily candles. Such a page reads the most finer candles.
const NEWEST_DAYS: Bound = Bound { average: 38.0, worst: 66.0 };

/// The most read units of the candles of all products of a slot. Each of 510 rows, the marker and the
/// progress takes half a unit or, above 4 kB, one.
const ALL: f64 = 257.0;
/// The number of batches that read the candles of all products of a slot.
const ALL_BATCHES: u64 = 6;

/// The most bytes of a response with the candles of all products, as JSON and as CSV.
const ALL_BYTES: [(&str, usize); 2] = [("json", 970_000), ("csv", 400_000)];
/// The number of products for which [`ALL_BYTES`] holds.
const MOST_PRODUCTS: usize = 2_124;

/// The capacity that DynamoDB bills for a request.
struct Billed {
    read_units: f64,
    queries: u64,
}

/// Requests the path at this time in Unix seconds. Panics unless the response has this many points or
/// candles.
async fn request(cloud: &Cloud, path: &str, now: i64, points: usize) -> Billed {
    let taken = || (cloud.dynamodb().consumed().read_units, cloud.dynamodb().requests("Query"));
    let (units, queries) = taken();
    let data = get_at(cloud, path, now * 1_000).await.data();
    let count = if data["count"].is_null() { &data["dataPoints"] } else { &data["count"] };
    assert_eq!(*count, points, "{path}");
    let after = taken();
    Billed { read_units: after.0 - units, queries: after.1 - queries }
}

/// Puts copies of the row into this many slots before `end`.
async fn fill(cloud: &Cloud, row: &Row, interval: i64, end: i64, count: usize) {
    let slots = (1..).take(count).map(|back| end - back * interval);
    table::put(cloud, slots.map(|slot| with(row, "sk", json!({"S": format!("{slot:010}")})))).await;
}

/// The average read units of a product's query, and the rows of the most expensive product and of a usual
/// product.
struct Reading<'recording> {
    average: f64,
    worst: &'recording Row,
    usual: &'recording Row,
}

fn units(row: &Row, slots: usize) -> f64 {
    read_units(slots * bytes_of(row)) / 2.0
}

impl<'recording> Reading<'recording> {
    fn of(slot: &'recording Slot, slots: usize) -> Self {
        let products: usize = slot.rows.iter().map(|row| ids(row).len()).sum();
        let sum: f64 = slot.rows.iter().map(|row| float(ids(row).len()) * units(row, slots)).sum();
        let average = sum / float(products);
        let distance = |row: &Row| (units(row, slots) - average).abs();
        Self {
            average,
            worst: slot.rows.iter().max_by_key(|row| bytes_of(row)).unwrap(),
            usual: slot.rows.iter().min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap(),
        }
    }
}

/// The read units of the chart of this range, averaged over all products.
pub(super) fn average_of_chart(recording: &Recording, range: &str) -> f64 {
    let (_, series, _, slots) = RANGES.into_iter().find(|(name, ..)| *name == range).unwrap();
    Reading::of(&recording[series], usize::try_from(slots).unwrap()).average
}

/// Panics unless charts and pages take at most the read units and queries of their bounds.
pub(super) async fn expect_within_bounds(recording: &Recording, uneven: f64) {
    let cloud = start().await;
    let expect = |what: &str, average: f64, worst: f64, bound: Bound| {
        let costs = format!("{what}: {average:.1} read units on average and {worst} at most");
        assert!(average <= bound.average && worst <= bound.worst * uneven, "{costs}");
    };
    put_progress(&cloud).await;
    for ((range, series, interval, slots), queries) in RANGES.into_iter().zip(CHART_QUERIES) {
        let slots = usize::try_from(slots).unwrap();
        let Reading { average, worst, .. } = Reading::of(&recording[series], slots);
        fill(&cloud, worst, interval, MIDNIGHT + interval, slots).await;
        let path = format!("/v1/bazaar/history?item_id={}&range={range}", ids(worst)[0]);
        let billed = request(&cloud, &path, MIDNIGHT, slots).await;
        // Apart from the other queries of the chart, DynamoDB bills the computed units, so the computed sizes
        // are right.
        let besides = billed.read_units - units(worst, slots);
        assert!((0.0..=BESIDES).contains(&besides), "{range}: {besides} of {}", billed.read_units);
        assert!(billed.queries <= queries, "{range}: {} queries", billed.queries);
        expect(range, average + besides, billed.read_units, CHART);
    }
    for (name, most) in INTERVALS.into_iter().zip(NEWEST_QUERIES) {
        let slot = &recording[&format!("candles#{name}")];
        let Reading { average, worst, usual } = Reading::of(slot, CANDLES + 1);
        let mut newest = Vec::new();
        for row in [usual, worst] {
            let id = ids(row)[0];
            fill_unbuilt(&cloud, recording, id).await;
            fill(&cloud, row, slot.interval, MIDNIGHT, CANDLES + 2).await;
            let path = format!("/v1/bazaar/candles?item_id={id}&interval={name}");
            let billed = request(&cloud, &path, MIDNIGHT + BUSIEST, CANDLES).await;
            assert!(billed.queries <= most, "{name}: {} queries", billed.queries);
            newest.push(billed.read_units);
            let path = format!("{path}&before={}", rfc3339(MIDNIGHT - slot.interval));
            let billed = request(&cloud, &path, MIDNIGHT + BUSIEST, CANDLES).await;
            // Reading the progress takes half a unit.
            let besides = billed.read_units - units(row, CANDLES + 1);
            assert!((0.0..=0.5).contains(&besides), "{name}: {besides} of {}", billed.read_units);
            assert!(billed.queries <= 2, "{name}: {} queries", billed.queries);
        }
        expect(&format!("older {name}"), average, units(worst, CANDLES + 1), PAGE);
        let bound = if name == "1d" { NEWEST_DAYS } else { PAGE };
        expect(&format!("newest {name}"), newest[0], newest[1], bound);

        fill(&cloud, worst, slot.interval, MIDNIGHT, MOST_CANDLES + 2).await;
        let path =
            format!("/v1/bazaar/candles?item_id={}&interval={name}&limit={MOST_CANDLES}", ids(worst)[0]);
        let path = format!("{path}&before={}", rfc3339(MIDNIGHT - slot.interval));
        let billed = request(&cloud, &path, MIDNIGHT + BUSIEST, MOST_CANDLES).await;
        assert!(billed.queries <= 3, "{name}: {} queries for {MOST_CANDLES} candles", billed.queries);
    }
    expect_all(&cloud, &recording["candles#1d"]).await;
    expect_clean_logs(&cloud);
}

/// Panics unless the candles of all products of a slot take at most the read units and bytes of their bounds.
async fn expect_all(cloud: &Cloud, day: &Slot) {
    let opened_at = MIDNIGHT - 3 * day.interval;
    let slot = json!({"S": format!("{opened_at:010}")});
    let rows = day.rows.iter().map(|row| with(row, "sk", slot.clone()));
    let marker = json!({"pk": {"S": "candles#1d"}, "sk": slot, "rows": {"N": day.rows.len().to_string()}});
    table::put(cloud, rows.chain([marker.as_object().unwrap().clone()])).await;
    for (format, most) in ALL_BYTES {
        let before = (cloud.dynamodb().consumed().read_units, cloud.dynamodb().requests("BatchGetItem"));
        let path =
            format!("/v1/bazaar/candles/all?interval=1d&opened_at={}&format={format}", rfc3339(opened_at));
        let response = get_at(cloud, &path, MIDNIGHT * 1_000).await;
        assert_eq!(response.status, 200, "{}", response.text);
        let units = cloud.dynamodb().consumed().read_units - before.0;
        let batches = cloud.dynamodb().requests("BatchGetItem") - before.1;
        assert!(units <= ALL && batches == ALL_BATCHES, "{units} read units in {batches} batches");
        let bytes = response.text.len() * MOST_PRODUCTS / PRODUCTS;
        assert!(bytes <= most, "{bytes} bytes of {format}");
    }
}

/// Stores the progress that a healthy recorder has reached at the busiest time.
async fn put_progress(cloud: &Cloud) {
    let until = (MIDNIGHT - 5 * MINUTE).to_string();
    let row = json!({"pk": {"S": "candles"}, "sk": {"S": "built"}, "until": {"N": until}});
    table::put(cloud, [row.as_object().unwrap().clone()]).await;
}

/// Fills the finer candles and minutes that the product's page of the newest candles may read in addition to
/// its own candles.
async fn fill_unbuilt(cloud: &Cloud, recording: &Recording, id: &str) {
    for (series, slot) in recording {
        let row = slot.rows.iter().find(|row| ids(row).contains(&id)).unwrap();
        if series.starts_with("candles#") {
            fill(cloud, row, slot.interval, MIDNIGHT, UNBUILT_CANDLES).await;
        } else if slot.interval == MINUTE {
            fill(cloud, row, MINUTE, MIDNIGHT + 10 * MINUTE, UNBUILT_MINUTES).await;
        }
    }
}
