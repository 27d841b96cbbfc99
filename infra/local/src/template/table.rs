//! Tables: the requests that create them in `DynamoDB`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::expression::Scope;
use super::section::{Section, is_of_type};
use crate::error::Error;

/// An `AWS::DynamoDB::Table`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its logical id.
    pub logical_id: String,
    /// `TableName`, or the logical id.
    pub name: String,
    /// The request that creates it.
    pub definition: Value,
    /// The attribute with an item's time of expiry, if items expire.
    pub time_to_live: Option<String>,
}

/// The template's tables by logical id.
///
/// # Errors
/// When one is incomplete.
pub(super) fn read(resources: &Map<String, Value>, scope: &Scope) -> Result<BTreeMap<String, Table>, Error> {
    let mut tables = BTreeMap::new();
    for (logical_id, resource) in resources {
        if is_of_type(resource, "AWS::DynamoDB::Table") {
            let section = Section::properties(logical_id, resource, None, scope);
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
        Some(time_to_live.required("AttributeName", time_to_live.text("AttributeName")?)?)
    } else {
        None
    };
    Ok(Table { logical_id: logical_id.to_owned(), name, definition, time_to_live: attribute })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(properties: &Value) -> Result<Table, Error> {
        let resources = json!({
            "HistoryTable": {"Type": "AWS::DynamoDB::Table", "Properties": properties},
            "Queue": {"Type": "AWS::SQS::Queue"},
        });
        let scope = Scope::default();
        read(resources.as_object().unwrap(), &scope).map(|mut tables| tables.remove("HistoryTable").unwrap())
    }

    fn complete() -> Value {
        json!({
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": true},
        })
    }

    #[test]
    fn a_table_has_its_own_name_or_its_logical_id() {
        let read = table(&complete()).unwrap();
        assert_eq!((read.name.as_str(), read.time_to_live.as_deref()), ("HistoryTable", Some("ttl")));
        assert_eq!(read.definition["KeySchema"][0]["AttributeName"], "pk");
        let mut named = complete();
        named["TableName"] = json!({"Fn::Sub": "${AWS::StackName}-history"});
        named["TimeToLiveSpecification"]["Enabled"] = json!(false);
        let read = table(&named).unwrap();
        assert_eq!((read.name.as_str(), read.time_to_live), ("local-history", None));
    }

    #[test]
    fn a_missing_property_is_named() {
        for (missing, place) in [
            ("/KeySchema", "HistoryTable.Properties.KeySchema"),
            ("/AttributeDefinitions", "HistoryTable.Properties.AttributeDefinitions"),
            (
                "/TimeToLiveSpecification/AttributeName",
                "HistoryTable.Properties.TimeToLiveSpecification.AttributeName",
            ),
        ] {
            let mut properties = complete();
            let (parent, name) = missing.rsplit_once('/').unwrap();
            properties.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
            let said = table(&properties).unwrap_err().to_string();
            assert!(said.contains(&format!("{place}: it is missing")), "{said}");
        }
    }
}
