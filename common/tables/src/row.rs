//! Rows that borrow from the JSON of DynamoDB's response. The SDK would instead create a `HashMap` per row,
//! and a `String` per name and number.

use std::borrow::Cow;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use common::json::Members;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::item::{Corrupt, SORT_KEY, unless_corrupt};

/// A page of a query: the body of a response.
#[derive(Debug, Deserialize)]
pub(crate) struct QueryPage<'a> {
    /// The rows, in the order of the query.
    #[serde(rename = "Items", borrow, default)]
    pub(crate) rows: Vec<Row<'a>>,
    /// The key after which the next page begins. `None` if this is the last page.
    #[serde(rename = "LastEvaluatedKey", default)]
    pub(crate) last_key: Option<HashMap<String, Key>>,
}

/// An attribute of a key. No table has a binary key.
#[derive(Debug, Deserialize)]
pub(crate) enum Key {
    #[serde(rename = "S")]
    Text(String),
    #[serde(rename = "N")]
    Number(String),
}

impl From<Key> for AttributeValue {
    fn from(key: Key) -> Self {
        match key {
            Key::Text(text) => Self::S(text),
            Key::Number(number) => Self::N(number),
        }
    }
}

/// A row in the response to a query of one product.
#[derive(Debug, Deserialize)]
pub(crate) struct Row<'a> {
    #[serde(rename = "sk", borrow)]
    sort_key: Option<Value<'a>>,
    #[serde(borrow)]
    products: Option<Value<'a>>,
}

impl<'a> Row<'a> {
    pub(crate) fn sort_key(&self) -> Result<&str, Corrupt> {
        self.sort_key.as_ref().and_then(Value::text).ok_or(Corrupt::new(SORT_KEY, "a string"))
    }

    /// Returns the value that was read from the row. If the row is corrupt, logs the error with the row's
    /// keys, and returns `None`. `partition` is the row's partition key.
    pub(crate) fn unless_corrupt<T>(&self, read: Result<Option<T>, Corrupt>, partition: &str) -> Option<T> {
        unless_corrupt(read, partition, || self.sort_key().unwrap_or_default().to_owned())
    }

    /// Returns the attribute `products`, if the row has it.
    pub(crate) const fn products(&self) -> Option<&Value<'a>> {
        self.products.as_ref()
    }
}

/// A string, borrowed from the response unless it has escapes.
#[derive(Debug, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The value of an attribute. In DynamoDB's JSON, it is an object whose only key is the name of the type.
#[derive(Debug, Deserialize)]
pub enum Value<'a> {
    #[serde(rename = "S", borrow)]
    Text(Text<'a>),
    #[serde(rename = "N", borrow)]
    Number(Text<'a>),
    #[serde(rename = "L", borrow)]
    List(Vec<Value<'a>>),
    #[serde(rename = "M", borrow)]
    Map(Map<'a>),
    #[serde(rename = "NULL")]
    Null(IgnoredAny),
    /// A value of a type that no series uses.
    #[serde(rename = "B", alias = "BOOL", alias = "BS", alias = "NS", alias = "SS")]
    Other(IgnoredAny),
}

impl<'a> Value<'a> {
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(&text.0) } else { None }
    }

    pub(crate) fn number(&self) -> Option<&str> {
        if let Self::Number(number) = self { Some(&number.0) } else { None }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(crate) const fn map(&self) -> Option<&Map<'a>> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }
}

/// A map. It has few entries, so they are not hashed.
#[derive(Debug, Deserialize)]
pub struct Map<'a>(#[serde(borrow)] Members<Text<'a>, Value<'a>>);

impl<'a> Map<'a> {
    pub(crate) fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.0.iter().find(|(name, _)| name.0 == key).map(|(_, value)| value)
    }
}

/// Converts a product's value from a row of the SDK. Maps are ignored, because no product has one.
impl<'a> From<&'a AttributeValue> for Value<'a> {
    fn from(attribute: &'a AttributeValue) -> Self {
        match attribute {
            AttributeValue::S(text) => Self::Text(Text(text.into())),
            AttributeValue::N(number) => Self::Number(Text(number.into())),
            AttributeValue::Null(_) => Self::Null(IgnoredAny),
            AttributeValue::L(list) => Self::List(list.iter().map(Self::from).collect()),
            _ => Self::Other(IgnoredAny),
        }
    }
}
