//! `key revoke`.

use super::{Access, UNKNOWN_ID};

#[tokio::test]
async fn a_revoked_key_is_rejected_and_stays_in_the_list() {
    let access = Access::with_bots().await;
    let (key, id) = access.issue("ci").await;
    let outcome = access.succeed(&["key", "revoke", &id]).await;
    assert!(outcome.stdout.contains("revoked since"), "{outcome:?}");
    let delay = outcome.stderr.strip_prefix("the key may still be accepted for ").unwrap();
    let left: u32 = delay.split_once(" seconds: ").unwrap().0.parse().unwrap();
    assert!((1..=65).contains(&left), "{outcome:?}");
    let explained = access.run_with(&["key", "explain", "-"], &key).await;
    assert_eq!(explained.code, 1);
    assert!(explained.stdout.contains("no: the key was revoked at "), "{explained:?}");
    let listed = access.succeed(&["key", "list", "bots", "--json"]).await.json();
    assert_eq!(listed["keys"][0]["state"], "revoked");
}

#[tokio::test]
async fn revoking_a_key_again_keeps_its_time() {
    let access = Access::with_bots().await;
    access.put_revoked_key("ci").await;
    for _ in 0..2 {
        let outcome = access.succeed(&["key", "revoke", UNKNOWN_ID, "--json"]).await;
        assert_eq!(outcome.json()["revoked_at"], "2025-10-09T08:53:20Z");
        assert_eq!(outcome.stderr, "");
    }
}

#[tokio::test]
async fn an_unknown_key_is_an_error() {
    let access = Access::with_bots().await;
    let reason = access.fail(&["key", "revoke", UNKNOWN_ID]).await;
    assert_eq!(reason, format!("there is no key {UNKNOWN_ID}; `key list` shows the keys of an account"));
}
