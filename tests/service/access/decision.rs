//! What the authorizer decides, asked past the gateway, so that a test chooses the time to the second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::auth::ApiKey;
use local::{Cloud, Fault, Refusal};
use serde_json::{Value, json};

use super::expect_no_secrets;
use super::rows::{account_row, delete, key, key_row, put, with};
use crate::support::{
    AUTHORIZER, await_logs, expect_clean_logs, invoke, log_lines, one_instance_each, start_with,
};

/// 2026-04-28 15:00:00 UTC.
const NOW: i64 = 1_777_388_400;
const DAY: i64 = 86_400;

const STAGE: &str = "arn:aws:execute-api:eu-central-1:123456789012:abcdefghij/live";

/// How long an instance believes what it has read, in seconds.
const BELIEVED_FOR: i64 = 5;

/// The gateway's event for a request with these header values, at a moment in Unix seconds.
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

/// What the authorizer answers, in a word or two: the tier that it allows, `deny`, or what it fails with.
async fn ask(cloud: &Cloud, key: &str, time: i64) -> String {
    word(&invoke(cloud, AUTHORIZER, event(&[key], time)).await.json())
}

fn word(answer: &Value) -> String {
    if let Some(message) = answer["errorMessage"].as_str() {
        return message.to_owned();
    }
    let statement = &answer["policyDocument"]["Statement"][0];
    assert_eq!(statement["Action"], "execute-api:Invoke", "{answer}");
    assert_eq!(statement["Resource"], format!("{STAGE}/GET/*"), "{answer}");
    assert!(statement.get("Condition").is_none(), "{answer}");
    assert!(answer["context"].is_object(), "{answer}");
    match statement["Effect"].as_str() {
        Some("Allow") => answer["context"]["tier"].as_str().unwrap().to_owned(),
        Some("Deny") => "deny".to_owned(),
        _ => panic!("{answer}"),
    }
}

/// How often the table has been read.
fn reads(cloud: &Cloud) -> u64 {
    ["GetItem", "BatchGetItem", "Query", "Scan"]
        .map(|operation| cloud.dynamodb().requests(operation))
        .iter()
        .sum()
}

#[tokio::test]
async fn an_allowed_request_has_its_account_its_tier_and_its_usage_identifier() {
    let cloud = start_with(one_instance_each()).await;
    let key = key(1);
    put(&cloud, &key_row(&key, "bots")).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW)).await;
    let answer = invoke(&cloud, AUTHORIZER, event(&[key.expose()], NOW)).await.json();
    assert_eq!(word(&answer), "pro");
    assert_eq!(answer["context"], json!({"account": "bots", "tier": "pro"}));
    assert_eq!(answer["usageIdentifierKey"], key.digest().id().as_str());
    assert_eq!(answer["principalId"], "bots");
    expect_clean_logs(&cloud);
}

/// The row of the key with this number, if there is one.
type RowOf<'a> = &'a dyn Fn(u32) -> Option<Value>;

