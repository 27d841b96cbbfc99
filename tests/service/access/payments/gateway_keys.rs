//! An account's keys in API Gateway exist before its row says so. Only a new tier needs API Gateway.

use std::time::Duration;

use common::auth::Tier;
use hyper::Method;
use local::Options;
use serde_json::{Value, json};

use super::stripe::{CREATED, Event, PAID, UPDATED, bought, event, invoice, subscription};
use super::{PAYMENTS, Shop, day};
use crate::access::accounts::gateway::gateway_key;
use crate::access::accounts::interrupted::interrupt;
use crate::access::commands::{issued, status, text};
use crate::access::rows::{of_account, put_starter};
use crate::support::{control, one_instance_each};

const ITEM: fn(&str, i64) -> (&str, i64, i64) = |price, start| (price, day(start), day(start + 30));

/// The event that a subscription of the account `zoe` to the price was created or changed.
fn report(kind: &str, price: &str, start: i64) -> Event {
    event(kind, day(start), &subscription("sub_1", "zoe", &[ITEM(price, start)]))
}

#[tokio::test]
async fn a_first_purchase_is_complete_after_an_interruption() {
    let shop = Shop::open().await;
    for count in 0.. {
        let event = report(CREATED, "price_pro", 0).renamed(&count.to_string());
        let account = format!("zoe-{count}");
        let response = interrupt(&shop.cloud, PAYMENTS, &event.of_event_bridge(), count).await;
        assert!(gateway_key(&shop.cloud, &account, Tier::Pro).await.is_some(), "before the row is written");
        assert_eq!(gateway_key(&shop.cloud, &account, Tier::Starter).await, None);
        if response.is_some() {
            assert_eq!(count, 1, "an event is one transaction");
            break;
        }
        assert_eq!(of_account(&shop.cloud, &account).await, Vec::<Value>::new());
        shop.apply(&[event]).await;
        let issued = issued(&shop.cloud, &account, "ci").await;
        assert_eq!(status(&shop.cloud, text(&issued["key"])).await, 200);
    }
}

#[tokio::test]
async fn each_tier_of_the_entries_has_a_key() {
    let shop = Shop::open().await;
    let items = [ITEM("price_starter", 0), ITEM("price_pro", 0)];
    shop.apply(&[event(CREATED, day(0), &subscription("sub_1", "zoe", &items))]).await;
    for tier in [Tier::Starter, Tier::Pro] {
        assert!(gateway_key(&shop.cloud, "zoe", tier).await.is_some(), "{tier}");
    }
}

/// If the function asked API Gateway, it would create the key again.
#[tokio::test]
async fn a_renewal_a_repetition_and_a_paid_invoice_do_not_ask_api_gateway() {
    let shop = Shop::open().await;
    let created = report(CREATED, "price_starter", -30);
    shop.apply(std::slice::from_ref(&created)).await;
    let id = gateway_key(&shop.cloud, "zoe", Tier::Starter).await.unwrap();
    let (code, _) = control(&shop.cloud, Method::DELETE, &format!("/apikeys/{id}"), Value::Null).await;
    assert_eq!(code, 202);
    let renewed = subscription("sub_1", "zoe", &[ITEM("price_starter", 0)]);
    let other = ITEM("price_starter", 0);
    for event in [
        event(UPDATED, day(0), &renewed),
        event(PAID, day(0), &invoice(&renewed, &[(500, other)])),
        created,
        event(CREATED, day(0), &subscription("sub_2", "zoe", &[other])),
    ] {
        shop.deliver(&event).await;
        assert_eq!(gateway_key(&shop.cloud, "zoe", Tier::Starter).await, None, "{event:?}");
    }
    // An upgrade needs the key of another tier.
    shop.apply(&[report(UPDATED, "price_pro", 0)]).await;
    assert!(gateway_key(&shop.cloud, "zoe", Tier::Pro).await.is_some());
}

#[tokio::test]
async fn an_upgrade_by_a_payment_refuses_nobody() {
    let options = Options { gateway_key_delay: Duration::from_mins(2), ..one_instance_each() };
    let shop = Shop::with(options, &[]).await;
    let clock = shop.cloud.clock();
    clock.stop();
    put_starter(&shop.cloud, "zoe").await;
    let issued = issued(&shop.cloud, "zoe", "ci").await;
    let key = text(&issued["key"]);
    shop.apply(&bought(&subscription("sub_1", "zoe", &[ITEM("price_pro", 0)]), ITEM("price_pro", 0))).await;
    // The key of the new tier works after two minutes.
    for seconds in [0, 30, 30, 30, 65] {
        clock.advance(Duration::from_secs(seconds));
        assert_eq!(status(&shop.cloud, key).await, 200);
    }
    assert_eq!(shop.account("zoe").await["tier"], json!("pro"));
}

#[tokio::test]
async fn a_key_of_the_service_follows_the_payments_of_its_account() {
    let shop = Shop::open().await;
    shop.apply(&[report(CREATED, "price_starter", 0)]).await;
    let issued = issued(&shop.cloud, "zoe", "ci").await;
    let key = text(&issued["key"]);
    let object = subscription("sub_1", "zoe", &[ITEM("price_starter", 0)]);
    let with_status = |status: &str| super::stripe::with(&object, json!({"status": status}));
    for (minute, status_of_subscription, expected) in
        [(1, "active", 200), (2, "paused", 403), (3, "active", 200), (4, "unpaid", 403)]
    {
        shop.deliver(&event(UPDATED, day(0) + minute * 60, &with_status(status_of_subscription))).await;
        shop.cloud.clock().advance(Duration::from_secs(65));
        assert_eq!(status(&shop.cloud, key).await, expected, "{status_of_subscription}");
    }
}
