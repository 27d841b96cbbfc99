//! The function for keys accepts the six commands on the keys of one account, and nothing else. Its callers
//! are sites.

use local::Cloud;
use serde_json::{Value, json};

use super::super::commands::{code, issued, set_tier, text};
use super::super::rows::{all, of_account};
use crate::support::{expect_clean_logs, invoke, one_instance_each, start_with};

const COMMANDS: [&str; 6] = ["get_account", "list_keys", "issue_key", "replace_key", "revoke_key", "usage"];

async fn run(cloud: &Cloud, command: Value) -> Value {
    invoke(cloud, "KeysFunction", command.to_string()).await.json()
}

#[tokio::test]
async fn it_accepts_the_six_commands_on_the_keys_of_an_account() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let mut id = Value::Null;
    for command in COMMANDS.into_iter().filter(|command| *command != "issue_key") {
        if id.is_null() {
            let issue = json!({"command": "issue_key", "account": "bots", "label": "ci"});
            id = run(&cloud, issue).await["result"]["id"].take();
        }
        let mut event = json!({"command": command, "account": "bots"});
        match command {
            "replace_key" => {
                event["key_id"] = id.take();
                event["grace_seconds"] = json!(0);
            }
            "revoke_key" => event["key_id"] = id.clone(),
            _ => {}
        }
        let mut response = run(&cloud, event).await;
        assert!(response.get("error").is_none(), "{command}: {response}");
        if command == "replace_key" {
            id = response["result"]["id"].take();
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn it_refuses_every_other_command_and_names_the_six() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let issued = issued(&cloud, "bots", "ci").await;
    let rows = all(&cloud).await;
    for event in [
        json!({"command": "set_account", "account": "bots", "tier": "pro", "paid_until": "2200-01-01T00:00:00Z"}),
        json!({"command": "delete_account", "account": "bots"}),
        json!({"command": "prune_account", "account": "bots"}),
        json!({"command": "explain_key", "account": "bots", "key": issued["key"]}),
        json!({"command": "export_rows", "account": "bots"}),
        json!({"command": "import_row", "account": "bots", "row": {"account": "bots"}}),
        json!({"command": "invented", "account": "bots"}),
        json!({"command": ["issue_key"], "account": "bots"}),
        json!({"account": "bots"}),
        json!([]),
    ] {
        let response = run(&cloud, event.clone()).await;
        assert_eq!(code(&response), "invalid_command", "{event}: {response}");
        let message = text(&response["error"]["message"]);
        let is_named = |command: &&str| message.contains(*command);
        assert!(event.is_array() || COMMANDS.iter().all(is_named), "{event}: {message}");
    }
    assert_eq!(all(&cloud).await, rows);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn it_changes_only_keys_of_the_account_that_the_command_names() {
    let cloud = start_with(one_instance_each()).await;
    for account in ["bots", "others"] {
        set_tier(&cloud, account, "pro").await;
    }
    let issued = issued(&cloud, "bots", "ci").await;
    let rows = of_account(&cloud, "bots").await;
    for (command, grace) in [("revoke_key", None), ("replace_key", Some(0))] {
        let mut event = json!({"command": command, "key_id": issued["id"]});
        if let Some(grace) = grace {
            event["grace_seconds"] = json!(grace);
        }
        for (account, expected) in [
            (None, "invalid_command"),
            (Some(Value::Null), "invalid_command"),
            (Some(json!("others")), "no_key"),
        ] {
            let mut event = event.clone();
            if let Some(account) = account {
                event["account"] = account;
            }
            let response = run(&cloud, event.clone()).await;
            assert_eq!(code(&response), expected, "{event}: {response}");
            let named = if expected == "no_key" { "there is no key" } else { "account" };
            assert!(text(&response["error"]["message"]).contains(named), "{response}");
        }
    }
    // The function for accounts also compares the account, if the command names one.
    let event = json!({"command": "revoke_key", "key_id": issued["id"], "account": "others"});
    assert_eq!(super::refused(&cloud, event).await, "no_key");
    assert_eq!(of_account(&cloud, "bots").await, rows);
    expect_clean_logs(&cloud);
}
