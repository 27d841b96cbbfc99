//! Events as Stripe sends them, with complete objects (API version 2026-09-30.endive).

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use common::time::{UnixMilliseconds, UnixSeconds};
use serde_json::{Value, json};

pub(super) const DAY: i64 = 86_400;

/// The time of these tests in Unix seconds. It does not advance.
pub(super) static NOW: LazyLock<i64> =
    LazyLock::new(|| UnixSeconds::from(UnixMilliseconds::of_system_clock()).get());

pub(super) const SOURCE: &str = "aws.partner/stripe.com/ed_test/1";

pub(super) const CREATED: &str = "customer.subscription.created";
pub(super) const UPDATED: &str = "customer.subscription.updated";
pub(super) const DELETED: &str = "customer.subscription.deleted";
pub(super) const PAUSED: &str = "customer.subscription.paused";
pub(super) const RESUMED: &str = "customer.subscription.resumed";
pub(super) const PAID: &str = "invoice.paid";

const API_VERSION: &str = "2026-09-30.endive";
/// The moment of the purchase in the shared cases, in Unix seconds.
const PURCHASE: i64 = 1_795_737_600;

/// A price for a period: its id, and the start and end of the period.
pub(super) type Item<'a> = (&'a str, i64, i64);

#[derive(Debug, Clone)]
pub(super) struct Event(Value);

impl Event {
    pub(super) fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    /// The event as `EventBridge` sends it.
    pub(super) fn of_event_bridge(&self) -> Value {
        json!({
            "version": "0", "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718", "detail-type": self.0["type"],
            "source": SOURCE, "account": "123456789012", "time": "2026-11-27T00:00:00Z",
            "region": "eu-central-1", "resources": [], "detail": self.0,
        })
    }

    /// The event with these fields in place of its own.
    pub(super) fn with(&self, fields: Value) -> Self {
        Self(with(&self.0, fields))
    }

    /// The event of an update that has replaced these values.
    pub(super) fn changed_from(mut self, previous: &Value) -> Self {
        self.0["data"]["previous_attributes"] = previous.clone();
        self
    }

    /// The same event about another account and other subscriptions.
    pub(super) fn renamed(&self, suffix: &str) -> Self {
        let text = self.0.to_string().replace("zoe", &format!("zoe-{suffix}"));
        Self(serde_json::from_str(&text.replace("\"sub_", &format!("\"sub_{suffix}_"))).unwrap())
    }
}

/// The object with these fields in place of its own.
pub(super) fn with(object: &Value, fields: Value) -> Value {
    let mut object = object.clone();
    let Value::Object(fields) = fields else { panic!("{fields} has no fields") };
    object.as_object_mut().unwrap().extend(fields);
    object
}

/// An event of this kind that happened at this time.
pub(super) fn event(kind: &str, at: i64, object: &Value) -> Event {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Event(json!({
        "id": format!("evt_{number}"), "object": "event", "api_version": API_VERSION, "created": at,
        "data": {"object": object}, "livemode": false, "pending_webhooks": 1,
        "request": {"id": null, "idempotency_key": null}, "type": kind,
    }))
}

/// An active subscription of the account, with a period for each price.
pub(super) fn subscription(id: &str, account: &str, items: &[Item<'_>]) -> Value {
    let start = items.iter().map(|(_, start, _)| *start).min().unwrap();
    let item = |(price, start, end): &Item<'_>| {
        json!({
            "id": format!("si_{price}"), "object": "subscription_item", "billing_thresholds": null,
            "created": start, "current_period_end": end, "current_period_start": start, "discounts": [],
            "metadata": {}, "price": price_of(price, end - start), "quantity": 1, "subscription": id,
            "tax_rates": [],
        })
    };
    json!({
        "id": id, "object": "subscription", "application": null,
        "automatic_tax": {"disabled_reason": null, "enabled": false, "liability": null},
        "billing_cycle_anchor": start, "billing_mode": {"type": "flexible", "updated_at": start},
        "cancel_at": null, "cancel_at_period_end": false, "canceled_at": null,
        "cancellation_details": {"comment": null, "feedback": null, "reason": null},
        "collection_method": "charge_automatically", "created": start, "currency": "usd",
        "customer": format!("cus_{account}"), "customer_account": null, "days_until_due": null,
        "default_payment_method": null, "discounts": [], "ended_at": null,
        "items": {
            "object": "list", "data": items.iter().map(item).collect::<Vec<_>>(), "has_more": false,
            "total_count": items.len(), "url": format!("/v1/subscription_items?subscription={id}"),
        },
        "latest_invoice": format!("in_{id}"), "livemode": false, "metadata": {"account": account},
        "pause_collection": null, "pending_update": null, "schedule": null, "start_date": start,
        "status": "active", "test_clock": null, "trial_end": null, "trial_start": null,
    })
}

