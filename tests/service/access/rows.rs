//! Writes rows of the table `Access` for the tests.

use common::auth::{ApiKey, Tier, UsageIdentifier};
use local::Cloud;
use serde_json::{Value, json};

use crate::support::call;

const TABLE: &str = "Access";

/// The name of the local cloud's stack.
pub(super) const STACK: &str = "local";

/// A valid key that is not issued. The same number always gives the same key.
pub(super) fn numbered_key(number: u32) -> ApiKey {
    ApiKey::of_random_part(&format!("TestsOnly{number:023}")).unwrap()
}

/// The row of a key that was issued to `account`.
pub(super) fn key_row(key: &ApiKey, account: &str) -> Value {
    json!({
        "pk": {"S": format!("key#{}", key.digest().id())},
        "sha256": {"S": key.digest().to_string()},
        "account": {"S": account},
        "label": {"S": "tests"},
        "created_at": {"N": "1777000000"},
        "last_four": {"S": key.last_four()},
    })
}

/// The row of an account that a person has set, which is paid until this time in Unix seconds. Only commands
/// need its lists of keys.
pub(super) fn account_row(name: &str, tier: &str, status: &str, paid_until: i64) -> Value {
    json!({
        "pk": {"S": format!("account#{name}")},
        "tier": {"S": tier},
        "status": {"S": status},
        "paid_until": {"N": paid_until.to_string()},
        "keys": {"M": {}},
        "gateway_keys": {"M": {}},
        "issued_day": {"N": "0"},
        "issued_keys": {"N": "0"},
        "version": {"N": "1"},
    })
}

/// The value of the key in API Gateway that counts the requests of this account in this tier.
pub(super) fn usage_identifier(account: &str, tier: Tier) -> String {
    UsageIdentifier::new(STACK, &account.parse().unwrap(), tier).as_str().to_owned()
}

/// Returns the row with another value of the attribute, in DynamoDB's JSON. `null` removes the attribute.
pub(super) fn with(row: &Value, attribute: &str, value: Value) -> Value {
    let mut row = row.clone();
    let attributes = row.as_object_mut().unwrap();
    if value.is_null() {
        attributes.remove(attribute);
    } else {
        attributes.insert(attribute.to_owned(), value);
    }
    row
}

/// Puts a row, which replaces a row with the same key. An account also gets the key of its tier in API
/// Gateway.
pub(super) async fn put(cloud: &Cloud, row: &Value) {
    call(cloud, "PutItem", &json!({"TableName": TABLE, "Item": row})).await;
    let tier = Tier::ALL.into_iter().find(|tier| row["tier"]["S"] == tier.name());
    if let (Some(name), Some(tier)) = (row["pk"]["S"].as_str().unwrap().strip_prefix("account#"), tier) {
        cloud.attach_key(tier.name(), &usage_identifier(name, tier)).unwrap();
    }
}

/// Puts the row of an account of the tier starter, whose key in API Gateway is not new.
pub(super) async fn put_starter(cloud: &Cloud, name: &str) {
    let id = cloud.attach_key("starter", &usage_identifier(name, Tier::Starter)).unwrap();
    let key = json!({"id": {"S": id}, "plan": {"S": "StarterUsagePlan"}, "usable_from": {"N": "1777000000"}});
    let row = account_row(name, "starter", "active", 4_000_000_000);
    put(cloud, &with(&row, "gateway_keys", json!({"M": {"starter": {"M": key}}}))).await;
}

pub(super) async fn all(cloud: &Cloud) -> Vec<Value> {
    let mut page = call(cloud, "Scan", &json!({"TableName": TABLE})).await;
    assert_eq!(page["LastEvaluatedKey"], Value::Null, "the rows fit into one page");
    let Value::Array(rows) = page["Items"].take() else { panic!("{page}") };
    rows
}

/// The rows of the account, of its keys and of its requests.
pub(super) async fn of_account(cloud: &Cloud, name: &str) -> Vec<Value> {
    let (own, requests) = (format!("account#{name}"), format!("request#{name}#"));
    let mut rows = all(cloud).await;
    rows.retain(|row| {
        let key = row["pk"]["S"].as_str().unwrap();
        key == own || key.starts_with(&requests) || row["account"]["S"] == name
    });
    rows
}

pub(super) async fn delete(cloud: &Cloud, row: &Value) {
    call(cloud, "DeleteItem", &json!({"TableName": TABLE, "Key": {"pk": row["pk"]}})).await;
}
