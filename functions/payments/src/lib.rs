//! `POST /webhooks/stripe`: receives Stripe's events about subscriptions and payments, and changes the accounts.

mod change;
mod event;
mod signature;

use std::collections::HashMap;

use accounts::client::Client;
use accounts::command::Command;
use accounts::response::Reply;
use common::auth::{Account, AccountName, Label};
use common::config::{Config, ConfigError};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use serde::Deserialize;
use tables::access::{AccountRecord, Change};
use tables::{Table, access};

use crate::change::{Offer, Paid, Unapplied};
use crate::event::Event;
use crate::signature::Secret;

/// A longer body is refused. Stripe's events have a few kilobytes.
const LARGEST_BODY_BYTES: usize = 256 * 1_024;

const SIGNATURE: &str = "Stripe-Signature";

/// The most attempts if other processes change the same account.
const ATTEMPTS: u32 = 10;

#[derive(Debug, thiserror::Error)]
#[error("other processes keep changing the account")]
struct Contended;

#[derive(Debug)]
pub struct Payments {
    table: Table,
    accounts: Client,
    secret: Secret,
    offer: Offer,
}

/// The fields of the gateway's event that only this route reads.
#[derive(Deserialize)]
struct Message {
    headers: Option<HashMap<String, String>>,
    body: Option<String>,
}

impl Handler for Payments {
    const ROUTE: &'static Route = &routes::STRIPE_WEBHOOK;

    fn new(config: &Config) -> Result<Self, StartError> {
        let secret = config.stripe_webhook_secret.as_ref().and_then(|secret| Secret::new(secret.as_bytes()));
        let offer = Offer::new(&config.price_tiers, config.grace);
        Ok(Self {
            table: Table::access(config)?,
            accounts: Client::of_config(config)?,
            secret: secret.ok_or(ConfigError::new("STRIPE_WEBHOOK_SECRET", "the secret of the webhook"))?,
            offer: offer
                .ok_or(ConfigError::new("PRICE_TIERS", "a list such as price_1=starter,price_2=pro"))?,
        })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let body = self.signed_body(request)?;
        let outcome = self.apply(&body, request).await?;
        // Stripe shows the response beside the event.
        Ok(Response::uncached(Document::of(&outcome).map_err(ApiError::internal)?))
    }
}

impl Payments {
    /// Returns the body of the request.
    ///
    /// # Errors
    /// `BAD_REQUEST` if the body is too long or its signature is refused.
    fn signed_body(&self, request: &Request) -> Result<String, ApiError> {
        let message: Message = serde_json::from_str(request.payload()).map_err(ApiError::internal)?;
        let body = message.body.unwrap_or_default();
        if body.len() > LARGEST_BODY_BYTES {
            return Err(ApiError::bad_request(format!(
                "The body must have at most {LARGEST_BODY_BYTES} bytes, but has {}.",
                body.len()
            )));
        }
        let mut headers = message.headers.iter().flatten();
        let header = headers.find(|(name, _)| name.eq_ignore_ascii_case(SIGNATURE));
        let signature = header.map(|(_, value)| value.as_str()).unwrap_or_default();
        let checked = self.secret.check(signature, &body, request.invocation().now());
        checked.map_err(|refusal| ApiError::bad_request(refusal.to_string()))?;
        Ok(body)
    }

    /// Changes the account that the event is about, and returns the outcome: `applied`, `outdated` if the account has changed since the
    /// event, or `ignored`.
    async fn apply(&self, body: &str, request: &Request) -> Result<&'static str, ApiError> {
        let event: Event<'_> = serde_json::from_str(body).map_err(ApiError::internal)?;
        let Event { id, kind, created, .. } = &event;
        match self.offer.account(&event) {
            Ok(None) => Ok("ignored"),
            Ok(Some(paid)) => {
                // The end of a subscription counts as one second later, so that no other event of the same second replaces it.
                let at = created.saturating_add((kind == event::ENDED).into());
                let is_applied = self.store(&paid, UnixSeconds::new(at), request).await?;
                let outcome = if is_applied { "applied" } else { "outdated" };
                let state = paid.subscription.to_string();
                tracing::info!(event = id, kind, account = paid.account.as_str(), state, outcome, "payment");
                if is_applied {
                    self.complete(paid.account, id).await?;
                }
                Ok(outcome)
            }
            Err(Unapplied::UnknownEvent) => {
                tracing::warn!(event = id, kind, "unknown event of payments");
                Ok("ignored")
            }
            Err(unapplied) => {
                tracing::warn!(event = id, kind, cause = unapplied.to_string(), "payment not applied");
                Ok("ignored")
            }
        }
    }

    /// Stores the paid state, unless the account was changed after the time `at`. Returns whether it was stored. Payments can therefore be
    /// reported repeatedly and in any order.
    async fn store(&self, paid: &Paid, at: UnixSeconds, request: &Request) -> Result<bool, ApiError> {
        let table = self.table.during(request.invocation());
        let Paid { account: name, subscription } = paid;
        for _ in 0..ATTEMPTS {
            let before = access::account(table, name).await.map_err(ApiError::internal)?;
            if before.as_ref().is_some_and(|before| before.changed_at > at) {
                return Ok(false);
            }
            let new = || {
                let account =
                    Account { name: name.clone(), subscription: *subscription, gateway_keys: [].into() };
                AccountRecord::new(account, at)
            };
            let mut account = before.clone().unwrap_or_else(new);
            (account.account.subscription, account.changed_at) = (*subscription, at);
            let change = Change { account, keys: Vec::new(), request: None };
            if access::apply(table, before.as_ref(), &change).await.map_err(ApiError::internal)? {
                return Ok(true);
            }
        }
        Err(ApiError::internal(Contended))
    }

    /// Lets the function for accounts create the account's key in API Gateway. Until then, the authorizer uses the key of an earlier tier.
    ///
    /// # Errors
    /// If the key may be missing. Stripe then repeats the event.
    async fn complete(&self, account: AccountName, event: &str) -> Result<(), ApiError> {
        let command = Command::SetAccount { account, tier: None, status: None, paid_until: None };
        let request = if event.parse::<Label>().is_ok() { event } else { "payment" };
        match self.accounts.invoke(&command, request).await {
            Ok(Reply::Done(_)) => Ok(()),
            Ok(Reply::Failed { error }) => Err(ApiError::internal(error.message)),
            Err(error) => Err(ApiError::internal(error)),
        }
    }
}
