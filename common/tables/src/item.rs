//! Rows as DynamoDB stores them. A corrupt row of a history is skipped with a warning that names its key, and
//! does not affect other rows.

use std::collections::HashMap;
use std::str::FromStr;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

/// A row: its attributes by name.
pub type Attributes = HashMap<String, AttributeValue>;

pub(crate) const PARTITION_KEY: &str = "pk";
pub const SORT_KEY: &str = "sk";
/// The map from product id to value in a row of a series.
pub(crate) const PRODUCTS: &str = "products";
pub(crate) const TIME_TO_LIVE: &str = "ttl";

/// The defect of a corrupt row.
#[derive(Debug, thiserror::Error)]
#[error("its attribute {attribute} is missing or not {expected}")]
pub struct Corrupt {
    attribute: &'static str,
    expected: &'static str,
}

impl Corrupt {
    #[must_use]
    pub const fn new(attribute: &'static str, expected: &'static str) -> Self {
        Self { attribute, expected }
    }
}

pub(crate) fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub fn number<N: ToString + Copy>(number: N) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(crate) fn binary(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

pub fn key(partition: impl Into<String>, sort: impl Into<String>) -> Attributes {
    Attributes::from([(PARTITION_KEY.to_owned(), string(partition)), (SORT_KEY.to_owned(), string(sort))])
}

pub fn text(item: &Attributes, attribute: &'static str) -> Result<String, Corrupt> {
    let text = item.get(attribute).and_then(|value| value.as_s().ok());
    text.cloned().ok_or(Corrupt { attribute, expected: "a string" })
}

/// Returns the text in `attribute` as another type.
pub(crate) fn parsed<T: FromStr>(
    item: &Attributes,
    attribute: &'static str,
    expected: &'static str,
) -> Result<T, Corrupt> {
    text(item, attribute)?.parse().map_err(|_| Corrupt::new(attribute, expected))
}

/// Returns the whole number in `attribute`.
pub fn integer(item: &Attributes, attribute: &'static str) -> Result<i64, Corrupt> {
    let number = item.get(attribute).and_then(|value| value.as_n().ok());
    number.and_then(|number| number.parse().ok()).ok_or(Corrupt { attribute, expected: "a whole number" })
}

pub(crate) fn bytes(item: &Attributes, attribute: &'static str) -> Result<Vec<u8>, Corrupt> {
    let bytes = item.get(attribute).and_then(|value| value.as_b().ok());
    Ok(bytes.ok_or(Corrupt::new(attribute, "binary"))?.as_ref().to_vec())
}

/// Reads the rows with `read`, and leaves out corrupt rows. `partition` is the rows' partition key, for the
/// log.
pub fn readable<T>(
    rows: &[Attributes],
    partition: &str,
    read: impl Fn(&Attributes) -> Result<Option<T>, Corrupt>,
) -> Vec<T> {
    each_readable(rows, partition, read).into_iter().flatten().collect()
}

/// Reads each row with `read`. A corrupt row gives `None`.
pub(crate) fn each_readable<T>(
    rows: &[Attributes],
    partition: &str,
    read: impl Fn(&Attributes) -> Result<Option<T>, Corrupt>,
) -> Vec<Option<T>> {
    let read = |row: &Attributes| {
        let sort_key = || text(row, SORT_KEY).unwrap_or_default();
        unless_corrupt(read(row), partition, sort_key)
    };
    rows.iter().map(read).collect()
}

/// Returns the value that was read from a row. If the row is corrupt, logs the error with the row's keys, and
/// returns `None`.
pub(crate) fn unless_corrupt<T>(
    read: Result<Option<T>, Corrupt>,
    partition: &str,
    sort_key: impl FnOnce() -> String,
) -> Option<T> {
    read.unwrap_or_else(|corrupt| {
        let sort_key = sort_key();
        let cause = corrupt.to_string();
        tracing::warn!(partition_key = partition, sort_key, cause, "a corrupt row is skipped");
        None
    })
}
