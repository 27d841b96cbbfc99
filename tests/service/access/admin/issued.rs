//! `key issue` and `key list`.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Access, UNKNOWN_ID, keys_in};

#[tokio::test]
async fn a_key_is_shown_once_and_works() {
    let access = Access::with_bots().await;
    let (key, id) = access.issue("ci").await;
    assert_eq!((key.len(), id.len()), (41, 24));
    let row = &access.key_rows().await[0];
    assert_eq!(row["pk"]["S"], format!("key#{id}"));
    assert_eq!(row["last_four"]["S"], key[37..]);
    assert!(row.get("ends_at").is_none() && row.get("ttl").is_none(), "{row}");
    assert_eq!(access.run_with(&["key", "explain", "-"], &key).await.code, 0);
}

#[tokio::test]
async fn json_has_the_key_and_its_properties() {
    let access = Access::with_bots().await;
    let outcome = access.output(&["key", "issue", "bots", "--label", "Bot of Zoë, 2nd", "--json"], "").await;
    outcome.expect_keys(1);
    let document = outcome.json();
    let fields: BTreeSet<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["key", "id", "account", "label", "created_at", "last_four", "state", "revoked_at"];
    assert_eq!(fields, BTreeSet::from(expected));
    assert_eq!(document["label"], "Bot of Zoë, 2nd");
    assert_eq!(document["state"], "issued");
    assert_eq!(document["revoked_at"], Value::Null);
}

#[tokio::test]
async fn a_label_is_for_one_key_at_a_time() {
    let access = Access::with_bots().await;
    let (_, id) = access.issue("my ci").await;
    let reason = access.fail(&["key", "issue", "bots", "--label", "my ci"]).await;
    assert_eq!(
        reason,
        format!(
            "bots already has the key {id} with the label my ci; if it is in use, choose another label; if it was lost, \
             revoke it and issue a new one: cargo admin key revoke {id}"
        )
    );
    assert_eq!(access.key_rows().await.len(), 1);
    access.succeed(&["key", "revoke", &id]).await;
    let (_, other) = access.issue("my ci").await;
    assert_ne!(id, other);
}

/// Issues a key with this standard output, which must fail. Returns the messages.
async fn issue_to(access: &Access, output: File) -> String {
    let mut command = access.command(&["key", "issue", "bots", "--label", "my ci"]);
    let child = command.stdout(output).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn a_key_that_cannot_be_shown_is_named() {
    let access = Access::with_bots().await;
    let full = File::options().write(true).open("/dev/full").unwrap();
    let messages = issue_to(&access, full).await;
    let id = access.key_rows().await[0]["pk"]["S"].as_str().unwrap()["key#".len()..].to_owned();
    assert!(
        messages.contains(&format!("error: the key {id} is issued, but cannot be shown: ")),
        "{messages}"
    );
    let command = format!("cargo admin key revoke {id} && cargo admin key issue bots --label 'my ci'\n");
    assert!(messages.ends_with(&command) && keys_in(&messages) == 0, "{messages}");
}

#[tokio::test]
async fn no_key_is_issued_if_standard_output_is_discarded() {
    let access = Access::with_bots().await;
    let null = File::options().write(true).open("/dev/null").unwrap();
    let messages = issue_to(&access, null).await;
    assert!(messages.starts_with("error: no key was issued: "), "{messages}");
    assert!(access.key_rows().await.is_empty());
}

#[tokio::test]
async fn a_suspended_account_can_have_a_key() {
    let access = Access::with_bots().await;
    access.succeed(&["account", "set", "bots", "--status", "suspended"]).await;
    let outcome = access.output(&["key", "issue", "bots", "--label", "ci"], "").await;
    let expected = "warning: the service rejects the key for now: the account's subscription is suspended\n";
    assert!(outcome.stderr.starts_with(expected), "{outcome:?}");
    assert_eq!(outcome.code, 0);
}

#[tokio::test]
async fn keys_are_listed_newest_first() {
    let access = Access::with_bots().await;
    let none = access.succeed(&["key", "list", "bots"]).await;
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "bots has no keys\n"));
    let json = access.succeed(&["key", "list", "bots", "--json"]).await.json();
    assert_eq!(json, json!({"account": "bots", "keys": []}));
    access.put_revoked_key("old ones").await;
    let (key, id) = access.issue("ci").await;
    let listed = access.succeed(&["key", "list", "bots"]).await;
    let words = listed.words();
    assert_eq!(words[0], ["KEY-ID", "LABEL", "CREATED", "LAST", "FOUR", "STATE"]);
    assert_eq!(
        (words[1][0], words[1][1], words[1][3], words[1][4]),
        (id.as_str(), "ci", &key[37..], "issued")
    );
    let revoked = [
        UNKNOWN_ID,
        "old",
        "ones",
        "2026-04-24T03:06:40Z",
        "X4ni",
        "revoked",
        "since",
        "2025-10-09T08:53:20Z",
    ];
    assert_eq!(words[2], revoked);
    assert_eq!(words.len(), 3);
    let json = access.succeed(&["key", "list", "bots", "--json"]).await.json();
    assert_eq!(json["keys"][0]["state"], "issued");
    assert_eq!(
        json["keys"][1],
        json!({
            "id": UNKNOWN_ID, "account": "bots", "label": "old ones", "created_at": "2026-04-24T03:06:40Z",
            "last_four": "X4ni", "state": "revoked", "revoked_at": "2025-10-09T08:53:20Z",
        })
    );
}
