//! `key revoke`.

use serde_json::json;

use super::support::{Access, UNKNOWN_ID, run};

#[test]
fn a_revoked_key_is_rejected_and_stays_in_the_list() {
    let access = Access::with_bots();
    let (key, id) = access.issue("ci");
    let outcome = access.succeed(&["key", "revoke", &id]);
    assert!(outcome.stdout.contains("revoked since"), "{outcome:?}");
    let delay = outcome.stderr.strip_prefix("the key may still be accepted for ").unwrap();
    let left: u32 = delay.split_once(" seconds: ").unwrap().0.parse().unwrap();
    assert!((1..=65).contains(&left), "{outcome:?}");
    let explained = run(&mut access.command(&["key", "explain", "-"]), &key);
    assert_eq!(explained.code, 1);
    assert!(explained.stdout.contains("no: the key was revoked at "), "{explained:?}");
    assert_eq!(access.succeed(&["key", "list", "bots", "--json"]).json()["keys"][0]["state"], "revoked");
}

#[test]
fn revoking_a_key_again_keeps_its_time() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"revoked_at": {"N": "1760000000"}}));
    for _ in 0..2 {
        let outcome = access.succeed(&["key", "revoke", UNKNOWN_ID, "--json"]);
        assert_eq!(outcome.json()["revoked_at"], "2025-10-09T08:53:20Z");
        assert_eq!(outcome.stderr, "");
    }
}

#[test]
fn an_incomplete_key_can_be_revoked() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    assert_eq!(access.succeed(&["key", "revoke", UNKNOWN_ID, "--json"]).json()["state"], "revoked");
    assert!(access.key_rows()[0].get("pending").is_none());
}

#[test]
fn an_unknown_key_is_an_error() {
    let access = Access::with_bots();
    let reason = access.fail(&["key", "revoke", UNKNOWN_ID]);
    assert_eq!(reason, format!("there is no key {UNKNOWN_ID}; `key list` shows the keys of an account"));
}
