//! Accounts and keys can be exported with `export_rows` and imported into another cloud with `import_row`,
//! with all states and times.

use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use local::Cloud;
use serde_json::{Value, json};

use super::super::commands::{code, done, issued, revoke, run, set_tier, status, text};
use super::super::rows::{numbered_key, of_account};
use super::HOUR;
use crate::support::{expect_clean_logs, one_instance_each, start, start_with};

/// The exported rows of the account and its keys, accounts first.
pub(in crate::access) async fn export(cloud: &Cloud, account: &str) -> Vec<Value> {
    let mut page = done(cloud, json!({"command": "export_rows"})).await;
    assert_eq!((&page["corrupt"], &page["next"]), (&json!([]), &Value::Null));
    let Value::Array(mut rows) = page["rows"].take() else { panic!("{page}") };
    rows.retain(|row| row["account"] == account);
    rows.sort_by_key(|row| row["sha256"].as_str().unwrap_or_default().to_owned());
    rows
}

pub(in crate::access) async fn import(cloud: &Cloud, rows: &[Value]) -> Vec<String> {
    let mut outcomes = Vec::new();
    for row in rows {
        let result = done(cloud, json!({"command": "import_row", "row": row})).await;
        outcomes.push(text(&result["outcome"]).to_owned());
    }
    outcomes
}

#[tokio::test]
async fn an_import_keeps_all_states_and_times_and_changes_nothing_when_repeated() {
    let cloud = start_with(one_instance_each()).await;
    let suspended = json!({
        "command": "set_account", "account": "zoe@example.com", "tier": "starter", "status": "suspended",
        "paid_until": "2024-02-29T12:00:00Z",
    });
    done(&cloud, suspended).await;
    set_tier(&cloud, "bots", "pro").await;
    let valid = issued(&cloud, "bots", "valid").await;
    let old = issued(&cloud, "bots", "replaced").await;
    done(&cloud, json!({"command": "replace_key", "key_id": old["id"], "grace_seconds": HOUR})).await;
    let revoked = issued(&cloud, "bots", "revoked").await;
    revoke(&cloud, &revoked).await;
    let other = start_with(one_instance_each()).await;
    for account in ["bots", "zoe@example.com"] {
        let rows = export(&cloud, account).await;
        assert!(import(&other, &rows).await.iter().all(|outcome| outcome == "imported"));
        assert_eq!(export(&other, account).await, rows);
        let stored = of_account(&other, account).await;
        assert!(import(&other, &rows).await.iter().all(|outcome| outcome == "already_there"));
        assert_eq!(of_account(&other, account).await, stored, "a repeated import changes no row");
    }
    assert_eq!(export(&other, "bots").await.len(), 1 + 4);
    let statuses = [&valid, &old, &revoked].map(|issued| status(&other, text(&issued["key"])));
    let [valid, old, revoked] = statuses;
    assert_eq!([valid.await, old.await, revoked.await], [200, 200, 401]);
    for cloud in [&cloud, &other] {
        expect_clean_logs(cloud);
    }
}

