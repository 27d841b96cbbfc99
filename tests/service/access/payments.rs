//! Payments. `tests/tools/clients/payments.mts` sends events that Stripe's own library signs.

use std::time::Duration;

use common::auth::{Account, AccountName, Subscription, SubscriptionStatus, Tier};
use common::routes::STRIPE_WEBHOOK;
use common::time::{UnixMilliseconds, UnixSeconds};
use hyper::Method;
use local::Options;
use tables::{Table, access};

use crate::support::{expect_clean_logs, send, start, start_with, with_parameters};

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
    // A person's change does not depend on the time of the payment.
    assert!(access::replace_account(session, Some(&paid), &suspended).await.unwrap());
    assert_eq!(stored().await, suspended);
}