/// Every state of a key with every state of its account around every moment that counts. Each cell has an instance's
/// memory behind it (five seconds), so each has a time of its own.
#[tokio::test]
async fn the_whole_table() {
    let cloud = start_with(one_instance_each()).await;
    let issued = |number| key_row(&key(number), "bots");
    let revoked = |number| with(&issued(number), "revoked_at", json!({"N": NOW.to_string()}));
    let pending = |number| with(&issued(number), "pending", json!({"BOOL": true}));
    let keys: [(&str, RowOf<'_>); 4] = [
        ("unknown", &|_| None),
        ("pending", &|number| Some(pending(number))),
        ("issued", &|number| Some(issued(number))),
        ("revoked", &|number| Some(revoked(number))),
    ];
    let accounts = [
        ("none", None),
        ("starter", Some(account_row("bots", "starter", "active", NOW))),
        ("pro", Some(account_row("bots", "pro", "active", NOW))),
        ("suspended", Some(account_row("bots", "pro", "suspended", NOW + DAY))),
    ];
    // A day and a second before, the last second that is paid for, one and a day after.
    let times = [NOW - DAY, NOW - 1, NOW, NOW + 1, NOW + DAY];
    let no = "Unauthorized";
    #[rustfmt::skip]
    let expected = [
        //   key        account        day before  just before  at the end  just after  day after
        ("unknown", "none",      [no,        no,        no,        no,     no]),
        ("unknown", "starter",   [no,        no,        no,        no,     no]),
        ("unknown", "pro",       [no,        no,        no,        no,     no]),
        ("unknown", "suspended", [no,        no,        no,        no,     no]),
        ("pending", "none",      [no,        no,        no,        no,     no]),
        ("pending", "starter",   [no,        no,        no,        no,     no]),
        ("pending", "pro",       [no,        no,        no,        no,     no]),
        ("pending", "suspended", [no,        no,        no,        no,     no]),
        ("issued",  "none",      ["deny",    "deny",    "deny",    "deny", "deny"]),
        ("issued",  "starter",   ["starter", "starter", "starter", "deny", "deny"]),
        ("issued",  "pro",       ["pro",     "pro",     "pro",     "deny", "deny"]),
        ("issued",  "suspended", ["deny",    "deny",    "deny",    "deny", "deny"]),
        ("revoked", "none",      [no,        no,        no,        no,     no]),
        ("revoked", "starter",   [no,        no,        no,        no,     no]),
        ("revoked", "pro",       [no,        no,        no,        no,     no]),
        ("revoked", "suspended", [no,        no,        no,        no,     no]),
    ];
    let mut expected = expected.into_iter();
    let mut number = 0;
    for (key_state, row) in keys {
        for (account_state, account) in &accounts {
            let (expected_key, expected_account, words) = expected.next().unwrap();
            assert_eq!((key_state, *account_state), (expected_key, expected_account));
            delete(&cloud, &account_row("bots", "", "", 0)).await;
            if let Some(account) = account {
                put(&cloud, account).await;
            }
            for (time, word) in times.into_iter().zip(words) {
                number += 1;
                if let Some(row) = row(number) {
                    put(&cloud, &row).await;
                }
                let answered = ask(&cloud, key(number).expose(), time).await;
                assert_eq!(answered, word, "{key_state} key, {account_state} account, {} s", time - NOW);
            }
        }
    }
    assert!(expected.next().is_none());
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn what_is_no_key_is_refused_without_asking_the_table() {
    let cloud = start_with(one_instance_each()).await;
    let good = key(1);
    put(&cloud, &key_row(&good, "bots")).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW)).await;
    let good = good.expose();
    let typo = good.replace("TestsOnly", "TestsOnlv");
    let long = "x".repeat(10_240);
    let padded = format!("{good}{long}");
    let of_two = [format!("{good},{good}"), format!("{good} {good}"), format!("Bearer {good}")];
    let malformed = [
        "",
        " ",
        "gd_",
        "null",
        &good[1..],
        &good[..40],
        &typo,
        &good.to_uppercase(),
        &good.to_lowercase(),
        &long,
        &padded,
        "gd_ключ",
        "\u{0}",
        &of_two[0],
        &of_two[1],
        &of_two[2],
    ];
    let before = reads(&cloud);
    for text in malformed {
        assert_eq!(ask(&cloud, text, NOW).await, "Unauthorized", "{text}");
    }
    for text in [
        format!("{good} "),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{good}\r\nX-Evil: 1"),
        format!("{good}\u{0}"),
    ] {
        assert_eq!(ask(&cloud, &text, NOW).await, "Unauthorized", "{text:?}");
    }
    // Two headers: the gateway remembers the answer under one of them.
    for two in [[good, good], [good, "other"], ["other", good]] {
        assert_eq!(word(&invoke(&cloud, AUTHORIZER, event(&two, NOW)).await.json()), "Unauthorized");
    }
    assert_eq!(word(&invoke(&cloud, AUTHORIZER, event(&[], NOW)).await.json()), "Unauthorized");
    assert_eq!(reads(&cloud), before);
    assert_eq!(ask(&cloud, good, NOW).await, "pro");
    assert_eq!(reads(&cloud), before + 2);
    expect_no_secrets(&cloud, &[good, &typo]);
}

