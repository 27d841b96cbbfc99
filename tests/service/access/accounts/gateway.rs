//! Each account has one key in API Gateway per tier, which all of its keys share. It exists before the
//! account has the tier, and is used once API Gateway accepts it.

use std::time::Duration;

use common::auth::Tier;
use hyper::Method;
use local::{Cloud, Options};
use serde_json::{Value, json};

use super::super::commands::{done, issued, revoke, set_tier, status, text};
use super::super::rows::{STACK, put_starter, usage_identifier};
use super::CACHED;
use crate::support::{
    KEY_HEADER, control, expect_clean_logs, log_lines, one_instance_each, send, send_with, start_with,
    with_parameters,
};

/// The id of the account's key of this tier in API Gateway, if there is one.
pub(in crate::access) async fn gateway_key(cloud: &Cloud, account: &str, tier: Tier) -> Option<String> {
    let name = format!("{STACK}-{}", usage_identifier(account, tier));
    let path = format!("/apikeys?name={name}&limit=500");
    let (_, found) = control(cloud, Method::GET, &path, Value::Null).await;
    let items = found["item"].as_array().unwrap();
    items.iter().find(|key| key["name"] == *name).map(|key| text(&key["id"]).to_owned())
}

/// The number of keys in API Gateway.
async fn count(cloud: &Cloud) -> usize {
    let (_, found) = control(cloud, Method::GET, "/apikeys?limit=500", Value::Null).await;
    found["item"].as_array().unwrap().len()
}

