//! Derives the new state of an account from an event.

use std::collections::BTreeMap;
use std::time::Duration;

use common::auth::{AccountName, Subscription, SubscriptionStatus, Tier, parse_unless_key, without_keys};
use common::time::UnixSeconds;

use crate::event::{self, Event, Invoice, Metadata, Subscription as Reported};

/// Why an event cannot be applied to an account.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unapplied {
    #[error("the kind of the event is unknown")]
    UnknownEvent,
    #[error("PriceTiers has none of the prices {0}")]
    UnknownPrice(String),
    #[error("{0:?} is not the name of an account")]
    NoAccount(String),
    #[error("the paid time {0} is not in the years 2001 to 2286")]
    UnlikelyTime(i64),
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
}

/// The new state of an account.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Paid {
    pub(crate) account: AccountName,
    pub(crate) subscription: Subscription,
}

/// The prices that the operator sells, and the grace time.
#[derive(Debug)]
pub(crate) struct Offer {
    /// The tier of each Stripe price, by the id of the price.
    tiers: BTreeMap<String, Tier>,
    /// How long an account is still accepted after the end of a paid period, until Stripe reports the next payment.
    grace: Duration,
}

impl Offer {
    /// Returns `None` unless `price_tiers` is a list of `PRICE=TIER`, separated by commas.
    pub(crate) fn new(price_tiers: &str, grace: Duration) -> Option<Self> {
        let entry = |entry: &str| {
            let (price, name) = entry.split_once('=')?;
            let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name)?;
            Some((price.to_owned(), tier))
        };
        Some(Self { tiers: price_tiers.split(',').map(entry).collect::<Option<_>>()?, grace })
    }

    /// Returns the new state of the account that the event is about; `None` if the event changes no account.
    ///
    /// # Errors
    /// If the kind of the event is unknown, all of its prices are unknown, its account has an invalid name, its paid time is unlikely, or
    /// the event cannot be parsed.
    pub(crate) fn account(&self, event: &Event<'_>) -> Result<Option<Paid>, Unapplied> {
        let object = event.data.object.get();
        match event.kind.as_str() {
            "customer.subscription.created" | "customer.subscription.updated" | event::ENDED => {
                self.of_subscription(serde_json::from_str(object)?)
            }
            "invoice.paid" => self.of_invoice(serde_json::from_str(object)?, event.created),
            _ => Err(Unapplied::UnknownEvent),
        }
    }

    fn of_subscription(&self, reported: Reported) -> Result<Option<Paid>, Unapplied> {
        let items = &reported.items.data;
        let start = items.iter().map(|item| item.current_period_start).max().unwrap_or_default();
        let end = items.iter().map(|item| item.current_period_end).max().unwrap_or_default();
        let reason = reported.cancellation_details.and_then(|details| details.reason);
        let (status, paid_until) = match reported.status.as_str() {
            "canceled" if reason.as_deref() == Some("payment_disputed") => {
                (SubscriptionStatus::Suspended, start)
            }
            "canceled" => (SubscriptionStatus::Active, reported.ended_at.unwrap_or(end)),
            "unpaid" | "paused" => (SubscriptionStatus::Suspended, start),
            // A period begins before it is paid, so the last paid period ends where this one starts.
            "past_due" => (SubscriptionStatus::Active, self.with_grace(start)),
            "active" | "trialing" => {
                let renewed = self.with_grace(end);
                (SubscriptionStatus::Active, reported.cancel_at.map_or(renewed, |at| at.min(renewed)))
            }
            // `incomplete` or `incomplete_expired`: the first payment was not made.
            _ => return Ok(None),
        };
        let prices: Vec<_> = items.iter().map(|item| item.price.id.as_str()).collect();
        self.paid(&prices, reported.metadata, reported.customer, status, paid_until)
    }

    fn of_invoice(&self, invoice: Invoice, created: i64) -> Result<Option<Paid>, Unapplied> {
        let Some(details) = invoice.parent.and_then(|parent| parent.subscription_details) else {
            return Ok(None);
        };
        let charged = || invoice.lines.data.iter().filter(|line| line.amount >= 0);
        // If an old invoice is paid late, its period has already ended, and must not replace a later period.
        let Some(end) = charged().map(|line| line.period.end).max().filter(|end| *end > created) else {
            return Ok(None);
        };
        let latest = charged().filter(|line| line.period.end == end);
        let details_of_prices = latest.filter_map(|line| line.pricing.as_ref()?.price_details.as_ref());
        let prices: Vec<_> = details_of_prices.map(|details| details.price.as_str()).collect();
        let status = SubscriptionStatus::Active;
        self.paid(&prices, details.metadata, invoice.customer, status, self.with_grace(end))
    }

    const fn with_grace(&self, end: i64) -> i64 {
        end.saturating_add_unsigned(self.grace.as_secs())
    }

    fn paid(
        &self,
        prices: &[&str],
        metadata: Option<Metadata>,
        customer: String,
        status: SubscriptionStatus,
        paid_until: i64,
    ) -> Result<Option<Paid>, Unapplied> {
        let tier = prices.iter().filter_map(|price| self.tiers.get(*price)).max();
        let tier = *tier.ok_or_else(|| Unapplied::UnknownPrice(prices.join(", ")))?;
        let name = metadata.and_then(|metadata| metadata.account).unwrap_or(customer);
        let name = parse_unless_key(&name).map_err(|_| Unapplied::NoAccount(without_keys(&name)))?;
        let end = UnixSeconds::new(paid_until);
        if !end.has_ten_digits() {
            return Err(Unapplied::UnlikelyTime(paid_until));
        }
        let subscription = Subscription { tier, status, paid_until: end };
        Ok(Some(Paid { account: name, subscription }))
    }
}
