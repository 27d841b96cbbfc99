//! The authorizer's decision follows from the key, its account and the time. The authorizer fails if the
//! table cannot be read, and never logs a key. These tests invoke the authorizer without the gateway, so they
//! choose the time to the second.

use std::collections::BTreeMap;

use common::auth::{ApiKey, Tier};
use local::{Cloud, Fault, Refusal};
use serde_json::{Value, json};

use super::expect_no_secrets;
use super::rows::{account_row, delete, key_row, numbered_key, put, usage_identifier, with};
use crate::support::{
    AUTHORIZER, await_logs, expect_clean_logs, invoke, log_lines, one_instance_each, start_with,
};

/// 2026-04-28 15:00:00 UTC.
const NOW: i64 = 1_777_388_400;
const DAY: i64 = 86_400;

const STAGE: &str = "arn:aws:execute-api:eu-central-1:123456789012:abcdefghij/live";

/// How long an instance caches rows, in seconds.
const CACHED_FOR: i64 = 5;

/// The gateway's event for a request with these values of the key header, at this time in Unix seconds.
fn event(keys: &[&str], time: i64) -> String {
    json!({
        "type": "REQUEST",
        "methodArn": format!("{STAGE}/GET/v1/profile/Notch"),
        "resource": "/v1/profile/{username}",
        "path": "/v1/profile/Notch",
        "httpMethod": "GET",
        "headers": keys.last().map(|key| ("X-API-Key", key)).into_iter().collect::<BTreeMap<_, _>>(),
        "multiValueHeaders": {"X-API-Key": keys},
        "queryStringParameters": {},
        "pathParameters": {"username": "Notch"},
        "requestContext": {"requestTimeEpoch": time * 1000, "stage": "live"},
    })
    .to_string()
}

/// The authorizer's decision on a key: the tier if it allows the request, otherwise `deny` or its error.
pub(super) async fn decide(cloud: &Cloud, key: &str, time: i64) -> String {
    decision(&invoke(cloud, AUTHORIZER, event(&[key], time)).await.json())
}

fn decision(response: &Value) -> String {
    if let Some(message) = response["errorMessage"].as_str() {
        return message.to_owned();
    }
    let statement = &response["policyDocument"]["Statement"][0];
    assert_eq!(statement["Action"], "execute-api:Invoke", "{response}");
    assert_eq!(statement["Resource"], format!("{STAGE}/GET/*"), "{response}");
    assert!(statement.get("Condition").is_none(), "{response}");
    assert!(response["context"].is_object(), "{response}");
    match statement["Effect"].as_str() {
        Some("Allow") => response["context"]["tier"].as_str().unwrap().to_owned(),
        Some("Deny") => "deny".to_owned(),
        _ => panic!("{response}"),
    }
}

/// The number of reads that DynamoDB has received.
fn reads(cloud: &Cloud) -> u64 {
    ["GetItem", "BatchGetItem", "Query", "Scan"]
        .map(|operation| cloud.dynamodb().requests(operation))
        .iter()
        .sum()
}

#[tokio::test]
async fn an_allowed_request_carries_its_account_its_tier_and_its_usage_identifier() {
    let cloud = start_with(one_instance_each()).await;
    let key = numbered_key(1);
    put(&cloud, &key_row(&key, "bots")).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW)).await;
    let response = invoke(&cloud, AUTHORIZER, event(&[key.expose()], NOW)).await.json();
    assert_eq!(decision(&response), "pro");
    assert_eq!(response["context"], json!({"account": "bots", "tier": "pro"}));
    assert_eq!(response["usageIdentifierKey"], usage_identifier("bots", Tier::Pro));
    assert_eq!(response["principalId"], "bots");
    expect_clean_logs(&cloud);
}

