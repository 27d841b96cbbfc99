//! Sends commands to the functions for accounts and keys, through Lambda's Invoke API.

use hyper::Method;
use local::Cloud;
use serde_json::{Value, json};

use crate::support::{ACCOUNTS, KEY_HEADER, invoke, send_with};

/// The response of the function to the command.
pub(super) async fn run(cloud: &Cloud, command: Value) -> Value {
    invoke(cloud, ACCOUNTS, command.to_string()).await.json()
}

/// Runs the command, which must succeed, and returns its result.
pub(super) async fn done(cloud: &Cloud, command: Value) -> Value {
    let mut response = run(cloud, command).await;
    assert!(response.get("error").is_none(), "{response}");
    response["result"].take()
}

/// Runs the command, which must fail, and returns the code of the error.
pub(super) async fn refused(cloud: &Cloud, command: Value) -> String {
    code(&run(cloud, command).await).to_owned()
}

#[track_caller]
pub(super) fn code(response: &Value) -> &str {
    response["error"]["code"].as_str().unwrap_or_else(|| panic!("{response}"))
}

#[track_caller]
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// Creates or changes the account, which is paid for long enough.
pub(super) async fn set_tier(cloud: &Cloud, account: &str, tier: &str) {
    let paid_until = "2200-01-01T00:00:00Z";
    let command =
        json!({"command": "set_account", "account": account, "tier": tier, "paid_until": paid_until});
    done(cloud, command).await;
}

/// Issues a key with this label, and returns the result.
pub(super) async fn issued(cloud: &Cloud, account: &str, label: &str) -> Value {
    done(cloud, json!({"command": "issue_key", "account": account, "label": label})).await
}

pub(super) async fn revoke(cloud: &Cloud, issued: &Value) {
    done(cloud, json!({"command": "revoke_key", "key_id": issued["id"]})).await;
}

/// The keys of the account that are issued and have no expiry.
pub(super) async fn working(cloud: &Cloud, account: &str) -> Vec<Value> {
    let mut listed = done(cloud, json!({"command": "list_keys", "account": account})).await;
    let Value::Array(keys) = listed["keys"].take() else { panic!("{listed}") };
    keys.into_iter().filter(|key| key["state"] == "issued" && key.get("expires_at").is_none()).collect()
}

/// The properties of the issued key, without the key itself.
pub(super) fn without_key(issued: &Value) -> Value {
    let mut properties = issued.clone();
    properties.as_object_mut().unwrap().remove("key");
    properties
}

pub(super) async fn status(cloud: &Cloud, key: &str) -> u16 {
    send_with(&cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await.status.as_u16()
}
