//! The audit trail has a line for each account that a payment changes, with the states before and after the
//! change.

use serde_json::{Value, json};

use super::stripe::{UPDATED, bought, event, subscription, with};
use super::{Shop, day};

impl Shop {
    /// The accounts of all lines about changes, with the states before and after each change.
    async fn changes(&self) -> Vec<[Value; 3]> {
        let lines = self.lines("changed").await;
        assert!(
            lines.iter().all(|line| line["level"] == "INFO" && line.get("key_id").is_none()),
            "{lines:?}"
        );
        lines
            .into_iter()
            .map(|line| ["account", "before", "after"].map(|field| line[field].clone()))
            .collect()
    }
}

#[tokio::test]
async fn each_change_by_a_payment_has_a_line_and_a_repetition_none() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(-1), day(29));
    let object = subscription("sub_1", "zoe", &[item]);
    let [created, _] = bought(&object, item);
    let past_due = event(UPDATED, day(0), &with(&object, json!({"status": "past_due"})));
    for event in [&created, &created, &past_due, &created, &past_due] {
        shop.deliver(event).await;
    }
    let changes = shop.changes().await;
    let [[_, before, bought], [_, again, failed]] = &changes[..] else { panic!("{changes:?}") };
    assert!(changes.iter().all(|[account, ..]| account == "zoe"));
    assert_eq!((before, bought), (&Value::Null, again));
    for (state, words) in
        [(bought, ["sub_1 active", "pro until "]), (failed, ["sub_1 past_due", "pro until "])]
    {
        assert!(words.iter().all(|word| state.as_str().unwrap().contains(word)), "{state}");
    }
}

#[tokio::test]
async fn a_moved_subscription_has_a_line_for_each_account() {
    let shop = Shop::open().await;
    let object = subscription("sub_1", "zoe", &[("price_pro", day(-1), day(29))]);
    shop.apply(&[event(UPDATED, day(-1), &object)]).await;
    shop.apply(&[event(UPDATED, day(0), &with(&object, json!({"metadata": {"account": "yan"}})))]).await;
    let mut changes = shop.changes().await.split_off(1);
    changes.sort_by_key(|[account, ..]| account.to_string());
    let [[yan, none, gets], [zoe, had, loses]] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((yan, none, zoe), (&json!("yan"), &Value::Null, &json!("zoe")));
    for (state, has) in [(gets, true), (had, true), (loses, false)] {
        assert_eq!(state.as_str().unwrap().contains("sub_1"), has, "{changes:?}");
    }
}
