//! `key issue` and `key list`, and keys that were not issued completely.

use std::fs::File;

use serde_json::json;

use super::support::{Access, UNKNOWN_ID, keys_in, run};

#[test]
fn a_key_is_shown_once_and_works() {
    let access = Access::with_bots();
    let (key, id) = access.issue("ci");
    assert_eq!((key.len(), id.len()), (41, 24));
    let row = &access.key_rows()[0];
    assert_eq!(row["pk"]["S"], format!("key#{id}"));
    assert_eq!(row["last_four"]["S"], key[37..]);
    assert!(row.get("pending").is_none() && row.get("revoked_at").is_none(), "{row}");
    assert_eq!(run(&mut access.command(&["key", "explain", "-"]), &key).code, 0);
}

#[test]
fn json_has_the_key_and_its_properties() {
    let access = Access::with_bots();
    let output =
        access.command(&["key", "issue", "bots", "--label", "Bot of Zoë, 2nd", "--json"]).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(keys_in(&String::from_utf8(output.stdout).unwrap()), 1);
    let fields: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["key", "id", "account", "label", "created_at", "last_four", "state", "revoked_at"];
    assert_eq!(std::collections::BTreeSet::from_iter(fields), std::collections::BTreeSet::from(expected));
    assert_eq!(document["label"], "Bot of Zoë, 2nd");
    assert_eq!(document["state"], "issued");
    assert_eq!(document["revoked_at"], serde_json::Value::Null);
}

#[test]
fn a_label_is_for_one_key_at_a_time() {
    let access = Access::with_bots();
    let (_, id) = access.issue("my ci");
    let reason = access.fail(&["key", "issue", "bots", "--label", "my ci"]);
    assert_eq!(
        reason,
        format!(
            "bots already has the key {id} with the label my ci; if it is in use, choose another label; if it was lost, \
             revoke it and issue a new one: cargo admin key revoke {id}"
        )
    );
    assert_eq!(access.key_rows().len(), 1);
    access.succeed(&["key", "revoke", &id]);
    let (_, other) = access.issue("my ci");
    assert_ne!(id, other);
}

/// `key issue` writes the row first, and marks it as issued last.
#[test]
fn an_incomplete_key_is_replaced() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    let output = access.command(&["key", "issue", "bots", "--label", "ci"]).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(
        messages.contains(&format!("removed the key {UNKNOWN_ID}, which was not issued completely")),
        "{messages}"
    );
    assert_eq!(keys_in(&String::from_utf8(output.stdout).unwrap()), 1);
    let rows = access.key_rows();
    assert_eq!(rows.len(), 1);
    assert_ne!(rows[0]["pk"]["S"], format!("key#{UNKNOWN_ID}"));
}

#[test]
fn an_incomplete_key_with_another_label_stays() {
    let access = Access::with_bots();
    access.put_key("other", &json!({"pending": {"BOOL": true}}));
    access.issue("ci");
    assert_eq!(access.key_rows().len(), 2);
}

#[test]
fn an_issued_key_keeps_its_label_beside_an_incomplete_one() {
    let access = Access::with_bots();
    let (_, id) = access.issue("ci");
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    let outcome = access.run(&["key", "issue", "bots", "--label", "ci"]);
    assert_eq!(outcome.code, 1);
    assert!(
        outcome.stderr.contains(&format!("bots already has the key {id} with the label ci;")),
        "{outcome:?}"
    );
    assert_eq!(access.key_rows().len(), 1);
}

#[test]
fn a_key_that_cannot_be_shown_is_named() {
    let access = Access::with_bots();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = access.command(&["key", "issue", "bots", "--label", "my ci"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let messages = String::from_utf8(output.stderr).unwrap();
    let id = access.key_rows()[0]["pk"]["S"].as_str().unwrap()["key#".len()..].to_owned();
    assert!(
        messages.contains(&format!("error: the key {id} is issued, but cannot be shown: ")),
        "{messages}"
    );
    let command = format!("cargo admin key revoke {id} && cargo admin key issue bots --label 'my ci'\n");
    assert!(messages.ends_with(&command) && keys_in(&messages) == 0, "{messages}");
}

#[test]
fn a_suspended_account_can_have_a_key() {
    let access = Access::with_bots();
    access.succeed(&["account", "set", "bots", "--status", "suspended"]);
    let output = access.command(&["key", "issue", "bots", "--label", "ci"]).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.starts_with(
        "warning: the service rejects the key for now: the account's subscription is suspended\n"
    ));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn keys_are_listed_newest_first() {
    let access = Access::with_bots();
    let none = access.succeed(&["key", "list", "bots"]);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "bots has no keys\n"));
    let json = access.succeed(&["key", "list", "bots", "--json"]).json();
    assert_eq!(json, json!({"account": "bots", "keys": []}));
    access.put_key("old ones", &json!({"revoked_at": {"N": "1760000000"}}));
    let (key, id) = access.issue("ci");
    let listed = access.succeed(&["key", "list", "bots"]);
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
        "2025-06-15T15:06:40Z",
        "X4ni",
        "revoked",
        "since",
        "2025-10-09T08:53:20Z",
    ];
    assert_eq!(words[2], revoked);
    assert_eq!(words.len(), 3);
    let json = access.succeed(&["key", "list", "bots", "--json"]).json();
    assert_eq!(json["keys"][0]["state"], "issued");
    assert_eq!(
        json["keys"][1],
        json!({
            "id": UNKNOWN_ID, "account": "bots", "label": "old ones", "created_at": "2025-06-15T15:06:40Z",
            "last_four": "X4ni", "state": "revoked", "revoked_at": "2025-10-09T08:53:20Z",
        })
    );
}

#[test]
fn the_table_is_named_by_the_option_or_the_environment() {
    let access = Access::with_bots();
    for named in [("--table", "Elsewhere", ""), ("", "", "Elsewhere")] {
        let mut command = access.command(&["key", "list", "bots"]);
        if named.0.is_empty() {
            command.env("ACCESS_TABLE", named.2);
        } else {
            command.args([named.0, named.1]);
        }
        let outcome = run(&mut command, "");
        assert!(
            outcome
                .stderr
                .starts_with("error: the table Elsewhere failed at Query: ResourceNotFoundException")
        );
        assert_eq!(outcome.code, 1);
    }
}
