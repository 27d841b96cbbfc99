//! `key explain`: the authorizer's decision and its reason.

use serde_json::{Value, json};

use super::super::rows::{account_row, delete};
use super::{Access, UNKNOWN_ID, UNKNOWN_KEY};

async fn explain(access: &Access, key: &str) -> (Value, i32) {
    let outcome = access.run_with(&["key", "explain", "-", "--json"], &format!(" {key}\r\n")).await;
    (outcome.json(), outcome.code)
}

#[tokio::test]
async fn an_accepted_key() {
    let access = Access::with_bots().await;
    let (key, id) = access.issue("ci").await;
    let (document, code) = explain(&access, &key).await;
    assert_eq!(code, 0);
    assert_eq!((&document["allowed"], &document["status"]), (&json!(true), &json!(200)));
    assert_eq!(document["reason"], Value::Null);
    assert_eq!(document["key"]["id"], id.as_str());
    assert_eq!(document["account"]["tier"], "starter");
    let text = access.run(&["key", "explain", &key]).await;
    assert_eq!(text.code, 0);
    assert_eq!(text.words().last().unwrap(), &["allowed", "yes"]);
}

#[tokio::test]
async fn every_reason_to_reject_a_key() {
    let access = Access::with_bots().await;
    let check = async |status: u16, reason: &str| {
        let (document, code) = explain(&access, UNKNOWN_KEY).await;
        assert_eq!(document["status"], status, "{document}");
        assert_eq!(document["reason"], reason, "{document}");
        assert_eq!((code, &document["allowed"]), (1, &json!(false)));
    };
    check(401, "the key is unknown").await;
    access.put_revoked_key("ci").await;
    check(401, "the key was revoked at 2025-10-09T08:53:20Z").await;
    // A replaced key whose grace time is over.
    access.put_key("ci", &[("ends_at", json!({"N": "1760000000"}))]).await;
    check(401, "the key was revoked at 2025-10-09T08:53:20Z").await;
    access.put_key("ci", &[]).await;
    access.succeed(&["account", "set", "bots", "--paid-until", "2026-01-01"]).await;
    check(403, "the account's subscription was paid until 2026-01-01T00:00:00Z").await;
    access.succeed(&["account", "set", "bots", "--status", "suspended"]).await;
    check(403, "the account's subscription is suspended").await;
    delete(&access.cloud, &account_row("bots", "", "", 0)).await;
    check(403, "the key's account does not exist").await;
    // The id is a prefix of the digest, and the whole digest must match.
    let digest = format!("{UNKNOWN_ID}{}", "0".repeat(40));
    access.put_key("ci", &[("sha256", json!({"S": digest}))]).await;
    check(401, "the key is unknown").await;
}
