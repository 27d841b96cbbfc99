//! `account export` and `account import`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::support::{Access, UNKNOWN_DIGEST, UNKNOWN_ID, UNKNOWN_KEY, run};
use crate::dynamodb::{mode, path};

/// Starts a table with accounts and keys in every state.
fn filled() -> Access {
    let access = Access::with_bots();
    let zoe = ["account", "set", "zoe+bots@example.com", "--status", "suspended"];
    access.succeed(&[&zoe[..], &["--tier", "pro", "--paid-until", "2024-02-29"]].concat());
    let (_, revoked) = access.issue("first");
    access.succeed(&["key", "revoke", &revoked]);
    access.issue("Bot of Zoë, 2nd");
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    access
}

/// Returns the rows in order, without `changed_at`, which an import sets.
fn sorted(access: &Access) -> Vec<Value> {
    let mut rows = access.rows();
    for row in &mut rows {
        row.as_object_mut().unwrap().remove("changed_at");
    }
    rows.sort_by_key(|row| row["pk"]["S"].as_str().unwrap().to_owned());
    rows
}

/// Returns the lines of an export to standard output. Even with `--json`, standard output has nothing else.
#[track_caller]
fn export(access: &Access) -> Vec<String> {
    let outcome = access.succeed(&["account", "export", "-", "--json"]);
    outcome.stdout.lines().map(str::to_owned).collect()
}

/// Imports these lines; returns the exit code, the messages and the result.
fn import(access: &Access, lines: &[String]) -> (i32, String, Value) {
    let outcome = run(&mut access.command(&["account", "import", "-", "--json"]), &lines.join("\n"));
    (outcome.code, outcome.stderr.clone(), outcome.json())
}

