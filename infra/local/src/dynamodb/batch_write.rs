//! Deserializes a `BatchWriteItem` of puts directly into the engine's values. The engine's own deserializer copies nested
//! values at each level, which takes longer than storing them, and history has up to a million rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use dynoxide::actions::batch_write_item::{BatchWriteItemRequest, PutRequest, WriteRequest};
use dynoxide::{AttributeValue, Item};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Batch {
    request_items: HashMap<String, Vec<Write>>,
    return_consumed_capacity: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Write {
    put_request: Put,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Put {
    #[serde(deserialize_with = "item")]
    item: Item,
}

/// The request, or `None` if it has anything else: deletions, sets, binary values, nulls, errors.
pub(super) fn read(request: &[u8]) -> Option<BatchWriteItemRequest> {
    let batch: Batch = serde_json::from_slice(request).ok()?;
    let write = |write: Write| WriteRequest {
        put_request: Some(PutRequest { item: write.put_request.item }),
        delete_request: None,
    };
    let tables = batch.request_items.into_iter();
    Some(BatchWriteItemRequest {
        request_items: tables
            .map(|(table, writes)| (table, writes.into_iter().map(write).collect()))
            .collect(),
        return_consumed_capacity: batch.return_consumed_capacity,
        return_item_collection_metrics: None,
    })
}

fn item<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
    Attributes.deserialize(deserializer)
}

/// One attribute value: an object with one key, which is its type.
struct Attribute;

impl<'de> DeserializeSeed<'de> for Attribute {
    type Value = AttributeValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<AttributeValue, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Attribute {
    type Value = AttributeValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an attribute value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<AttributeValue, A::Error> {
        let value = match entries.next_key::<Cow<'de, str>>()?.as_deref() {
            Some("S") => AttributeValue::S(entries.next_value()?),
            Some("N") => AttributeValue::N(entries.next_value()?),
            Some("BOOL") => AttributeValue::BOOL(entries.next_value()?),
            Some("L") => AttributeValue::L(entries.next_value_seed(List)?),
            Some("M") => AttributeValue::M(entries.next_value_seed(Attributes)?),
            _ => return Err(A::Error::custom("an unsupported type")),
        };
        match entries.next_key::<IgnoredAny>()? {
            None => Ok(value),
            Some(IgnoredAny) => Err(A::Error::custom("more than one type")),
        }
    }
}

struct List;

impl<'de> DeserializeSeed<'de> for List {
    type Value = Vec<AttributeValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Vec<AttributeValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of attribute values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = elements.next_element_seed(Attribute)? {
            list.push(value);
        }
        Ok(list)
    }
}

struct Attributes;

impl<'de> DeserializeSeed<'de> for Attributes {
    type Value = HashMap<String, AttributeValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Attributes {
    type Value = HashMap<String, AttributeValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map of attribute values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut attributes = HashMap::new();
        while let Some(name) = entries.next_key()? {
            attributes.insert(name, entries.next_value_seed(Attribute)?);
        }
        Ok(attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_are_read_as_by_the_engine() {
        let text = br#"{"RequestItems":{"T":[{"PutRequest":{"Item":{
            "pk":{"S":"a\n\u00e4"},"flag":{"BOOL":true},"number":{"N":"1e5"},
            "products":{"M":{"ID:1":{"L":[{"N":"0.1"},{"N":"-5"}]},"empty":{"L":[]}}}}}}]},
            "ReturnConsumedCapacity":"TOTAL"}"#;
        let theirs: BatchWriteItemRequest = serde_json::from_slice(text).unwrap();
        let ours = read(text).unwrap();
        let items = |request: &BatchWriteItemRequest| {
            let writes = &request.request_items["T"];
            writes.iter().map(|write| write.put_request.as_ref().unwrap().item.clone()).collect::<Vec<_>>()
        };
        assert_eq!(items(&ours), items(&theirs));
        assert_eq!(ours.return_consumed_capacity.as_deref(), Some("TOTAL"));
    }

    #[test]
    fn other_requests_are_left_to_the_engine() {
        for other in [
            r#"{"RequestItems":{"T":[{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}"#,
            r#"{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{"S":"a","N":"1"}}}}]}}"#,
            r#"{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{}}}}]}}"#,
            r#"{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{"S":1}}}}]}}"#,
            r#"{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{"SS":["a"]}}}}]}}"#,
            r#"{"RequestItems":{"T":[{"PutRequest":{"Item":{"a":{"NULL":true}}}}]}}"#,
            r#"{"RequestItems":{"T":[{}]}}"#,
            r#"{"RequestItems":{},"ReturnItemCollectionMetrics":"SIZE"}"#,
            "{}",
            "",
        ] {
            assert!(read(other.as_bytes()).is_none(), "{other}");
        }
    }
}
