//! A payment does not undo a later change of the account, and the webhook exists only with the parameter `Payments`.
//! `tests/tools/clients/payments.mts` sends events that Stripe's own library signs.

use std::time::Duration;

use common::auth::{Account, AccountName, Subscription, SubscriptionStatus, Tier};
use common::routes::STRIPE_WEBHOOK;
use common::time::{UnixMilliseconds, UnixSeconds};
use hyper::Method;
use local::Options;
use serde_json::{Value, json};
use tables::{Table, access};

use crate::support::{
    ACCOUNTS, await_logs, expect_clean_logs, invoke, send, start, start_with, with_parameters,
};

/// An event of a new subscription.
const EVENT: &str = r#"{"id":"evt_1","type":"customer.subscription.created","created":1777388600,"data":{"object":{"customer":"cus_1","status":"active","items":{"data":[{"price":{"id":"price_1"},"current_period_start":0,"current_period_end":2000000000}]}}}}"#;
/// The signature of [`EVENT`] with the secret of the local cloud.
const SIGNATURE: &str = "t=1777388600,v1=08b2f0ab536fa75adfad5830ed9b437c984f1848475749b0951438258af59c71";

#[tokio::test]
async fn the_webhook_exists_only_with_payments() {
    let cloud = start().await;
    send(&cloud.url(), Method::POST, STRIPE_WEBHOOK.path).await.error("NOT_FOUND");
    let parameters = [("Payments", "stripe"), ("PriceTiers", "price_1=pro")];
    let cloud_with_payments = start_with(with_parameters(Options::for_tests(), &parameters)).await;
    let url = cloud_with_payments.url();
    send(&url, Method::POST, STRIPE_WEBHOOK.path).await.error("BAD_REQUEST");
    send(&url, Method::GET, STRIPE_WEBHOOK.path).await.error("NOT_FOUND");
    expect_clean_logs(&cloud_with_payments);
}

#[tokio::test]
async fn the_keys_of_an_account_follow_a_payment() {
    let parameters = [("Payments", "stripe"), ("PriceTiers", "price_1=pro")];
    let cloud = start_with(with_parameters(Options::for_tests(), &parameters)).await;
    let request = json!({
        "resource": STRIPE_WEBHOOK.path, "path": STRIPE_WEBHOOK.path, "httpMethod": "POST", "body": EVENT,
        "headers": {"Stripe-Signature": SIGNATURE},
        "requestContext": {"requestTimeEpoch": 1_777_388_600_000_i64},
    });
    let response = invoke(&cloud, STRIPE_WEBHOOK.function, request.to_string()).await.json();
    assert_eq!(response["statusCode"], 200, "{response}");
    let is_command = |line: &Value| line["command"] == "set_account" && line["account"] == "cus_1";
    let [line] = &await_logs(&cloud, 1, is_command).await[..] else { panic!("one command") };
    assert_eq!(line["level"], "INFO", "{line}");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_payment_does_not_undo_what_a_person_has_set_later() {
    let cloud = start().await;
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "Access");
    let session = table.with_timeout(Duration::from_mins(1));
    let name: AccountName = "local-pro".parse().unwrap();
    let stored = async || access::account(session, &name).await.unwrap().unwrap();
    let paid_until = UnixSeconds::new(1_777_388_600);
    let subscription = Subscription { tier: Tier::Starter, status: SubscriptionStatus::Active, paid_until };
    let paid = Account { name: name.clone(), subscription };

    let mut suspended = stored().await;
    suspended.subscription.status = SubscriptionStatus::Suspended;
    assert!(access::replace_account(session, Some(&stored().await), &suspended).await.unwrap());
    let now = UnixSeconds::from(UnixMilliseconds::of_system_clock());
    let earlier = now.minus(Duration::from_mins(1));
    assert!(!access::put_paid_account(session, &paid, earlier).await.unwrap());
    assert_eq!(stored().await, suspended);

    let later = now.plus(Duration::from_mins(1));
    assert!(access::put_paid_account(session, &paid, later).await.unwrap());
    assert_eq!(stored().await, paid);
    // A person's change applies even if the payment has a later time.
    assert!(access::replace_account(session, Some(&paid), &suspended).await.unwrap());
    assert_eq!(stored().await, suspended);
}

#[tokio::test]
async fn a_payment_does_not_undo_what_a_person_has_confirmed_later() {
    let cloud = start().await;
    let table = Table::of_sdk(&cloud.dynamodb().sdk(), "Access");
    let session = table.with_timeout(Duration::from_mins(1));
    let name: AccountName = "paying".parse().unwrap();
    let now = UnixSeconds::from(UnixMilliseconds::of_system_clock());
    let paid = |status| {
        let subscription =
            Subscription { tier: Tier::Pro, status, paid_until: UnixSeconds::new(2_000_000_000) };
        Account { name: name.clone(), subscription }
    };
    let suspended = paid(SubscriptionStatus::Suspended);
    let long_ago = now.minus(Duration::from_mins(2));
    assert!(access::put_paid_account(session, &suspended, long_ago).await.unwrap());
    // The account is already suspended, so the command only confirms this. The next payment has an earlier time (`now`).
    let command = json!({"command": "set_account", "account": "paying", "status": "suspended"});
    invoke(&cloud, ACCOUNTS, command.to_string()).await;
    let active = paid(SubscriptionStatus::Active);
    assert!(!access::put_paid_account(session, &active, now).await.unwrap());
    assert_eq!(access::account(session, &name).await.unwrap(), Some(suspended));
}
