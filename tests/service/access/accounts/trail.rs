//! The audit trail has a line for each changed row, with the state before and after the change, and no key.

use std::collections::BTreeMap;

use local::Cloud;
use serde_json::{Value, json};

use super::super::commands::{done, issued, refused, revoke, set_tier, text};
use super::super::expect_no_secrets;
use super::super::rows::numbered_key;
use super::HOUR;
use crate::support::{await_logs, expect_clean_logs, log_lines, one_instance_each, start_with};

/// The lines about changed rows that were written since the first `earlier` ones, by key, or by the account
/// without one: the states before and after the change.
async fn changes(cloud: &Cloud, earlier: usize, count: usize) -> BTreeMap<String, [Value; 2]> {
    let is_change = |line: &Value| line["message"] == "changed";
    await_logs(cloud, earlier + count, is_change).await;
    let lines: Vec<_> = log_lines(cloud).into_iter().filter(is_change).skip(earlier).collect();
    assert_eq!(lines.len(), count, "{lines:?}");
    let subject = |line: &Value| {
        assert_eq!(line["account"], "bots", "{line}");
        line["key_id"].as_str().unwrap_or("account").to_owned()
    };
    lines.iter().map(|line| (subject(line), [line["before"].clone(), line["after"].clone()])).collect()
}

/// A line about one row.
fn one(subject: &Value, before: Option<&str>, after: Option<&str>) -> BTreeMap<String, [Value; 2]> {
    BTreeMap::from([(text(subject).to_owned(), [json!(before), json!(after)])])
}

#[tokio::test]
async fn each_changed_row_has_a_line_with_both_states() {
    let cloud = start_with(one_instance_each()).await;
    let account = json!("account");
    let pro = "active; pro until 2200-01-01T00:00:00Z";
    let suspended = "suspended; pro until 2200-01-01T00:00:00Z";
    set_tier(&cloud, "bots", "pro").await;
    assert_eq!(changes(&cloud, 0, 1).await, one(&account, None, Some(pro)));
    let suspend = json!({"command": "set_account", "account": "bots", "status": "suspended"});
    for _ in 0..2 {
        // The second command changes nothing.
        done(&cloud, suspend.clone()).await;
    }
    assert_eq!(changes(&cloud, 1, 1).await, one(&account, Some(pro), Some(suspended)));

    let first = issued(&cloud, "bots", "ci").await;
    assert_eq!(changes(&cloud, 2, 1).await, one(&first["id"], None, Some("issued")));
    let replace = json!({"command": "replace_key", "key_id": first["id"], "grace_seconds": HOUR});
    let second = done(&cloud, replace).await;
    let explained = done(&cloud, json!({"command": "explain_key", "key": first["key"]})).await;
    let until = format!("issued until {}", text(&explained["key"]["expires_at"]));
    let mut expected = one(&first["id"], Some("issued"), Some(&until));
    expected.extend(one(&second["id"], None, Some("issued")));
    assert_eq!(changes(&cloud, 3, 2).await, expected);
    for _ in 0..2 {
        revoke(&cloud, &second).await;
    }
    let explained = done(&cloud, json!({"command": "explain_key", "key": second["key"]})).await;
    let revoked = format!("revoked at {}", text(&explained["key"]["revoked_at"]));
    assert_eq!(changes(&cloud, 5, 1).await, one(&second["id"], Some("issued"), Some(&revoked)));

    let imported = numbered_key(1);
    let row = json!({
        "sha256": imported.digest().to_string(), "account": "bots", "label": "imported",
        "created_at": "2026-04-24T03:06:40Z", "last_four": imported.last_four(), "state": "issued",
    });
    for _ in 0..2 {
        done(&cloud, json!({"command": "import_row", "row": row})).await;
    }
    let id = json!(imported.digest().id().as_str());
    assert_eq!(changes(&cloud, 6, 1).await, one(&id, None, Some("issued")));
    // A refused command changes nothing.
    let taken = json!({"command": "issue_key", "account": "bots", "label": "imported"});
    assert_eq!(refused(&cloud, taken).await, "label_taken");

    done(&cloud, json!({"command": "delete_account", "account": "bots"})).await;
    // All keys are deleted: the revoked one, the one in its grace time, and the valid one.
    let mut expected = one(&account, Some(suspended), None);
    expected.extend(one(&first["id"], Some(&until), None));
    expected.extend(one(&second["id"], Some(&revoked), None));
    expected.extend(one(&id, Some("issued"), None));
    assert_eq!(changes(&cloud, 7, 4).await, expected);
    expect_no_secrets(&cloud, &[text(&first["key"]), text(&second["key"]), imported.expose()]);
    expect_clean_logs(&cloud);
}
