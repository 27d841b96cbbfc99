//! Paid time follows from periods and paid invoices, whatever order the events arrive in. A payment that
//! fails takes nothing back.

use serde_json::json;

use super::stripe::{
    CREATED, DELETED, Event, PAID, UPDATED, bought, case, event, invoice, subscription, with,
};
use super::{DAY, GRACE, HOUR, Shop, day};

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn a_declined_upgrade_keeps_the_paid_tier_until_it_is_paid() {
    let shop = Shop::open().await;
    let events = case("25-stripe-upgrade-declined");
    let until = |tier| [(day(0), tier), (day(18), tier), (day(18) + 1, "deny")];
    shop.expect_in_any_order(&events[..3], &until("starter")).await;
    shop.expect_in_any_order(&events, &until("pro")).await;
}

#[tokio::test]
async fn an_upgrade_that_is_declined_for_good_keeps_the_paid_tier_to_its_end() {
    let shop = Shop::open().await;
    let starter = ("price_starter", day(-15), day(15));
    let bought = bought(&subscription("sub_1", "zoe", &[starter]), starter);
    // A change to another interval begins another period.
    for pro in [("price_pro", day(-15), day(15)), ("price_pro", day(-1), day(364))] {
        let upgraded = subscription("sub_1", "zoe", &[pro]);
        let declined = event(UPDATED, day(-1), &with(&upgraded, json!({"status": "past_due"})));
        let events = [&bought[..], &[declined]].concat();
        let kept = [(day(0), "starter"), (day(18), "starter"), (day(18) + 1, "deny")];
        shop.expect_in_any_order(&events, &kept).await;
        let failed = json!({
            "status": "canceled", "ended_at": day(0),
            "cancellation_details": {"comment": null, "feedback": null, "reason": "payment_failed"},
        });
        for last in [
            event(UPDATED, day(0), &with(&upgraded, json!({"status": "unpaid"}))),
            event(DELETED, day(0), &with(&upgraded, failed)),
        ] {
            let events = [&events[..], &[last]].concat();
            let ended = [(day(0), "starter"), (day(15), "starter"), (day(15) + 1, "deny")];
            shop.expect_in_any_order(&events, &ended).await;
        }
    }
}

#[tokio::test]
async fn a_failed_renewal_has_the_grace_time_and_a_late_payment_the_whole_period() {
    let shop = Shop::open().await;
    let [first, second] = [("price_pro", day(-30), day(0)), ("price_pro", day(0), day(30))];
    let renewed = subscription("sub_1", "zoe", &[second]);
    let with_status = |status| with(&renewed, json!({"status": status}));
    let mut events = bought(&subscription("sub_1", "zoe", &[first]), first).to_vec();
    let steps = [
        // A period begins before it is paid.
        (event(UPDATED, day(0), &renewed), day(30) + GRACE),
        (event(UPDATED, day(0) + HOUR, &with_status("past_due")), day(0) + GRACE),
        (event(UPDATED, day(20), &with_status("unpaid")), day(0)),
        // The invoice extends the paid time before the subscription is active again.
        (event(PAID, day(21), &invoice(&renewed, &[(2_000, second)])), day(30)),
        (event(UPDATED, day(21) + 1, &renewed), day(30) + GRACE),
    ];
    for (event, until) in steps {
        events.push(event);
        shop.expect_in_any_order(&events, &[(until, "pro"), (until + 1, "deny")]).await;
    }
}

/// Stripe begins further periods while it repeats a payment.
#[tokio::test]
async fn a_renewal_that_fails_for_longer_than_a_period_adds_nothing() {
    let shop = Shop::open().await;
    let periods = [-90, -60, -30].map(|start| ("price_pro", day(start), day(start + 30)));
    let reported = |item, status| with(&subscription("sub_1", "zoe", &[item]), json!({"status": status}));
    let [first, second, third] = periods;
    let trial = event(CREATED, day(-90), &reported(first, "trialing"));
    for first in [bought(&reported(first, "active"), first).to_vec(), vec![trial]] {
        for status in ["past_due", "unpaid"] {
            let failed = [
                event(UPDATED, day(-60), &reported(second, "active")),
                event(UPDATED, day(-60) + HOUR, &reported(second, "past_due")),
                event(UPDATED, day(-30), &reported(third, status)),
            ];
            let expected = [(day(-30), "deny"), (day(-30) + GRACE, "deny")];
            shop.expect_in_any_order(&[&first[..], &failed].concat(), &expected).await;
        }
    }
}

