//! A command that is interrupted at any of its writes is completed by its repetition.

use std::time::{Duration, Instant};

use common::auth::Tier;
use local::{Cloud, Fault};
use serde_json::{Value, json};

use super::super::commands::{code, done, issued, revoke, run, set_tier, status, text, without_key, working};
use super::super::rows::{numbered_key, of_account};
use super::gateway::gateway_key;
use super::{HOUR, issue, replace};
use crate::support::{ACCOUNTS, expect_clean_logs, invoke, one_instance_each, start_with};

/// The DynamoDB operations with which the function writes.
const WRITES: [&str; 5] = ["TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"];

/// The number of writes that DynamoDB has received.
fn writes(cloud: &Cloud) -> u64 {
    WRITES.map(|operation| cloud.dynamodb().requests(operation)).iter().sum()
}

/// Invokes the function, and kills its process at the write after the first `count` writes. Returns the
/// response, or `None` if the process was killed.
pub(in crate::access) async fn interrupt(
    cloud: &Cloud,
    function: &str,
    event: &Value,
    count: u64,
) -> Option<Value> {
    let fault = WRITES.into_iter().fold(Fault::hang().after(count), Fault::on);
    cloud.dynamodb().set_fault(fault);
    let before = writes(cloud);
    let start = Instant::now();
    let response = tokio::select! {
        response = invoke(cloud, function, event.to_string()) => {
            let response = response.json();
            assert!(response.get("error").or(response.get("errorMessage")).is_none(), "{response}");
            Some(response)
        }
        () = async {
            while writes(cloud) <= before + count {
                assert!(start.elapsed() < Duration::from_mins(3), "{event} neither ended nor sent write {count}");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            cloud.kill(function).await.unwrap();
        } => None,
    };
    cloud.dynamodb().clear_faults();
    response
}

async fn is_interrupted(cloud: &Cloud, command: &Value, count: u64) -> bool {
    interrupt(cloud, ACCOUNTS, command, count).await.is_none()
}

#[tokio::test]
async fn a_command_on_a_key_is_completed_or_repeated_as_a_whole() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let mut number = 0;
    for kind in ["issue_key", "replace_key", "revoke_key"] {
        for count in 0.. {
            number += 1;
            for key in working(&cloud, "bots").await {
                revoke(&cloud, &key).await;
            }
            let id = format!("order-{number}");
            let command = if kind == "issue_key" {
                issue("ci", &id)
            } else {
                let issued = issued(&cloud, "bots", "ci").await;
                match kind {
                    "replace_key" => replace(&issued["id"], HOUR, &id),
                    _ => json!({"command": kind, "key_id": issued["id"]}),
                }
            };
            let rows = of_account(&cloud, "bots").await;
            let is_interrupted = is_interrupted(&cloud, &command, count).await;
            if is_interrupted {
                assert_eq!(of_account(&cloud, "bots").await, rows, "{kind} has more than one write");
            }
            let result = done(&cloud, command).await;
            let expected = if kind == "revoke_key" { vec![] } else { vec![without_key(&result)] };
            assert_eq!(working(&cloud, "bots").await, expected, "{kind} at write {count}");
            if !is_interrupted {
                assert_eq!(count, 1, "{kind} is one transaction");
                break;
            }
        }
    }
    expect_clean_logs(&cloud);
}

/// The key in API Gateway exists before the row of the account says so, also if the row is written only by
/// the repetition.
#[tokio::test]
async fn a_command_on_an_account_is_completed_with_its_key_in_api_gateway() {
    let cloud = start_with(one_instance_each()).await;
    let paid_until = "2200-01-01T00:00:00Z";
    let set = |account: &str, tier: &str| json!({"command": "set_account", "account": account, "tier": tier, "paid_until": paid_until});
    let import = |account: &str| {
        let row = json!({"account": account, "tier": "pro", "status": "active", "paid_until": paid_until});
        json!({"command": "import_row", "row": row})
    };
    for kind in ["new", "upgraded", "imported"] {
        for count in 0.. {
            let account = format!("{kind}-{count}");
            let command = if kind == "imported" { import(&account) } else { set(&account, "pro") };
            if kind == "upgraded" {
                done(&cloud, set(&account, "starter")).await;
            }
            let rows = of_account(&cloud, &account).await;
            let is_interrupted = is_interrupted(&cloud, &command, count).await;
            if is_interrupted {
                assert_eq!(of_account(&cloud, &account).await, rows);
            }
            assert!(gateway_key(&cloud, &account, Tier::Pro).await.is_some(), "{account}");
            done(&cloud, command).await;
            let issued = issued(&cloud, &account, "ci").await;
            assert_eq!(status(&cloud, text(&issued["key"])).await, 200, "{account}");
            if !is_interrupted {
                assert_eq!(count, 1, "{kind} is one transaction");
                break;
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_imported_key_is_complete_after_a_repetition() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    for (count, state) in [(0, "issued"), (1, "issued"), (0, "revoked"), (1, "revoked")] {
        let key = numbered_key(u32::from(count == 0) + 1);
        let mut row = json!({
            "sha256": key.digest().to_string(), "account": "bots", "label": format!("bot {count}"),
            "created_at": "2026-04-24T03:06:40Z", "last_four": key.last_four(), "state": state,
        });
        if state == "revoked" {
            row["revoked_at"] = json!("2026-05-01T00:00:00Z");
        }
        let command = json!({"command": "import_row", "row": row});
        assert_eq!(is_interrupted(&cloud, &command, count).await, count == 0);
        let outcome = done(&cloud, command).await;
        assert_eq!(outcome["outcome"], if count == 0 { "imported" } else { "already_there" });
        let expected = if state == "issued" { 200 } else { 401 };
        cloud.clock().advance(super::CACHED);
        assert_eq!(status(&cloud, key.expose()).await, expected);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_account_is_deleted_or_pruned_completely() {
    let cloud = start_with(one_instance_each()).await;
    for kind in ["delete_account", "prune_account"] {
        let mut least = 0;
        for count in 0.. {
            let account = format!("bots-{count}");
            done(&cloud, json!({
                "command": "set_account", "account": account, "tier": "pro", "paid_until": "2020-01-01T00:00:00Z",
            }))
            .await;
            issued(&cloud, &account, "valid").await;
            let ended = issued(&cloud, &account, "revoked").await;
            revoke(&cloud, &ended).await;
            let command = json!({"command": kind, "account": account});
            let is_interrupted = is_interrupted(&cloud, &command, count).await;
            let response = run(&cloud, command).await;
            if kind == "delete_account" {
                assert_eq!(
                    of_account(&cloud, &account).await,
                    Vec::<Value>::new(),
                    "{kind} at write {count}"
                );
                if !is_interrupted {
                    assert_eq!(code(&response), "no_account");
                }
            } else {
                assert!(response.get("error").is_none(), "{response}");
            }
            assert_eq!(gateway_key(&cloud, &account, Tier::Pro).await, None, "{kind} at write {count}");
            if !is_interrupted {
                least = count;
                break;
            }
        }
        // The valid keys, the ended keys, and the account; or the account, before and after its key in API
        // Gateway is deleted.
        assert_eq!(least, if kind == "delete_account" { 3 } else { 2 }, "{kind}");
    }
    expect_clean_logs(&cloud);
}
