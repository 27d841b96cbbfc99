//! Measures five minutes of prices and their candles, as the recorders store them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use simulator::Fault;
use tokio::sync::OnceCell;

use super::row_size::{bytes_of, float, write_units};
use crate::candles::{MIDNIGHT, build};
use crate::history::market::{BAZAAR, RECORDER};
use crate::history::table::{self, Row};
use crate::history::{DAY, HOUR, MINUTE, record, start};
use crate::support::{expect_clean_logs, simulator};

/// The number of products on 2026-04-28.
pub(super) const PRODUCTS: usize = 1_913;

/// The prices of the five minutes relative to the snapshot's, so that open, high, low and close differ.
const MOVES: [f64; 5] = [1.0, 1.004, 0.997, 1.002, 0.999];

/// Billed storage for each row beyond names and values, in bytes (DynamoDB's documentation on item sizes).
const STORAGE_OVERHEAD: usize = 100;

/// The rows of one slot of prices or candles.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) rows: Vec<Row>,
    marker: Row,
    /// The time between two slots, in seconds.
    pub(super) interval: i64,
}

/// One slot of each recorded series, by the first two parts of its partition keys, such as `candles#5m`.
pub(super) type Recording = BTreeMap<String, Slot>;

impl Slot {
    pub(super) fn write_units(&self) -> f64 {
        self.rows.iter().chain([&self.marker]).map(write_units).sum()
    }

    /// The billed bytes of all slots that are stored when the first slot expires. If slots never expire, the
    /// bytes of a year's slots.
    pub(super) fn bytes_kept(&self) -> f64 {
        let rows = self.rows.iter().chain([&self.marker]);
        let bytes: usize = rows.map(|row| bytes_of(row) + STORAGE_OVERHEAD).sum();
        let expires = self.rows[0].get("ttl").map(|ttl| ttl["N"].as_str().unwrap().parse::<i64>().unwrap());
        let kept = expires.map_or(365 * DAY, |expires| expires - start_of(&self.rows[0]));
        float(bytes) * float(usize::try_from(kept / self.interval).unwrap())
    }
}

/// The recording of the simulated products, which two tests share.
pub(super) async fn simulated() -> &'static Recording {
    static RECORDING: OnceCell<Recording> = OnceCell::const_new();
    RECORDING.get_or_init(async || recording_of(&simulator::bazaar::body(1, MIDNIGHT * 1_000)).await).await
}

/// The number of slots in this many seconds.
pub(super) fn slots(slot: &Slot, seconds: i64) -> f64 {
    float(usize::try_from(seconds / slot.interval).unwrap())
}

fn start_of(row: &Row) -> i64 {
    row["sk"]["S"].as_str().unwrap()[..10].parse().unwrap()
}

pub(super) fn ids(row: &Row) -> Vec<&str> {
    row["products"]["M"].as_object().unwrap().keys().map(String::as_str).collect()
}

/// The length of the interval with this name, such as `30m`, in seconds.
fn seconds(name: &str) -> i64 {
    let (number, unit) = name.split_at(name.len() - 1);
    let unit = match unit {
        "m" => MINUTE,
        "h" => HOUR,
        _ => DAY,
    };
    number.parse::<i64>().unwrap() * unit
}

/// Records the last five minutes before midnight, when a slot of every interval ends, from this body of the
/// provider.
pub(super) async fn recording_of(body: &str) -> Recording {
    let products = priced(body);
    let cloud = start().await;
    for (factor, minute) in MOVES.into_iter().zip(-5..) {
        simulator(&cloud).set_fault(BAZAAR, Fault::default().with_body(moved(&products, factor)));
        let recorded = record(&cloud, RECORDER, MIDNIGHT + minute * MINUTE).await;
        assert_eq!(recorded["products"], PRODUCTS, "{recorded}");
    }
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let mut rows = BTreeMap::<_, Vec<_>>::new();
    let mut markers = BTreeMap::new();
    let mut dump = table::dump(&cloud).await;
    dump.retain(|(partition, _), _| partition.contains('#'));
    for ((partition, _), row) in dump {
        let mut parts = partition.splitn(3, '#');
        let series = format!("{}#{}", parts.next().unwrap(), parts.next().unwrap());
        match parts.next() {
            Some(_) => rows.entry(series).or_default().push(row),
            None => drop(markers.insert(series, row)),
        }
    }
    // DynamoDB bills the same units for these rows, so the computed sizes are right. The recorders do not
    // request the capacity that markers take, so the bill excludes markers.
    let units: f64 = rows.values().flatten().map(write_units).sum();
    assert_eq!(cloud.dynamodb().consumed().write_units.to_bits(), units.to_bits(), "{units}");
    expect_clean_logs(&cloud);
    let slot = |(series, mut rows): (String, Vec<Row>)| {
        // Keeps the last slot; the series of minutes has five.
        let last = rows.iter().map(start_of).max().unwrap();
        rows.retain(|row| start_of(row) == last);
        let recorded: BTreeSet<_> = rows.iter().flat_map(ids).collect();
        assert_eq!(recorded.len(), PRODUCTS, "{series} must have every product");
        let (marker, interval) =
            (markers.remove(&series).unwrap(), seconds(series.split('#').nth(1).unwrap()));
        (series, Slot { rows, marker, interval })
    };
    rows.into_iter().map(slot).collect()
}

/// Returns [`PRODUCTS`] products of the body, all with a price. Products without a price get the prices and
/// orders of another product. If there are too few products, copies are added.
fn priced(body: &str) -> Map<String, Value> {
    let mut body: Value = serde_json::from_str(body).unwrap();
    let Value::Object(mut products) = body["products"].take() else { panic!("no products") };
    let has_price = |product: &Value| ["sellPrice", "buyPrice"].iter().any(|name| price(product, name) > 0.0);
    let with_price: Vec<_> = products.values().filter(|product| has_price(product)).cloned().collect();
    let mut others = with_price.into_iter().cycle();
    for product in products.values_mut().filter(|product| !has_price(product)) {
        *product = others.next().unwrap();
    }
    // Copies products from the whole list, because neighbouring ids are similar.
    let missing = PRODUCTS - products.len();
    let originals = products.iter().step_by(products.len() / missing.max(1)).take(missing);
    let copies: Vec<_> = originals.map(|(id, product)| (format!("{id}_COPY"), product.clone())).collect();
    products.extend(copies);
    products
}

/// A body with these products, all prices multiplied by this factor.
fn moved(products: &Map<String, Value>, factor: f64) -> String {
    let mut products = products.clone();
    for product in products.values_mut() {
        for name in ["sellPrice", "buyPrice"] {
            product["quick_status"][name] = (price(product, name) * factor).into();
        }
        for summary in ["sell_summary", "buy_summary"] {
            for level in product[summary].as_array_mut().unwrap() {
                // The prices of orders have one decimal.
                let tenths = (level["pricePerUnit"].as_f64().unwrap() * factor * 10.0).round();
                level["pricePerUnit"] = (tenths / 10.0).into();
            }
        }
    }
    json!({"success": true, "lastUpdated": 1_777_388_398_578_i64, "products": products}).to_string()
}

fn price(product: &Value, name: &str) -> f64 {
    product["quick_status"][name].as_f64().unwrap_or_default()
}