/// Payments by bank debit fail days after the subscription is active.
#[tokio::test]
async fn a_first_payment_that_fails_late_has_paid_for_nothing() {
    let shop = Shop::open().await;
    let reported = |item, status| with(&subscription("sub_1", "zoe", &[item]), json!({"status": status}));
    let first = ("price_pro", day(-40), day(-10));
    let events = [
        event(CREATED, day(-40), &reported(first, "active")),
        event(UPDATED, day(-35), &reported(first, "past_due")),
    ];
    let expected = [(day(-35), "deny"), (day(-10), "deny")];
    shop.expect_in_any_order(&events, &expected).await;
    // Then the next period begins, the tier or the length changes, or the subscription is given up.
    let next = ("price_pro", day(-10), day(20));
    for (item, status) in [
        (next, "past_due"),
        (next, "unpaid"),
        (("price_starter", day(-40), day(-10)), "past_due"),
        (("price_pro", day(-10), day(355)), "past_due"),
        (("price_support", day(-40), day(-10)), "past_due"),
        (("price_support", day(-40), day(-10)), "active"),
    ] {
        let previous = json!({"items": {"data": [{"price": {"id": "price_pro"}}]}});
        let later = event(UPDATED, day(-10), &reported(item, status)).changed_from(&previous);
        let events = [&events[..], &[later]].concat();
        shop.expect_in_any_order(&events, &[&expected[..], &[(day(-10) + GRACE, "deny")]].concat()).await;
    }
    // A late payment counts, also if its invoice is missing and the next change is declined.
    let paid =
        event(UPDATED, day(-30), &reported(first, "active")).changed_from(&json!({"status": "past_due"}));
    let declined = event(UPDATED, day(-20), &reported(("price_starter", day(-40), day(-10)), "past_due"));
    let events = [&events[..], &[paid, declined]].concat();
    shop.expect_in_any_order(&events, &[(day(-10), "pro"), (day(-10) + GRACE + 1, "deny")]).await;
}

/// A downgrade credits what the higher tier has cost. It has no separate invoice.
#[tokio::test]
async fn a_period_that_was_paid_in_a_higher_tier_stays_paid_after_a_downgrade() {
    let shop = Shop::open().await;
    let [starter, pro] = [("price_starter", day(-30), day(0)), ("price_pro", day(-23), day(7))];
    let of = |item| subscription("sub_1", "zoe", &[item]);
    let lower = of(("price_starter", day(-23), day(7)));
    let credited = [(-150, ("price_starter", day(-23), day(0))), (500, pro)];
    let mut events = bought(&of(starter), starter).to_vec();
    events.extend([
        event(UPDATED, day(-23), &of(pro)),
        event(PAID, day(-23), &invoice(&of(pro), &credited)),
        event(UPDATED, day(-7), &lower),
    ]);
    let paused = json!({"pause_collection": {"behavior": "void", "resumes_at": null}});
    // Then collection is paused, or another upgrade is declined.
    for last in [with(&lower, paused), with(&of(pro), json!({"status": "past_due"}))] {
        let events = [&events[..], &[event(UPDATED, day(-2), &last)]].concat();
        let expected = [(day(7), "starter"), (day(7) + GRACE, "starter"), (day(7) + GRACE + 1, "deny")];
        shop.expect_in_any_order(&events, &expected).await;
    }
}

