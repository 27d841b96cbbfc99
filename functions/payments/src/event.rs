//! The events of Stripe since the API version 2025-03-31, reduced to the fields that decide about an account. Times are Unix seconds.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The kind of the event that ends a subscription.
pub(crate) const ENDED: &str = "customer.subscription.deleted";

#[derive(Deserialize)]
pub(crate) struct Event<'a> {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// When the object in `data` was in this state.
    pub(crate) created: i64,
    #[serde(borrow)]
    pub(crate) data: Data<'a>,
}

#[derive(Deserialize)]
pub(crate) struct Data<'a> {
    /// A subscription or an invoice, depending on the kind of the event.
    #[serde(borrow)]
    pub(crate) object: &'a RawValue,
}

#[derive(Deserialize)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
}

#[derive(Deserialize)]
pub(crate) struct Metadata {
    /// The name of the account, if it is not the id of the customer.
    pub(crate) account: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Subscription {
    pub(crate) customer: String,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) status: String,
    pub(crate) items: List<SubscriptionItem>,
    pub(crate) cancel_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) cancellation_details: Option<CancellationDetails>,
}

#[derive(Deserialize)]
pub(crate) struct SubscriptionItem {
    pub(crate) price: Price,
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
    pub(crate) customer: String,
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
    pub(crate) metadata: Option<Metadata>,
}

#[derive(Deserialize)]
pub(crate) struct Line {
    /// Negative for a credit, for example for the unused time of a previous price.
    pub(crate) amount: i64,
    pub(crate) period: Period,
    pub(crate) pricing: Option<Pricing>,
}

#[derive(Deserialize)]
pub(crate) struct Period {
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