#[tokio::test]
async fn keys_of_the_service_are_not_in_api_gateway_and_a_usage_identifier_is_no_key() {
    let cloud = start_with(one_instance_each()).await;
    let initial = count(&cloud).await;
    set_tier(&cloud, "bots", "pro").await;
    let id = gateway_key(&cloud, "bots", Tier::Pro).await.unwrap();
    // Issuing, replacing and revoking are writes of the table only.
    for number in 0..3 {
        let issued = issued(&cloud, "bots", &format!("bot {number}")).await;
        let replace = json!({"command": "replace_key", "key_id": issued["id"], "grace_seconds": 0});
        let new = done(&cloud, replace).await;
        assert_eq!(status(&cloud, text(&new["key"])).await, 200);
        revoke(&cloud, &new).await;
    }
    assert_eq!(count(&cloud).await, initial + 1);
    // A return to an earlier tier finds its key.
    for tier in ["starter", "pro", "starter"] {
        set_tier(&cloud, "bots", tier).await;
    }
    assert_eq!(count(&cloud).await, initial + 2);
    assert_eq!(gateway_key(&cloud, "bots", Tier::Pro).await, Some(id.clone()));

    for value in
        [usage_identifier("bots", Tier::Pro), id, format!("{STACK}-{}", usage_identifier("bots", Tier::Pro))]
    {
        let headers = [(KEY_HEADER, value.as_str())];
        send_with(&cloud.url(), Method::GET, "/v1/mayor", &headers).await.error("UNAUTHORIZED");
    }
    send(&cloud.url(), Method::GET, "/v1/mayor").await.error("UNAUTHORIZED");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_new_account_is_refused_until_api_gateway_accepts_it() {
    let delay = Duration::from_mins(2);
    let cloud = start_with(Options { gateway_key_delay: delay, ..one_instance_each() }).await;
    cloud.clock().stop();
    set_tier(&cloud, "bots", "starter").await;
    let issued = issued(&cloud, "bots", "ci").await;
    let key = text(&issued["key"]);
    let get = async || send_with(&cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await;
    let message = get().await.error("UNAUTHORIZED");
    assert!(message.contains("new"), "{message}");
    let account = done(&cloud, json!({"command": "get_account", "account": "bots"})).await;
    assert!(account["usable_from"].is_string() && account["allowed"] == true, "{account}");
    let explained = done(&cloud, json!({"command": "explain_key", "key": key})).await;
    assert_eq!(explained["status"], 401);
    assert!(text(&explained["reason"]).contains("the account is new"), "{explained}");
    cloud.clock().advance(delay);
    get().await.data();
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_upgrade_refuses_nobody_while_the_new_key_does_not_work() {
    let delay = Duration::from_mins(2);
    let cloud = start_with(Options { gateway_key_delay: delay, ..one_instance_each() }).await;
    cloud.clock().stop();
    put_starter(&cloud, "bots").await;
    let issued = issued(&cloud, "bots", "ci").await;
    let key = text(&issued["key"]);
    assert_eq!(status(&cloud, key).await, 200);
    set_tier(&cloud, "bots", "pro").await;
    // The clock of the functions that create the key is not ahead of this one by more than the last step.
    for seconds in [0, 30, 30, 30, 65, 65, 600] {
        cloud.clock().advance(Duration::from_secs(seconds));
        assert_eq!(status(&cloud, key).await, 200);
    }
    // Requests count in the old tier at first, and then in the new one.
    let is_decision = |line: &Value| line["message"] == "allowed";
    let lines: Vec<_> = log_lines(&cloud).into_iter().filter(is_decision).collect();
    let counted: Vec<_> = lines.iter().map(|line| text(&line["counted_in"])).collect();
    assert!(counted.first() == Some(&"starter") && counted.last() == Some(&"pro"), "{counted:?}");
    expect_clean_logs(&cloud);
}

/// An interrupted command can leave a key in API Gateway that no row names, and an operator can delete a key
/// that a row names.
#[tokio::test]
async fn a_key_that_is_incomplete_in_api_gateway_is_completed() {
    let cloud = start_with(one_instance_each()).await;
    let value = |account: &str| usage_identifier(account, Tier::Pro);
    let create = async |account: &str| {
        let value = value(account);
        let body = json!({"name": format!("{STACK}-{value}"), "value": value, "enabled": true});
        let (status, key) = control(&cloud, Method::POST, "/apikeys", body).await;
        assert_eq!(status, 201, "{key}");
        text(&key["id"]).to_owned()
    };
    let created = create("created").await;
    let attached = create("attached").await;
    let body = json!({"keyId": attached, "keyType": "API_KEY"});
    assert_eq!(control(&cloud, Method::POST, "/usageplans/ProUsagePlan/keys", body).await.0, 201);
    for (account, id) in [("created", created), ("attached", attached)] {
        set_tier(&cloud, account, "pro").await;
        assert_eq!(gateway_key(&cloud, account, Tier::Pro).await, Some(id));
        let issued = issued(&cloud, account, "ci").await;
        assert_eq!(status(&cloud, text(&issued["key"])).await, 200, "{account}");
    }

    set_tier(&cloud, "bots", "pro").await;
    let id = gateway_key(&cloud, "bots", Tier::Pro).await.unwrap();
    assert_eq!(control(&cloud, Method::DELETE, &format!("/apikeys/{id}"), Value::Null).await.0, 202);
    let issued = issued(&cloud, "bots", "ci").await;
    assert_eq!(status(&cloud, text(&issued["key"])).await, 401);
    // A suspended account needs no key, so a suspension works while API Gateway fails.
    let keys = count(&cloud).await;
    for (status, created) in [("suspended", 0), ("active", 1)] {
        done(&cloud, json!({"command": "set_account", "account": "bots", "status": status})).await;
        assert_eq!(count(&cloud).await, keys + created, "{status}");
    }
    let id = gateway_key(&cloud, "bots", Tier::Pro).await.unwrap();
    assert_eq!(control(&cloud, Method::DELETE, &format!("/apikeys/{id}"), Value::Null).await.0, 202);
    // A command without changes completes the key.
    done(&cloud, json!({"command": "set_account", "account": "bots"})).await;
    assert!(gateway_key(&cloud, "bots", Tier::Pro).await.is_some());
    cloud.clock().advance(CACHED);
    assert_eq!(status(&cloud, text(&issued["key"])).await, 200);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_tier_that_is_not_offered_is_refused() {
    let cloud = start_with(one_instance_each()).await;
    let command = json!({
        "command": "set_account", "account": "bots", "tier": "free", "paid_until": "2200-01-01T00:00:00Z",
    });
    assert_eq!(super::refused(&cloud, command.clone()).await, "invalid_command");
    let options = with_parameters(one_instance_each(), &[("FreePlan", "on")]);
    let cloud = start_with(options).await;
    done(&cloud, command).await;
    let issued = issued(&cloud, "bots", "ci").await;
    assert_eq!(status(&cloud, text(&issued["key"])).await, 200);
    expect_clean_logs(&cloud);
}
