//! Programs manage accounts and keys with the accounts function, through Lambda's Invoke API. Commands may be interrupted and repeated,
//! and no log line has a key.

use std::time::{Duration, Instant};

use hyper::Method;
use local::{Cloud, Fault};
use serde_json::{Value, json};

use super::expect_no_secrets;
use crate::support::{
    ACCOUNTS, KEY_HEADER, await_logs, expect_clean_logs, invoke, one_instance_each, send_with, start,
    start_with,
};

/// The DynamoDB operations with which the function writes.
const WRITES: [&str; 3] = ["PutItem", "UpdateItem", "DeleteItem"];
const HOUR: u32 = 3600;
/// The longest time for which a decision is cached.
const CACHED: Duration = Duration::from_secs(65);

/// The response of the function to the command.
async fn run(cloud: &Cloud, command: Value) -> Value {
    invoke(cloud, ACCOUNTS, command.to_string()).await.json()
}

/// Runs the command, which must succeed, and returns its result.
async fn done(cloud: &Cloud, command: Value) -> Value {
    let mut response = run(cloud, command).await;
    assert!(response.get("error").is_none(), "{response}");
    response["result"].take()
}

/// Runs the command, which must fail, and returns the code of the error.
async fn refused(cloud: &Cloud, command: Value) -> String {
    let response = run(cloud, command).await;
    response["error"]["code"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

async fn with_bots(cloud: &Cloud) {
    done(cloud, json!({"command": "set_account", "account": "bots", "tier": "pro", "paid_until": "2200-01-01T00:00:00Z"}))
        .await;
}

fn issue(request_id: &str) -> Value {
    json!({"command": "issue_key", "account": "bots", "label": "ci", "request_id": request_id})
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// The keys of the account `bots` that are issued and have no expiry.
async fn working(cloud: &Cloud) -> Vec<Value> {
    let mut listed = done(cloud, json!({"command": "list_keys", "account": "bots"})).await;
    let Value::Array(keys) = listed["keys"].take() else { panic!("{listed}") };
    keys.into_iter().filter(|key| key["state"] == "issued" && key.get("expires_at").is_none()).collect()
}

/// The status of a request with the key.
async fn status(cloud: &Cloud, key: &str) -> u16 {
    send_with(&cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await.status.as_u16()
}

#[tokio::test]
async fn a_program_sells_access() {
    let cloud = start_with(one_instance_each()).await;
    let get = json!({"command": "get_account", "account": "bots"});
    assert_eq!(refused(&cloud, get.clone()).await, "no_account");
    let incomplete = json!({"command": "set_account", "account": "bots", "tier": "pro"});
    assert_eq!(refused(&cloud, incomplete).await, "incomplete_account");
    with_bots(&cloud).await;
    let issued = done(&cloud, issue("order-1")).await;
    let (key, id) = (text(&issued["key"]), text(&issued["id"]));
    assert_eq!(status(&cloud, key).await, 200);
    let account = done(&cloud, get.clone()).await;
    let expected = json!({
        "name": "bots", "tier": "pro", "status": "active", "paid_until": "2200-01-01T00:00:00Z", "allowed": true,
        "reason": null, "keys": [issued_without_key(&issued)],
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
async fn an_account_has_at_most_twenty_valid_keys() {
    let cloud = start_with(one_instance_each()).await;
    with_bots(&cloud).await;
    let labelled =
        |number: u32| json!({"command": "issue_key", "account": "bots", "label": format!("bot {number}")});
    let mut first = Value::Null;
    for number in 0..20 {
        first = done(&cloud, labelled(number)).await["id"].take();
    }
    assert_eq!(refused(&cloud, labelled(20)).await, "too_many_keys");
    assert_eq!(refused(&cloud, labelled(0)).await, "label_taken");
    // One of twenty keys can be replaced. During the grace time, the old key also counts, so no second key can be replaced.
    let replace = |id: &Value| json!({"command": "replace_key", "key_id": id, "grace_seconds": HOUR});
    let second = done(&cloud, replace(&first)).await["id"].take();
    assert_eq!(refused(&cloud, replace(&second)).await, "too_many_keys");
    for id in [&first, &second] {
        done(&cloud, json!({"command": "revoke_key", "key_id": id})).await;
    }
    done(&cloud, labelled(20)).await;
    expect_clean_logs(&cloud);
}

/// The properties of the issued key, without the key itself.
fn issued_without_key(issued: &Value) -> Value {
    let mut properties = issued.clone();
    properties.as_object_mut().unwrap().remove("key");
    properties
}

#[tokio::test]
async fn an_event_that_is_no_command_is_refused_and_no_key_in_it_repeated() {
    let cloud = start_with(one_instance_each()).await;
    with_bots(&cloud).await;
    let issued = done(&cloud, issue("order-1")).await;
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
    with_bots(&cloud).await;
    let old = done(&cloud, issue("order-1")).await;
    let replace =
        |id: &Value, grace: u32| json!({"command": "replace_key", "key_id": id, "grace_seconds": grace});
    let new = done(&cloud, replace(&old["id"], HOUR)).await;
    assert_eq!((&new["label"], &new["state"]), (&old["label"], &json!("issued")));
    let [old_key, new_key] = [&old, &new].map(|issued| text(&issued["key"]));
    assert_eq!([status(&cloud, old_key).await, status(&cloud, new_key).await], [200, 200]);
    let explained = done(&cloud, json!({"command": "explain_key", "key": old_key})).await;
    assert!(explained["key"]["expires_at"].is_string(), "{explained}");
    // The label now belongs to the new key.
    assert_eq!(refused(&cloud, issue("order-2")).await, "label_taken");
    assert_eq!(refused(&cloud, replace(&old["id"], HOUR)).await, "label_taken");
    cloud.clock().advance(Duration::from_secs(HOUR.into()) + CACHED);
    assert_eq!([status(&cloud, old_key).await, status(&cloud, new_key).await], [401, 200]);

    let last = done(&cloud, replace(&new["id"], 0)).await;
    assert_eq!(refused(&cloud, replace(&new["id"], 0)).await, "not_issued");
    let explained = done(&cloud, json!({"command": "explain_key", "key": new_key})).await;
    assert_eq!(explained["key"]["state"], "revoked");
    let [only] = <[Value; 1]>::try_from(working(&cloud).await).unwrap();
    assert_eq!(only["id"], last["id"]);
    expect_no_secrets(&cloud, &[old_key, new_key]);
}

#[tokio::test]
async fn a_repeated_request_replaces_the_key_whose_response_was_lost() {
    let cloud = start_with(one_instance_each()).await;
    with_bots(&cloud).await;
    let lost = done(&cloud, issue("order-1")).await;
    let kept = done(&cloud, issue("order-1")).await;
    assert_eq!([&lost, &kept].map(|issued| text(&issued["label"])), ["ci", "ci"]);
    assert_eq!(
        [status(&cloud, text(&lost["key"])).await, status(&cloud, text(&kept["key"])).await],
        [401, 200]
    );
    let ids: Vec<_> = working(&cloud).await.iter().map(|key| key["id"].clone()).collect();
    assert_eq!(ids, [kept["id"].clone()]);
    // A command with another request id finds the label taken.
    assert_eq!(refused(&cloud, issue("order-2")).await, "label_taken");
    // Once the row of the request id `order-1` has expired, repeating the first command finds the label taken.
    let database = cloud.dynamodb().database();
    let row = json!({
        "TableName": "Access",
        "Item": {"pk": {"S": "request#bots#order-1"}, "key": {"S": kept["id"]}, "ttl": {"N": "1000000000"}},
    });
    database.put_item(serde_json::from_value(row).unwrap()).unwrap();
    assert_eq!(refused(&cloud, issue("order-1")).await, "label_taken");

    let replace =
        json!({"command": "replace_key", "key_id": kept["id"], "grace_seconds": 0, "request_id": "order-3"});
    let first = done(&cloud, replace.clone()).await;
    let second = done(&cloud, replace).await;
    assert_eq!(working(&cloud).await, [issued_without_key(&second)]);
    assert_ne!(first["id"], second["id"]);
}

#[tokio::test]
async fn requests_at_once_leave_one_key_for_each() {
    let cloud = start().await;
    with_bots(&cloud).await;
    let same = std::iter::repeat_n(issue("order-1"), 4).map(|command| run(&cloud, command));
    let responses = futures_util::future::join_all(same).await;
    let [only] = <[Value; 1]>::try_from(working(&cloud).await).unwrap();
    let shown = responses.iter().filter(|response| response["result"]["id"] == only["id"]);
    assert_eq!(shown.count(), 1, "{responses:?}");

    let changes = [
        json!({"tier": "starter"}),
        json!({"status": "suspended"}),
        json!({"paid_until": "2100-01-01T00:00:00Z"}),
    ];
    let changes = changes.map(|mut change| {
        change
            .as_object_mut()
            .unwrap()
            .extend([("command".to_owned(), json!("set_account")), ("account".to_owned(), json!("bots"))]);
        done(&cloud, change)
    });
    futures_util::future::join_all(changes).await;
    let account = done(&cloud, json!({"command": "get_account", "account": "bots"})).await;
    let values = ["tier", "status", "paid_until"].map(|field| text(&account[field]));
    assert_eq!(values, ["starter", "suspended", "2100-01-01T00:00:00Z"]);
}

/// The number of writes that DynamoDB has received.
fn writes(cloud: &Cloud) -> u64 {
    WRITES.map(|operation| cloud.dynamodb().requests(operation)).iter().sum()
}

/// Runs the command, and kills its process at the write after the first `count` writes. Returns whether there was such a write.
async fn interrupt(cloud: &Cloud, command: &Value, count: u64) -> bool {
    let fault = WRITES.into_iter().fold(Fault::hang().after(count), Fault::on);
    cloud.dynamodb().set_fault(fault);
    let before = writes(cloud);
    let start = Instant::now();
    let is_interrupted = tokio::select! {
        response = run(cloud, command.clone()) => {
            assert!(response.get("error").is_none(), "{response}");
            false
        }
        () = async {
            while writes(cloud) <= before + count {
                assert!(start.elapsed() < Duration::from_mins(3), "{command} neither ended nor sent write {count}");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            cloud.kill(ACCOUNTS).await.unwrap();
        } => true,
    };
    cloud.dynamodb().clear_faults();
    is_interrupted
}

#[tokio::test]
async fn a_command_that_is_interrupted_at_any_write_is_completed_by_its_repetition() {
    let cloud = start_with(one_instance_each()).await;
    let mut number = 0;
    for (kind, least) in [("issue_key", 3), ("replace_key", 4), ("revoke_key", 1)] {
        for count in 0.. {
            number += 1;
            with_bots(&cloud).await;
            for key in working(&cloud).await {
                done(&cloud, json!({"command": "revoke_key", "key_id": key["id"]})).await;
            }
            let command = if kind == "issue_key" {
                issue(&format!("order-{number}"))
            } else {
                let issued = done(&cloud, issue(&format!("first-{number}"))).await;
                let mut command = json!({"command": kind, "key_id": issued["id"]});
                if kind == "replace_key" {
                    command["request_id"] = json!(format!("order-{number}"));
                    command["grace_seconds"] = json!(HOUR);
                }
                command
            };
            let is_interrupted = interrupt(&cloud, &command, count).await;
            let result = done(&cloud, command).await;
            let expected = if kind == "revoke_key" { vec![] } else { vec![issued_without_key(&result)] };
            assert_eq!(working(&cloud).await, expected, "{kind} at write {count}");
            if !is_interrupted {
                assert!(count >= least, "{kind} has {count} writes");
                break;
            }
        }
    }
    expect_clean_logs(&cloud);
}
