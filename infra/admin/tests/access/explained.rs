//! `key explain`: the authorizer's decision and its reason.

use serde_json::{Value, json};

use super::support::{Access, UNKNOWN_ID, UNKNOWN_KEY, command, run};

#[track_caller]
fn explain(access: &Access, key: &str) -> (Value, i32) {
    let outcome = run(&mut access.command(&["key", "explain", "-", "--json"]), &format!(" {key}\r\n"));
    (outcome.json(), outcome.code)
}

#[test]
fn an_accepted_key() {
    let access = Access::with_bots();
    let (key, id) = access.issue("ci");
    let (document, code) = explain(&access, &key);
    assert_eq!(code, 0);
    assert_eq!((&document["allowed"], &document["status"]), (&json!(true), &json!(200)));
    assert_eq!((&document["reason"], &document["gateway"]), (&Value::Null, &Value::Null));
    assert_eq!(document["key"]["id"], id.as_str());
    assert_eq!(document["account"]["tier"], "starter");
    let text = access.run(&["key", "explain", &key]);
    assert_eq!(text.code, 0);
    assert_eq!(text.words().last().unwrap(), &["allowed", "yes"]);
}

#[test]
fn every_reason_to_reject_a_key() {
    let access = Access::with_bots();
    let check = |status: u16, reason: &str| {
        let (document, code) = explain(&access, UNKNOWN_KEY);
        assert_eq!(document["status"], status, "{document}");
        assert_eq!(document["reason"], reason, "{document}");
        assert_eq!((code, &document["allowed"]), (1, &json!(false)));
    };
    check(401, "the key is unknown");
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    check(401, "the key was not issued completely");
    access.put_key("ci", &json!({"revoked_at": {"N": "1760000000"}}));
    check(401, "the key was revoked at 2025-10-09T08:53:20Z");
    access.put_key("ci", &json!({}));
    access.succeed(&["account", "set", "bots", "--paid-until", "2026-01-01"]);
    check(403, "the account's subscription was paid until 2026-01-01T00:00:00Z");
    access.succeed(&["account", "set", "bots", "--status", "suspended"]);
    check(403, "the account's subscription is suspended");
    access.delete("account#bots");
    check(403, "the key's account does not exist");
    // The id is a prefix of the digest, and the whole digest must match.
    let digest = format!("{UNKNOWN_ID}{}", "0".repeat(40));
    access.put_key("ci", &json!({"sha256": {"S": digest}}));
    check(401, "the key is unknown");
}

#[test]
fn a_key_with_a_typo_is_explained_without_a_table() {
    // Nothing listens on this port.
    let explain =
        |key: &str| run(&mut command("http://127.0.0.1:9", &["key", "explain", "-", "--json"]), key);
    for (key, reason) in [
        (UNKNOWN_KEY.replace('J', "K"), "the key is malformed: its checksum is wrong, so it has a typo"),
        (
            UNKNOWN_KEY[..40].to_owned(),
            "the key is malformed: it is not an API key: a key is gd_ followed by 38 letters and digits",
        ),
        (
            "hello".to_owned(),
            "the key is malformed: it is not an API key: a key is gd_ followed by 38 letters and digits",
        ),
    ] {
        let outcome = explain(&key);
        assert_eq!(outcome.code, 1);
        assert_eq!(outcome.json()["reason"], reason);
        assert_eq!(outcome.json()["status"], 401);
    }
}

#[test]
fn no_key_on_standard_input() {
    let access = Access::start();
    for input in ["", "\n", "  \n"] {
        let outcome = run(&mut access.command(&["key", "explain", "-"]), input);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
        assert_eq!(outcome.stderr, "error: standard input has no key\n");
    }
    let endless = "x".repeat(1024 * 1024);
    assert_eq!(run(&mut access.command(&["key", "explain", "-"]), &endless).code, 1);
}
