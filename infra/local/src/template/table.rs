//! Tables: the requests that create them in `DynamoDB`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::expression::Scope;
use super::section::{Section, is_of_type};
use crate::error::Error;

/// An `AWS::DynamoDB::Table`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub logical_id: String,
    /// `TableName`, or the logical id.
    pub name: String,
    /// The request that creates the table.
    pub definition: Value,
    /// The attribute with an item's time of expiry, if items expire.
    pub time_to_live: Option<String>,
}

/// The template's tables by logical id.
///
/// # Errors
/// When a table is incomplete.
pub(super) fn read(resources: &Map<String, Value>, scope: &Scope) -> Result<BTreeMap<String, Table>, Error> {
    let mut tables = BTreeMap::new();
    for (logical_id, resource) in resources {
        if is_of_type(resource, "AWS::DynamoDB::Table") {
            let section = Section::properties(logical_id, resource, None, scope)?;
            tables.insert(logical_id.clone(), read_table(logical_id, &section)?);
        }
    }
    Ok(tables)
}

fn read_table(logical_id: &str, section: &Section<'_>) -> Result<Table, Error> {
    let name = section.text("TableName")?.unwrap_or_else(|| logical_id.to_owned());
    let mut definition = json!({
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": section.required("KeySchema", section.value("KeySchema")?)?,
        "AttributeDefinitions": section.required("AttributeDefinitions", section.value("AttributeDefinitions")?)?,
    });
    let indexes = "GlobalSecondaryIndexes";
    if let (Some(value), Some(definition)) = (section.value(indexes)?, definition.as_object_mut()) {
        definition.insert(indexes.to_owned(), value);
    }
    let time_to_live = section.section("TimeToLiveSpecification")?;
    let attribute = if time_to_live.boolean("Enabled")? == Some(true) {
        Some(time_to_live.required_text("AttributeName")?)
    } else {
        None
    };
    Ok(Table { logical_id: logical_id.to_owned(), name, definition, time_to_live: attribute })
}
