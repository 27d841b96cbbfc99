//! What the operator sells, and what an event therefore says about an account (infra/README.md, Sell access).

use std::collections::BTreeMap;
use std::time::Duration;

use common::auth::{
    AccountName, BillingStatus, Period, State, Subscription, SubscriptionId, Tier, parse_unless_key,
    without_keys,
};
use common::time::UnixSeconds;

use crate::event::{self, Data, Event, Invoice, List, Metadata, PreviousAttributes, SubscriptionItem};

/// Why an event cannot be applied. A repetition would not help.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unapplied {
    #[error("the event has no object; choose snapshot events for the destination in Stripe")]
    Thin,
    #[error("PriceTiers has none of the prices {0}")]
    UnknownPrice(String),
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
}

impl Report {
    /// Returns the name of the account that has the subscription after this report: the one that its newest event names. `stored` is the stored
    /// subscription and the account that has it.
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
    /// How long an account is still accepted after the end of a paid period, until Stripe reports the next payment.
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
    /// If the event has an unlikely time, an unknown price and no known one, no possible account, or another form.
    pub(crate) fn report(&self, event: &Event<'_>) -> Result<Option<Report>, Unapplied> {
        let Some(Data { object: Some(object), previous_attributes }) = &event.data else {
            return Err(Unapplied::Thin);
        };
        if event.kind == event::INVOICE_PAID {
            return self.of_invoice(serde_json::from_str(object.get())?);
        }
        let at = likely(serde_json::from_str(event.created.get())?)?;
        let reported: event::Subscription = serde_json::from_str(object.get())?;
        let state = self.state(event, at, &reported)?;
        let had = |PreviousAttributes { items }: &PreviousAttributes| {
            items.iter().flat_map(|List { data }| data).any(|item| self.tier(&item.price.id).is_some())
        };
        let items = &reported.items.data;
        let is_sold = items.iter().any(|item| self.tier(&item.price.id).is_some())
            || previous_attributes.as_ref().is_some_and(had);
        if !is_sold {
            self.check_known(items.iter().map(|item| item.price.id.as_str()))?;
        }
        let Some(state) = state else { return Ok(None) };
        Ok(Some(Report {
            id: subscription_id(&reported.id)?,
            account: account(reported.metadata, &reported.customer)?,
            subscription: Subscription::of_state(state),
            is_sold,
        }))
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
        let cancel_at = cancel_at.or(ends.filter(|_| reported.cancel_at_period_end && status == Active));
        Ok(Some(State { at, status, periods, cancel_at }))
    }

    /// Returns the periods of the prices that pay for a tier; for each tier the one that ends last.
    fn periods(
        &self,
        status: BillingStatus,
        reported: &event::Subscription,
    ) -> Result<BTreeMap<Tier, Period>, Unapplied> {
        let is_invoiced = reported.collection_method.as_deref() == Some("send_invoice");
        let mut periods = BTreeMap::new();
        for item in &reported.items.data {
            let Some(tier) = self.tier(&item.price.id) else { continue };
            let SubscriptionItem { current_period_start: start, current_period_end: end, .. } = item;
            let (start, end) = (likely(*start)?, likely(*end)?);
            let period = match status {
                // Only a paid invoice adds time.
                BillingStatus::Active if is_invoiced && reported.status == "active" => {
                    Period { start, end, until: start }
                }
                BillingStatus::PastDue if is_invoiced => Period { start, end: start, until: start },
                BillingStatus::Active => Period { start, end, until: end.plus(self.grace) },
                BillingStatus::Ended => {
                    let end = reported.ended_at.map_or(Ok(end), likely)?;
                    Period { start, end, until: end }
                }
                // A period begins before it is paid, so the last paid period ends where this one starts.
                _ => Period { start, end: start, until: start.plus(self.grace) },
            };
            let last = periods.entry(tier).or_insert(period);
            *last = period.max(*last);
        }
        Ok(periods)
    }

    fn of_invoice(&self, invoice: Invoice) -> Result<Option<Report>, Unapplied> {
        let Some(details) = invoice.parent.and_then(|parent| parent.subscription_details) else {
            return Ok(None);
        };
        let charged = invoice.lines.data.iter().filter(|line| line.amount > 0);
        let priced =
            charged.filter_map(|line| Some((line, &line.pricing.as_ref()?.price_details.as_ref()?.price)));
        let priced: Vec<_> = priced.collect();
        let mut paid = BTreeMap::new();
        for (line, price) in &priced {
            let Some(tier) = self.tier(price) else { continue };
            let (start, end) = (likely(line.period.start)?, likely(line.period.end)?);
            let period = Period { start, end, until: end.plus(self.grace) };
            let last = paid.entry(tier).or_insert(period);
            *last = period.max(*last);
        }
        if paid.is_empty() {
            self.check_known(priced.iter().map(|(_, price)| price.as_str()))?;
            return Ok(None);
        }
        Ok(Some(Report {
            id: subscription_id(&details.subscription)?,
            account: account(details.metadata, &invoice.customer)?,
            subscription: Subscription::of_paid(paid),
            is_sold: true,
        }))
    }

    fn tier(&self, price: &str) -> Option<Tier> {
        self.tiers.get(price).copied().flatten()
    }

    /// Returns an error if a price is not in `PriceTiers`.
    fn check_known<'a>(&self, prices: impl Iterator<Item = &'a str>) -> Result<(), Unapplied> {
        let unknown: Vec<_> = prices.filter(|price| !self.tiers.contains_key(*price)).collect();
        if unknown.is_empty() { Ok(()) } else { Err(Unapplied::UnknownPrice(unknown.join(", "))) }
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
fn account(metadata: Option<Metadata>, customer: &str) -> Result<AccountName, Unapplied> {
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
    parse_unless_key(customer).map_err(|_| Unapplied::NoAccount(without_keys(customer)))
}
