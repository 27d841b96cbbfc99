//! Events arrive in messages of a queue or directly. What cannot be applied is reported and not repeated;
//! what fails is repeated.

use local::{Fault, Refusal};
use serde_json::{Value, json};

use super::stripe::{CREATED, Event, UPDATED, bought, event, invoice, subscription, with};
use super::{GRACE, PAYMENTS, Shop, day};
use crate::access::rows::all;
use crate::support::{await_logs, invoke, one_instance_each};

/// A message of the queue, with one record for each body.
fn message(bodies: &[String]) -> Value {
    let record = |body: &String| {
        json!({
            "messageId": "059f36b4-87a3-44ab-83d2-661975830a7d", "receiptHandle": "AQEB", "body": body,
            "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1795737600000"},
            "messageAttributes": {}, "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
            "eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:payments",
            "awsRegion": "eu-central-1",
        })
    };
    json!({"Records": bodies.iter().map(record).collect::<Vec<_>>()})
}

impl Shop {
    async fn raw(&self, payload: &Value) -> Value {
        invoke(&self.cloud, PAYMENTS, payload.to_string()).await.json()
    }

    /// The rows of the table, without versions, which begin with the time.
    async fn rows(&self) -> Vec<Value> {
        let mut rows = all(&self.cloud).await;
        rows.sort_by_key(|row| row["pk"]["S"].as_str().unwrap().to_owned());
        rows
    }
}

/// The purchase of `price_pro` by the account `zoe`, which begins now.
fn purchase() -> [Event; 2] {
    let item = ("price_pro", day(0), day(30));
    bought(&subscription("sub_1", "zoe", &[item]), item)
}

