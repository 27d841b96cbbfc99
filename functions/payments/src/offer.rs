//! What the operator sells, and what an event therefore says about an account (infra/README.md, Sell access).

use std::collections::BTreeMap;
use std::time::Duration;

use common::auth::{
    AccountName, BillingStatus, Period, State, Subscription, SubscriptionId, Tier, parse_unless_key,
    without_keys,
};
use common::time::UnixSeconds;
use serde_json::Value;

use crate::event::{self, Data, Event, Invoice, Metadata, SubscriptionItem};

/// Why an event cannot be applied. A repetition would not help.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unapplied {
    #[error("the event has no object; choose snapshot events for the destination in Stripe")]
    Thin,
    #[error("PriceTiers has none of the prices {0}")]
    UnknownPrice(String),
    #[error("the invoice has more lines than the event; compare the paid time of the account with Stripe")]
    MoreLines,
    #[error("{0:?} is not the name of an account")]
    NoAccount(String),
    #[error("{0:?} is not the id of a subscription")]
    NoSubscription(String),
    #[error("the subscription has the unknown status {0:?}")]
    UnknownStatus(String),
    #[error("the time {0} is not in the years 2001 to 2286")]
    UnlikelyTime(i64),
    #[error(transparent)]
    TooManySubscriptions(#[from] common::auth::TooManySubscriptions),
    #[error("the event cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// What an event reports about a subscription.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) id: SubscriptionId,
    /// The account that the event names.
    pub(crate) account: AccountName,
    pub(crate) subscription: Subscription,
    /// Whether the subscription has, or had before the event, a price that pays for a tier.
    pub(crate) is_sold: bool,
    /// Why a person must look at the prices, although the report can be applied.
    pub(crate) unknown: Option<Unapplied>,
}

impl Report {
    /// Returns the name of the account that has the subscription after this report, which its newest event
    /// names. `stored` is the stored subscription and the account that has it.
    pub(crate) fn name<'a>(&'a self, stored: Option<(&Subscription, &'a AccountName)>) -> &'a AccountName {
        let newest = (self.subscription.named_at, &self.account);
        let is_newest = |(stored, owner): &(&Subscription, &AccountName)| (stored.named_at, *owner) >= newest;
        stored.filter(is_newest).map_or(&self.account, |(_, owner)| owner)
    }
}

/// The prices that the operator sells, and the grace time.
#[derive(Debug)]
pub(crate) struct Offer {
    /// The tier of each Stripe price, by the id of the price; `None` for a price that pays for nothing here.
    tiers: BTreeMap<String, Option<Tier>>,
    /// How long an account is still accepted after the end of a paid period, until Stripe reports the next
    /// payment.
    grace: Duration,
}

impl Offer {
    /// Returns `None` unless `price_tiers` is a list of `PRICE=TIER` or `PRICE=none`, separated by commas.
    pub(crate) fn new(price_tiers: &str, grace: Duration) -> Option<Self> {
        let entry = |entry: &str| {
            let (price, name) = entry.split_once('=')?;
            let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name);
            (tier.is_some() || name == "none").then(|| (price.to_owned(), tier))
        };
        Some(Self { tiers: price_tiers.split(',').map(entry).collect::<Option<_>>()?, grace })
    }

