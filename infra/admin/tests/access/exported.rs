//! `account export` and `account import`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{Access, UNKNOWN_DIGEST, UNKNOWN_ID, UNKNOWN_KEY, run};
use crate::history::support::path;

fn mode(file: &PathBuf) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o7777
}

/// With accounts and keys in every state.
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

fn sorted(access: &Access) -> Vec<Value> {
    let mut rows = access.rows();
    rows.sort_by_key(|row| row["pk"]["S"].as_str().unwrap().to_owned());
    rows
}

/// Exports the table, and returns the file and its lines.
#[track_caller]
fn export(access: &Access) -> (PathBuf, Vec<String>) {
    let file = path("accounts.ndjson");
    access.succeed(&["account", "export", file.to_str().unwrap()]);
    let lines = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
    (file, lines)
}

/// Imports these lines; returns the exit code, the messages and the result.
fn import(access: &Access, lines: &str) -> (i32, String, Value) {
    let outcome = run(&mut access.command(&["account", "import", "-", "--json"]), lines);
    let document = if outcome.stdout.is_empty() { Value::Null } else { outcome.json() };
    (outcome.code, outcome.stderr, document)
}

#[test]
fn an_import_of_an_export_gives_the_same_rows() {
    let access = filled();
    let (key, _) = access.issue("third");
    let (file, lines) = export(&access);
    assert_eq!(lines.len(), 6);
    let expected =
        r#"{"account":"bots","tier":"starter","status":"active","paid_until":"2200-01-01T00:00:00Z"}"#;
    assert_eq!(lines[0], expected);
    assert!(lines[2].starts_with(&format!(r#"{{"sha256":"{UNKNOWN_DIGEST}","account":"bots","label":"ci""#)));
    assert!(lines[2].ends_with(r#""last_four":"X4ni","state":"pending"}"#), "{}", lines[2]);

    let other = Access::start();
    let arguments = ["account", "import", file.to_str().unwrap(), "--json"];
    let expected = |imported: u64, already_there: [u64; 2]| {
        json!({
            "accounts": {"imported": imported.min(2), "already_there": already_there[0], "different": 0},
            "keys": {"imported": imported.saturating_sub(2), "already_there": already_there[1], "different": 0},
            "bad_lines": 0, "gateway": null,
        })
    };
    let first = other.succeed(&arguments);
    assert_eq!(first.json(), expected(6, [0, 0]));
    assert_eq!(
        first.stderr,
        "accounts: imported 2, already there 0, different 0; keys: imported 4, already there 0, different 0; bad lines 0\n"
    );
    assert_eq!(sorted(&other), sorted(&access));
    assert_eq!(export(&other).1, lines);
    assert_eq!(run(&mut other.command(&["key", "explain", "-"]), &key).code, 0);
    // The same command again changes nothing.
    assert_eq!(other.succeed(&arguments).json(), expected(0, [2, 4]));
    assert_eq!(sorted(&other), sorted(&access));
}

#[test]
fn only_its_owner_can_read_an_export() {
    let access = filled();
    let (file, _) = export(&access);
    assert_eq!(mode(&file), 0o600);
    // Also in place of a file that others can read.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let name = file.to_str().unwrap();
    assert!(access.fail(&["account", "export", name]).ends_with("replace it with --force"));
    let outcome = access.succeed(&["account", "export", name, "--force", "--json"]);
    assert_eq!(outcome.json(), json!({"accounts": 2, "keys": 3, "skipped": 0}));
    assert_eq!(mode(&file), 0o600);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn an_export_to_standard_output_is_only_the_lines() {
    let access = filled();
    let outcome = access.succeed(&["account", "export", "-", "--json"]);
    assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), export(&access).1);
    assert_eq!(outcome.stderr, "exported accounts 2, keys 3; skipped 0\n");
}

#[test]
fn corrupt_rows_are_named_and_the_others_exported() {
    let access = filled();
    access.put(&json!({"pk": {"S": "account#broken"}, "tier": {"S": "gold"}}));
    access.put(&json!({"pk": {"S": "key#broken"}}));
    access.put(&json!({"pk": {"S": "something"}}));
    let outcome = access.run(&["account", "export", "-"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (1, 5), "{outcome:?}");
    for named in ["account#broken", "key#broken", "something"] {
        let reasons = outcome.stderr.lines().filter(|line| line.starts_with("skipped: "));
        assert_eq!(reasons.filter(|line| line.contains(named)).count(), 1, "{named}: {}", outcome.stderr);
    }
    assert!(outcome.stderr.ends_with("exported accounts 2, keys 3; skipped 3\n"), "{}", outcome.stderr);
}

#[test]
fn bad_lines_are_refused_and_the_others_imported() {
    let account =
        r#"{"account":"bots","tier":"starter","status":"active","paid_until":"2200-01-01T00:00:00Z"}"#;
    let key = format!(
        r#"{{"sha256":"{UNKNOWN_DIGEST}","account":"bots","label":"ci","created_at":"2025-06-15T15:06:40Z","last_four":"X4ni","state":"issued"}}"#
    );
    let mut lines = vec![
        ("[1]".to_owned(), "must be a JSON object"),
        ("{".to_owned(), "invalid JSON"),
        ("{}".to_owned(), "missing field"),
    ];
    for (from, to, reason) in [
        ("bots", "-bots", "account: the name of an account has"),
        ("bots", UNKNOWN_KEY, "account: this is an API key"),
        ("starter", "gold", "tier: unknown variant `gold`"),
        ("active", "lapsed", "status: unknown variant"),
        ("2200-01-01", "2200-13-01", "paid_until: "),
        ("\"tier\"", "\"x\":1,\"tier\"", "x: unknown field"),
    ] {
        lines.push((account.replace(from, to), reason));
    }
    for (from, to, reason) in [
        (&UNKNOWN_DIGEST[1..], "", "sha256: it must be 64 hexadecimal digits"),
        (UNKNOWN_DIGEST, UNKNOWN_KEY, "sha256: this is an API key"),
        ("\"ci\"", "\" ci\"", "label: a label has"),
        ("X4ni", "é4n", "last_four: it must be the last four"),
        ("issued", "lost", "state: unknown variant"),
        ("issued", "revoked", "revoked_at: revoked keys have it"),
        ("\"issued\"", "\"issued\",\"revoked_at\":\"2025-06-15T15:06:40Z\"", "revoked_at: "),
    ] {
        lines.push((key.replace(from, to), reason));
    }
    let access = Access::start();
    let text: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).chain([account, &key]).collect();
    let (code, messages, document) = import(&access, &text.join("\n"));
    assert_eq!((code, document["bad_lines"].as_u64()), (1, u64::try_from(lines.len()).ok()), "{messages}");
    for (number, (line, reason)) in (1..).zip(&lines) {
        let expected = format!("-:{number}: ");
        let message = messages.lines().find_map(|message| message.strip_prefix(&expected));
        assert!(message.is_some_and(|message| message.contains(reason)), "{line}: {messages}");
    }
    assert_eq!(access.rows().len(), 2);
}

/// An import never takes anything away, so that a wrong file does no harm.
#[test]
fn existing_rows_stay() {
    let access = Access::with_bots();
    let (_, id) = access.issue("ci");
    let (_, lines) = export(&access);
    access.succeed(&["account", "set", "bots", "--status", "suspended"]);
    access.succeed(&["key", "revoke", &id]);
    let rows = sorted(&access);
    let (code, messages, document) = import(&access, &lines.join("\n"));
    assert_eq!((code, document["accounts"]["different"].as_u64()), (1, Some(1)));
    assert_eq!(document["keys"]["already_there"], 1);
    assert!(
        messages.starts_with("-:1: the account bots exists with other values, which stay; "),
        "{messages}"
    );
    assert_eq!(sorted(&access), rows);
    let renamed = lines[1].replace(r#""label":"ci""#, r#""label":"other""#);
    let (code, messages, _) = import(&access, &renamed);
    let expected = format!("-:1: the key {id} exists with other values, which stay\n");
    assert!(code == 1 && messages.starts_with(&expected), "{messages}");
    assert_eq!(sorted(&access), rows);
}

#[test]
fn a_second_issued_key_with_a_label_is_refused_until_the_first_is_revoked() {
    let (one, other) = (Access::with_bots(), Access::with_bots());
    let (_, first) = one.issue("ci");
    let (_, second) = other.issue("ci");
    let (_, lines) = export(&other);
    let (code, messages, document) = import(&one, &lines.join("\n"));
    let expected = format!(
        "-:2: the key {second} is not imported: the account bots has the issued key {first} with the label 'ci'; revoke one of them\n"
    );
    assert!(code == 1 && messages.starts_with(&expected), "{messages}");
    assert_eq!(document["keys"], json!({"imported": 0, "already_there": 0, "different": 1}));
    assert_eq!(one.key_rows().len(), 1);
    // Two lines of one file, too.
    let empty = Access::start();
    let both = format!("{}\n{}", export(&one).1.join("\n"), lines.join("\n"));
    assert_eq!(import(&empty, &both).2["keys"]["imported"], 1);
    assert_eq!(empty.key_rows().len(), 1);

    // The file that revokes the first key may list it last.
    one.succeed(&["key", "revoke", &first]);
    let (_, revoked) = export(&one);
    let there = Access::start();
    let before = both.lines().filter(|line| !line.contains(&second[..8]));
    assert_eq!(import(&there, &before.collect::<Vec<_>>().join("\n")).0, 0);
    assert_eq!(import(&there, &format!("{}\n{}", lines.join("\n"), revoked[1])).0, 0);
    // A revoked key is not refused: it stays revoked.
    assert_eq!(import(&there, &export(&other).1.join("\n")).0, 0);
    assert_eq!(import(&there, &both).0, 0);
    assert_eq!(there.key_rows().len(), 2);
}

/// A key goes from pending over issued to revoked, and never back.
#[test]
fn the_later_state_of_a_key_stays() {
    let line = |state: &str| {
        let revoked_at = if state == "revoked" { r#","revoked_at":"2025-10-09T08:53:20Z""# } else { "" };
        format!(
            r#"{{"sha256":"{UNKNOWN_DIGEST}","account":"bots","label":"ci","created_at":"2025-06-15T15:06:40Z","last_four":"X4ni","state":"{state}"{revoked_at}}}"#
        )
    };
    let states = ["pending", "issued", "revoked"];
    for (rank, state) in states.into_iter().enumerate() {
        for (other_rank, other) in states.into_iter().enumerate() {
            let access = Access::with_bots();
            assert_eq!(import(&access, &line(state)).0, 0);
            let (code, _, document) = import(&access, &line(other));
            assert_eq!(code, 0);
            assert_eq!(document["keys"]["imported"], u64::from(other_rank > rank), "{state} {other}");
            let listed = access.succeed(&["key", "list", "bots", "--json"]).json();
            assert_eq!(listed["keys"][0]["state"], states[rank.max(other_rank)]);
            assert_eq!(listed["keys"][0]["id"], UNKNOWN_ID);
        }
    }
}
