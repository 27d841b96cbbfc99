//! Payments change accounts, but do not undo a later change by a person. The webhook exists only with the parameter `Payments`.
//! `tests/tools/clients/payments.mts` sends events that Stripe's own library signs.

use std::time::Duration;

use common::routes::STRIPE_WEBHOOK;
use common::time::{UnixMilliseconds, UnixSeconds};
use hyper::Method;
use local::{Cloud, Options};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::commands::{done, issued, status, text};
use super::rows::put_starter;
use crate::support::{
    await_logs, expect_clean_logs, invoke, one_instance_each, send, start, start_with, with_parameters,
};

const SECRET: &str = "whsec_of_these_tests";
/// The length of a block of SHA-256.
const BLOCK: usize = 64;

/// Starts a cloud that sells the price `price_1` as `pro` and `price_2` as `starter`.
async fn start_with_payments(options: Options) -> Cloud {
    let parameters = [("Payments", "stripe"), ("PriceTiers", "price_1=pro,price_2=starter")];
    let options = Options { payments_secret: Some(SECRET.to_owned()), ..options };
    start_with(with_parameters(options, &parameters)).await
}

/// The HMAC-SHA256 of the text with the secret (RFC 2104), in hexadecimal.
fn hmac(text: &str) -> String {
    let key = |pad: u8| {
        let secret = SECRET.bytes().chain(std::iter::repeat(0));
        secret.take(BLOCK).map(|byte| byte ^ pad).collect::<Vec<_>>()
    };
    let inner = Sha256::digest([&key(0x36), text.as_bytes()].concat());
    let outer = Sha256::digest([&key(0x5c), inner.as_slice()].concat());
    let digits = outer.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.map(|digit| char::from_digit(digit.into(), 16).unwrap()).collect()
}

/// Reports that the account has a paid subscription with this price since `created`. Returns the outcome.
async fn pay(cloud: &Cloud, account: &str, price: &str, created: UnixSeconds) -> String {
    let seconds = created.get();
    let body = json!({
        "id": "evt_1", "type": "customer.subscription.created", "created": seconds,
        "data": {"object": {
            "customer": account, "status": "active",
            "items": {"data": [{"price": {"id": price}, "current_period_start": 0, "current_period_end": 2_000_000_000}]},
        }},
    })
    .to_string();
    let signature = format!("t={seconds},v1={}", hmac(&format!("{seconds}.{body}")));
    let request = json!({
        "resource": STRIPE_WEBHOOK.path, "path": STRIPE_WEBHOOK.path, "httpMethod": "POST", "body": body,
        "headers": {"Stripe-Signature": signature}, "requestContext": {"requestTimeEpoch": seconds * 1000},
    });
    let response = invoke(cloud, STRIPE_WEBHOOK.function, request.to_string()).await.json();
    assert_eq!(response["statusCode"], 200, "{response}");
    let body: Value = serde_json::from_str(text(&response["body"])).unwrap();
    text(&body["data"]).to_owned()
}

fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}

/// The tier and the status of the account.
async fn account(cloud: &Cloud, name: &str) -> [String; 2] {
    let account = done(cloud, json!({"command": "get_account", "account": name})).await;
    ["tier", "status"].map(|field| text(&account[field]).to_owned())
}

/// Sets the status of the account.
async fn set_status(cloud: &Cloud, name: &str, status: &str) {
    done(cloud, json!({"command": "set_account", "account": name, "status": status})).await;
}

#[tokio::test]
async fn the_webhook_exists_only_with_payments() {
    let cloud = start().await;
    send(&cloud.url(), Method::POST, STRIPE_WEBHOOK.path).await.error("NOT_FOUND");
    let cloud_with_payments = start_with_payments(Options::for_tests()).await;
    let url = cloud_with_payments.url();
    send(&url, Method::POST, STRIPE_WEBHOOK.path).await.error("BAD_REQUEST");
    send(&url, Method::GET, STRIPE_WEBHOOK.path).await.error("NOT_FOUND");
    expect_clean_logs(&cloud_with_payments);
}

#[tokio::test]
async fn an_account_and_its_keys_follow_a_payment() {
    let cloud = start_with_payments(one_instance_each()).await;
    assert_eq!(pay(&cloud, "cus_1", "price_2", now()).await, "applied");
    let is_command = |line: &Value| line["command"] == "set_account" && line["account"] == "cus_1";
    let [line] = &await_logs(&cloud, 1, is_command).await[..] else { panic!("one command") };
    assert_eq!(line["level"], "INFO", "{line}");
    let issued = issued(&cloud, "cus_1", "ci").await;
    assert_eq!(status(&cloud, text(&issued["key"])).await, 200);
    let later = now().plus(Duration::from_secs(1));
    assert_eq!(pay(&cloud, "cus_1", "price_1", later).await, "applied");
    assert_eq!(account(&cloud, "cus_1").await, ["pro", "active"]);
    cloud.clock().advance(Duration::from_secs(65));
    assert_eq!(status(&cloud, text(&issued["key"])).await, 200);
    // An event that is reported again is applied again.
    assert_eq!(pay(&cloud, "cus_1", "price_1", later).await, "applied");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_upgrade_by_a_payment_refuses_nobody() {
    let options = Options { gateway_key_delay: Duration::from_mins(2), ..one_instance_each() };
    let cloud = start_with_payments(options).await;
    cloud.clock().stop_at(cloud.clock().now_ms());
    put_starter(&cloud, "cus_1").await;
    let issued = issued(&cloud, "cus_1", "ci").await;
    let key = text(&issued["key"]);
    assert_eq!(pay(&cloud, "cus_1", "price_1", now()).await, "applied");
    // The key of the new tier works after two minutes.
    for seconds in [0, 30, 30, 30, 65] {
        cloud.clock().advance(Duration::from_secs(seconds));
        assert_eq!(status(&cloud, key).await, 200);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_payment_does_not_undo_what_a_person_has_set_or_confirmed_later() {
    let cloud = start_with_payments(one_instance_each()).await;
    let earlier = now().minus(Duration::from_mins(1));
    assert_eq!(pay(&cloud, "cus_1", "price_2", earlier).await, "applied");
    // The second command only confirms the status.
    for _ in 0..2 {
        set_status(&cloud, "cus_1", "suspended").await;
        // A payment of the same second is also earlier.
        for created in [earlier, now()] {
            assert_eq!(pay(&cloud, "cus_1", "price_1", created).await, "outdated");
            assert_eq!(account(&cloud, "cus_1").await, ["starter", "suspended"]);
        }
    }
    // A command without changes is no change by a person.
    let later = now().plus(Duration::from_mins(1));
    assert_eq!(pay(&cloud, "cus_1", "price_1", later).await, "applied");
    done(&cloud, json!({"command": "set_account", "account": "cus_1"})).await;
    assert_eq!(pay(&cloud, "cus_1", "price_2", later).await, "applied");
    assert_eq!(account(&cloud, "cus_1").await, ["starter", "active"]);
    // A person's change applies even if the payment has a later time.
    set_status(&cloud, "cus_1", "suspended").await;
    assert_eq!(account(&cloud, "cus_1").await, ["starter", "suspended"]);
    expect_clean_logs(&cloud);
}