    /// Returns what the event reports; `None` if it is about nothing that is sold here.
    ///
    /// # Errors
    /// If the event has an unlikely time, an unknown price and no known one, no possible account, or another
    /// form.
    pub(crate) fn report(&self, event: &Event<'_>) -> Result<Option<Report>, Unapplied> {
        let Some(Data { object: Some(object), previous_attributes }) = &event.data else {
            return Err(Unapplied::Thin);
        };
        if event.kind == event::INVOICE_PAID {
            return self.of_invoice(serde_json::from_str(object.get())?);
        }
        let at = likely(serde_json::from_str(event.created.get())?)?;
        let reported: event::Subscription = serde_json::from_str(object.get())?;
        let Some(state) = self.state(event, at, &reported)? else { return Ok(None) };
        let items = &reported.items.data;
        let is_sold = items.iter().any(|item| self.tier(&item.price.id).is_some());
        let unknown =
            if is_sold { None } else { self.unknown(items.iter().map(|item| item.price.id.as_str())) };
        // A subscription begins with its first payment. Later, a period is active before it is paid.
        let previous = previous_attributes.get("status").and_then(Value::as_str);
        let is_paid = reported.status == "trialing"
            || reported.collection_method.as_deref() != Some("send_invoice")
                && (event.kind == event::CREATED
                    || matches!(previous, Some("incomplete" | "past_due" | "unpaid")));
        Ok(Some(Report {
            id: subscription_id(&reported.id)?,
            account: account(reported.metadata, reported.customer)?,
            subscription: Subscription::of_state(state, is_paid),
            is_sold: is_sold || self.had_tier(previous_attributes),
            unknown,
        }))
    }

    /// Whether an item of the earlier values has a price that pays for a tier.
    fn had_tier(&self, previous_attributes: &Value) -> bool {
        let items = previous_attributes.pointer("/items/data").and_then(Value::as_array);
        let price = |item: &Value| item.pointer("/price/id")?.as_str().and_then(|price| self.tier(price));
        items.into_iter().flatten().any(|item| price(item).is_some())
    }

    /// Returns the reported state; `None` if the first payment was not made.
    fn state(
        &self,
        event: &Event<'_>,
        at: UnixSeconds,
        reported: &event::Subscription,
    ) -> Result<Option<State>, Unapplied> {
        use BillingStatus::{Active, CollectionPaused, Ended, PastDue, Removed, Suspended, Unpaid};

        let reason = reported.cancellation_details.as_ref().and_then(|details| details.reason.as_deref());
        let status = match (reported.status.as_str(), reason) {
            _ if event.kind == event::PAUSED => Suspended,
            ("active" | "trialing", _) if reported.pause_collection.is_some() => CollectionPaused,
            ("active" | "trialing", _) => Active,
            ("past_due", _) => PastDue,
            ("unpaid", _) | ("canceled", Some("payment_failed")) => Unpaid,
            ("paused", _) | ("canceled", Some("payment_disputed")) => Suspended,
            ("canceled", _) => Ended,
            ("incomplete" | "incomplete_expired", _) => return Ok(None),
            (other, _) => return Err(Unapplied::UnknownStatus(without_keys(other))),
        };
        let periods = self.periods(status, reported)?;
        let status = match status {
            Active | CollectionPaused | PastDue | Unpaid if periods.is_empty() => Removed,
            status => status,
        };
        let ends = periods.values().map(|period| period.end).min();
        let cancel_at = reported.cancel_at.map(likely).transpose()?;
        let ends_with_period = reported.cancel_at_period_end == Some(true) && status == Active;
        let cancel_at = if ends_with_period { cancel_at.or(ends) } else { cancel_at };
        Ok(Some(State { at, status, periods, cancel_at, is_over: reported.status == "canceled" }))
    }

    /// Returns the periods of the prices that pay for a tier. Of several periods of a tier, the last to end
    /// counts.
    fn periods(
        &self,
        status: BillingStatus,
        reported: &event::Subscription,
    ) -> Result<BTreeMap<Tier, Period>, Unapplied> {
        let is_invoiced = reported.collection_method.as_deref() == Some("send_invoice");
        let mut periods = BTreeMap::new();
        for item in &reported.items.data {
            let Some(tier) = self.tier(&item.price.id) else { continue };
            if item.quantity == Some(0) {
                continue;
            }
            let SubscriptionItem { current_period_start: start, current_period_end: end, .. } = item;
            let (start, end) = (likely(*start)?, likely(*end)?);
            let period = match status {
                // Only a paid invoice adds time.
                BillingStatus::Active if is_invoiced && reported.status == "active" => {
                    Period { start, end, until: start }
                }
                BillingStatus::PastDue | BillingStatus::CollectionPaused if is_invoiced => {
                    Period { start, end: start, until: start }
                }
                BillingStatus::Active => Period { start, end, until: self.with_grace(end)? },
                BillingStatus::Ended => {
                    let end = reported.ended_at.map_or(Ok(end), likely)?;
                    Period { start, end, until: end }
                }
                // A period begins before it is paid, so the last paid period ends where this one starts.
                _ => Period { start, end: start, until: self.with_grace(start)? },
            };
            let last = periods.entry(tier).or_insert(period);
            if period.end > last.end {
                *last = period;
            }
        }
        Ok(periods)
    }

