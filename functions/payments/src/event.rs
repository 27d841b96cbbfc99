//! The events of Stripe since the API version 2025-03-31, reduced to the fields that decide about an account,
//! and the messages that carry them. Times are Unix seconds.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) const CREATED: &str = "customer.subscription.created";
pub(crate) const INVOICE_PAID: &str = "invoice.paid";
pub(crate) const PAUSED: &str = "customer.subscription.paused";
/// The kinds of events that say something about an account.
pub(crate) const KINDS: [&str; 6] = [
    CREATED,
    "customer.subscription.updated",
    "customer.subscription.deleted",
    PAUSED,
    "customer.subscription.resumed",
    INVOICE_PAID,
];

/// A batch of the queue, or an event of EventBridge.
#[derive(Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(rename = "Records")]
    pub(crate) records: Option<Vec<Record>>,
    /// The event of Stripe.
    #[serde(borrow)]
    pub(crate) detail: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct Record {
    /// An event of EventBridge.
    pub(crate) body: String,
}

/// An event of Stripe.
#[derive(Deserialize)]
pub(crate) struct Event<'a> {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// False in Stripe's test mode.
    #[serde(default)]
    pub(crate) livemode: bool,
    /// When the object was in this state: a number, but a text in a thin event.
    #[serde(borrow)]
    pub(crate) created: &'a RawValue,
    #[serde(borrow)]
    pub(crate) data: Option<Data<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Data<'a> {
    /// A subscription or an invoice, depending on the kind of the event. Only snapshot events have it.
    #[serde(borrow)]
    pub(crate) object: Option<&'a RawValue>,
    /// The earlier values of the changed fields.
    #[serde(default)]
    pub(crate) previous_attributes: Value,
}

#[derive(Deserialize)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    /// Whether the event leaves out further entries.
    #[serde(default)]
    pub(crate) has_more: bool,
}

#[derive(Deserialize)]
pub(crate) struct Metadata {
    /// The name of the account, if it is not the id of the customer.
    pub(crate) account: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Subscription {
    pub(crate) id: String,
    pub(crate) customer: Option<String>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) status: String,
    pub(crate) collection_method: Option<String>,
    pub(crate) pause_collection: Option<IgnoredAny>,
    pub(crate) items: List<SubscriptionItem>,
    pub(crate) cancel_at: Option<i64>,
    pub(crate) cancel_at_period_end: Option<bool>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) cancellation_details: Option<CancellationDetails>,
}

#[derive(Deserialize)]
pub(crate) struct SubscriptionItem {
    pub(crate) price: Price,
    /// `None` for a metered price.
    pub(crate) quantity: Option<i64>,
    pub(crate) current_period_start: i64,
    pub(crate) current_period_end: i64,
}

#[derive(Deserialize)]
pub(crate) struct Price {
    pub(crate) id: String,
}

#[derive(Deserialize)]
pub(crate) struct CancellationDetails {
    pub(crate) reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Invoice {
    pub(crate) customer: Option<String>,
    pub(crate) parent: Option<Parent>,
    pub(crate) lines: List<Line>,
}

#[derive(Deserialize)]
pub(crate) struct Parent {
    /// The details of the subscription that the invoice is for.
    pub(crate) subscription_details: Option<SubscriptionDetails>,
}

#[derive(Deserialize)]
pub(crate) struct SubscriptionDetails {
    pub(crate) subscription: String,
    pub(crate) metadata: Option<Metadata>,
}

#[derive(Deserialize)]
pub(crate) struct Line {
    /// Negative for a credit, for example for the unused time of a previous price.
    pub(crate) amount: Option<i64>,
    pub(crate) period: LinePeriod,
    pub(crate) pricing: Option<Pricing>,
}

#[derive(Deserialize)]
pub(crate) struct LinePeriod {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

#[derive(Deserialize)]
pub(crate) struct Pricing {
    pub(crate) price_details: Option<PriceDetails>,
}

#[derive(Deserialize)]
pub(crate) struct PriceDetails {
    pub(crate) price: String,
}