#[tokio::test]
async fn an_old_invoice_that_is_paid_late_changes_no_newer_tier() {
    let shop = Shop::open().await;
    for (old, new) in [("starter", "pro"), ("pro", "starter")] {
        let (old_price, new_price) = (format!("price_{old}"), format!("price_{new}"));
        let first = (&old_price[..], day(-60), day(-30));
        let unpaid = (&old_price[..], day(-30), day(0));
        let changed = (&new_price[..], day(-28), day(2));
        let of = |item| subscription("sub_1", "zoe", &[item]);
        let mut events = bought(&of(first), first).to_vec();
        events.extend([
            event(UPDATED, day(-30), &of(unpaid)),
            event(UPDATED, day(-30) + HOUR, &with(&of(unpaid), json!({"status": "past_due"}))),
            event(UPDATED, day(-28), &of(changed)),
            event(PAID, day(-28), &invoice(&of(changed), &[(500, changed)])),
            event(PAID, day(-27), &invoice(&of(unpaid), &[(500, unpaid)])),
        ]);
        let expected = [(day(-27), new), (day(2) + GRACE, new), (day(2) + GRACE + 1, "deny")];
        shop.expect_in_any_order(&events, &expected).await;
    }
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_period_of_another_product_is_not_paid_time() {
    let events = case("27-stripe-mixed-intervals");
    // The price of the other product is unknown, or it is known and pays for nothing.
    for price_tiers in ["price_pro=pro", "price_pro=pro,price_support_yearly=none"] {
        let parameters = [("PriceTiers", price_tiers)];
        let shop = Shop::with(crate::support::one_instance_each(), &parameters).await;
        let with_grace = [(day(0), "pro"), (day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")];
        shop.expect_in_any_order(&events[..2], &with_grace).await;
        // After our item is removed, there is no grace time, because there is no renewal.
        let removed = [(day(0), "pro"), (day(30), "pro"), (day(30) + 1, "deny")];
        shop.apply(&events).await;
        shop.expect("zoe", &removed).await;
        shop.expect_in_any_order(&events, &removed[..2]).await;
    }
}

#[tokio::test]
async fn tier_and_end_come_from_the_same_item() {
    let shop = Shop::open().await;
    let [starter, pro] = [("price_starter", day(0), day(365)), ("price_pro", day(0), day(30))];
    let both = subscription("sub_1", "zoe", &[starter, pro]);
    let paid = event(PAID, day(0), &invoice(&both, &[(5_000, starter), (2_000, pro)]));
    let created = event(CREATED, day(0), &both);
    let end_of_pro = [(day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "starter")];
    let end = [(day(365) + GRACE, "starter"), (day(365) + GRACE + 1, "deny")];
    shop.expect_in_any_order(std::slice::from_ref(&created), &[end_of_pro, end].concat()).await;
    shop.expect_in_any_order(&[created.clone(), paid.clone()], &[end_of_pro, end].concat()).await;
    // The renewal of one item fails. The other is paid for a year.
    let renewed = subscription("sub_1", "zoe", &[starter, ("price_pro", day(30), day(60))]);
    let failed = event(UPDATED, day(30) + HOUR, &with(&renewed, json!({"status": "past_due"})));
    let events = [created, paid, event(UPDATED, day(30), &renewed), failed];
    shop.expect_in_any_order(&events, &[end_of_pro, end].concat()).await;
}

#[tokio::test]
async fn a_line_without_an_amount_pays_for_nothing() {
    let shop = Shop::open().await;
    let [starter, pro] = [("price_starter", day(0), day(30)), ("price_pro", day(0), day(60))];
    let active = subscription("sub_1", "zoe", &[starter]);
    let created = event(CREATED, day(0), &active);
    for amount in [0, -1] {
        let paid = event(PAID, day(0), &invoice(&active, &[(amount, pro), (500, starter)]));
        let expected = [(day(0), "starter"), (day(30) + GRACE, "starter"), (day(30) + GRACE + 1, "deny")];
        shop.expect_in_any_order(&[created.clone(), paid], &expected).await;
    }
    let paid = event(PAID, day(0), &invoice(&active, &[(0, pro)]));
    assert_ne!(shop.deliver(&paid.renamed("free")).await, "applied");
    shop.expect("zoe-free", &[(day(0), "deny")]).await;
}

#[tokio::test]
async fn an_item_of_the_quantity_zero_pays_for_nothing() {
    let shop = Shop::open().await;
    let items = [("price_pro", day(0), day(60)), ("price_starter", day(0), day(30))];
    let mut object = subscription("sub_1", "zoe", &items);
    object["items"]["data"][0]["quantity"] = json!(0);
    let expected = [(day(0), "starter"), (day(30) + GRACE, "starter"), (day(30) + GRACE + 1, "deny")];
    shop.expect_in_any_order(&[event(CREATED, day(0), &object)], &expected).await;
}

#[tokio::test]
async fn a_downgrade_applies_at_once_and_credits_the_rest_of_a_longer_period() {
    let shop = Shop::open().await;
    let pro = ("price_pro", day(-10), day(355));
    let bought = bought(&subscription("sub_1", "zoe", &[pro]), pro);
    for changed in [("price_starter", day(-10), day(355)), ("price_starter", day(0), day(30))] {
        let (price, _, end) = changed;
        let updated = event(UPDATED, day(0), &subscription("sub_1", "zoe", &[changed]));
        let events = [&bought[..], &[updated]].concat();
        let expected = [(day(0), "starter"), (end + GRACE, "starter"), (end + GRACE + 1, "deny")];
        shop.expect_in_any_order(&events, &expected).await;
        // The credit exceeds the price, so the invoice is paid at once.
        let lines = [(-3_000, ("price_pro", day(0), day(355))), (400, (price, day(0), end))];
        let paid = event(PAID, day(0), &invoice(&subscription("sub_1", "zoe", &[changed]), &lines));
        shop.expect_in_any_order(&[&events[..], &[paid]].concat(), &expected).await;
    }
}

#[tokio::test]
async fn a_trial_counts_as_paid_and_an_incomplete_first_payment_does_not() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(0), day(14));
    let object = subscription("sub_1", "zoe", &[item]);
    let trial = json!({"status": "trialing", "trial_start": day(0), "trial_end": day(14)});
    let events =
        [event(CREATED, day(0), &with(&object, trial)), event(PAID, day(0), &invoice(&object, &[(0, item)]))];
    shop.expect_in_any_order(&events, &[(day(14) + GRACE, "pro"), (day(14) + GRACE + 1, "deny")]).await;
    for status in ["incomplete", "incomplete_expired"] {
        let event = event(CREATED, day(0), &with(&object, json!({"status": status}))).renamed(status);
        assert_eq!(shop.deliver(&event).await, "ignored");
        shop.expect(&format!("zoe-{status}"), &[(day(0), "deny")]).await;
    }
}

#[tokio::test]
async fn a_cancelled_subscription_has_no_grace_time() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(-10), day(20));
    let object = subscription("sub_1", "zoe", &[item]);
    let bought = bought(&object, item);
    let ended = |ended_at: i64, reason: &str| {
        let details = json!({"comment": null, "feedback": null, "reason": reason});
        with(&object, json!({"status": "canceled", "ended_at": ended_at, "cancellation_details": details}))
    };
    let at_period_end = json!({"cancel_at_period_end": true, "cancel_at": day(20), "canceled_at": day(-1)});
    let without_a_date = json!({"cancel_at_period_end": true, "canceled_at": day(-1)});
    let at_a_date = json!({"cancel_at": day(5), "canceled_at": day(-1)});
    let cases = [
        (event(UPDATED, day(-1), &with(&object, at_period_end)), day(20)),
        (event(UPDATED, day(-1), &with(&object, without_a_date)), day(20)),
        (event(UPDATED, day(-1), &with(&object, at_a_date)), day(5)),
        (event(DELETED, day(0), &ended(day(0), "cancellation_requested")), day(0)),
        // A late end does not add time.
        (event(DELETED, day(20) + HOUR, &ended(day(20), "cancellation_requested")), day(20)),
    ];
    for (event, until) in cases {
        let events = [&bought[..], &[event]].concat();
        shop.expect_in_any_order(&events, &[(until, "pro"), (until + 1, "deny")]).await;
    }
    let disputed = event(DELETED, day(0), &ended(day(0), "payment_disputed"));
    shop.expect_in_any_order(&[&bought[..], &[disputed]].concat(), &[(day(0), "deny")]).await;
}

#[tokio::test]
async fn an_unknown_price_is_reported_and_one_that_pays_for_nothing_is_not() {
    let shop = Shop::open().await;
    let of = |price: &str, at: i64| subscription("sub_1", "zoe", &[(price, at, at + 30 * DAY)]);
    assert_eq!(shop.deliver(&event(CREATED, day(0), &of("price_support", day(0)))).await, "ignored");
    let support = [(500, ("price_support", day(0), day(30)))];
    let paid = event(PAID, day(0), &invoice(&of("price_support", day(0)), &support));
    assert_eq!(shop.deliver(&paid).await, "ignored");
    assert_eq!(shop.lines("payment not applied").await.len(), 0);
    let unknown: Event = event(CREATED, day(0), &of("price_unknown", day(0)));
    assert_eq!(shop.deliver(&unknown).await, "ignored");
    let [line] = &shop.lines("payment not applied").await[..] else { panic!("one line") };
    assert_eq!((&line["level"], &line["event"]), (&json!("WARN"), &json!(unknown.id())));
    assert!(line["cause"].as_str().unwrap().contains("price_unknown"), "{line}");
    shop.expect("zoe", &[(day(0), "deny")]).await;
}
