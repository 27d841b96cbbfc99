//! `key revoke`.

use serde_json::json;

use crate::support::{Access, UNKNOWN_ID, UNKNOWN_KEY, run};

#[test]
fn a_revoked_key_is_refused_and_stays_in_the_list() {
    let access = Access::with_bots();
    let (key, id) = access.issue("ci");
    let said = access.succeed(&["key", "revoke", &id]);
    assert!(said.output.contains("revoked since"), "{said:?}");
    // A second may have passed since.
    let starts = ["65", "64", "63"].map(|left| format!("the key may still be accepted for {left} seconds: "));
    assert!(starts.iter().any(|start| said.aside.starts_with(start)), "{said:?}");
    let explained = run(&mut access.command(&["key", "explain", "-"]), &key);
    assert_eq!(explained.code, 1);
    assert!(explained.output.contains("no: the key was revoked at "), "{explained:?}");
    assert_eq!(access.succeed(&["key", "list", "bots", "--json"]).json()["keys"][0]["state"], "revoked");
}

#[test]
fn a_key_that_is_revoked_already_keeps_its_time() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"revoked_at": {"N": "1760000000"}}));
    for _ in 0..2 {
        let said = access.succeed(&["key", "revoke", UNKNOWN_ID, "--json"]);
        assert_eq!(said.json()["revoked_at"], "2025-10-09T08:53:20Z");
        assert_eq!(said.aside, "");
    }
}

#[test]
fn a_key_that_was_not_issued_to_its_end_can_be_revoked() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"pending": {"BOOL": true}}));
    assert_eq!(access.succeed(&["key", "revoke", UNKNOWN_ID, "--json"]).json()["state"], "revoked");
    assert!(access.key_rows()[0].get("pending").is_none());
}

#[test]
fn a_key_that_is_not_there() {
    let access = Access::with_bots();
    let reason = access.fail(&["key", "revoke", UNKNOWN_ID]);
    assert_eq!(reason, format!("there is no key {UNKNOWN_ID}; `key list` shows the keys of an account"));
}

#[test]
fn a_key_in_place_of_its_id_is_not_repeated() {
    let access = Access::with_bots();
    for key in [UNKNOWN_KEY, &UNKNOWN_KEY[..30], &UNKNOWN_KEY.replace('A', "B")] {
        let said = access.run(&["key", "revoke", key]);
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
        assert!(said.aside.contains("this is an API key, not a KEY-ID"), "{said:?}");
        assert!(!said.aside.contains(&key[3..]), "{said:?}");
    }
}
