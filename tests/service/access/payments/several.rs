//! An account has the highest tier that one of its subscriptions allows, and then what the others still
//! allow.

use serde_json::{Value, json};

use super::stripe::{DELETED, Event, UPDATED, bought, event, subscription, with};
use super::{DAY, GRACE, HOUR, Shop, day};

const MOST: i64 = 10;

/// The end of the subscription at this time.
fn ended(subscription: &Value, at: i64) -> Event {
    event(DELETED, at, &with(subscription, json!({"status": "canceled", "ended_at": at})))
}

#[tokio::test]
async fn a_new_subscription_decides_whatever_happens_to_the_old_one() {
    let shop = Shop::open().await;
    let [starter, pro] = [("price_starter", day(-20), day(10)), ("price_pro", day(-10), day(20))];
    let old = subscription("sub_old", "zoe", &[starter]);
    let [_, old_paid] = bought(&old, starter);
    let mut events = vec![old_paid];
    events.extend(bought(&subscription("sub_new", "zoe", &[pro]), pro));
    let of_pro = [(day(0), "pro"), (day(20) + GRACE, "pro")];
    let lapsed = [of_pro[0], of_pro[1], (day(20) + GRACE + 1, "deny")];
    let and = |last| [&events[..], &[last]].concat();
    shop.expect_in_any_order(&and(ended(&old, day(-9))), &lapsed).await;
    let renewed = subscription("sub_old", "zoe", &[("price_starter", day(10), day(40))]);
    let end = day(40) + GRACE;
    let goes_on =
        [of_pro[0], of_pro[1], (day(20) + GRACE + 1, "starter"), (end, "starter"), (end + 1, "deny")];
    shop.expect_in_any_order(&and(event(UPDATED, day(10), &renewed)), &goes_on).await;
}

#[tokio::test]
async fn of_two_events_of_one_second_the_final_state_counts() {
    let shop = Shop::open().await;
    let at = day(0);
    let [first, second] = [("price_pro", day(-30), at), ("price_pro", at, day(30))];
    let renewed = subscription("sub_1", "zoe", &[second]);
    let state = |status: &str| event(UPDATED, at, &with(&renewed, json!({"status": status})));
    let paused = json!({"pause_collection": {"behavior": "void", "resumes_at": null}});
    // From the least to the most final state, with the end of the access to which they lead.
    let states = [
        (event(UPDATED, at, &subscription("sub_1", "zoe", &[("price_support", at, day(30))])), at),
        (state("active"), day(30) + GRACE),
        (event(UPDATED, at, &with(&renewed, paused)), at + GRACE),
        (state("past_due"), at + GRACE),
        (state("unpaid"), at),
        (state("paused"), day(-31)),
        (ended(&renewed, at), at),
    ];
    let bought = bought(&subscription("sub_1", "zoe", &[first]), first);
    for (rank, (lower, _)) in states.iter().enumerate() {
        for (higher, until) in &states[rank + 1..] {
            let events = [&bought[1..], &[lower.clone(), higher.clone()]].concat();
            let last = if *until < day(-30) { (at, "deny") } else { (*until, "pro") };
            shop.expect_in_any_order(&events, &[last, (until.max(&at) + 1, "deny")]).await;
        }
    }
}

#[tokio::test]
async fn an_eleventh_subscription_replaces_the_one_that_ended_first() {
    let shop = Shop::open().await;
    let item = ("price_starter", day(-1), day(29));
    let of = |number: i64| subscription(&format!("sub_{number:02}"), "zoe", &[item]);
    for number in 0..MOST {
        shop.apply(&bought(&of(number), item)).await;
    }
    let pro = ("price_pro", day(0), day(30));
    let eleventh = bought(&subscription("sub_eleventh", "zoe", &[pro]), pro);
    for event in &eleventh {
        assert_eq!(shop.deliver(event).await, "ignored");
    }
    let lines = shop.lines("payment not applied").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0]["level"], "WARN");
    shop.expect("zoe", &[(day(0), "starter")]).await;
    shop.apply(&[ended(&of(4), day(0) - HOUR), ended(&of(7), day(0) - 2 * HOUR)]).await;
    shop.apply(&eleventh).await;
    shop.expect("zoe", &[(day(0), "pro"), (day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")]).await;
    let account = shop.account("zoe").await;
    let ids: Vec<_> =
        account["subscriptions"].as_array().unwrap().iter().map(|of| of["id"].clone()).collect();
    let kept = (0..MOST).filter(|number| *number != 7).map(|number| format!("sub_{number:02}"));
    assert_eq!(json!(ids), json!(kept.chain(["sub_eleventh".to_owned()]).collect::<Vec<_>>()));
}

#[tokio::test]
async fn an_ended_subscription_is_kept_for_a_year() {
    let shop = Shop::open().await;
    for (id, end) in [("sub_1", day(-366)), ("sub_2", day(-364))] {
        let item = ("price_starter", end - 30 * DAY, end);
        shop.apply(&bought(&subscription(id, "zoe", &[item]), item)).await;
        shop.apply(&[ended(&subscription(id, "zoe", &[item]), end)]).await;
    }
    let item = ("price_pro", day(0), day(30));
    shop.apply(&bought(&subscription("sub_3", "zoe", &[item]), item)).await;
    let account = shop.account("zoe").await;
    let ids: Vec<_> =
        account["subscriptions"].as_array().unwrap().iter().map(|of| of["id"].clone()).collect();
    assert_eq!(ids, ["sub_2", "sub_3"]);
}
