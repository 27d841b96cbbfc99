//! A request can be repeated with its id for a day. The repetition revokes the key whose response was lost,
//! and issues another one. The id is bound to its request.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::super::commands::{done, refused, run, set_tier, status, text, without_key, working};
use super::super::rows::of_account;
use super::{HOUR, issue, replace};
use crate::support::{expect_clean_logs, one_instance_each, start, start_with};

#[tokio::test]
async fn a_repeated_request_replaces_the_key_whose_response_was_lost() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let lost = done(&cloud, issue("ci", "order-1")).await;
    let kept = done(&cloud, issue("ci", "order-1")).await;
    assert_eq!([&lost, &kept].map(|issued| text(&issued["label"])), ["ci", "ci"]);
    assert_eq!(
        [status(&cloud, text(&lost["key"])).await, status(&cloud, text(&kept["key"])).await],
        [401, 200]
    );
    assert_eq!(working(&cloud, "bots").await, [without_key(&kept)]);
    // A command with another request id finds the label taken.
    assert_eq!(refused(&cloud, issue("ci", "order-2")).await, "label_taken");
    // Once the row of the request id `order-1` has expired, repeating the first command finds the label
    // taken.
    let database = cloud.dynamodb().database();
    let row = json!({
        "TableName": "Access",
        "Item": {
            "pk": {"S": "request#bots#order-1"}, "key": {"S": kept["id"]}, "command": {"S": "issue_key ci"},
            "ttl": {"N": "1000000000"},
        },
    });
    database.put_item(serde_json::from_value(row).unwrap()).unwrap();
    assert_eq!(refused(&cloud, issue("ci", "order-1")).await, "label_taken");

    let replace = replace(&kept["id"], 0, "order-3");
    let first = done(&cloud, replace.clone()).await;
    let second = done(&cloud, replace).await;
    assert_eq!(working(&cloud, "bots").await, [without_key(&second)]);
    assert_ne!(first["id"], second["id"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_id_belongs_to_one_request_and_another_request_with_it_changes_nothing() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let first = done(&cloud, issue("ci", "order-1")).await;
    let other = done(&cloud, issue("other", "order-2")).await;
    let new = done(&cloud, replace(&other["id"], HOUR, "order-3")).await;
    let rows = of_account(&cloud, "bots").await;
    for command in [
        issue("cd", "order-1"),
        issue("ci", "order-2"),
        issue("other", "order-3"),
        replace(&first["id"], HOUR, "order-1"),
        replace(&first["id"], HOUR, "order-3"),
        replace(&other["id"], 0, "order-3"),
        replace(&new["id"], HOUR, "order-3"),
    ] {
        let response = run(&cloud, command.clone()).await;
        assert_eq!(response["error"]["code"], "invalid_command", "{command}: {response}");
        assert!(text(&response["error"]["message"]).contains("request_id"), "{response}");
        assert_eq!(of_account(&cloud, "bots").await, rows, "{command}");
    }
    assert_eq!(status(&cloud, text(&first["key"])).await, 200);
    // Ids of another account are independent.
    set_tier(&cloud, "others", "pro").await;
    let command = json!({"command": "issue_key", "account": "others", "label": "x", "request_id": "order-1"});
    done(&cloud, command).await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn requests_at_once_leave_one_key_for_each() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let same = std::iter::repeat_n(issue("ci", "order-1"), 4).map(|command| run(&cloud, command));
    let responses = join_all(same).await;
    let [only] = <[Value; 1]>::try_from(working(&cloud, "bots").await).unwrap();
    let shown = responses.iter().filter(|response| response["result"]["id"] == only["id"]);
    assert_eq!(shown.count(), 1, "{responses:?}");
}

#[tokio::test]
async fn fifteen_replacements_of_which_each_is_sent_four_times_leave_one_key_each() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let mut commands = Vec::new();
    for number in 0..15 {
        let issued = done(&cloud, issue(&format!("bot {number}"), &format!("first-{number}"))).await;
        commands.push(replace(&issued["id"], 0, &format!("order-{number}")));
    }
    let sent = (0..4).flat_map(|_| &commands).map(|command| run(&cloud, command.clone()));
    let responses = join_all(sent).await;
    for response in &responses {
        assert!(response.get("error").is_none(), "{response}");
    }
    let keys = working(&cloud, "bots").await;
    assert_eq!(keys.len(), 15);
    for number in 0..15 {
        let label = format!("bot {number}");
        let [key] = &keys.iter().filter(|key| key["label"] == *label).collect::<Vec<_>>()[..] else {
            panic!("{label}: {keys:?}")
        };
        // The last of the four responses has the key.
        let shown = responses.iter().filter(|response| response["result"]["id"] == key["id"]);
        assert_eq!(shown.count(), 1, "{label}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn changes_of_an_account_at_once_are_all_kept() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let changes = [
        json!({"command": "set_account", "account": "bots", "tier": "starter"}),
        json!({"command": "set_account", "account": "bots", "status": "suspended"}),
        json!({"command": "set_account", "account": "bots", "paid_until": "2100-01-01T00:00:00Z"}),
    ];
    join_all(changes.map(|change| done(&cloud, change))).await;
    let account = done(&cloud, json!({"command": "get_account", "account": "bots"})).await;
    let values = ["tier", "status", "paid_until"].map(|field| text(&account[field]));
    assert_eq!(values, ["starter", "suspended", "2100-01-01T00:00:00Z"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_request_that_is_sent_twenty_times_at_once_is_never_refused() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let responses = join_all((0..20).map(|_| run(&cloud, issue("ci", "order-1")))).await;
    for response in &responses {
        assert!(response.get("error").is_none(), "{response}");
    }
    let [only] = <[Value; 1]>::try_from(working(&cloud, "bots").await).unwrap();
    assert_eq!(responses.iter().filter(|response| response["result"]["id"] == only["id"]).count(), 1);
    expect_clean_logs(&cloud);
}
