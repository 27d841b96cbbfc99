//! `account export` and `account import`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use serde_json::{Value, json};

use super::super::commands;
use super::super::rows::{numbered_key, put};
use super::{Access, UNKNOWN_DIGEST, UNKNOWN_ID, UNKNOWN_KEY, path};

/// The accounts and keys of each local cloud. An export has them, and an import finds them.
const INITIAL: u64 = 4;

const ACCOUNT: &str =
    r#"{"account":"bots","status":"active","tier":"starter","paid_until":"2200-01-01T00:00:00Z"}"#;

/// Starts a cloud with accounts and keys in every state.
async fn filled() -> Access {
    let access = Access::with_bots().await;
    let zoe = ["account", "set", "zoe+bots@example.com", "--status", "suspended"];
    access.succeed(&[&zoe[..], &["--tier", "pro", "--paid-until", "2024-02-29"]].concat()).await;
    let (_, revoked) = access.issue("first").await;
    access.succeed(&["key", "revoke", &revoked]).await;
    let (_, replaced) = access.issue("Bot of Zoë, 2nd").await;
    let replace = json!({"command": "replace_key", "key_id": replaced, "grace_seconds": 3600});
    commands::done(&access.cloud, replace).await;
    access
}

/// Returns the lines of an export to standard output. Even with `--json`, standard output has nothing else.
async fn export(access: &Access) -> Vec<String> {
    let outcome = access.succeed(&["account", "export", "-", "--json"]).await;
    outcome.stdout.lines().map(str::to_owned).collect()
}