#[tokio::test]
async fn a_first_sight_takes_two_reads_and_the_next_five_seconds_none() {
    let cloud = start_with(one_instance_each()).await;
    let key = key(1);
    let row = key_row(&key, "bots");
    put(&cloud, &row).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW + 2)).await;
    let before = reads(&cloud);
    assert_eq!(ask(&cloud, key.expose(), NOW).await, "pro");
    assert_eq!(reads(&cloud) - before, 2);
    put(&cloud, &with(&row, "revoked_at", json!({"N": NOW.to_string()}))).await;
    // What it knows of the account is remembered, the decision is not: three seconds later the account has lapsed.
    for (after, expected, so_many) in
        [(2, "pro", 2), (3, "deny", 2), (BELIEVED_FOR - 1, "deny", 2), (BELIEVED_FOR, "Unauthorized", 3)]
    {
        assert_eq!(ask(&cloud, key.expose(), NOW + after).await, expected, "after {after} s");
        assert_eq!(
            reads(&cloud) - before,
            if after == BELIEVED_FOR { 4 } else { so_many },
            "after {after} s"
        );
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_thousand_unknown_keys_are_a_thousand_reads_however_often_they_come() {
    let cloud = start_with(one_instance_each()).await;
    let keys: Vec<ApiKey> = (0..1_000).map(key).collect();
    for _ in 0..2 {
        for key in &keys {
            assert_eq!(ask(&cloud, key.expose(), NOW).await, "Unauthorized");
        }
        assert_eq!(reads(&cloud), 1_000);
    }
    assert_eq!(ask(&cloud, keys[0].expose(), NOW + BELIEVED_FOR).await, "Unauthorized");
    assert_eq!(reads(&cloud), 1_001);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn when_the_table_cannot_be_asked_nobody_gets_in() {
    let cloud = start_with(one_instance_each()).await;
    let key = key(1);
    put(&cloud, &key_row(&key, "bots")).await;
    put(&cloud, &account_row("bots", "pro", "active", NOW + DAY)).await;
    let faults = [
        ("refused", Fault::refusal(Refusal::InternalServerError)),
        ("throttled", Fault::throttled()),
        ("no such table", Fault::missing_table()),
        ("closed", Fault::close()),
        ("the account only", Fault::refusal(Refusal::InternalServerError).after(1)),
        ("hanging", Fault::hang()),
    ];
    for (position, (name, fault)) in (0_i64..).zip(faults) {
        // Remembered or not: what it knew a minute ago lets nobody in now.
        let time = NOW + 60 * (position + 1);
        assert_eq!(ask(&cloud, key.expose(), time).await, "pro", "before {name}");
        cloud.dynamodb().set_fault(fault);
        let start = Instant::now();
        let answered = ask(&cloud, key.expose(), time + BELIEVED_FOR).await;
        assert!(start.elapsed() < Duration::from_secs(10), "{name}: {:?}", start.elapsed());
        assert_eq!(answered, common::error::INTERNAL_MESSAGE, "{name}");
        cloud.dynamodb().clear_faults();
        assert_eq!(ask(&cloud, key.expose(), time + BELIEVED_FOR).await, "pro", "after {name}");
    }
    let lines = await_logs(&cloud, 6, |line| line["message"] == "not decided").await;
    for line in lines {
        assert_eq!(line["level"], "ERROR");
        assert!(line["cause"].as_str().unwrap().contains("table Access"), "{line}");
    }
    expect_no_secrets(&cloud, &[key.expose()]);
}

#[tokio::test]
async fn rows_that_make_no_sense_let_nobody_in() {
    let cloud = start_with(one_instance_each()).await;
    let account = account_row("bots", "pro", "active", NOW + DAY);
    let corrupt_accounts = [
        with(&account, "tier", json!({"S": "gold"})),
        with(&account, "tier", Value::Null),
        with(&account, "status", json!({"S": "ACTIVE"})),
        with(&account, "status", json!({"BOOL": true})),
        with(&account, "paid_until", json!({"S": "2999-01-01"})),
        with(&account, "paid_until", json!({"N": "1e40"})),
        with(&account, "paid_until", Value::Null),
    ];
    let mut number = 0;
    let mut next_key = || {
        number += 1;
        key(number)
    };
    for corrupt in &corrupt_accounts {
        let key = next_key();
        put(&cloud, &key_row(&key, "bots")).await;
        put(&cloud, corrupt).await;
        assert_eq!(ask(&cloud, key.expose(), NOW).await, common::error::INTERNAL_MESSAGE, "{corrupt}");
    }
    put(&cloud, &account).await;
    for (attribute, value) in [
        ("sha256", Value::Null),
        ("sha256", json!({"S": "00"})),
        ("sha256", json!({"S": "0".repeat(64)})),
        ("account", Value::Null),
        ("account", json!({"S": "b o t s"})),
        ("label", json!({"S": ""})),
        ("created_at", json!({"S": "now"})),
        ("last_four", json!({"N": "1234"})),
        ("revoked_at", json!({"S": "yesterday"})),
    ] {
        let key = next_key();
        put(&cloud, &with(&key_row(&key, "bots"), attribute, value.clone())).await;
        let answered = ask(&cloud, key.expose(), NOW).await;
        assert_eq!(answered, common::error::INTERNAL_MESSAGE, "{attribute}: {value}");
    }
    // Somebody else's digest under this key's name: the name is a part of the digest only.
    let key = next_key();
    let mut digest = key.digest().to_string();
    digest.replace_range(63.., if digest.ends_with('0') { "1" } else { "0" });
    put(&cloud, &with(&key_row(&key, "bots"), "sha256", json!({"S": digest}))).await;
    assert_eq!(ask(&cloud, key.expose(), NOW).await, "Unauthorized");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn what_is_no_event_of_an_authorizer_is_a_failure_that_repeats_nothing() {
    let cloud = start_with(one_instance_each()).await;
    let key = key(1);
    for event in [
        json!({}),
        json!([key.expose()]),
        json!({"headers": {"X-API-Key": key.expose()}}),
        json!({"methodArn": "", "headers": {"X-API-Key": key.expose()}}),
        json!({"methodArn": key.expose(), "headers": {"X-API-Key": key.expose()}}),
        json!({"methodArn": format!("{STAGE}/GET/"), "headers": key.expose()}),
    ] {
        let answer = invoke(&cloud, AUTHORIZER, event.to_string()).await.json();
        let message = answer["errorMessage"].as_str().unwrap_or_else(|| panic!("{event}: {answer}"));
        assert!(message.contains("REQUEST event"), "{message}");
    }
    assert_eq!(reads(&cloud), 0);
    expect_no_secrets(&cloud, &[key.expose()]);
}

#[tokio::test]
async fn the_log_says_who_was_let_in_and_why_others_were_not() {
    let cloud = start_with(one_instance_each()).await;
    let (paying, lapsed, unknown) = (key(1), key(2), key(3));
    put(&cloud, &key_row(&paying, "bots")).await;
    put(&cloud, &account_row("bots", "starter", "active", NOW)).await;
    put(&cloud, &key_row(&lapsed, "late")).await;
    put(&cloud, &account_row("late", "starter", "active", NOW - 1)).await;
    for key in [paying.expose(), lapsed.expose(), unknown.expose(), "nonsense"] {
        ask(&cloud, key, NOW).await;
    }
    let lines = await_logs(&cloud, 4, |line| line["function"] == AUTHORIZER).await;
    let of = |field: &str| lines.iter().map(|line| line[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("message"), ["allowed", "denied", "refused", "refused"]);
    assert_eq!(of("account"), [json!("bots"), Value::Null, Value::Null, Value::Null]);
    assert_eq!(of("tier")[0], "starter");
    assert_eq!(of("key")[0], paying.digest().id().as_str());
    let reasons = of("reason");
    assert!(reasons[1].as_str().unwrap().contains("paid until 2026-04-28T14:59:59Z"), "{reasons:?}");
    assert_eq!(reasons[2], "the key is unknown");
    assert!(reasons[3].as_str().unwrap().contains("malformed"), "{reasons:?}");
    assert_eq!(of("cold_start"), [true, false, false, false]);
    assert!(log_lines(&cloud).iter().all(|line| line["level"] != "ERROR"));
    expect_no_secrets(&cloud, &[paying.expose(), lapsed.expose(), unknown.expose()]);
}
