//! `key issue` and `key list`, and what becomes of a key that was not issued to its end.

use std::fs::File;

use serde_json::json;

use crate::support::{Access, UNKNOWN_ID, keys_in, run};

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
fn programs_get_a_document() {
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

/// The row is the first thing that is written, and that it is issued the last.
#[test]
fn a_key_that_was_not_issued_to_its_end_makes_room() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    let output = access.command(&["key", "issue", "bots", "--label", "ci"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains(&format!("removed the key {UNKNOWN_ID}, which was not issued completely")),
        "{said}"
    );
    assert_eq!(keys_in(&String::from_utf8(output.stdout).unwrap()), 1);
    let rows = access.key_rows();
    assert_eq!(rows.len(), 1);
    assert_ne!(rows[0]["pk"]["S"], format!("key#{UNKNOWN_ID}"));
}

#[test]
fn a_key_of_another_label_is_left_alone() {
    let access = Access::with_bots();
    access.put_key("other", &json!({"pending": {"BOOL": true}}));
    access.issue("ci");
    assert_eq!(access.key_rows().len(), 2);
}

#[test]
fn an_issued_key_counts_whatever_else_was_left_behind() {
    let access = Access::with_bots();
    let (_, id) = access.issue("ci");
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    let said = access.run(&["key", "issue", "bots", "--label", "ci"]);
    assert_eq!(said.code, 1);
    assert!(said.aside.contains(&format!("bots already has the key {id} with the label ci;")), "{said:?}");
    assert_eq!(access.key_rows().len(), 1);
}

#[test]
fn a_key_that_cannot_be_shown_is_named() {
    let access = Access::with_bots();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = access.command(&["key", "issue", "bots", "--label", "my ci"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    let id = access.key_rows()[0]["pk"]["S"].as_str().unwrap()["key#".len()..].to_owned();
    assert!(said.contains(&format!("error: the key {id} is issued, but cannot be shown: ")), "{said}");
    let command = format!("cargo admin key revoke {id} && cargo admin key issue bots --label 'my ci'\n");
    assert!(said.ends_with(&command) && keys_in(&said) == 0, "{said}");
}

#[test]
fn an_account_that_may_not_ask_can_have_a_key() {
    let access = Access::with_bots();
    access.succeed(&["account", "set", "bots", "--status", "suspended"]);
    let output = access.command(&["key", "issue", "bots", "--label", "ci"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(
        "warning: the service rejects the key for now: the account's subscription is suspended\n"
    ));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn keys_are_listed_the_newest_first() {
    let access = Access::with_bots();
    let none = access.succeed(&["key", "list", "bots"]);
    assert_eq!((none.output.as_str(), none.aside.as_str()), ("", "bots has no keys\n"));
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
fn the_table_of_another_name() {
    let access = Access::with_bots();
    for named in [("--table", "Elsewhere", ""), ("", "", "Elsewhere")] {
        let mut command = access.command(&["key", "list", "bots"]);
        if named.0.is_empty() {
            command.env("ACCESS_TABLE", named.2);
        } else {
            command.args([named.0, named.1]);
        }
        let said = run(&mut command, "");
        assert!(
            said.aside.starts_with("error: the table Elsewhere failed at Query: ResourceNotFoundException")
        );
        assert_eq!(said.code, 1);
    }
}