fn price_of(id: &str, seconds: i64) -> Value {
    let interval = if seconds > 100 * DAY { "year" } else { "month" };
    json!({
        "id": id, "object": "price", "active": true, "billing_scheme": "per_unit", "created": 1_769_817_600,
        "currency": "usd", "livemode": false, "lookup_key": null, "metadata": {}, "nickname": null,
        "product": id.replace("price", "prod"),
        "recurring": {
            "interval": interval, "interval_count": 1, "meter": null, "trial_period_days": null,
            "usage_type": "licensed",
        },
        "tax_behavior": "unspecified", "tiers_mode": null, "transform_quantity": null, "type": "recurring",
        "unit_amount": 500, "unit_amount_decimal": "500",
    })
}

/// A paid invoice of the subscription. Each line has an amount in cents.
pub(super) fn invoice(subscription: &Value, lines: &[(i64, Item<'_>)]) -> Value {
    let id = subscription["id"].as_str().unwrap();
    let total: i64 = lines.iter().map(|(amount, _)| amount).sum();
    let line = |(amount, (price, start, end)): &(i64, Item<'_>)| {
        json!({
            "id": format!("il_{price}_{start}_{amount}"), "object": "line_item", "amount": amount,
            "currency": "usd", "description": format!("1 × {price}"), "discount_amounts": [],
            "discountable": true, "discounts": [], "invoice": format!("in_{id}"), "livemode": false,
            "metadata": {},
            "parent": {
                "invoice_item_details": null,
                "subscription_item_details": {
                    "invoice_item": null, "proration": *amount < 0,
                    "proration_details": {"credited_items": null}, "subscription": id,
                    "subscription_item": format!("si_{price}"),
                },
                "type": "subscription_item_details",
            },
            "period": {"end": end, "start": start}, "pretax_credit_amounts": [],
            "pricing": {
                "price_details": {"price": price, "product": price.replace("price", "prod")},
                "type": "price_details", "unit_amount_decimal": amount.to_string(),
            },
            "quantity": 1, "taxes": [],
        })
    };
    json!({
        "id": format!("in_{id}"), "object": "invoice", "amount_due": total, "amount_paid": total,
        "amount_remaining": 0, "attempt_count": 1, "attempted": true, "auto_advance": false,
        "billing_reason": "subscription_cycle", "collection_method": subscription["collection_method"],
        "created": *NOW, "currency": "usd", "customer": subscription["customer"],
        "customer_email": "zoe@example.com", "default_payment_method": null,
        "lines": {
            "object": "list", "data": lines.iter().map(line).collect::<Vec<_>>(), "has_more": false,
            "total_count": lines.len(), "url": format!("/v1/invoices/in_{id}/lines"),
        },
        "livemode": false, "metadata": {},
        "parent": {
            "quote_details": null,
            "subscription_details": {"metadata": subscription["metadata"], "subscription": id},
            "type": "subscription_details",
        },
        "period_end": *NOW, "period_start": *NOW, "status": "paid",
        "status_transitions": {
            "finalized_at": *NOW, "marked_uncollectible_at": null, "paid_at": *NOW, "voided_at": null,
        },
        "subtotal": total, "total": total,
    })
}

/// The events that start a subscription to one price at the beginning of its period: its creation and its
/// first paid invoice.
pub(super) fn bought(subscription: &Value, item: Item<'_>) -> [Event; 2] {
    let (_, start, _) = item;
    [event(CREATED, start, subscription), event(PAID, start, &invoice(subscription, &[(500, item)]))]
}

/// The events of a shared case about the account `zoe`, with the moment of the purchase moved to now.
pub(super) fn case(name: &str) -> Vec<Event> {
    let folder = captures::folder().unwrap().join("../../cases").join(name);
    let steps: Value = json_in(&folder.join("case.json"));
    let files = steps.as_array().unwrap().iter().map(|step| folder.join(step["file"].as_str().unwrap()));
    files.map(|file| Event(moved(json_in(&file)))).collect()
}

fn json_in(path: &std::path::Path) -> Value {
    let text = std::fs::read_to_string(path);
    serde_json::from_str(&text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// Moves all times of the case's year in the value.
fn moved(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(time) if (time - PURCHASE).abs() < 500 * DAY => json!(time - PURCHASE + *NOW),
            _ => Value::Number(number),
        },
        Value::Array(values) => values.into_iter().map(moved).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, moved(value))).collect(),
        other => other,
    }
}
