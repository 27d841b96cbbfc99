//! Direct access to the history table in the embedded database. A range has up to a million rows; writing them through the
//! functions and HTTP would take an hour.

use dynoxide::actions::batch_get_item::{BatchGetItemRequest, BatchGetItemResponse};
use dynoxide::types::{ConsumedCapacity, item_size};
use dynoxide::{AttributeValue, Database, DynoxideError, ImportOptions, Item};
use local::Cloud;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tables::history::bazaar::{TIERS, Tier};

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
    /// Written by this recorder.
    Other(&'static str),
}

impl Place {
    fn of(partition: &str) -> Option<Self> {
        let (kind, rest) = partition.split_once('#').unwrap_or((partition, ""));
        match kind {
            "bazaar" => {
                let (name, shard) =
                    rest.split_once('#').map_or((rest, None), |(name, shard)| (name, Some(shard)));
                let tier = TIERS.iter().find(|tier| tier.name == name)?;
                Some(if shard.is_some() { Self::Shard(tier) } else { Self::Marker(tier) })
            }
            "fire-sales" => Some(Self::Other("record-fire-sales")),
            "mayors" => Some(Self::Other("record-mayor")),
            _ => None,
        }
    }
}

/// A recorded row.
pub(super) struct Row {
    pub(super) place: Place,
    item: Item,
}

impl Row {
    pub(super) fn is_of(&self, tier: &'static Tier) -> bool {
        self.place == Place::Shard(tier)
    }

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

    /// The number of slots between its own and its expiry.
    pub(super) fn slots_kept(&self, tier: &Tier) -> u64 {
        let kept =
            seconds(&self.item, "ttl").unwrap_or_default() - seconds(&self.item, "sk").unwrap_or_default();
        kept.unsigned_abs().div_ceil(tier.interval.as_secs())
    }

    /// The same row, earlier by this many seconds.
    fn earlier(&self, by: i64) -> Item {
        let mut item = self.item.clone();
        if let Some(slot) = seconds(&self.item, "sk") {
            item.insert("sk".to_owned(), AttributeValue::S(format!("{:010}", slot - by)));
        }
        if let Some(expires) = seconds(&self.item, "ttl") {
            item.insert("ttl".to_owned(), AttributeValue::N((expires - by).to_string()));
        }
        item
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

    /// Fills all slots of the tier's range with copies of these rows.
    pub(super) async fn fill(&self, tier: &Tier, rows: &[&Row]) -> Result<(), Error> {
        let interval = tier.interval.as_secs().cast_signed();
        let slots = i64::from(tier.slots);
        let items: Vec<_> =
            rows.iter().flat_map(|row| (0..slots).map(|back| row.earlier(back * interval))).collect();
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
