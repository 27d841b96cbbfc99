//! Once a day, `check_payments` reports subscriptions that continue although their paid time has passed: then
//! events do not arrive.

use serde_json::{Value, json};

use super::stripe::{CREATED, DELETED, Event, PAID, PAUSED, UPDATED, event, invoice, subscription, with};
use super::{DAY, GRACE, Shop, day};
use crate::access::commands::{code, done};
use crate::support::{await_logs, invoke, log_lines};

impl Shop {
    /// Runs the command, and returns its result with the lines that it has written.
    async fn check(&self, earlier: usize) -> (Value, Vec<Value>) {
        let result = done(&self.cloud, json!({"command": "check_payments"})).await;
        let is_done = |line: &Value| line["command"] == "check_payments" && line["message"] == "done";
        // The last line of a command.
        await_logs(&self.cloud, earlier + 1, is_done).await;
        let lines = log_lines(&self.cloud).into_iter().filter(|line| line["message"] == "payment overdue");
        (result, lines.collect())
    }
}

/// An event about a subscription of this account to a period that began 60 days ago.
fn of(account: &str, kind: &str, fields: Value) -> Event {
    let item = ("price_pro", day(-60), day(-30));
    event(kind, day(-60) + 1, &with(&subscription(&format!("sub_{account}"), account, &[item]), fields))
}

#[tokio::test]
async fn an_overdue_payment_is_reported_once_for_each_end_of_the_paid_time() {
    let shop = Shop::open().await;
    shop.apply(&[of("late", CREATED, json!({})), of("trial", CREATED, json!({"status": "trialing"}))]).await;
    // It is to end only after further periods.
    shop.apply(&[of("term", CREATED, json!({"cancel_at": day(300)}))]).await;
    let (result, lines) = shop.check(0).await;
    assert_eq!(result["overdue"], 3, "{result}");
    assert!(result["accounts"].as_u64().unwrap() >= 3, "{result}");
    let mut named: Vec<_> = lines
        .iter()
        .map(|line| ["level", "account", "subscription", "paid_until"].map(|field| line[field].clone()))
        .collect();
    named.sort_by_key(|named| named[1].to_string());
    let paid_until = common::time::UnixSeconds::new(day(-30) + GRACE).to_string();
    let expected = ["late", "term", "trial"]
        .map(|name| json!(["WARN", name, format!("sub_{name}"), paid_until.clone()]));
    assert_eq!(json!(named), json!(expected));
    let (result, lines) = shop.check(1).await;
    assert_eq!((&result["overdue"], lines.len()), (&json!(0), 3));
    // A repeated event reports nothing new.
    shop.deliver(&of("late", CREATED, json!({}))).await;
    assert_eq!(shop.check(2).await.1.len(), 3);
    // The next renewal arrives, but not the one after it.
    let renewed = subscription("sub_late", "late", &[("price_pro", day(-30), day(-4))]);
    shop.apply(&[event(UPDATED, day(-30), &renewed)]).await;
    for count in [3, 4] {
        let (_, lines) = shop.check(count).await;
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!(lines[3]["account"], "late");
    }
}

#[tokio::test]
async fn what_needs_no_further_payment_is_not_overdue() {
    let shop = Shop::open().await;
    let canceled = json!({"status": "canceled", "ended_at": day(-40)});
    let paused = json!({"pause_collection": {"behavior": "void", "resumes_at": null}});
    let cancelled_later = json!({"cancel_at_period_end": true, "cancel_at": day(-30)});
    for (account, kind, fields) in [
        ("ended", DELETED, canceled),
        ("failed", UPDATED, json!({"status": "past_due"})),
        ("unpaid", UPDATED, json!({"status": "unpaid"})),
        ("collection", UPDATED, paused),
        ("paused", PAUSED, json!({"status": "paused"})),
        ("cancelled", UPDATED, cancelled_later),
    ] {
        shop.apply(&[of(account, CREATED, json!({}))]).await;
        shop.apply(&[of(account, kind, fields).with(json!({"created": day(-50)}))]).await;
    }
    // A payment that was reported, although the update of the period was not.
    shop.apply(&[of("paid", CREATED, json!({}))]).await;
    let item = ("price_pro", day(-30), day(0) - GRACE + DAY);
    let paid = invoice(&subscription("sub_paid", "paid", &[item]), &[(500, item)]);
    shop.apply(&[event(PAID, day(-30), &paid)]).await;
    // What a person has set ends without a payment.
    let set = json!({
        "command": "set_account", "account": "person", "tier": "pro", "paid_until": "2020-01-01T00:00:00Z",
    });
    done(&shop.cloud, set).await;
    let (result, lines) = shop.check(0).await;
    assert_eq!((&result["overdue"], lines.len()), (&json!(0), 0), "{lines:?}");
}

#[tokio::test]
async fn the_function_for_keys_does_not_check_payments() {
    let shop = Shop::open().await;
    for command in
        [json!({"command": "check_payments"}), json!({"command": "check_payments", "account": "zoe"})]
    {
        let response = invoke(&shop.cloud, "KeysFunction", command.to_string()).await.json();
        assert_eq!(code(&response), "invalid_command");
    }
}
