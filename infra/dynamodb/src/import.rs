//! Rows that this process has computed, stored at once. A batch of 25 rows through the SDK takes ten times as
//! long.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use dynoxide::{Database, DynoxideError, ImportOptions};

/// The attributes of a row, by name.
pub type Row = HashMap<String, AttributeValue>;

/// Stores the rows. Existing rows with the same keys are replaced.
///
/// # Errors
/// If there is no such table, or a row is invalid. Then no row is stored.
pub async fn import(database: &Database, table: &str, rows: Vec<Row>) -> Result<(), DynoxideError> {
    let database = database.clone();
    let table = table.to_owned();
    let import = move || {
        let items = rows.into_iter().map(fields).collect::<Option<_>>();
        let items = items.ok_or_else(|| DynoxideError::ValidationException("an unknown type".to_owned()))?;
        database.import_items(&table, items, ImportOptions::default()).map(drop)
    };
    let imported = tokio::task::spawn_blocking(import).await;
    imported.unwrap_or_else(|ended| Err(DynoxideError::InternalServerError(ended.to_string())))
}

fn fields(row: Row) -> Option<dynoxide::Item> {
    row.into_iter().map(|(name, value)| Some((name, converted(value)?))).collect()
}

/// The value, or `None` if its type is newer than this SDK.
fn converted(value: AttributeValue) -> Option<dynoxide::AttributeValue> {
    Some(match value {
        AttributeValue::B(bytes) => dynoxide::AttributeValue::B(bytes.into_inner()),
        AttributeValue::Bool(value) => dynoxide::AttributeValue::BOOL(value),
        AttributeValue::Bs(set) => {
            dynoxide::AttributeValue::BS(set.into_iter().map(Blob::into_inner).collect())
        }
        AttributeValue::L(list) => {
            dynoxide::AttributeValue::L(list.into_iter().map(converted).collect::<Option<_>>()?)
        }
        AttributeValue::M(map) => dynoxide::AttributeValue::M(fields(map)?),
        AttributeValue::N(number) => dynoxide::AttributeValue::N(number),
        AttributeValue::Ns(set) => dynoxide::AttributeValue::NS(set),
        AttributeValue::Null(value) => dynoxide::AttributeValue::NULL(value),
        AttributeValue::S(text) => dynoxide::AttributeValue::S(text),
        AttributeValue::Ss(set) => dynoxide::AttributeValue::SS(set),
        _ => return None,
    })
}
