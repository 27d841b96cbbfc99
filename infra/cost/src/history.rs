//! Direct access to the history table in the embedded database. A range has up to a million rows; writing them through the
//! functions and HTTP would take an hour.

use std::time::Duration;

use common::time::UnixSeconds;
use dynoxide::actions::batch_get_item::{BatchGetItemRequest, BatchGetItemResponse};
use dynoxide::types::{ConsumedCapacity, item_size};
use dynoxide::{AttributeValue, Database, DynoxideError, ImportOptions, Item};
use local::Cloud;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tables::history::bazaar::{TIERS, Tier};
use tables::history::candles::{INTERVALS, Interval};

use crate::error::Error;

/// The table's logical id.
const TABLE: &str = "History";

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Prices of one shard of this tier.
    Shard(&'static Tier),
    /// Marks a slot of this tier as complete.
    Marker(&'static Tier),
    /// Candles of one shard of this interval.
    Candles(&'static Interval),
    /// Marks a slot of this interval as built.
    CandlesMarker(&'static Interval),
    /// The heartbeat of a feed.
    Heartbeat,
    /// Written by this recorder.
    Other(&'static str),
}

impl Place {
    fn of(partition: &str) -> Option<Self> {
        let (kind, rest) = partition.split_once('#').unwrap_or((partition, ""));
        let (name, shard) = rest.split_once('#').map_or((rest, None), |(name, shard)| (name, Some(shard)));
        match kind {
            "bazaar" => {
                let tier = TIERS.iter().find(|tier| tier.name == name)?;
                Some(if shard.is_some() { Self::Shard(tier) } else { Self::Marker(tier) })
            }
            "candles" => {
                let interval = INTERVALS.iter().find(|interval| interval.name == name)?;
                Some(if shard.is_some() { Self::Candles(interval) } else { Self::CandlesMarker(interval) })
            }
            "feeds" => Some(Self::Heartbeat),
            "fire-sales" => Some(Self::Other("record-fire-sales")),
            "mayors" => Some(Self::Other("record-mayor")),
            _ => None,
        }
    }
}

/// A recorded row.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) place: Place,
    item: Item,
}

impl Row {
    /// Its size in bytes as DynamoDB counts it: names and values.
    pub(super) fn bytes(&self) -> usize {
        item_size(&self.item)
    }

    /// The products whose prices it holds, in no particular order.
    pub(super) fn products(&self) -> Vec<&str> {
        match self.item.get("products") {
            Some(AttributeValue::M(products)) => products.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Its slot.
    pub(super) fn slot(&self) -> Option<UnixSeconds> {
        seconds(&self.item, "sk").map(UnixSeconds::new)
    }

    /// The number of slots of this length between its own and its expiry; `None` if it does not expire.
    pub(super) fn slots_kept(&self, interval: Duration) -> Option<u64> {
        let kept = seconds(&self.item, "ttl")? - seconds(&self.item, "sk")?;
        Some(kept.unsigned_abs().div_ceil(interval.as_secs()))
    }

    /// The same row in another slot.
    pub(super) fn at(&self, slot: UnixSeconds) -> Self {
        let mut item = self.item.clone();
        if let Some(own) = seconds(&self.item, "sk") {
            item.insert("sk".to_owned(), AttributeValue::S(format!("{:010}", slot.get())));
            if let Some(expires) = seconds(&self.item, "ttl") {
                item.insert("ttl".to_owned(), AttributeValue::N((expires - own + slot.get()).to_string()));
            }
        }
        Self { place: self.place, item }
    }

    /// The same row without the attribute.
    pub(super) fn without(mut self, attribute: &str) -> Self {
        self.item.remove(attribute);
        self
    }
}

fn seconds(item: &Item, attribute: &str) -> Option<i64> {
    match item.get(attribute)? {
        AttributeValue::S(text) | AttributeValue::N(text) => text.parse().ok(),
        _ => None,
    }
}

/// The history table of a cloud.
pub(super) struct History {
    database: Database,
    name: String,
    /// The request that creates it.
    definition: Value,
}

impl History {
    /// # Errors
    /// When the template has no such table.
    pub(super) fn of(cloud: &Cloud) -> Result<Self, Error> {
        let table = cloud.template().tables.get(TABLE);
        let table = table.ok_or_else(|| Error::DynamoDb(format!("the template has no table {TABLE}")))?;
        Ok(Self {
            database: cloud.dynamodb().database().clone(),
            name: table.name.clone(),
            definition: table.definition.clone(),
        })
    }

    /// All rows.
    pub(super) async fn rows(&self) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        let mut after = Value::Null;
        loop {
            let mut scan = json!({"TableName": self.name});
            if let (Value::Object(scan), false) = (&mut scan, after.is_null()) {
                scan.insert("ExclusiveStartKey".to_owned(), after);
            }
            let scan = request(scan)?;
            let page = self.run(move |database| database.scan(scan)).await?;
            rows.extend(page.items.unwrap_or_default().into_iter().filter_map(row));
            match page.last_evaluated_key {
                Some(key) => after = serde_json::to_value(key).map_err(|error| failed(&error))?,
                None => return Ok(rows),
            }
        }
    }

    /// Removes all rows. Dropping the table is much faster than deleting its rows.
    pub(super) async fn clear(&self) -> Result<(), Error> {
        let delete = request(json!({"TableName": self.name}))?;
        let create = request(self.definition.clone())?;
        self.run(move |database| {
            database.delete_table(delete)?;
            database.create_table(create)
        })
        .await
        .map(drop)
    }

    /// Fills the slots with copies of these rows.
    pub(super) async fn fill(
        &self,
        rows: impl IntoIterator<Item = &Row>,
        slots: &[UnixSeconds],
    ) -> Result<(), Error> {
        let items: Vec<_> =
            rows.into_iter().flat_map(|row| slots.iter().map(|slot| row.at(*slot).item)).collect();
        let name = self.name.clone();
        self.run(move |database| database.import_items(&name, items, ImportOptions::default()))
            .await
            .map(drop)
    }

    /// The read units of a consistent batch read of these rows.
    pub(super) async fn read_units(&self, rows: impl Iterator<Item = &Row>) -> Result<f64, Error> {
        let keys: Vec<_> =
            rows.map(|row| json!({"pk": row.item.get("pk"), "sk": row.item.get("sk")})).collect();
        let get: BatchGetItemRequest = request(json!({
            "RequestItems": {&self.name: {"Keys": keys, "ConsistentRead": true}},
            "ReturnConsumedCapacity": "TOTAL",
        }))?;
        let got: BatchGetItemResponse = self.run(move |database| database.batch_get_item(get)).await?;
        Ok(units(got.consumed_capacity.as_deref().unwrap_or_default()))
    }

    /// The write units of a write of this row.
    pub(super) async fn write_units(&self, row: &Row) -> Result<f64, Error> {
        let put = request(json!({
            "TableName": self.name,
            "Item": row.item,
            "ReturnConsumedCapacity": "TOTAL",
        }))?;
        let put = self.run(move |database| database.put_item(put)).await?;
        Ok(units(put.consumed_capacity.as_slice()))
    }

    /// The database blocks its thread, so it gets one of its own.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, DynoxideError> + Send + 'static,
    ) -> Result<T, Error> {
        let database = self.database.clone();
        let done = tokio::task::spawn_blocking(move || work(&database)).await;
        done.map_err(|ended| failed(&ended))?.map_err(|error| failed(&error))
    }
}

fn row(item: Item) -> Option<Row> {
    let Some(AttributeValue::S(partition)) = item.get("pk") else { return None };
    Some(Row { place: Place::of(partition)?, item })
}

fn units(consumed: &[ConsumedCapacity]) -> f64 {
    consumed.iter().map(|one| one.capacity_units).sum()
}

fn request<T: DeserializeOwned>(request: Value) -> Result<T, Error> {
    serde_json::from_value(request).map_err(|error| failed(&error))
}

fn failed(error: &impl std::fmt::Display) -> Error {
    Error::DynamoDb(error.to_string())
}
