//! `GET /v1/usage`: what the caller's account has used of its limits in this calendar month.
//!
//! API Gateway names the account that the authorizer found. Its row has the id of its key in API Gateway,
//! which counts the requests.

use std::sync::Arc;

use common::auth::AccountName;
use common::cache::{Cache, SourceError};
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::invocation::Invocation;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use gateway::{Gateway, PlanLimits, Usage, UsageError};
use serde::Deserialize;
use tables::{Table, access};
use tokio::time::timeout_at;

/// Room for about a thousand accounts.
const CACHE_BYTES: usize = 4 * 1024 * 1024;

/// The fields of the gateway's event that only this route reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    request_context: RequestContext,
}

#[derive(Deserialize)]
struct RequestContext {
    authorizer: Authorizer,
}

/// The context that the authorizer returned.
#[derive(Deserialize)]
struct Authorizer {
    account: String,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Table(#[from] tables::Error),
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error("API Gateway did not answer in time")]
    Timeout,
    #[error("the account {0} does not exist")]
    NoAccount(AccountName),
}

impl SourceError for Error {
    /// API Gateway accepts few requests per second from an AWS account, also for commands about accounts.
    const IS_SPARED: bool = true;

    fn is_failure(&self) -> bool {
        match self {
            Self::Table(error) => error.is_failure(),
            Self::Usage(error) => matches!(error, UsageError::Aws(_)),
            Self::Timeout => true,
            Self::NoAccount(_) => false,
        }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::internal(error)
    }
}

#[derive(Debug)]
pub struct AccountUsage {
    table: Table,
    gateway: Gateway,
    limits: PlanLimits,
    documents: Cache<AccountName, Arc<Document>>,
}

impl Handler for AccountUsage {
    const ROUTE: &'static Route = &routes::USAGE;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self {
            table: Table::access(config)?,
            gateway: Gateway::of_function(config)?,
            limits: PlanLimits::of_config(config)?,
            documents: Cache::new(Self::ROUTE.cache, CACHE_BYTES),
        })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let event: Event = serde_json::from_str(request.payload()).map_err(ApiError::internal)?;
        let account: AccountName =
            event.request_context.authorizer.account.parse().map_err(ApiError::internal)?;
        let invocation = request.invocation();
        let fetch = async || self.fetch(&account, invocation).await;
        Ok(self.documents.get(account.clone(), invocation, fetch).await?.into())
    }
}

impl AccountUsage {
    async fn fetch(&self, name: &AccountName, invocation: &Invocation) -> Result<Arc<Document>, Error> {
        let record = access::account(self.table.during(invocation), name).await?;
        let account = record.ok_or_else(|| Error::NoAccount(name.clone()))?.account;
        let asked = self.limits.usage(&self.gateway, &account, invocation.now().into());
        let answered = invocation.waiting_for(timeout_at(invocation.upstream_deadline(), asked)).await;
        let usage = answered.map_err(|_| Error::Timeout)??;
        Ok(Document::of(&usage).map(Arc::new).map_err(tables::Error::unwritable)?)
    }
}

impl Describe for AccountUsage {
    fn description() -> Description {
        Description::of::<Usage>(Self::ROUTE, include_str!("../example.json"))
    }
}
