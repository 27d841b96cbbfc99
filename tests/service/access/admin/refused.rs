//! Rows that the service does not write.

use serde_json::json;

use super::{Access, UNKNOWN_ID, UNKNOWN_KEY};

#[tokio::test]
async fn a_corrupt_row_is_an_error() {
    let access = Access::with_bots().await;
    access.put_revoked_key("ci").await;
    let end = ("ends_at", json!({"N": "1760000000"}));
    access.put_key("ci", &[end, ("created_at", json!({"S": "yesterday"}))]).await;
    for arguments in [
        &["key", "list", "bots"][..],
        &["account", "show", "bots"],
        &["key", "explain", UNKNOWN_KEY],
        &["key", "revoke", UNKNOWN_ID],
    ] {
        let reason = access.fail(arguments).await;
        let expected = format!(
            "the row key#{UNKNOWN_ID} of the table Access is corrupt: its attribute created_at is missing or not a whole number"
        );
        assert!(reason.starts_with(&expected), "{arguments:?}: {reason}");
    }
    // Other keys of the account can be issued.
    access.issue("ci").await;
}