/// API Gateway refuses a key that it does not know yet, so it counts requests in an earlier tier for a while.
#[tokio::test]
async fn an_upgraded_account_is_counted_in_its_highest_usable_tier_until_the_new_one_is_usable() {
    let cloud = start_with(one_instance_each()).await;
    let gateway_key = |usable_from: i64| json!({"M": {"id": {"S": "id"}, "plan": {"S": "plan"}, "usable_from": {"N": usable_from.to_string()}}});
    let account = account_row("bots", "pro", "active", NOW + DAY);
    let later = NOW + 120;
    let cases = [
        // A new account has no other key.
        (json!({}), NOW, Tier::Pro),
        (json!({"pro": gateway_key(later)}), NOW, Tier::Pro),
        (json!({"starter": gateway_key(NOW - 1), "pro": gateway_key(later)}), later - 1, Tier::Starter),
        (json!({"starter": gateway_key(NOW - 1), "pro": gateway_key(later)}), later, Tier::Pro),
        (
            json!({"free": gateway_key(0), "starter": gateway_key(later), "pro": gateway_key(later)}),
            NOW,
            Tier::Free,
        ),
        // An operator has deleted the key of the tier.
        (json!({"starter": gateway_key(NOW - 1)}), NOW, Tier::Starter),
    ];
    for (number, (gateway_keys, time, expected)) in (1..).zip(cases) {
        let key = numbered_key(number);
        put(&cloud, &key_row(&key, "bots")).await;
        put(&cloud, &with(&account, "gateway_keys", json!({"M": gateway_keys}))).await;
        let response = invoke(&cloud, AUTHORIZER, event(&[key.expose()], time)).await.json();
        assert_eq!(decision(&response), "pro");
        assert_eq!(response["usageIdentifierKey"], usage_identifier("bots", expected), "{gateway_keys}");
    }
    expect_clean_logs(&cloud);
}

/// Returns the row of the key with this number, if the key has a row.
type RowOf<'a> = &'a dyn Fn(u32) -> Option<Value>;

