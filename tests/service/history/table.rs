//! Reads, writes and deletes rows of the table `History` directly, without the functions.

use std::collections::BTreeMap;

use dynoxide::{ImportOptions, Item};
use local::Cloud;
use serde_json::{Map, Value, json};

pub(crate) use crate::support::call;

/// The most rows in one request.
const BATCH: usize = 25;

/// The attributes of a row, in DynamoDB's JSON.
pub(crate) type Row = Map<String, Value>;

/// Every row of the table, by key.
pub(crate) type Dump = BTreeMap<(String, String), Row>;

pub(crate) const NAME: &str = "History";

/// The partition key of the heartbeats of all feeds.
pub(crate) const HEARTBEATS: &str = "feeds";

/// All rows except heartbeats.
pub(crate) async fn dump(cloud: &Cloud) -> Dump {
    let mut rows = dump_with_heartbeats(cloud).await;
    rows.retain(|(partition, _), _| partition != HEARTBEATS);
    rows
}

/// All rows, without the attributes about changes of the provider's data. These attributes depend on the
/// runs, because a run whose tick is already recorded notes no change.
pub(crate) async fn dump_with_heartbeats(cloud: &Cloud) -> Dump {
    let mut dump = Dump::new();
    let mut request = json!({"TableName": NAME, "ConsistentRead": true});
    loop {
        let mut page = call(cloud, "Scan", &request).await;
        for row in page["Items"].as_array_mut().unwrap() {
            let mut row = self::row(row.take());
            row.retain(|attribute, _| !attribute.starts_with("data_"));
            dump.insert(key(&row), row);
        }
        match page.get_mut("LastEvaluatedKey").map(Value::take).filter(|key| !key.is_null()) {
            Some(key) => request["ExclusiveStartKey"] = key,
            None => return dump,
        }
    }
}

#[track_caller]
pub(crate) fn key(row: &Row) -> (String, String) {
    let text = |attribute: &str| row[attribute]["S"].as_str().unwrap().to_owned();
    (text("pk"), text("sk"))
}

/// Returns the row with another value of the attribute, in DynamoDB's JSON.
pub(crate) fn with(row: &Row, attribute: &str, value: Value) -> Row {
    let mut row = row.clone();
    row.insert(attribute.to_owned(), value);
    row
}

pub(crate) fn mayor(year: u32) -> Row {
    let perk = json!({"M": {"name": {"S": "P"}, "description": {"S": "d"}}});
    row(json!({
        "pk": {"S": "mayors"}, "sk": {"S": format!("{year:04}")},
        "name": {"S": format!("M{year}")}, "key": {"S": "k"}, "perks": {"L": [perk]},
    }))
}

/// The row of a fire sale with this start in Unix milliseconds, first recorded at this time in Unix seconds.
pub(crate) fn sale(id: &str, start: i64, recorded_at: i64) -> Row {
    let [start, recorded_at] = [start, recorded_at].map(|time| time.to_string());
    row(json!({
        "pk": {"S": "fire-sales"}, "sk": {"S": format!("{start}#{id}")}, "item_id": {"S": id},
        "start": {"N": start}, "end": {"N": start}, "amount": {"N": "1"}, "price": {"N": "5"},
        "recorded_at": {"N": recorded_at}, "seen_at": {"N": recorded_at},
    }))
}

fn row(value: Value) -> Row {
    let Value::Object(row) = value else { panic!("a row is an object") };
    row
}

/// Puts rows, which replace rows with the same keys.
pub(crate) async fn put(cloud: &Cloud, rows: impl IntoIterator<Item = Row>) {
    let items: Vec<Item> =
        rows.into_iter().map(|row| serde_json::from_value(Value::Object(row)).unwrap()).collect();
    let database = cloud.dynamodb().database().clone();
    let put = move || database.import_items(NAME, items, ImportOptions::default());
    tokio::task::spawn_blocking(put).await.unwrap().unwrap();
}

/// Deletes every row.
pub(crate) async fn clear(cloud: &Cloud) {
    let keys: Vec<_> = dump_with_heartbeats(cloud).await.into_keys().collect();
    delete_all(cloud, &keys).await;
    assert!(dump_with_heartbeats(cloud).await.is_empty(), "the table must be empty");
}

pub(crate) async fn delete(cloud: &Cloud, partition: &str, sort: &str) {
    delete_all(cloud, &[(partition.to_owned(), sort.to_owned())]).await;
}

pub(crate) async fn delete_all(cloud: &Cloud, keys: &[(String, String)]) {
    for batch in keys.chunks(BATCH) {
        let key = |(partition, sort): &(String, String)| json!({"pk": {"S": partition}, "sk": {"S": sort}});
        let requests: Vec<_> = batch.iter().map(|row| json!({"DeleteRequest": {"Key": key(row)}})).collect();
        let request = json!({"RequestItems": {NAME: requests}});
        let response = call(cloud, "BatchWriteItem", &request).await;
        assert_eq!(response["UnprocessedItems"], json!({}), "rows are unprocessed");
    }
}

/// Panics unless both dumps have the same rows.
#[track_caller]
pub(crate) fn expect_same(dump: &Dump, expected: &Dump, what: &str) {
    // The dumps are large, so this reports only the first different row.
    for (key, row) in expected {
        assert_eq!(dump.get(key), Some(row), "{what}: the row {key:?}");
    }
    let more: Vec<_> = dump.keys().filter(|key| !expected.contains_key(key)).collect();
    assert!(more.is_empty(), "{what}: {} rows too many, such as {:?}", more.len(), more[0]);
}
