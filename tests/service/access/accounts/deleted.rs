//! `delete_account` leaves no row of the account or its keys and no key in API Gateway. `prune_account`
//! deletes only the keys in API Gateway of an account that has not been paid for in 180 days.

use std::time::Duration;

use common::auth::Tier;
use common::time::{UnixMilliseconds, UnixSeconds};
use hyper::Method;
use serde_json::{Value, json};

use super::super::commands::{done, issued, refused, revoke, set_tier, status, text};
use super::super::rows::{numbered_key, of_account};
use super::gateway::gateway_key;
use super::interrupted::interrupt;
use super::{CACHED, HOUR, issue};
use crate::support::{ACCOUNTS, control, expect_clean_logs, one_instance_each, start, start_with};

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn a_deleted_account_leaves_nothing() {
    let cloud = start_with(one_instance_each()).await;
    for account in ["bots", "others"] {
        for tier in ["starter", "pro"] {
            set_tier(&cloud, account, tier).await;
        }
    }
    let other = issued(&cloud, "others", "ci").await;
    let others = of_account(&cloud, "others").await;
    let key = issued(&cloud, "bots", "ci").await;
    let replaced = issued(&cloud, "bots", "replaced").await;
    done(&cloud, json!({"command": "replace_key", "key_id": replaced["id"], "grace_seconds": HOUR})).await;
    for number in 0..3 {
        let issued = done(&cloud, issue(&format!("bot {number}"), &format!("order-{number}"))).await;
        revoke(&cloud, &issued).await;
    }
    let delete = json!({"command": "delete_account", "account": "bots"});
    assert_eq!(done(&cloud, delete.clone()).await, json!({"account": "bots", "keys": 6}));
    // The ids of requests expire within a day.
    for row in of_account(&cloud, "bots").await {
        assert!(
            text(&row["pk"]["S"]).starts_with("request#bots#order-") && row["ttl"]["N"].is_string(),
            "{row}"
        );
    }
    for tier in [Tier::Starter, Tier::Pro] {
        assert_eq!(gateway_key(&cloud, "bots", tier).await, None);
    }
    assert_eq!(refused(&cloud, delete).await, "no_account");
    for command in ["get_account", "list_keys", "usage", "prune_account"] {
        assert_eq!(refused(&cloud, json!({"command": command, "account": "bots"})).await, "no_account");
    }
    assert_eq!(status(&cloud, text(&key["key"])).await, 401);

    assert_eq!(of_account(&cloud, "others").await, others);
    assert_eq!(status(&cloud, text(&other["key"])).await, 200);
    // Another account may have the name.
    set_tier(&cloud, "bots", "pro").await;
    let account = done(&cloud, json!({"command": "get_account", "account": "bots"})).await;
    assert_eq!(account["keys"], json!([]));
    let key = issued(&cloud, "bots", "ci").await;
    assert_eq!(status(&cloud, text(&key["key"])).await, 200);
    expect_clean_logs(&cloud);
}

/// More keys than are deleted at once.
#[tokio::test]
async fn an_account_with_many_revoked_keys_is_deleted_completely() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let row = |number: u32| {
        let key = numbered_key(number);
        json!({
            "sha256": key.digest().to_string(), "account": "bots", "label": "old", "last_four": key.last_four(),
            "created_at": "2026-04-24T03:06:40Z", "state": "revoked", "revoked_at": "2026-04-24T03:06:40Z",
        })
    };
    for number in 0..230 {
        done(&cloud, json!({"command": "import_row", "row": row(number)})).await;
    }
    let delete = json!({"command": "delete_account", "account": "bots"});
    assert_eq!(done(&cloud, delete).await, json!({"account": "bots", "keys": 230}));
    assert_eq!(of_account(&cloud, "bots").await, Vec::<Value>::new());
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_account_loses_its_keys_in_api_gateway_180_days_after_its_paid_time_and_gets_them_with_the_next() {
    let cloud = start_with(one_instance_each()).await;
    let now = UnixSeconds::from(UnixMilliseconds::of_system_clock());
    let prune = json!({"command": "prune_account", "account": "bots"});
    let paid_until = async |time: UnixSeconds| {
        let command = json!({"command": "set_account", "account": "bots", "tier": "pro", "paid_until": time.to_string()});
        done(&cloud, command).await;
    };
    paid_until(now.minus(179 * DAY)).await;
    let issued = issued(&cloud, "bots", "ci").await;
    assert_eq!(done(&cloud, prune.clone()).await, json!({"account": "bots", "gateway_keys": 0}));
    assert!(gateway_key(&cloud, "bots", Tier::Pro).await.is_some());
    paid_until(now.minus(181 * DAY)).await;
    for expected in [1, 0] {
        assert_eq!(done(&cloud, prune.clone()).await, json!({"account": "bots", "gateway_keys": expected}));
        assert_eq!(gateway_key(&cloud, "bots", Tier::Pro).await, None);
    }
    assert_eq!(status(&cloud, text(&issued["key"])).await, 403);
    paid_until(now.plus(30 * DAY)).await;
    assert!(gateway_key(&cloud, "bots", Tier::Pro).await.is_some());
    cloud.clock().advance(CACHED);
    assert_eq!(status(&cloud, text(&issued["key"])).await, 200);

    // A key that an interrupted command has deleted is no error.
    paid_until(now.minus(181 * DAY)).await;
    let id = gateway_key(&cloud, "bots", Tier::Pro).await.unwrap();
    control(&cloud, Method::DELETE, &format!("/apikeys/{id}"), Value::Null).await;
    assert_eq!(done(&cloud, prune.clone()).await["gateway_keys"], 1);
    // The account lacks the tier of a key that an interrupted command has marked.
    paid_until(now.minus(181 * DAY)).await;
    let id = gateway_key(&cloud, "bots", Tier::Pro).await.unwrap();
    let row = async || json!(of_account(&cloud, "bots").await).to_string();
    assert!(interrupt(&cloud, ACCOUNTS, &prune, 1).await.is_none() && row().await.contains(&id));
    set_tier(&cloud, "bots", "starter").await;
    assert!(!row().await.contains(&id));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_renewal_while_an_account_is_pruned_leaves_a_key_that_works() {
    let cloud = start().await;
    let old = UnixSeconds::from(UnixMilliseconds::of_system_clock()).minus(181 * DAY).to_string();
    for round in 0..15 {
        let account = format!("bots-{round}");
        let paid_until = |time: &str| json!({"command": "set_account", "account": account, "tier": "pro", "paid_until": time});
        done(&cloud, paid_until(&old)).await;
        let key = issued(&cloud, &account, "ci").await;
        let prune = json!({"command": "prune_account", "account": account});
        tokio::join!(done(&cloud, prune), done(&cloud, paid_until("2200-01-01T00:00:00Z")));
        assert!(gateway_key(&cloud, &account, Tier::Pro).await.is_some(), "round {round}");
        assert_eq!(status(&cloud, text(&key["key"])).await, 200, "round {round}");
    }
    expect_clean_logs(&cloud);
}
