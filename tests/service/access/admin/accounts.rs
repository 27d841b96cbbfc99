//! `account set`, `show`, `usage`, `delete` and `prune`.

use hyper::Method;
use serde_json::{Value, json};

use super::Access;
use crate::support::{KEY_HEADER, send_with};

#[tokio::test]
async fn a_new_account_is_shown() {
    let access = Access::start().await;
    let set = ["account", "set", "zoe+bots@example.com", "--tier", "pro", "--paid-until", "2200-01-01"];
    let outcome = access.succeed(&set).await;
    let expected = [
        vec!["account", "zoe+bots@example.com"],
        vec!["tier", "pro"],
        vec!["status", "active"],
        vec!["paid", "until", "2200-01-01T00:00:00Z"],
        vec!["allowed", "yes"],
    ];
    assert_eq!(outcome.words(), expected);
    assert_eq!(outcome.stderr, "");
}

#[tokio::test]
async fn values_without_an_option_stay_unchanged() {
    const LATER: &str = "2200-01-01T00:00:00Z";
    const SUSPENDED: Option<&str> = Some("the account's subscription is suspended");
    let access = Access::with_bots().await;
    let set = async |options: &[&str]| {
        let arguments = [&["account", "set", "bots", "--json"], options].concat();
        access.succeed(&arguments).await.json()
    };
    let expected = |tier: &str, status: &str, paid_until: &str, reason: Option<&str>| {
        json!({
            "name": "bots", "tier": tier, "status": status, "paid_until": paid_until,
            "allowed": reason.is_none(), "reason": reason, "usable_from": null, "subscriptions": [],
        })
    };
    assert_eq!(set(&[]).await, expected("starter", "active", LATER, None));
    assert_eq!(set(&["--tier", "pro"]).await, expected("pro", "active", LATER, None));
    assert_eq!(set(&["--status", "suspended"]).await, expected("pro", "suspended", LATER, SUSPENDED));
    assert_eq!(
        set(&["--paid-until", "2024-02-29T12:00:00+01:00"]).await,
        expected("pro", "suspended", "2024-02-29T11:00:00Z", SUSPENDED)
    );
    let lapsed = Some("the account's subscription was paid until 2024-02-29T11:00:00Z");
    let expected = expected("pro", "active", "2024-02-29T11:00:00Z", lapsed);
    assert_eq!(set(&["--status", "active"]).await, expected);
    assert_eq!(access.rows().await.len(), 1);
}

#[tokio::test]
async fn a_new_account_requires_a_tier_and_a_date() {
    let access = Access::start().await;
    for options in [&[][..], &["--tier", "pro"], &["--paid-until", "2200-01-01"], &["--status", "active"]] {
        let reason = access.fail(&[&["account", "set", "bots"], options].concat()).await;
        assert_eq!(
            reason,
            "the tier and the paid time of bots are not set; give both --tier and --paid-until"
        );
    }
    assert!(access.rows().await.is_empty());
}

#[tokio::test]
async fn an_account_is_shown_with_its_keys() {
    let access = Access::with_bots().await;
    let shown = access.succeed(&["account", "show", "bots"]).await;
    assert!(shown.stdout.ends_with("\n\nno keys\n"), "{shown:?}");
    let (_, id) = access.issue("ci").await;
    let shown = access.succeed(&["account", "show", "bots"]).await;
    assert!(shown.stdout.contains(&id), "{shown:?}");
    let shown = access.succeed(&["account", "show", "bots", "--json"]).await.json();
    assert_eq!(shown["allowed"], true);
    assert_eq!(shown["keys"][0]["id"], id.as_str());
    assert_eq!(shown["keys"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_unknown_account_is_an_error_that_names_the_command_to_create_it() {
    let access = Access::start().await;
    for command in [
        &["account", "show", "bots"][..],
        &["key", "list", "bots"],
        &["key", "issue", "bots", "--label", "ci"],
    ] {
        assert_eq!(
            access.fail(command).await,
            "there is no account bots; create it: cargo admin account set bots --tier starter --paid-until DATE"
        );
    }
    for command in ["usage", "delete"] {
        assert_eq!(access.fail(&["account", command, "bots"]).await, "there is no account bots");
    }
}

#[tokio::test]
async fn the_requests_of_an_account_are_shown() {
    let access = Access::with_bots().await;
    access.cloud.clock().stop();
    let usage = access.succeed(&["account", "usage", "bots", "--json"]).await.json();
    assert_eq!((&usage["tier"], &usage["used"], &usage["days"]), (&json!("starter"), &json!(0), &json!([])));
    let (first, second) = (access.issue("first").await.0, access.issue("second").await.0);
    for key in [&first, &first, &second] {
        send_with(&access.cloud.url(), Method::GET, "/v1/mayor", &[(KEY_HEADER, key)]).await.data();
    }
    let usage = access.succeed(&["account", "usage", "bots", "--json"]).await.json();
    assert_eq!(usage["used"], 3, "{usage}");
    let [day] = &usage["days"].as_array().unwrap()[..] else { panic!("{usage}") };
    assert_eq!(day["requests"], 3);
    let text = access.succeed(&["account", "usage", "bots"]).await;
    let words = text.words();
    assert!(words.contains(&vec!["tier", "starter"]) && words.contains(&vec!["used", "3"]), "{text:?}");
    assert!(words.contains(&vec![day["day"].as_str().unwrap(), "3"]), "{text:?}");
}

#[tokio::test]
async fn a_deleted_account_is_gone() {
    let access = Access::with_bots().await;
    access.issue("ci").await;
    let deleted = access.succeed(&["account", "delete", "bots"]).await;
    assert_eq!(deleted.stdout, "deleted the account bots; keys: 1\n");
    assert!(access.rows().await.is_empty());
    access.fail(&["account", "show", "bots"]).await;
    access.succeed(&["account", "set", "bots", "--tier", "pro", "--paid-until", "2200-01-01"]).await;
    let deleted = access.succeed(&["account", "delete", "bots", "--json"]).await.json();
    assert_eq!(deleted, json!({"account": "bots", "keys": 0}));
}

#[tokio::test]
async fn only_accounts_that_were_not_paid_for_in_180_days_are_pruned() {
    let access = Access::with_bots().await;
    let set = async |name: &str, tier: &str, paid_until: &str| {
        access.succeed(&["account", "set", name, "--tier", tier, "--paid-until", paid_until]).await;
    };
    for tier in ["starter", "pro"] {
        set("old", tier, "2025-01-01").await;
    }
    let of = async |name: &str| {
        let rows = super::super::rows::of_account(&access.cloud, name).await;
        rows[0]["gateway_keys"]["M"].as_object().unwrap().len()
    };
    assert_eq!([of("bots").await, of("old").await], [1, 2]);
    let prune = async || access.succeed(&["account", "prune", "--json"]).await.json();
    let first: Value = prune().await;
    // The local cloud has an account that has lapsed long ago.
    assert_eq!(first, json!({"accounts": 2, "gateway_keys": 3}));
    assert_eq!([of("bots").await, of("old").await], [1, 0]);
    assert_eq!(prune().await, json!({"accounts": 0, "gateway_keys": 0}));
    let text = access.succeed(&["account", "prune"]).await;
    assert_eq!(text.stdout, "pruned 0 accounts: deleted 0 keys in API Gateway\n");
    set("old", "pro", "2200-01-01").await;
    assert_eq!(of("old").await, 1);
}
