//! Writes rows of the table `Access` for the tests.

use common::auth::ApiKey;
use local::Cloud;
use serde_json::{Value, json};

use crate::support::call;

const TABLE: &str = "Access";

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

/// The row of an account that is paid until this time in Unix seconds.
pub(super) fn account_row(name: &str, tier: &str, status: &str, paid_until: i64) -> Value {
    json!({
        "pk": {"S": format!("account#{name}")},
        "tier": {"S": tier},
        "status": {"S": status},
        "paid_until": {"N": paid_until.to_string()},
    })
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

/// Puts a row, which replaces a row with the same key.
pub(super) async fn put(cloud: &Cloud, row: &Value) {
    call(cloud, "PutItem", &json!({"TableName": TABLE, "Item": row})).await;
}

pub(super) async fn delete(cloud: &Cloud, row: &Value) {
    call(cloud, "DeleteItem", &json!({"TableName": TABLE, "Key": {"pk": row["pk"]}})).await;
}
