//! Programs manage accounts and keys with the functions for accounts and keys, through Lambda's Invoke API.

mod deleted;
pub(super) mod exported;
pub(super) mod gateway;
pub(super) mod interrupted;
mod keys_function;
mod limits;
mod repeated;
mod trail;

use std::time::Duration;

use serde_json::{Value, json};

use super::commands::{done, refused, run, set_tier, status, text, without_key, working};
use super::expect_no_secrets;
use crate::support::{await_logs, expect_clean_logs, one_instance_each, start_with};

const HOUR: u32 = 3600;
/// The longest time for which a decision is cached.
const CACHED: Duration = Duration::from_secs(65);

/// The command that issues a key with this label to the account `bots`.
fn issue(label: &str, request_id: &str) -> Value {
    json!({"command": "issue_key", "account": "bots", "label": label, "request_id": request_id})
}

/// The command that replaces the key.
fn replace(key_id: &Value, grace_seconds: u32, request_id: &str) -> Value {
    json!({"command": "replace_key", "key_id": key_id, "grace_seconds": grace_seconds, "request_id": request_id})
}

#[tokio::test]
async fn a_program_sells_access() {
    let cloud = start_with(one_instance_each()).await;
    let get = json!({"command": "get_account", "account": "bots"});
    assert_eq!(refused(&cloud, get.clone()).await, "no_account");
    let incomplete = json!({"command": "set_account", "account": "bots", "tier": "pro"});
    assert_eq!(refused(&cloud, incomplete).await, "incomplete_account");
    set_tier(&cloud, "bots", "pro").await;
    let issued = done(&cloud, issue("ci", "order-1")).await;
    let (key, id) = (text(&issued["key"]), text(&issued["id"]));
    assert_eq!(status(&cloud, key).await, 200);
    let account = done(&cloud, get.clone()).await;
    let expected = json!({
        "name": "bots", "tier": "pro", "status": "active", "paid_until": "2200-01-01T00:00:00Z", "allowed": true,
        "reason": null, "usable_from": null, "subscriptions": [], "keys": [without_key(&issued)],
    });
    assert_eq!(account, expected);
    // Omitted fields keep their values.
    let suspended = json!({"command": "set_account", "account": "bots", "status": "suspended"});
    let account = done(&cloud, suspended).await;
    assert_eq!((&account["tier"], &account["allowed"]), (&json!("pro"), &json!(false)));
    let explained = done(&cloud, json!({"command": "explain_key", "key": key})).await;
    assert_eq!((&explained["status"], text(&explained["key"]["id"])), (&json!(403), id));
    for _ in 0..2 {
        let revoked = done(&cloud, json!({"command": "revoke_key", "key_id": id})).await;
        assert_eq!(revoked["state"], "revoked");
    }
    cloud.clock().advance(CACHED);
    assert_eq!(status(&cloud, key).await, 401);
    assert_eq!(refused(&cloud, json!({"command": "revoke_key", "key_id": "0".repeat(24)})).await, "no_key");

    let line = await_logs(&cloud, 1, |line| line["command"] == "issue_key").await.remove(0);
    let named =
        ["caller_request_id", "account", "key_id", "message"].map(|field| text(&line[field]).to_owned());
    assert_eq!(named, ["order-1", "bots", id, "done"]);
    let line = await_logs(&cloud, 1, |line| line["command"] == "explain_key").await.remove(0);
    assert_eq!((&line["account"], text(&line["key_id"])), (&json!("bots"), id));
    await_logs(&cloud, 1, |line| line["command"] == "get_account" && line["message"] == "refused").await;
    expect_no_secrets(&cloud, &[key]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_event_that_is_no_command_is_refused_and_no_key_in_it_repeated() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let issued = done(&cloud, issue("ci", "order-1")).await;
    let key = text(&issued["key"]);
    for event in [
        json!([]),
        json!({}),
        json!({"command": key}),
        json!({"command": "get_account", "account": key}),
        json!({"command": "get_account", "account": "bots", key: 1}),
        json!({"command": "get_account", "account": "a b"}),
        json!({"command": "issue_key", "account": "bots", "label": format!("for {key}")}),
        json!({"command": "issue_key", "account": "bots", "label": "ci", "request_id": key}),
        json!({"command": "issue_key", "account": "bots", "label": "ci", "request_id": ""}),
        json!({"command": "set_account", "account": "bots", "tier": "gold"}),
        json!({"command": "revoke_key", "key_id": key}),
        json!({"command": "replace_key", "key_id": issued["id"], "grace_seconds": 7 * 24 * HOUR + 1}),
    ] {
        let response = run(&cloud, event).await;
        assert_eq!(response["error"]["code"], "invalid_command", "{response}");
        assert!(!response.to_string().contains(&key[3..35]), "{response}");
    }
    // For a malformed key, `explain_key` explains the 401.
    let explained = done(&cloud, json!({"command": "explain_key", "key": "gd_"})).await;
    assert_eq!((&explained["status"], &explained["allowed"]), (&json!(401), &json!(false)));
    expect_no_secrets(&cloud, &[key]);
}

#[tokio::test]
async fn a_replaced_key_stops_at_the_end_of_its_grace_time() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let old = done(&cloud, issue("ci", "order-1")).await;
    let replace =
        |id: &Value, grace: u32| json!({"command": "replace_key", "key_id": id, "grace_seconds": grace});
    let new = done(&cloud, replace(&old["id"], HOUR)).await;
    assert_eq!((&new["label"], &new["state"]), (&old["label"], &json!("issued")));
    let [old_key, new_key] = [&old, &new].map(|issued| text(&issued["key"]));
    assert_eq!([status(&cloud, old_key).await, status(&cloud, new_key).await], [200, 200]);
    let explained = done(&cloud, json!({"command": "explain_key", "key": old_key})).await;
    assert!(explained["key"]["expires_at"].is_string(), "{explained}");
    // The label now belongs to the new key.
    assert_eq!(refused(&cloud, issue("ci", "order-2")).await, "label_taken");
    assert_eq!(refused(&cloud, replace(&old["id"], HOUR)).await, "label_taken");
    cloud.clock().advance(Duration::from_secs(HOUR.into()) + CACHED);
    assert_eq!([status(&cloud, old_key).await, status(&cloud, new_key).await], [401, 200]);

    let last = done(&cloud, replace(&new["id"], 0)).await;
    assert_eq!(refused(&cloud, replace(&new["id"], 0)).await, "not_issued");
    let explained = done(&cloud, json!({"command": "explain_key", "key": new_key})).await;
    assert_eq!(explained["key"]["state"], "revoked");
    let [only] = <[Value; 1]>::try_from(working(&cloud, "bots").await).unwrap();
    assert_eq!(only["id"], last["id"]);
    expect_no_secrets(&cloud, &[old_key, new_key]);
}

/// The runtime would repeat a name in an event that it cannot parse.
#[tokio::test]
async fn an_event_that_cannot_be_parsed_is_refused_and_no_key_in_it_repeated() {
    let cloud = start_with(one_instance_each()).await;
    let key = super::rows::numbered_key(1);
    let key = key.expose();
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for value in [r#""\ud800""#, r#"{"a":1e999}"#, &nested] {
        let event = format!(r#"{{"command":"get_account","{key}":{value}}}"#);
        let response = crate::support::invoke(&cloud, crate::support::ACCOUNTS, event).await;
        assert_eq!(super::commands::code(&response.json()), "invalid_command");
        assert!(!response.text.contains(&key[3..35]), "{}", response.text);
    }
    expect_no_secrets(&cloud, &[key]);
}
