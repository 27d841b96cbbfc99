//! An account has at most 20 valid keys and issues at most 100 a day, also if requests come at once and
//! functions are killed. Lists show the valid keys and the 20 latest ended ones.

use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::future::join_all;
use local::Cloud;
use serde_json::{Value, json};

use super::super::commands::{code, done, issued, refused, revoke, run, set_tier, text, working};
use super::super::rows::of_account;
use super::{HOUR, issue};
use crate::support::{ACCOUNTS, expect_clean_logs, one_instance_each, start, start_with};

/// The command that issues a key whose label has this number.
fn numbered(number: u32) -> Value {
    issue(&format!("bot {number}"), &format!("order-{number}"))
}

fn replacement(id: &Value, grace_seconds: u32) -> Value {
    json!({"command": "replace_key", "key_id": id, "grace_seconds": grace_seconds})
}

/// Today in UTC, as days since 1970. The functions use the clock of the system.
fn today() -> i64 {
    UnixSeconds::from(UnixMilliseconds::of_system_clock()).get().div_euclid(86_400)
}

#[tokio::test]
async fn an_account_has_at_most_twenty_valid_keys() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let mut first = Value::Null;
    for number in 0..20 {
        first = done(&cloud, numbered(number)).await["id"].take();
    }
    assert_eq!(refused(&cloud, numbered(20)).await, "too_many_keys");
    let taken = json!({"command": "issue_key", "account": "bots", "label": "bot 0"});
    assert_eq!(refused(&cloud, taken).await, "label_taken");
    // One of twenty keys can be replaced. During the grace time, the old key also counts, so no second key
    // can be replaced.
    let second = done(&cloud, replacement(&first, HOUR)).await["id"].take();
    assert_eq!(refused(&cloud, replacement(&second, HOUR)).await, "too_many_keys");
    for id in [&first, &second] {
        done(&cloud, json!({"command": "revoke_key", "key_id": id})).await;
    }
    done(&cloud, numbered(20)).await;
    // Another account has its own twenty.
    set_tier(&cloud, "others", "pro").await;
    issued(&cloud, "others", "bot 0").await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn at_twenty_keys_one_can_be_replaced_without_grace_while_another_is_in_its_grace() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(done(&cloud, numbered(number)).await["id"].take());
    }
    done(&cloud, replacement(&ids[0], HOUR)).await;
    for id in &ids[1..4] {
        done(&cloud, replacement(id, 0)).await;
    }
    assert_eq!(working(&cloud, "bots").await.len(), 20);
    expect_clean_logs(&cloud);
}

/// A repeated replacement issues its key again, but not as a 21st one.
#[tokio::test]
async fn a_repeated_replacement_does_not_exceed_twenty_keys() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let mut last = Value::Null;
    for number in 0..20 {
        last = done(&cloud, numbered(number)).await["id"].take();
    }
    let replace = super::replace(&last, HOUR, "order-20");
    let new = done(&cloud, replace.clone()).await;
    revoke(&cloud, &new).await;
    done(&cloud, json!({"command": "revoke_key", "key_id": last})).await;
    done(&cloud, numbered(21)).await;
    assert_eq!(refused(&cloud, replace).await, "too_many_keys");
    assert_eq!(working(&cloud, "bots").await.len(), 20);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn forty_requests_at_once_issue_exactly_twenty_keys() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let responses = join_all((0..40).map(|number| run(&cloud, numbered(number)))).await;
    let (accepted, refused): (Vec<_>, Vec<_>) =
        responses.iter().partition(|response| response.get("error").is_none());
    assert_eq!(accepted.len(), 20, "{refused:?}");
    assert!(refused.iter().all(|response| code(response) == "too_many_keys"), "{refused:?}");
    assert_eq!(working(&cloud, "bots").await.len(), 20);
    expect_clean_logs(&cloud);
}