#[test]
fn an_import_of_an_export_gives_the_same_rows() {
    let access = filled();
    let lines = export(&access);
    let expected =
        r#"{"account":"bots","tier":"starter","status":"active","paid_until":"2200-01-01T00:00:00Z"}"#;
    assert_eq!(lines[0], expected);
    assert!(lines[2].starts_with(&format!(r#"{{"sha256":"{UNKNOWN_DIGEST}","account":"bots","label":"ci""#)));
    assert!(lines[2].ends_with(r#""last_four":"X4ni","state":"pending"}"#), "{}", lines[2]);
    let other = Access::start();
    let text = |imported: [u64; 2], there: [u64; 2]| {
        let text =
            |kind: usize| format!("imported {}, already there {}, different 0", imported[kind], there[kind]);
        format!("accounts: {}; keys: {}; bad lines 0\n", text(0), text(1))
    };
    let (code, messages, document) = import(&other, &lines);
    assert_eq!((code, messages), (0, text([2, 3], [0, 0])));
    let expected = json!({
        "accounts": {"imported": 2, "already_there": 0, "different": 0},
        "keys": {"imported": 3, "already_there": 0, "different": 0},
        "bad_lines": 0, "gateway": null,
    });
    assert_eq!(document, expected);
    assert_eq!(sorted(&other), sorted(&access));
    assert_eq!(export(&other), lines);
    // The same command again changes nothing.
    assert_eq!(import(&other, &lines).1, text([0, 0], [2, 3]));
    assert_eq!(sorted(&other), sorted(&access));
}

#[test]
fn only_its_owner_can_read_an_export() {
    let access = filled();
    let file = path("accounts.ndjson");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let name = file.to_str().unwrap();
    assert!(access.fail(&["account", "export", name]).ends_with("replace it with --force"));
    let outcome = access.succeed(&["account", "export", name, "--force", "--json"]);
    assert_eq!(outcome.json(), json!({"accounts": 2, "keys": 3, "skipped": 0}));
    assert_eq!(outcome.stderr, "exported accounts 2, keys 3; skipped 0\n");
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn corrupt_rows_are_named_and_the_others_exported() {
    let access = filled();
    access.put(&json!({"pk": {"S": "account#broken"}, "tier": {"S": "gold"}}));
    access.put(&json!({"pk": {"S": "something"}}));
    // A time of the year 5138, which no import would accept.
    let late = json!({"tier": {"S": "pro"}, "status": {"S": "active"}, "paid_until": {"N": "100000000000"}, "pk": {"S": "account#late"}});
    access.put(&late);
    let outcome = access.run(&["account", "export", "-"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (1, 5), "{outcome:?}");
    for named in ["account#broken", "something", "account late"] {
        let reasons = outcome.stderr.lines().filter(|line| line.starts_with("skipped: "));
        assert_eq!(reasons.filter(|line| line.contains(named)).count(), 1, "{named}: {}", outcome.stderr);
    }
    assert!(outcome.stderr.ends_with("exported accounts 2, keys 3; skipped 3\n"), "{}", outcome.stderr);
}

/// Returns the line of [`UNKNOWN_KEY`] in an exported file.
fn key_line(state: &str) -> String {
    let revoked_at = if state == "revoked" { r#","revoked_at":"2025-10-09T08:53:20Z""# } else { "" };
    format!(
        r#"{{"sha256":"{UNKNOWN_DIGEST}","account":"bots","label":"ci","created_at":"2025-06-15T15:06:40Z","last_four":"X4ni","state":"{state}"{revoked_at}}}"#
    )
}

#[test]
fn bad_lines_are_refused_and_the_others_imported() {
    let account =
        r#"{"account":"bots","tier":"starter","status":"active","paid_until":"2200-01-01T00:00:00Z"}"#;
    let key = key_line("issued");
    let mut lines = Vec::new();
    let mut reasons = Vec::new();
    for (line, from, to, reason) in [
        (account, account, "[1]", "must be a JSON object"),
        (account, account, "{}", "missing field"),
        (account, "bots", "-bots", "account: the name of an account has"),
        (account, "bots", UNKNOWN_KEY, "account: this is an API key"),
        (account, "starter", "gold", "tier: unknown variant `gold`"),
        (account, "active", "lapsed", "status: unknown variant"),
        (account, "2200-01-01", "2200-13-01", "paid_until: "),
        (account, "\"tier\"", "\"x\":1,\"tier\"", "x: unknown field"),
        (&key, &UNKNOWN_DIGEST[1..], "", "sha256: it must be 64 hexadecimal digits"),
        (&key, UNKNOWN_DIGEST, UNKNOWN_KEY, "sha256: this is an API key"),
        (&key, "\"ci\"", "\" ci\"", "label: a label has"),
        (&key, "X4ni", "é4n", "last_four: must be the last four"),
        (&key, "issued", "lost", "state: unknown variant"),
        (&key, "issued", "revoked", "revoked_at: required for a revoked key"),
        (&key, "\"issued\"", "\"issued\",\"revoked_at\":\"2025-06-15T15:06:40Z\"", "revoked_at: "),
        (&key, "\"issued\"", "\"revoked\",\"revoked_at\":\"2200-01-01T00:00:00Z\"", "revoked_at: 2200"),
        (&key, "2025-", "2200-", "created_at: 2200-06-15T15:06:40Z is in the future"),
    ] {
        lines.push(line.replace(from, to));
        reasons.push(reason);
    }
    lines.extend([account.to_owned(), key.clone()]);
    let access = Access::start();
    let (code, messages, document) = import(&access, &lines);
    assert_eq!((code, document["bad_lines"].as_u64()), (1, u64::try_from(reasons.len()).ok()), "{messages}");
    for (number, (line, reason)) in (1..).zip(lines.iter().zip(&reasons)) {
        let expected = format!("-:{number}: ");
        let message = messages.lines().find_map(|message| message.strip_prefix(&expected));
        assert!(message.is_some_and(|message| message.contains(reason)), "{line}: {messages}");
    }
    assert_eq!(access.rows().len(), 2);
}

/// An import never removes a row, and never changes an existing account.
#[test]
fn existing_rows_stay() {
    let access = Access::with_bots();
    let (_, id) = access.issue("ci");
    let lines = export(&access);
    access.succeed(&["account", "set", "bots", "--status", "suspended"]);
    access.succeed(&["key", "revoke", &id]);
    let rows = sorted(&access);
    let renamed = lines[1].replace(r#""label":"ci""#, r#""label":"other""#);
    let (code, messages, document) = import(&access, &[lines[0].clone(), lines[1].clone(), renamed]);
    assert_eq!((code, &document["accounts"]["different"]), (1, &json!(1)));
    assert_eq!(document["keys"], json!({"imported": 0, "already_there": 1, "different": 1}));
    let expected = format!(
        "-:1: the account bots exists with other values, which stay; `account set` changes them\n\
         -:3: the key {id} exists with other values, which stay\n"
    );
    assert!(messages.starts_with(&expected), "{messages}");
    assert_eq!(sorted(&access), rows);
}

#[test]
fn a_second_issued_key_with_a_label_is_refused_until_the_first_is_revoked() {
    let access = Access::with_bots();
    let (_, first) = access.issue("ci");
    let (code, messages, document) = import(&access, &[key_line("issued")]);
    let expected = format!(
        "-:1: the key {UNKNOWN_ID} is not imported: the account bots has the issued key {first} with the label 'ci'; revoke one of them\n"
    );
    assert!(code == 1 && messages.starts_with(&expected), "{messages}");
    assert_eq!(document["keys"], json!({"imported": 0, "already_there": 0, "different": 1}));
    // The same applies to two lines of one file.
    let both = [export(&access), vec![key_line("issued")]].concat();
    let empty = Access::start();
    assert_eq!(import(&empty, &both).2["keys"]["imported"], 1);
    access.succeed(&["key", "revoke", &first]);
    assert_eq!(import(&access, &[key_line("issued")]).0, 0);
    assert_eq!(access.key_rows().len(), 2);
    // The issued line of a revoked key is not refused: the key stays revoked.
    assert_eq!(import(&access, &both[1..2]).0, 0);
}

/// A key changes from pending to issued to revoked, and never back.
#[test]
fn the_later_state_of_a_key_stays() {
    let states = ["pending", "issued", "revoked"];
    for (rank, state) in states.into_iter().enumerate() {
        for (other_rank, other) in states.into_iter().enumerate() {
            let access = Access::with_bots();
            assert_eq!(import(&access, &[key_line(state)]).0, 0);
            let (code, _, document) = import(&access, &[key_line(other)]);
            assert_eq!(code, 0);
            assert_eq!(document["keys"]["imported"], u64::from(other_rank > rank), "{state} {other}");
            let listed = access.succeed(&["key", "list", "bots", "--json"]).json();
            assert_eq!(listed["keys"][0]["state"], states[rank.max(other_rank)]);
        }
    }
}
