//! Changes accounts when Stripe reports subscriptions and payments. EventBridge puts Stripe's events into a
//! queue, which invokes this function with one event at a time, and again later if the invocation fails.
//! Invoked directly, the function accepts the event of EventBridge.

mod event;
mod offer;

use std::fmt;
use std::time::Duration;

use aws::AwsError;
use common::auth::{Account, AccountName, Subscription, Tier, without_keys};
use common::config::{Config, ConfigError};
use common::error::{INTERNAL_MESSAGE, chain};
use common::lambda::{
    Diagnostic, Interrupted, LambdaEvent, LogName, StartError, block_on, deadline, failed_invocation, guard,
    serve, set_up,
};
use common::time::now;
use gateway::Gateway;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tables::access::{AccountRecord, Change, OwnerChange};
use tables::{Table, access};

use crate::event::{Event, Message};
use crate::offer::{Offer, Report, Unapplied};

const NAME: &str = "payments";

/// The most attempts if other processes change the same account.
const ATTEMPTS: u32 = 10;
/// The time limit of one operation on the table, including all retries.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Why an event is not applied.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// The event need not be delivered again.
    #[error(transparent)]
    Unapplied(#[from] Unapplied),
    #[error(transparent)]
    Table(#[from] tables::Error),
    #[error(transparent)]
    Gateway(#[from] AwsError),
    #[error("the tier {0} is not offered; the parameter FreePlan is off")]
    NotOffered(Tier),
    #[error(
        "the keys in API Gateway of the account {0} are being deleted; `cargo admin account prune` completes that"
    )]
    BeingPruned(AccountName),
    #[error("other processes keep changing the account {0}")]
    Contended(AccountName),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// What has become of an event.
#[derive(Serialize)]
struct Reply {
    outcome: Outcome,
    account: Option<AccountName>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Applied,
    /// Everything that the event reports was known.
    Unchanged,
    Ignored,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

const IGNORED: Reply = Reply { outcome: Outcome::Ignored, account: None };

/// Runs the function until Lambda ends the process.
///
/// # Errors
/// If the function cannot start, or cannot reach the Runtime API. The log has the cause of a failed start.
pub fn run() -> Result<(), common::lambda::Error> {
    let instance = set_up(LogName::Function(NAME), Payments::new)?;
    block_on(async {
        instance.table.warm_up().await;
        serve(|event| instance.invoke(event)).await
    })
}

struct Payments {
    table: Table,
    gateway: Gateway,
    offer: Offer,
    accepts_test_events: bool,
}

impl Payments {
    fn new(config: &Config) -> Result<Self, StartError> {
        let (variable, form) = ("PRICE_TIERS", "a list such as price_1=starter,price_2=pro,price_3=none");
        let grace = config.value("GRACE_DAYS", "a whole number of days", |text| {
            text.parse::<u16>().ok().map(|days| Duration::from_hours(24 * u64::from(days)))
        })?;
        let offer = config.value(variable, form, |tiers| Offer::new(tiers, grace.unwrap_or_default()))?;
        Ok(Self {
            table: Table::access(config)?,
            gateway: Gateway::of_function(config)?,
            offer: offer.ok_or(ConfigError::new(variable, form))?,
            accepts_test_events: config.is_on("STRIPE_TEST_MODE")?,
        })
    }

    /// Handles a message of the queue or an event of EventBridge.
    async fn invoke(&self, event: LambdaEvent<Box<RawValue>>) -> Result<Reply, Diagnostic> {
        let request_id = &event.context.request_id;
        let handled = guard(deadline(&event.context), self.handle(event.payload.get())).await;
        handled.unwrap_or_else(|interrupted| Err(interrupted.into())).map_err(|error| {
            tracing::error!(function = NAME, request_id, cause = chain(&error), "payment failed");
            failed_invocation(INTERNAL_MESSAGE)
        })
    }

    async fn handle(&self, payload: &str) -> Result<Reply, Error> {
        let Some(message) = read::<Message<'_>>(payload) else { return Ok(IGNORED) };
        let Some(records) = message.records else { return self.receive(&message).await };
        let mut reply = IGNORED;
        for record in &records {
            if let Some(message) = read(&record.body) {
                reply = self.receive(&message).await?;
            }
        }
        Ok(reply)
    }

    async fn receive(&self, message: &Message<'_>) -> Result<Reply, Error> {
        let Some(event) = read::<Event<'_>>(message.detail.map(RawValue::get).unwrap_or_default()) else {
            return Ok(IGNORED);
        };
        let (id, kind) = (without_keys(&event.id), without_keys(&event.kind));
        if !event::KINDS.contains(&event.kind.as_str()) && event.data.is_some() {
            tracing::warn!(function = NAME, event = id, kind, "unknown event of payments");
            return Ok(IGNORED);
        }
        if !event.livemode && !self.accepts_test_events {
            tracing::info!(function = NAME, event = id, kind, "test event ignored");
            return Ok(IGNORED);
        }
        match self.apply(&event).await {
            Err(Error::Unapplied(unapplied)) => {
                warn_unapplied(&event, &unapplied);
                Ok(IGNORED)
            }
            applied => applied,
        }
    }

    async fn apply(&self, event: &Event<'_>) -> Result<Reply, Error> {
        let Some(report) = self.offer.report(event)? else { return Ok(IGNORED) };
        let reply = self.store(&report).await?;
        if let Some(unknown) = &report.unknown {
            warn_unapplied(event, unknown);
        }
        let account = reply.account.as_ref().map(AccountName::as_str);
        let (subscription, outcome) = (report.id.as_str(), reply.outcome.to_string());
        tracing::info!(
            function = NAME,
            event = without_keys(&event.id),
            kind = event.kind,
            account,
            subscription,
            outcome,
            "payment"
        );
        Ok(reply)
    }

    /// Merges the report into the stored subscription. The subscription moves to the account that its newest
    /// event names.
    async fn store(&self, report: &Report) -> Result<Reply, Error> {
        let table = self.table.with_timeout(OPERATION_TIMEOUT);
        for _ in 0..ATTEMPTS {
            let owner = access::owner(table, &report.id).await?;
            let owning = match &owner {
                Some(owner) => access::account(table, owner).await?,
                None => None,
            };
            let stored = owning.as_ref().and_then(|owning| owning.account.subscriptions.get(&report.id));
            if stored.is_none() && !report.is_sold {
                return Ok(IGNORED);
            }
            let name = report.name(stored.zip(owner.as_ref()));
            let mut merged = stored.cloned().unwrap_or_default();
            merged.merge(report.subscription.clone());
            let stays = owner.as_ref() == Some(name);
            if stays && stored == Some(&merged) {
                return Ok(Reply { outcome: Outcome::Unchanged, account: Some(name.clone()) });
            }
            // Tiers that it paid for earlier need not be offered any more.
            self.check_offered(&report.subscription)?;
            let left = match &owning {
                Some(before) if !stays && stored.is_some() => {
                    let mut after = before.clone();
                    after.account.subscriptions.remove(&report.id);
                    Some((before.clone(), after))
                }
                _ => None,
            };
            let before = if stays { owning.clone() } else { access::account(table, name).await? };
            let mut account = before.clone().unwrap_or_else(|| AccountRecord::new(name.clone()));
            account.account.store(report.id.clone(), merged, now()).map_err(Unapplied::from)?;
            self.complete(&mut account.account).await?;
            let subscriptions = vec![OwnerChange { id: report.id.clone(), before: owner.clone() }];
            let change = Change { subscriptions, left, ..Change::of(account) };
            if access::apply(table, before.as_ref(), &change).await? {
                return Ok(Reply { outcome: Outcome::Applied, account: Some(name.clone()) });
            }
        }
        Err(Error::Contended(report.account.clone()))
    }

    /// Creates the keys in API Gateway that the account lacks. This function may not delete keys.
    async fn complete(&self, account: &mut Account) -> Result<(), Error> {
        for tier in account.tiers() {
            if account.gateway_keys.get(&tier).is_some_and(|key| key.is_being_deleted) {
                return Err(Error::BeingPruned(account.name.clone()));
            }
            if !self.gateway.has_key(account, tier) {
                self.gateway.complete(account, tier, now()).await?;
            }
        }
        Ok(())
    }

    /// Checks that the operator offers the tiers that the subscription pays for.
    fn check_offered(&self, subscription: &Subscription) -> Result<(), Error> {
        let tiers = subscription.entitlements().into_iter().map(|entitlement| entitlement.tier);
        let missing = tiers.filter(|tier| self.gateway.plan(*tier).is_none()).max();
        match missing {
            Some(tier) if subscription.ended_at().is_none() => Err(Error::NotOffered(tier)),
            _ => Ok(()),
        }
    }
}

/// Reports an event that a person must look at.
fn warn_unapplied(event: &Event<'_>, unapplied: &Unapplied) {
    let (id, kind, cause) = (&event.id, &event.kind, unapplied.to_string());
    let [id, kind, cause] = [id, kind, &cause].map(|text| without_keys(text));
    tracing::warn!(function = NAME, event = id, kind, cause, "payment not applied");
}

/// Parses a part of a message. A part that cannot be parsed is reported, and need not be delivered again.
fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text)
        .inspect_err(|error| {
            let cause = without_keys(&error.to_string());
            tracing::warn!(function = NAME, cause, "payment not applied");
        })
        .ok()
}
