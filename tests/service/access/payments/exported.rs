//! An export has the subscriptions of an account. An import merges them with what later events have reported.

use serde_json::{Value, json};

use super::stripe::{
    CREATED, DELETED, Event, Item, PAID, UPDATED, bought, event, invoice, subscription, with,
};
use super::{Expected, GRACE, HOUR, Shop, day};
use crate::access::accounts::exported::{export, import};
use crate::access::commands::{done, run};

fn of(item: Item<'_>) -> Value {
    subscription("sub_1", "zoe", &[item])
}

/// The period that begins yesterday.
fn renewed() -> Item<'static> {
    ("price_pro", day(-1), day(29))
}

/// The life of a subscription of `zoe` that was upgraded, and whose last renewal failed; and an ended one.
fn life() -> Vec<Event> {
    let [starter, pro] = ["price_starter", "price_pro"].map(|price| (price, day(-31), day(-1)));
    let credited = [(-150, ("price_starter", day(-10), day(-1))), (500, ("price_pro", day(-10), day(-1)))];
    let mut events = bought(&of(starter), starter).to_vec();
    let old = subscription("sub_0", "zoe", &[("price_pro", day(-90), day(-60))]);
    events.extend([
        event(UPDATED, day(-10), &of(pro)),
        event(PAID, day(-10), &invoice(&of(pro), &credited)),
        event(UPDATED, day(-1), &of(renewed())),
        event(UPDATED, day(-1) + HOUR, &with(&of(renewed()), json!({"status": "past_due"}))),
        event(DELETED, day(-60), &with(&old, json!({"status": "canceled", "ended_at": day(-60)}))),
    ]);
    events
}

const fn until(time: i64) -> [Expected; 2] {
    [(time, "pro"), (time + 1, "deny")]
}

#[tokio::test]
async fn an_imported_account_has_the_same_subscriptions_and_follows_their_events() {
    let shop = Shop::open().await;
    shop.apply(&life()).await;
    let person = json!({
        "command": "set_account", "account": "zoe", "tier": "starter", "paid_until": "2200-01-01T00:00:00Z",
    });
    done(&shop.cloud, person).await;
    let rows = export(&shop.cloud, "zoe").await;
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((&row["tier"], &row["status"]), (&json!("starter"), &json!("active")));
    let ids: Vec<_> = row["subscriptions"].as_object().unwrap().keys().collect();
    assert_eq!(ids, ["sub_0", "sub_1"]);
    let other = Shop::open().await;
    for outcome in ["imported", "already_there"] {
        assert_eq!(import(&other.cloud, &rows).await, [outcome]);
        assert_eq!(export(&other.cloud, "zoe").await, rows);
        assert_eq!(other.account("zoe").await, shop.account("zoe").await);
    }
    let end = [(day(0), "pro"), (day(-1) + GRACE, "pro"), (day(-1) + GRACE + 1, "starter")];
    for shop in [&shop, &other] {
        shop.expect("zoe", &end).await;
        // Earlier events are known.
        for event in life() {
            assert_eq!(shop.deliver(&event).await, "unchanged", "{event:?}");
        }
        // The import has noted whose subscription it is, so it moves.
        let renamed = with(&of(renewed()), json!({"metadata": {"account": "yan"}}));
        shop.apply(&[event(UPDATED, day(0), &renamed)]).await;
        shop.expect("yan", &until(day(29) + GRACE)).await;
        shop.expect("zoe", &[(day(0), "starter")]).await;
    }
}

#[tokio::test]
async fn an_event_that_came_before_the_import_is_kept() {
    let shop = Shop::open().await;
    shop.apply(&life()).await;
    let rows = export(&shop.cloud, "zoe").await;
    let paid = event(PAID, day(0), &invoice(&of(renewed()), &[(500, renewed())]));
    let active = event(UPDATED, day(0), &of(renewed()));
    let other = event(CREATED, day(0), &subscription("sub_2", "zoe", &[("price_starter", day(0), day(90))]));
    for events in [vec![paid.clone()], vec![active.clone()], vec![active, paid, other]] {
        let other = Shop::open().await;
        other.apply(&events).await;
        assert_eq!(import(&other.cloud, &rows).await, ["imported"]);
        let last = if events.len() == 3 { "starter" } else { "deny" };
        let expected = [(day(0), "pro"), (day(29) + GRACE, "pro"), (day(29) + GRACE + 1, last)];
        other.expect("zoe", &expected).await;
        let merged = export(&other.cloud, "zoe").await;
        assert_eq!(import(&other.cloud, &rows).await, ["already_there"]);
        assert_eq!(export(&other.cloud, "zoe").await, merged);
    }
}

#[tokio::test]
async fn a_subscription_of_another_account_is_not_imported() {
    let shop = Shop::open().await;
    shop.apply(&life()).await;
    let rows = export(&shop.cloud, "zoe").await;
    let other = Shop::open().await;
    let renamed = with(&of(renewed()), json!({"metadata": {"account": "yan"}}));
    other.apply(&[event(UPDATED, day(0), &renamed)]).await;
    let result = run(&other.cloud, json!({"command": "import_row", "row": rows[0]})).await;
    // Whatever the outcome, the newest name decides.
    assert!(result.get("errorMessage").is_none(), "{result}");
    other.expect("yan", &until(day(29) + GRACE)).await;
    other.expect("zoe", &[(day(30), "deny")]).await;
}