    fn of_invoice(&self, invoice: Invoice) -> Result<Option<Report>, Unapplied> {
        let Some(details) = invoice.parent.and_then(|parent| parent.subscription_details) else {
            return Ok(None);
        };
        let mut paid = Vec::new();
        let mut prices = Vec::new();
        for line in &invoice.lines.data {
            let details = line.pricing.as_ref().and_then(|pricing| pricing.price_details.as_ref());
            let amount = line.amount.unwrap_or_default();
            let Some(details) = details else { continue };
            if amount == 0 {
                continue;
            }
            prices.push(details.price.as_str());
            let Some(tier) = self.tier(&details.price) else { continue };
            let start = likely(line.period.start)?;
            let period = if amount > 0 {
                let end = likely(line.period.end)?;
                Period { start, end, until: self.with_grace(end)? }
            } else {
                Period { start, end: start, until: start.minus(Duration::from_secs(1)) }
            };
            paid.push((tier, period));
        }
        if paid.is_empty() {
            if invoice.lines.has_more {
                return Err(Unapplied::MoreLines);
            }
            return self.unknown(prices.into_iter()).map_or(Ok(None), Err);
        }
        Ok(Some(Report {
            id: subscription_id(&details.subscription)?,
            account: account(details.metadata, invoice.customer)?,
            subscription: Subscription::of_paid(paid),
            is_sold: true,
            unknown: invoice.lines.has_more.then_some(Unapplied::MoreLines),
        }))
    }

    fn tier(&self, price: &str) -> Option<Tier> {
        self.tiers.get(price).copied().flatten()
    }

    /// Returns an error if a price is not in `PriceTiers`.
    fn unknown<'a>(&self, prices: impl Iterator<Item = &'a str>) -> Option<Unapplied> {
        let unknown: Vec<_> = prices.filter(|price| !self.tiers.contains_key(*price)).collect();
        (!unknown.is_empty()).then(|| Unapplied::UnknownPrice(unknown.join(", ")))
    }

    fn with_grace(&self, end: UnixSeconds) -> Result<UnixSeconds, Unapplied> {
        likely(end.plus(self.grace).get())
    }
}

fn likely(seconds: i64) -> Result<UnixSeconds, Unapplied> {
    let time = UnixSeconds::new(seconds);
    if time.has_ten_digits() { Ok(time) } else { Err(Unapplied::UnlikelyTime(seconds)) }
}

fn subscription_id(id: &str) -> Result<SubscriptionId, Unapplied> {
    parse_unless_key(id).map_err(|_| Unapplied::NoSubscription(without_keys(id)))
}

/// Returns the account that the metadata name, or the customer's id.
fn account(metadata: Option<Metadata>, customer: Option<String>) -> Result<AccountName, Unapplied> {
    let customer = without_keys(&customer.unwrap_or_default());
    let named = metadata.and_then(|metadata| metadata.account).filter(|name| !name.is_empty());
    if let Some(name) = named {
        match parse_unless_key(&name) {
            Ok(name) => return Ok(name),
            Err(rule) => {
                let name = without_keys(&name);
                tracing::warn!(name, customer, rule, "account name not allowed");
            }
        }
    }
    parse_unless_key(&customer).map_err(|_| Unapplied::NoAccount(customer))
}