#[tokio::test]
async fn a_message_of_the_queue_has_the_effect_of_its_event() {
    let shop = Shop::open().await;
    let end = [(day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")];
    let events = purchase();
    let mut of_each_way = Vec::new();
    for is_queued in [false, true] {
        for event in &events {
            let event = event.renamed(if is_queued { "queued" } else { "direct" }).of_event_bridge();
            let payload = if is_queued { message(&[event.to_string()]) } else { event };
            of_each_way.push(shop.raw(&payload).await);
        }
    }
    let applied = |account: &str| json!({"outcome": "applied", "account": account});
    let [direct, queued] = ["zoe-direct", "zoe-queued"].map(applied);
    assert_eq!(of_each_way, [direct.clone(), direct, queued.clone(), queued]);
    shop.expect("zoe-direct", &end).await;
    shop.expect("zoe-queued", &end).await;
    // If a message has several records, all are applied, and the response is that of the last.
    let bodies = ["one", "two"].map(|name| events[0].renamed(name).of_event_bridge().to_string());
    assert_eq!(shop.raw(&message(&bodies)).await, applied("zoe-two"));
    for name in ["zoe-one", "zoe-two"] {
        shop.expect(name, &end).await;
    }
}

#[tokio::test]
async fn an_event_that_repeats_changes_nothing() {
    let shop = Shop::open().await;
    let events = purchase();
    shop.apply(&events).await;
    let rows = shop.rows().await;
    for event in events.iter().rev().chain(&events) {
        let response = shop.response(event).await;
        assert_eq!(response, json!({"outcome": "unchanged", "account": "zoe"}));
        assert_eq!(shop.rows().await, rows);
    }
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_reported_and_not_repeated() {
    let shop = Shop::open().await;
    let [created, _] = purchase();
    let of_bridge = created.of_event_bridge();
    let detail = |detail: &Value| with(&of_bridge, json!({"detail": detail}));
    let object = |fields: &Value| {
        let object = with(&subscription("sub_1", "zoe", &[("price_pro", day(0), day(30))]), fields.clone());
        event(CREATED, day(0), &object).of_event_bridge()
    };
    let thin = json!({
        "id": "evt_test_65R9Ijk8dKEYZcXeRWn16R9A7j1FSQ3w3TGDPLLGSM4CW0", "object": "v2.core.event",
        "type": "v1.customer.subscription.created", "created": "2026-11-27T00:00:00.000Z", "livemode": false,
        "reason": null, "context": null,
        "related_object": {"id": "sub_1", "type": "subscription", "url": "/v1/subscriptions/sub_1"},
    });
    let unreadable = [
        json!([]),
        json!({}),
        detail(&Value::Null),
        detail(&json!("text")),
        detail(&json!({"id": "evt_1"})),
        detail(&with(&created.of_event_bridge()["detail"], json!({"created": "yesterday"}))),
        detail(&with(&created.of_event_bridge()["detail"], json!({"created": 5}))),
        object(&json!({"items": null})),
        object(&json!({"status": "invented"})),
        object(&json!({"id": "#"})),
        object(&json!({"customer": null, "metadata": {}})),
        object(&json!({"customer": "#", "metadata": {}})),
        detail(&thin),
    ];
    let rows = shop.rows().await;
    let mut count = 0;
    for payload in &unreadable {
        for payload in [payload.clone(), message(&[payload.to_string()])] {
            let response = shop.raw(&payload).await;
            assert_eq!(response, json!({"outcome": "ignored", "account": null}), "{payload}");
            count += 1;
        }
    }
    for body in ["", "{", "null", &format!("{}1", "[".repeat(200))] {
        assert_eq!(shop.raw(&message(&[body.to_owned()])).await["outcome"], "ignored", "{body}");
        count += 1;
    }
    assert_eq!(shop.rows().await, rows);
    let lines = shop.lines("payment not applied").await;
    assert_eq!(lines.len(), count, "{lines:#?}");
    assert!(lines.iter().all(|line| line["level"] == "WARN" && line["cause"].is_string()), "{lines:#?}");
    let is_thin = |line: &&Value| line["cause"].as_str().unwrap().contains("choose snapshot events");
    assert_eq!(lines.iter().filter(is_thin).count(), 2, "{lines:#?}");
    // An unreadable record does not keep the others of its message from being applied.
    shop.raw(&message(&["{".to_owned(), of_bridge.to_string()])).await;
    shop.expect("zoe", &[(day(0), "pro")]).await;
}

#[tokio::test]
async fn unknown_kinds_and_objects_without_a_subscription_are_ignored() {
    let shop = Shop::open().await;
    let charge = event("charge.refunded", day(0), &json!({"id": "ch_1", "customer": "cus_zoe"}));
    assert_eq!(shop.response(&charge).await, json!({"outcome": "ignored", "account": null}));
    let line = shop.line("unknown event of payments").await;
    assert_eq!((&line["level"], &line["event"]), (&json!("WARN"), &json!(charge.id())), "{line}");
    assert_eq!(line["kind"], "charge.refunded");
    // A separate invoice.
    let item = ("price_pro", day(0), day(30));
    let paid = invoice(&subscription("sub_1", "zoe", &[item]), &[(500, item)]);
    let alone = event(super::stripe::PAID, day(0), &with(&paid, json!({"parent": null})));
    assert_eq!(shop.deliver(&alone).await, "ignored");
    assert_eq!(shop.lines("payment not applied").await.len(), 0);
    // An event has the first lines of a long invoice. The line with a tier can be among the others.
    let mut long =
        invoice(&subscription("sub_1", "zoe", &[item]), &[(500, ("price_support", day(0), day(30)))]);
    long["lines"]["has_more"] = json!(true);
    assert_eq!(shop.deliver(&event(super::stripe::PAID, day(0), &long)).await, "ignored");
    let line = shop.line("payment not applied").await;
    assert!(line["cause"].as_str().unwrap().contains("more lines"), "{line}");
    shop.expect("zoe", &[(day(0), "deny")]).await;
    // A line with a tier counts, but others can pay for more.
    long["lines"]["data"][0]["pricing"]["price_details"]["price"] = json!("price_pro");
    assert_eq!(shop.deliver(&event(super::stripe::PAID, day(0) + 1, &long)).await, "applied");
    await_logs(&shop.cloud, 2, |line| line["message"] == "payment not applied").await;
    shop.expect("zoe", &[(day(30), "pro")]).await;
}

#[tokio::test]
async fn test_events_are_ignored_without_test_mode() {
    let shop = Shop::with(one_instance_each(), &[("StripeTestMode", "off")]).await;
    let [created, _] = purchase();
    for fields in [json!({}), json!({"livemode": null}), json!({"livemode": "true"})] {
        let response = shop.response(&created.with(fields)).await;
        assert_eq!(response, json!({"outcome": "ignored", "account": null}));
        shop.expect("zoe", &[(day(0), "deny")]).await;
    }
    let line = shop.line("test event ignored").await;
    assert_eq!((&line["level"], &line["event"]), (&json!("INFO"), &json!(created.id())), "{line}");
    assert_eq!(shop.deliver(&created.with(json!({"livemode": true}))).await, "applied");
    shop.expect("zoe", &[(day(0), "pro")]).await;
}

#[tokio::test]
async fn an_applied_event_has_a_line() {
    let shop = Shop::open().await;
    let [created, _] = purchase();
    for outcome in ["applied", "unchanged"] {
        assert_eq!(shop.deliver(&created).await, outcome);
    }
    let lines = shop.lines("payment").await;
    let outcomes: Vec<_> = lines.iter().map(|line| line["outcome"].clone()).collect();
    assert_eq!(outcomes, ["applied", "unchanged"]);
    for line in &lines {
        let named = ["level", "event", "kind", "account", "subscription"].map(|field| line[field].clone());
        assert_eq!(json!(named), json!(["INFO", created.id(), CREATED, "zoe", "sub_1"]));
    }
}

#[tokio::test]
async fn an_event_fails_with_the_table_and_its_repetition_is_applied() {
    let shop = Shop::open().await;
    let item = ("price_pro", day(-30), day(0));
    let mut events = bought(&subscription("sub_1", "zoe", &[item]), item).to_vec();
    let renewed = subscription("sub_1", "zoe", &[("price_pro", day(0), day(30))]);
    events.push(event(UPDATED, day(0), &renewed));
    let refusal = || Fault::refusal(Refusal::InternalServerError);
    for event in &events {
        let rows = shop.rows().await;
        for fault in [
            refusal(),
            refusal().after(1),
            refusal().on("TransactWriteItems").on("PutItem"),
            Fault::close(),
            Fault::missing_table(),
        ] {
            shop.cloud.dynamodb().set_fault(fault);
            let response = shop.response(event).await;
            shop.cloud.dynamodb().clear_faults();
            assert!(response["errorMessage"].is_string(), "{response}");
            assert_eq!(shop.rows().await, rows);
        }
        shop.apply(std::slice::from_ref(event)).await;
    }
    shop.expect("zoe", &[(day(30) + GRACE, "pro"), (day(30) + GRACE + 1, "deny")]).await;
    // A message fails as a whole.
    shop.cloud.dynamodb().set_fault(refusal());
    let response = shop.raw(&message(&[events[0].of_event_bridge().to_string()])).await;
    assert!(response["errorMessage"].is_string(), "{response}");
}

#[tokio::test]
async fn an_event_about_a_tier_that_is_not_offered_fails() {
    let item = ("price_free", day(0), day(30));
    let [created, _] = bought(&subscription("sub_1", "zoe", &[item]), item);
    for (is_offered, free_plan) in [(false, "off"), (true, "on")] {
        let parameters = [("PriceTiers", "price_free=free"), ("FreePlan", free_plan)];
        let shop = Shop::with(one_instance_each(), &parameters).await;
        let response = shop.response(&created).await;
        assert_eq!(response["outcome"] == "applied", is_offered, "{response}");
        assert_eq!(response["errorMessage"].is_string(), !is_offered, "{response}");
        shop.expect("zoe", &[(day(0), if is_offered { "free" } else { "deny" })]).await;
    }
}