/// Combines every state of a key with every state of its account, around the end of the paid time. An
/// instance caches rows, so each case has its own key.
#[tokio::test]
async fn a_decision_follows_from_the_key_the_account_and_the_time() {
    let cloud = start_with(one_instance_each()).await;
    let issued = |number| key_row(&numbered_key(number), "bots");
    let replaced = |number| with(&issued(number), "ends_at", json!({"N": NOW.to_string()}));
    let revoked = |number| with(&replaced(number), "revoked", json!({"BOOL": true}));
    let keys: [(&str, RowOf<'_>); 4] = [
        ("unknown", &|_| None),
        ("issued", &|number| Some(issued(number))),
        ("replaced", &|number| Some(replaced(number))),
        ("revoked", &|number| Some(revoked(number))),
    ];
    let accounts = [
        ("none", None),
        ("starter", Some(account_row("bots", "starter", "active", NOW))),
        ("pro", Some(account_row("bots", "pro", "active", NOW))),
        ("suspended", Some(account_row("bots", "pro", "suspended", NOW + DAY))),
    ];
    let mut number = 0;
    for (key_state, row) in keys {
        for (account_state, account) in &accounts {
            delete(&cloud, &account_row("bots", "", "", 0)).await;
            if let Some(account) = account {
                put(&cloud, account).await;
            }
            // The last paid second, and the times a second or a day before or after it.
            for time in [NOW - DAY, NOW - 1, NOW, NOW + 1, NOW + DAY] {
                number += 1;
                if let Some(row) = row(number) {
                    put(&cloud, &row).await;
                }
                // A replaced key is valid until its end, which is at `NOW`.
                let is_valid = key_state == "issued" || key_state == "replaced" && time < NOW;
                let expected = match *account_state {
                    _ if !is_valid => "Unauthorized",
                    "starter" | "pro" if time <= NOW => account_state,
                    _ => "deny",
                };
                let decided = decide(&cloud, numbered_key(number).expose(), time).await;
                assert_eq!(decided, expected, "{key_state} key, {account_state} account, {} s", time - NOW);
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn malformed_keys_are_refused_without_a_read() {
    let cloud = start_with(one_instance_each()).await;
    let good = numbered_key(1);
    put(&cloud, &key_row(&good, "bots")).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW)).await;
    let good = good.expose();
    let typo = good.replace("TestsOnly", "TestsOnlv");
    let padded = format!("{good}{}", "x".repeat(10_240));
    let of_two = [format!("{good},{good}"), format!("Bearer {good}")];
    let malformed = [
        "",
        " ",
        "gd_",
        &good[1..],
        &good[..40],
        &typo,
        &good.to_lowercase(),
        &padded,
        "gd_ключ",
        "\u{0}",
        &of_two[0],
        &of_two[1],
        &format!("{good} "),
        &format!(" {good}"),
        &format!("{good}\r\nX-Evil: 1"),
    ];
    let before = reads(&cloud);
    for text in malformed {
        assert_eq!(decide(&cloud, text, NOW).await, "Unauthorized", "{text:?}");
    }
    // With two headers, the gateway would cache the decision under one of them.
    for two in [[good, good], [good, "other"], ["other", good]] {
        assert_eq!(decision(&invoke(&cloud, AUTHORIZER, event(&two, NOW)).await.json()), "Unauthorized");
    }
    assert_eq!(decision(&invoke(&cloud, AUTHORIZER, event(&[], NOW)).await.json()), "Unauthorized");
    assert_eq!(reads(&cloud), before);
    assert_eq!(decide(&cloud, good, NOW).await, "pro");
    assert_eq!(reads(&cloud), before + 2);
    expect_no_secrets(&cloud, &[good, &typo]);
}

#[tokio::test]
async fn a_new_key_takes_two_reads_and_none_for_the_next_five_seconds() {
    let cloud = start_with(one_instance_each()).await;
    let key = numbered_key(1);
    let row = key_row(&key, "bots");
    put(&cloud, &row).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW + 2)).await;
    let before = reads(&cloud);
    assert_eq!(decide(&cloud, key.expose(), NOW).await, "pro");
    assert_eq!(reads(&cloud) - before, 2);
    let ended = with(&row, "ends_at", json!({"N": NOW.to_string()}));
    put(&cloud, &with(&ended, "revoked", json!({"BOOL": true}))).await;
    // The rows are cached, but the decision is not: after three seconds, the authorizer denies access to the
    // lapsed account.
    for (after, expected, total) in
        [(2, "pro", 2), (3, "deny", 2), (CACHED_FOR - 1, "deny", 2), (CACHED_FOR, "Unauthorized", 3)]
    {
        assert_eq!(decide(&cloud, key.expose(), NOW + after).await, expected, "after {after} s");
        assert_eq!(reads(&cloud) - before, if after == CACHED_FOR { 4 } else { total }, "after {after} s");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_unknown_key_is_cached_too() {
    let cloud = start_with(one_instance_each()).await;
    let keys: Vec<ApiKey> = (0..300).map(numbered_key).collect();
    for _ in 0..2 {
        for key in &keys {
            assert_eq!(decide(&cloud, key.expose(), NOW).await, "Unauthorized");
        }
        assert_eq!(reads(&cloud), 300);
    }
    assert_eq!(decide(&cloud, keys[0].expose(), NOW + CACHED_FOR).await, "Unauthorized");
    assert_eq!(reads(&cloud), 301);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn every_fault_of_the_table_fails_the_decision() {
    let cloud = start_with(one_instance_each()).await;
    let key = numbered_key(1);
    put(&cloud, &key_row(&key, "bots")).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW + DAY)).await;
    let faults = [
        ("refused", Fault::refusal(Refusal::InternalServerError)),
        ("throttled", Fault::throttled()),
        ("no such table", Fault::missing_table()),
        ("closed", Fault::close()),
        ("only the account's read", Fault::refusal(Refusal::InternalServerError).after(1)),
        ("hanging", Fault::hang()),
    ];
    for (position, (name, fault)) in (0_i64..).zip(faults) {
        // At this time, the rows that were cached before the previous fault have expired.
        let time = NOW + 60 * (position + 1);
        assert_eq!(decide(&cloud, key.expose(), time).await, "pro", "before {name}");
        cloud.dynamodb().set_fault(fault);
        let response = decide(&cloud, key.expose(), time + CACHED_FOR).await;
        assert_eq!(response, common::error::INTERNAL_MESSAGE, "{name}");
        cloud.dynamodb().clear_faults();
        assert_eq!(decide(&cloud, key.expose(), time + CACHED_FOR).await, "pro", "after {name}");
    }
    let lines = await_logs(&cloud, 6, |line| line["message"] == "not decided").await;
    for line in lines {
        assert_eq!(line["level"], "ERROR");
        assert!(line["cause"].as_str().unwrap().contains("table Access"), "{line}");
    }
    expect_no_secrets(&cloud, &[key.expose()]);
}

#[tokio::test]
async fn invalid_rows_fail_the_decision() {
    let cloud = start_with(one_instance_each()).await;
    let account = account_row("bots", "pro", "active", NOW + DAY);
    let corrupt_accounts = [
        with(&account, "tier", json!({"S": "gold"})),
        with(&account, "status", json!({"S": "ACTIVE"})),
        with(&account, "paid_until", json!({"N": "1e40"})),
        with(&account, "paid_until", Value::Null),
        with(&account, "tier", Value::Null),
        with(&account, "subscriptions", json!({"S": "{"})),
        with(&account, "subscriptions", json!({"S": "[]"})),
        with(&account, "subscriptions", json!({"S": r#"{"sub_1": {"latest": {"status": "gold"}}}"#})),
        with(&account, "keys", Value::Null),
        with(&account, "keys", json!({"M": {"x": {"M": {"label": {"S": "ci"}}}}})),
        with(&account, "gateway_keys", Value::Null),
        with(&account, "gateway_keys", json!({"M": {"gold": {"M": {}}}})),
        with(&account, "gateway_keys", json!({"M": {"pro": {"M": {"id": {"S": "id"}}}}})),
        with(&account, "version", json!({"N": "-1"})),
    ];
    let mut number = 0;
    let mut next_key = || {
        number += 1;
        numbered_key(number)
    };
    for corrupt in &corrupt_accounts {
        let key = next_key();
        put(&cloud, &key_row(&key, "bots")).await;
        put(&cloud, corrupt).await;
        assert_eq!(decide(&cloud, key.expose(), NOW).await, common::error::INTERNAL_MESSAGE, "{corrupt}");
    }
    put(&cloud, &account).await;
    for (attribute, value) in [
        ("sha256", Value::Null),
        ("sha256", json!({"S": "0".repeat(64)})),
        ("account", json!({"S": "b o t s"})),
        ("label", json!({"S": ""})),
        ("created_at", json!({"S": "now"})),
        ("last_four", json!({"N": "1234"})),
        // A revoked key has the time of its revocation.
        ("revoked", json!({"BOOL": true})),
    ] {
        let key = next_key();
        put(&cloud, &with(&key_row(&key, "bots"), attribute, value.clone())).await;
        let response = decide(&cloud, key.expose(), NOW).await;
        assert_eq!(response, common::error::INTERNAL_MESSAGE, "{attribute}: {value}");
    }
    // Another digest with the same id, because the id is only a part of the digest.
    let key = next_key();
    let mut digest = key.digest().to_string();
    digest.replace_range(63.., if digest.ends_with('0') { "1" } else { "0" });
    put(&cloud, &with(&key_row(&key, "bots"), "sha256", json!({"S": digest}))).await;
    assert_eq!(decide(&cloud, key.expose(), NOW).await, "Unauthorized");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_invalid_event_fails_without_repeating_the_key() {
    let cloud = start_with(one_instance_each()).await;
    let key = numbered_key(1);
    for event in [
        json!({}),
        json!([key.expose()]),
        json!({"headers": {"X-API-Key": key.expose()}}),
        json!({"methodArn": "", "headers": {"X-API-Key": key.expose()}}),
        json!({"methodArn": key.expose(), "headers": {"X-API-Key": key.expose()}}),
        json!({"methodArn": format!("{STAGE}/GET/"), "headers": key.expose()}),
    ] {
        let response = invoke(&cloud, AUTHORIZER, event.to_string()).await.json();
        let message = response["errorMessage"].as_str().unwrap_or_else(|| panic!("{event}: {response}"));
        assert!(message.contains("REQUEST event"), "{message}");
    }
    assert_eq!(reads(&cloud), 0);
    expect_no_secrets(&cloud, &[key.expose()]);
}

#[tokio::test]
async fn the_log_has_the_account_of_an_allowed_request_and_the_reason_of_a_refused_one() {
    let cloud = start_with(one_instance_each()).await;
    let [paying, lapsed, unknown] = [1, 2, 3].map(numbered_key);
    put(&cloud, &key_row(&paying, "bots")).await;
    put(&cloud, &account_row("bots", "starter", "active", NOW)).await;
    put(&cloud, &key_row(&lapsed, "late")).await;
    put(&cloud, &account_row("late", "starter", "active", NOW - 1)).await;
    for key in [paying.expose(), lapsed.expose(), unknown.expose(), "nonsense"] {
        decide(&cloud, key, NOW).await;
    }
    let lines = await_logs(&cloud, 4, |line| line["function"] == AUTHORIZER).await;
    let of = |field: &str| lines.iter().map(|line| line[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("message"), ["allowed", "denied", "refused", "refused"]);
    assert_eq!(of("account"), [json!("bots"), Value::Null, Value::Null, Value::Null]);
    assert_eq!(of("tier")[0], "starter");
    assert_eq!(of("counted_in")[0], "starter");
    assert_eq!(of("key")[0], paying.digest().id().as_str());
    let reasons = of("reason");
    assert!(reasons[1].as_str().unwrap().contains("paid until 2026-04-28T14:59:59Z"), "{reasons:?}");
    assert_eq!(reasons[2], "the key is unknown");
    assert!(reasons[3].as_str().unwrap().contains("malformed"), "{reasons:?}");
    assert_eq!(of("cold_start"), [true, false, false, false]);
    assert!(log_lines(&cloud).iter().all(|line| line["level"] != "ERROR"));
    expect_no_secrets(&cloud, &[paying.expose(), lapsed.expose(), unknown.expose()]);
}
