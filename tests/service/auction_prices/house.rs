//! Makes auction houses for tests, which the simulator serves.

use std::io::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::time::UnixSeconds;
use flate2::Compression;
use flate2::write::GzEncoder;
use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;
use tables::Table;
use tables::auctions::{self, List, RecordedMinute};

use crate::support::simulator;

pub(crate) const RECORDER: &str = "record-auctions";

/// The provider's paths.
pub(crate) const AUCTIONS: &str = "/v2/skyblock/auctions";
pub(crate) const ENDED: &str = "/v2/skyblock/auctions_ended";

/// The `item_bytes` of a single item.
pub(crate) fn item_bytes(id: &str) -> String {
    let named =
        |kind: u8, name: &str| [&[kind, 0, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat();
    let id = [named(8, "id"), named(0, id).split_off(1)].concat();
    let nbt = [
        named(10, ""),
        named(9, "i"),
        vec![10, 0, 0, 0, 1],
        named(1, "Count"),
        vec![1],
        named(10, "tag"),
        named(10, "ExtraAttributes"),
        id,
        // The end tags of the attributes, the tag, the item, and the root.
        vec![0; 4],
    ];
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&nbt.concat()).unwrap();
    STANDARD.encode(encoder.finish().unwrap())
}

/// A row of a page at this time in Unix milliseconds.
pub(crate) fn listing(number: usize, id: &str, price: u64, time_ms: i64) -> Value {
    json!({
        "uuid": format!("{number:032x}"), "bin": true, "starting_bid": price, "start": time_ms,
        "end": time_ms + 3_600_000, "last_updated": time_ms, "item_bytes": item_bytes(id),
    })
}

/// Serves `rows` as the only page, and `ended` as the list of ended auctions, both refreshed at this time in
/// Unix milliseconds.
pub(crate) fn serve(cloud: &Cloud, time_ms: i64, rows: &[Value], ended: &Value) {
    let page = json!({
        "success": true, "page": 0, "totalPages": 1, "totalAuctions": rows.len(), "lastUpdated": time_ms, "auctions": rows,
    });
    let ended = json!({"success": true, "lastUpdated": time_ms, "auctions": ended});
    for (path, body) in [(AUCTIONS, page), (ENDED, ended)] {
        simulator(cloud).set_fault(path, Fault::default().with_body(body.to_string()));
    }
}

/// The recorded minutes of the hour that starts at this time in Unix seconds.
pub(crate) async fn minutes(cloud: &Cloud, from: i64) -> Vec<RecordedMinute> {
    let history = table(cloud);
    let session = history.with_timeout(Duration::from_mins(1));
    auctions::recorded_minutes(session, UnixSeconds::new(from), UnixSeconds::new(from + 3_600)).await.unwrap()
}

/// The stored lists of ended auctions that were refreshed in the hour that starts at this time in Unix
/// seconds.
pub(crate) async fn lists(cloud: &Cloud, from: i64) -> Vec<List> {
    let history = table(cloud);
    let session = history.with_timeout(Duration::from_mins(1));
    auctions::lists(session, UnixSeconds::new(from), UnixSeconds::new(from + 3_600)).await.unwrap()
}

pub(crate) fn table(cloud: &Cloud) -> Table {
    Table::of_sdk(&cloud.dynamodb().sdk(), "History")
}