#[tokio::test]
async fn an_import_keeps_existing_accounts_and_moves_keys_only_forward() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    issued(&cloud, "bots", "ci").await;
    let [account, key] = <[Value; 2]>::try_from(export(&cloud, "bots").await).unwrap();
    let outcomes = async |row: &Value| import(&cloud, std::slice::from_ref(row)).await;
    let with = |row: &Value, field: &str, value: Value| {
        let mut row = row.clone();
        row[field] = value;
        row
    };
    // Another tier, and a key of an unknown account or with another label.
    for row in [
        with(&account, "tier", json!("starter")),
        with(&key, "account", json!("nobody")),
        with(&key, "label", json!("other")),
    ] {
        assert_eq!(outcomes(&row).await, ["different"], "{row}");
    }
    // An earlier end wins, and a revocation is final.
    let now = UnixSeconds::from(UnixMilliseconds::of_system_clock());
    let in_hours = |hours| json!(now.plus(Duration::from_hours(hours)).to_string());
    let states = [
        with(&key, "expires_at", in_hours(2)),
        with(&key, "expires_at", in_hours(1)),
        with(&with(&key, "state", json!("revoked")), "revoked_at", json!("2026-01-01T00:00:00Z")),
    ];
    for (position, state) in states.iter().enumerate() {
        assert_eq!(outcomes(state).await, ["imported"], "{state}");
        for earlier in states[..position].iter().chain([&key]) {
            assert_eq!(outcomes(earlier).await, ["already_there"], "{earlier}");
        }
        assert_eq!(export(&cloud, "bots").await, [account.clone(), state.clone()]);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_invalid_row_is_refused_with_the_name_of_its_field() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let digest = numbered_key(1).digest().to_string();
    let account = json!({
        "account": "bots", "tier": "pro", "status": "active", "paid_until": "2200-01-01T00:00:00Z",
    });
    let key = json!({
        "sha256": digest, "account": "bots", "label": "ci", "created_at": "2026-04-24T03:06:40Z",
        "last_four": "abcd", "state": "issued",
    });
    let pasted = numbered_key(2);
    let before = of_account(&cloud, "bots").await;
    for (row, field, value) in [
        (&account, "tier", json!("gold")),
        (&account, "status", json!("lapsed")),
        (&account, "paid_until", json!("tomorrow")),
        // What a person sets has both.
        (&account, "paid_until", Value::Null),
        (&account, "tier", Value::Null),
        (&account, "status", Value::Null),
        (&account, "subscriptions", json!([])),
        (&account, "subscriptions", json!({"sub_1": {"paid": {"gold": {}}}})),
        (&account, "subscriptions", json!({"#": {}})),
        (&account, "changed_at", json!("2026-04-24T03:06:40Z")),
        (&account, "account", json!("a b")),
        (&account, "account", json!(pasted.expose())),
        (&account, "label", json!("ci")),
        (&key, "sha256", json!(&digest[1..])),
        (&key, "sha256", json!(pasted.expose())),
        (&key, "label", Value::Null),
        (&key, "label", json!(" ci")),
        (&key, "created_at", json!(1)),
        (&key, "created_at", json!("2200-01-01T00:00:00Z")),
        (&key, "expires_at", json!("2200-01-01T00:00:00Z")),
        (&key, "last_four", json!("abc")),
        (&key, "state", json!("pending")),
        (&key, "state", json!("revoked")),
        (&key, "revoked_at", json!("2026-04-24T03:06:40Z")),
        (&key, "tier", json!("pro")),
    ] {
        let mut row = row.clone();
        if value.is_null() {
            row.as_object_mut().unwrap().remove(field);
        } else {
            row[field] = value;
        }
        let response = run(&cloud, json!({"command": "import_row", "row": row})).await;
        assert_eq!(code(&response), "invalid_command");
        // `state` and `revoked_at` contradict each other.
        let named = if field == "state" && row["state"] == "revoked" { "revoked_at" } else { field };
        let message = text(&response["error"]["message"]);
        assert!(message.contains(named), "{row}: {message}");
        assert!(!message.contains(&pasted.expose()[3..35]), "{message}");
    }
    for row in [json!([]), json!("bots"), Value::Null] {
        let response = run(&cloud, json!({"command": "import_row", "row": row})).await;
        assert_eq!(code(&response), "invalid_command", "{row}");
    }
    assert_eq!(of_account(&cloud, "bots").await, before);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_replaced_key_that_has_ended_is_exported_as_it_is() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let old = issued(&cloud, "bots", "ci").await;
    done(&cloud, json!({"command": "replace_key", "key_id": old["id"], "grace_seconds": 1})).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let rows = export(&cloud, "bots").await;
    let is_old =
        |row: &&Value| row["sha256"].as_str().is_some_and(|digest| digest.starts_with(text(&old["id"])));
    let row = rows.iter().find(is_old).unwrap();
    let ended = UnixMilliseconds::from_rfc3339(text(&row["expires_at"])).unwrap();
    assert!(UnixSeconds::from(ended) <= UnixSeconds::from(UnixMilliseconds::of_system_clock()));
    let other = start_with(one_instance_each()).await;
    assert_eq!(import(&other, &rows).await, ["imported"; 3]);
    assert_eq!(export(&other, "bots").await, rows);
    assert_eq!([status(&cloud, text(&old["key"])).await, status(&other, text(&old["key"])).await], [401; 2]);
}

/// The row of an issued key.
fn key_row(number: u32, account: &str, label: &str) -> Value {
    let key = numbered_key(number);
    json!({
        "sha256": key.digest().to_string(), "account": account, "label": label, "last_four": key.last_four(),
        "created_at": "2026-04-24T03:06:40Z", "state": "issued",
    })
}

#[tokio::test]
async fn an_import_gives_an_account_at_most_twenty_valid_keys() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    issued(&cloud, "bots", "ci").await;
    let rows: Vec<_> = (0..21).map(|number| key_row(number, "bots", &format!("bot {number}"))).collect();
    let outcomes = import(&cloud, &rows).await;
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "imported").count(), 19);
    assert_eq!(outcomes[19..], ["different", "different"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_key_that_is_imported_for_two_accounts_at_once_belongs_to_one() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    set_tier(&cloud, "others", "pro").await;
    for number in 0..10 {
        let rows = [
            key_row(number, "bots", &format!("bot {number}")),
            key_row(number, "others", &format!("bot {number}")),
        ];
        let [one, other] = rows.each_ref().map(|row| import(&cloud, std::slice::from_ref(row)));
        let (one, other) = tokio::join!(one, other);
        let mut outcomes = [one, other].concat();
        outcomes.sort();
        assert_eq!(outcomes, ["different", "imported"]);
    }
    expect_clean_logs(&cloud);
}