/// Kills the function between the writes of forty requests, and repeats all of them.
#[tokio::test]
async fn forty_requests_whose_functions_are_killed_issue_exactly_twenty_keys() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let count = async |cloud: &Cloud| working(cloud, "bots").await.len();
    let requests = join_all((0..40).map(|number| run(&cloud, numbered(number))));
    let kills = async {
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(40)).await;
            cloud.kill(ACCOUNTS).await.unwrap();
        }
    };
    tokio::join!(requests, kills);
    assert!(count(&cloud).await <= 20);
    let repeated = join_all((0..40).map(|number| run(&cloud, numbered(number)))).await;
    // A killed function gave no response. An issued key that nobody has seen is issued anew.
    assert!(
        repeated
            .iter()
            .all(|response| response.get("error").is_none_or(|_| code(response) == "too_many_keys"))
    );
    let keys = working(&cloud, "bots").await;
    assert_eq!(keys.len(), 20);
    for key in &keys {
        let shown = repeated.iter().filter(|response| response["result"]["id"] == key["id"]);
        assert_eq!(shown.count(), 1, "{key}");
    }
}

#[tokio::test]
async fn two_requests_at_once_with_one_label_issue_one_key() {
    let cloud = start().await;
    set_tier(&cloud, "bots", "pro").await;
    let responses = join_all(["order-1", "order-2"].map(|id| run(&cloud, issue("ci", id)))).await;
    let refused: Vec<_> = responses.iter().filter(|response| response.get("error").is_some()).collect();
    let [refused] = refused[..] else { panic!("{refused:?}") };
    assert_eq!(code(refused), "label_taken");
    let [only] = <[Value; 1]>::try_from(working(&cloud, "bots").await).unwrap();
    assert_eq!(refused["error"]["key_id"], only["id"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_account_issues_at_most_a_hundred_keys_a_day() {
    let cloud = start_with(one_instance_each()).await;
    let mut account = "bots".to_owned();
    loop {
        let day = today();
        set_tier(&cloud, &account, "pro").await;
        let mut count = 0;
        loop {
            let command = json!({"command": "issue_key", "account": account, "label": "ci"});
            let response = run(&cloud, command).await;
            if response.get("error").is_some() {
                assert_eq!(code(&response), "too_many_keys");
                assert!(text(&response["error"]["message"]).contains("today"), "{response}");
                break;
            }
            revoke(&cloud, &response["result"]).await;
            count += 1;
            assert!(count <= 200);
        }
        // The count begins anew at midnight.
        if today() == day {
            assert_eq!(count, 100);
            break;
        }
        account.push('2');
    }
    assert!(working(&cloud, &account).await.is_empty());
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_list_has_the_valid_keys_and_the_twenty_latest_ended_ones() {
    let cloud = start_with(one_instance_each()).await;
    set_tier(&cloud, "bots", "pro").await;
    let valid = issued(&cloud, "bots", "valid").await;
    let replaced = issued(&cloud, "bots", "replaced").await;
    done(&cloud, replacement(&replaced["id"], HOUR)).await;
    for number in 0..60 {
        let issued = issued(&cloud, "bots", &format!("bot {number}")).await;
        revoke(&cloud, &issued).await;
    }
    let rows = of_account(&cloud, "bots").await;
    let end = |row: &Value| row["ends_at"]["N"].as_str().unwrap().parse::<i64>().unwrap();
    let mut ends: Vec<_> = rows.iter().filter(|row| row.get("revoked").is_some()).map(end).collect();
    assert_eq!(ends.len(), 60, "all rows are in the table");
    ends.sort_unstable_by_key(|end| std::cmp::Reverse(*end));
    for command in ["list_keys", "get_account"] {
        let listed = done(&cloud, json!({"command": command, "account": "bots"})).await;
        let keys = listed["keys"].as_array().unwrap();
        let (revoked, others): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key["state"] == "revoked");
        let time = |key: &&Value| {
            UnixSeconds::from(UnixMilliseconds::from_rfc3339(text(&key["revoked_at"])).unwrap())
        };
        let mut shown: Vec<_> = revoked.iter().map(time).map(UnixSeconds::get).collect();
        shown.sort_unstable_by_key(|end| std::cmp::Reverse(*end));
        assert_eq!(shown, ends[..20]);
        assert_eq!(others.len(), 3);
        assert!(others.iter().any(|key| key["id"] == valid["id"]), "{others:?}");
        let expiring = others.iter().find(|key| key["id"] == replaced["id"]).unwrap();
        assert!(expiring["expires_at"].is_string(), "{expiring}");
        let created: Vec<_> = keys.iter().map(|key| text(&key["created_at"])).collect();
        assert!(created.is_sorted_by(|earlier, later| earlier >= later), "newest first: {created:?}");
    }
    expect_clean_logs(&cloud);
}
