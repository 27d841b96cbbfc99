//! A subscription can be paused in two ways, and can be paid by sent invoices.

use serde_json::{Value, json};

use super::stripe::{CREATED, PAID, PAUSED, RESUMED, UPDATED, bought, event, invoice, subscription, with};
use super::{GRACE, HOUR, Shop, day};
use crate::support::one_instance_each;

/// The subscription with paused collection.
fn without_collection(subscription: &Value) -> Value {
    with(subscription, json!({"pause_collection": {"behavior": "void", "resumes_at": null}}))
}

#[tokio::test]
async fn while_collection_is_paused_the_paid_time_stays_and_later_periods_add_none() {
    let shop = Shop::open().await;
    let [first, second, third] = [-60, -30, 0].map(|start| ("price_pro", day(start), day(start + 30)));
    let of = |item| subscription("sub_1", "zoe", &[item]);
    let [created, paid] = bought(&of(first), first);
    let paused = event(UPDATED, day(-45), &without_collection(&of(first)));
    let renewed = event(UPDATED, day(-30), &without_collection(&of(second)));
    let lifted = event(UPDATED, day(-15), &of(second));
    let reached = [(day(-30) + GRACE, "pro"), (day(-30) + GRACE + 1, "deny")];
    for events in [
        vec![created.clone(), paid.clone(), paused.clone()],
        vec![created.clone(), paid.clone(), paused.clone(), renewed.clone()],
        // A first period that was free of charge has no paid invoice.
        vec![created.clone(), paused.clone()],
        vec![created.clone(), paused.clone(), renewed.clone()],
    ] {
        shop.expect_in_any_order(&events, &reached).await;
    }
    let lifted_until = [(day(0) + GRACE, "pro"), (day(0) + GRACE + 1, "deny")];
    let mut events = vec![created, paid, paused, renewed, lifted];
    shop.expect_in_any_order(&events, &lifted_until).await;
    events.push(event(UPDATED, day(0), &of(third)));
    events.push(event(PAID, day(0) + HOUR, &invoice(&of(third), &[(500, third)])));
    shop.expect_in_any_order(&events, &[(day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")]).await;
}

#[tokio::test]
async fn a_paused_subscription_allows_nothing_until_it_is_resumed() {
    let shop = Shop::open().await;
    let trial = ("price_pro", day(-14), day(16));
    let object = subscription("sub_1", "zoe", &[trial]);
    let trialing = with(&object, json!({"status": "trialing", "trial_end": day(16)}));
    let paused = with(&object, json!({"status": "paused"}));
    let resumed = subscription("sub_1", "zoe", &[("price_pro", day(0), day(30))]);
    let end = [(day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")];
    // Stripe reports both as events of their own, and as an update.
    for (pausing, resuming) in [(PAUSED, RESUMED), (UPDATED, UPDATED), (PAUSED, UPDATED)] {
        let mut events = vec![event(CREATED, day(-14), &trialing), event(pausing, day(-1), &paused)];
        shop.expect_in_any_order(&events, &[(day(-1), "deny"), (day(0), "deny")]).await;
        events.push(event(resuming, day(0), &resumed));
        shop.expect_in_any_order(&events, &end).await;
    }
}

#[tokio::test]
async fn with_sent_invoices_only_a_paid_invoice_adds_time() {
    let shop = Shop::open().await;
    let [first, second] = [("price_pro", day(-30), day(0)), ("price_pro", day(0), day(30))];
    let sent = json!({"collection_method": "send_invoice", "days_until_due": 14});
    let of = |item| with(&subscription("sub_1", "zoe", &[item]), sent.clone());
    let mut events = vec![event(CREATED, day(-30), &of(first))];
    shop.expect_in_any_order(&events, &[(day(-30) + 1, "deny"), (day(0), "deny")]).await;
    let until = |end: i64| [(end + GRACE, "pro"), (end + GRACE + 1, "deny")];
    for (next, end) in [
        (event(PAID, day(-20), &invoice(&of(first), &[(500, first)])), day(0)),
        (event(UPDATED, day(0), &of(second)), day(0)),
        // The second invoice is overdue, and then paid.
        (event(UPDATED, day(14), &with(&of(second), json!({"status": "past_due"}))), day(0)),
        (event(PAID, day(15), &invoice(&of(second), &[(500, second)])), day(30)),
        (event(UPDATED, day(15) + 1, &of(second)), day(30)),
    ] {
        events.push(next);
        shop.expect_in_any_order(&events, &until(end)).await;
    }
    let trial = with(&of(first), json!({"status": "trialing", "trial_end": day(0)}));
    shop.expect_in_any_order(&[event(CREATED, day(-30), &trial)], &until(day(0))).await;
}

#[tokio::test]
async fn a_first_invoice_that_is_never_paid_has_no_grace_time() {
    let shop = Shop::with(one_instance_each(), &[("GraceDays", "60")]).await;
    let sent = json!({"collection_method": "send_invoice", "days_until_due": 14});
    let object = with(&subscription("sub_1", "zoe", &[("price_pro", day(-30), day(0))]), sent);
    let mut events = vec![event(CREATED, day(-30), &object)];
    for (status, at) in [("past_due", day(-16)), ("unpaid", day(-10))] {
        events.push(event(UPDATED, at, &with(&object, json!({"status": status}))));
        shop.expect_in_any_order(&events, &[(at, "deny"), (day(0), "deny")]).await;
    }
}