/// Returns the lines of an export about `bots`.
async fn export_bots(access: &Access) -> Vec<String> {
    let mut lines = export(access).await;
    lines.retain(|line| line.contains(r#""account":"bots""#));
    lines
}

/// Imports these lines; returns the exit code, the messages and the result.
async fn import(access: &Access, lines: &[String]) -> (i32, String, Value) {
    let outcome = access.run_with(&["account", "import", "-", "--json"], &lines.join("\n")).await;
    (outcome.code, outcome.stderr.clone(), outcome.json())
}

#[tokio::test]
async fn an_import_of_an_export_gives_the_same_accounts_and_keys() {
    let access = filled().await;
    let lines = export(&access).await;
    let accounts = usize::try_from(INITIAL).unwrap() + 2;
    assert_eq!(lines[0], ACCOUNT);
    assert!(lines[accounts].starts_with(r#"{"sha256":""#), "{}", lines[accounts]);
    let other = Access::start().await;
    let text = |imported: [u64; 2], there: [u64; 2]| {
        let text =
            |kind: usize| format!("imported {}, already there {}, different 0", imported[kind], there[kind]);
        format!("accounts: {}; keys: {}; bad lines 0\n", text(0), text(1))
    };
    let (code, messages, document) = import(&other, &lines).await;
    assert_eq!((code, messages), (0, text([2, 3], [INITIAL, INITIAL])));
    let expected = json!({
        "accounts": {"imported": 2, "already_there": INITIAL, "different": 0},
        "keys": {"imported": 3, "already_there": INITIAL, "different": 0},
        "bad_lines": 0,
    });
    assert_eq!(document, expected);
    assert_eq!(export(&other).await, lines);
    let rows = other.rows().await;
    // The same command again changes nothing.
    assert_eq!(import(&other, &lines).await.1, text([0, 0], [INITIAL + 2, INITIAL + 3]));
    assert_eq!(other.rows().await, rows);
}

#[tokio::test]
async fn only_its_owner_can_read_an_export() {
    let access = filled().await;
    let file = path("accounts.ndjson");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let name = file.to_str().unwrap();
    assert!(access.fail(&["account", "export", name]).await.ends_with("replace it with --force"));
    let outcome = access.succeed(&["account", "export", name, "--force", "--json"]).await;
    let (accounts, keys) = (INITIAL + 2, INITIAL + 3);
    assert_eq!(outcome.json(), json!({"accounts": accounts, "keys": keys, "skipped": 0}));
    assert_eq!(outcome.stderr, format!("exported accounts {accounts}, keys {keys}; skipped 0\n"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[tokio::test]
async fn corrupt_rows_are_named_and_the_others_exported() {
    let access = filled().await;
    put(&access.cloud, &json!({"pk": {"S": "account#broken"}, "tier": {"S": "gold"}})).await;
    put(&access.cloud, &json!({"pk": {"S": "something"}})).await;
    // A time of the year 5138, which no import would accept.
    put(&access.cloud, &super::super::rows::account_row("late", "pro", "active", 100_000_000_000)).await;
    let outcome = access.run(&["account", "export", "-"]).await;
    let (accounts, keys) = (INITIAL + 2, INITIAL + 3);
    let lines = u64::try_from(outcome.stdout.lines().count()).unwrap();
    assert_eq!((outcome.code, lines), (1, accounts + keys), "{outcome:?}");
    for named in ["account#broken", "something", "account late"] {
        let reasons = outcome.stderr.lines().filter(|line| line.starts_with("skipped: "));
        assert_eq!(reasons.filter(|line| line.contains(named)).count(), 1, "{named}: {}", outcome.stderr);
    }
    let summary = format!("exported accounts {accounts}, keys {keys}; skipped 3\n");
    assert!(outcome.stderr.ends_with(&summary), "{}", outcome.stderr);
}

/// Returns the line of [`UNKNOWN_KEY`] in an exported file.
fn key_line(state: &str) -> String {
    line_of(UNKNOWN_DIGEST, "ci", state)
}

/// Returns the line of a key in an exported file. `state` is `issued`, `revoked`, or the expiry of an issued
/// key.
fn line_of(digest: &str, label: &str, state: &str) -> String {
    let state = match state {
        "issued" => r#""state":"issued""#.to_owned(),
        "revoked" => r#""state":"revoked","revoked_at":"2025-10-09T08:53:20Z""#.to_owned(),
        expires_at => format!(r#""state":"issued","expires_at":"{expires_at}""#),
    };
    format!(
        r#"{{"sha256":"{digest}","account":"bots","label":"{label}","created_at":"2025-06-15T15:06:40Z","last_four":"X4ni",{state}}}"#
    )
}

#[tokio::test]
async fn bad_lines_are_refused_and_the_others_imported() {
    let key = key_line("issued");
    let mut lines = Vec::new();
    let mut reasons = Vec::new();
    for (line, from, to, reason) in [
        (ACCOUNT, ACCOUNT, "[1]", "must be a JSON object"),
        (ACCOUNT, ACCOUNT, "{}", "missing field"),
        (ACCOUNT, "bots", "-bots", "account: the name of an account has"),
        (ACCOUNT, "bots", UNKNOWN_KEY, "account: this is an API key"),
        (ACCOUNT, "starter", "gold", "tier: unknown variant `gold`"),
        (ACCOUNT, "active", "lapsed", "status: unknown variant"),
        (ACCOUNT, "2200-01-01", "2200-13-01", "paid_until: "),
        (ACCOUNT, r#","paid_until":"2200-01-01T00:00:00Z""#, "", "paid_until"),
        (ACCOUNT, "}", r#","changed_at":"2026-04-24T03:06:40Z"}"#, "changed_at: unknown field"),
        (ACCOUNT, "\"tier\"", "\"x\":1,\"tier\"", "x: unknown field"),
        (&key, &UNKNOWN_DIGEST[1..], "", "sha256: it must be 64 hexadecimal digits"),
        (&key, UNKNOWN_DIGEST, UNKNOWN_KEY, "sha256: this is an API key"),
        (&key, "\"ci\"", "\" ci\"", "label: a label has"),
        (&key, r#""label":"ci","#, "", "label"),
        (&key, "X4ni", "é4n", "last_four: must be the last four"),
        (&key, "issued", "lost", "state: unknown variant"),
        (&key, "issued", "revoked", "revoked_at: required for a revoked key"),
        (&key, "\"issued\"", "\"issued\",\"revoked_at\":\"2025-06-15T15:06:40Z\"", "revoked_at: "),
        (
            &key,
            "\"issued\"",
            "\"revoked\",\"revoked_at\":\"2200-01-01T00:00:00Z\"",
            "revoked_at: it is too far in the future",
        ),
        (&key, "2025-", "2200-", "created_at: it is too far in the future"),
    ] {
        lines.push(line.replace(from, to));
        reasons.push(reason);
    }
    lines.extend([ACCOUNT.to_owned(), key.clone()]);
    let access = Access::start().await;
    let (code, messages, document) = import(&access, &lines).await;
    assert_eq!((code, document["bad_lines"].as_u64()), (1, u64::try_from(reasons.len()).ok()), "{messages}");
    for (number, (line, reason)) in (1..).zip(lines.iter().zip(&reasons)) {
        let expected = format!("-:{number}: ");
        let message = messages.lines().find_map(|message| message.strip_prefix(&expected));
        assert!(message.is_some_and(|message| message.contains(reason)), "{line}: {messages}");
    }
    assert_eq!(access.rows().await.len(), 2);
}

/// An import never removes a row, and never changes an existing account.
#[tokio::test]
async fn existing_rows_stay() {
    let access = Access::with_bots().await;
    let (_, id) = access.issue("ci").await;
    let lines = export_bots(&access).await;
    access.succeed(&["account", "set", "bots", "--status", "suspended"]).await;
    access.succeed(&["key", "revoke", &id]).await;
    let rows = access.rows().await;
    let renamed = lines[1].replace(r#""label":"ci""#, r#""label":"other""#);
    let (code, messages, document) = import(&access, &[lines[0].clone(), lines[1].clone(), renamed]).await;
    assert_eq!((code, &document["accounts"]["different"]), (1, &json!(1)));
    assert_eq!(document["keys"], json!({"imported": 0, "already_there": 1, "different": 1}));
    let expected = format!(
        "-:1: the account bots exists with other values, which stay; `account set` changes them\n\
         -:3: the key {id} exists with other values, which stay\n"
    );
    assert!(messages.starts_with(&expected), "{messages}");
    assert_eq!(access.rows().await, rows);
}

#[tokio::test]
async fn a_second_issued_key_with_a_label_is_refused_until_the_first_is_revoked() {
    let access = Access::with_bots().await;
    let (_, first) = access.issue("ci").await;
    let (code, messages, document) = import(&access, &[key_line("issued")]).await;
    let expected = format!(
        "-:1: the key {UNKNOWN_ID} is not imported: the account bots has the issued key {first} with the label 'ci'; revoke one of them\n"
    );
    assert!(code == 1 && messages.starts_with(&expected), "{messages}");
    assert_eq!(document["keys"], json!({"imported": 0, "already_there": 0, "different": 1}));
    // The same applies to two lines of one file.
    let both = [export_bots(&access).await, vec![key_line("issued")]].concat();
    let empty = Access::start().await;
    assert_eq!(import(&empty, &both).await.2["keys"]["imported"], 1);
    access.succeed(&["key", "revoke", &first]).await;
    assert_eq!(import(&access, &[key_line("issued")]).await.0, 0);
    assert_eq!(access.key_rows().await.len(), 2);
    // The issued line of a revoked key is not refused: the key stays revoked.
    assert_eq!(import(&access, &both[1..2]).await.0, 0);
}

/// A key gets an end, an earlier end, and is revoked, but never the other way round.
#[tokio::test]
async fn the_later_state_of_a_key_stays() {
    let access = Access::with_bots().await;
    let now = UnixSeconds::from(UnixMilliseconds::of_system_clock());
    let [later, earlier] = [2, 1].map(|hours| now.plus(Duration::from_hours(hours)).to_string());
    let states = ["issued", &later, &earlier, "revoked"];
    let mut number = 0;
    for (rank, state) in states.into_iter().enumerate() {
        for (other_rank, other) in states.into_iter().enumerate() {
            number += 1;
            let (digest, label) = (numbered_key(number).digest(), format!("bot {number}"));
            let line = |state: &str| [line_of(&digest.to_string(), &label, state)];
            assert_eq!(import(&access, &line(state)).await.0, 0);
            let (code, _, document) = import(&access, &line(other)).await;
            assert_eq!(code, 0);
            assert_eq!(document["keys"]["imported"], u64::from(other_rank > rank), "{state} {other}");
            let exported = export_bots(&access).await;
            assert!(
                exported.contains(&line(states[rank.max(other_rank)])[0]),
                "{state} {other}: {exported:?}"
            );
        }
    }
}
