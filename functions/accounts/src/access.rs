//! The table `Access`, from which the authorizer decides, and API Gateway, which counts requests. A command
//! changes an account and its keys in one transaction ([`tables::access::apply`]). The changes that it
//! needs in API Gateway come first, so an interrupted command can be repeated.

use std::time::Duration;

use common::auth::{AccountName, KeyId, KeyRecord};
use common::config::Config;
use common::lambda::StartError;
use gateway::{Gateway, PlanLimits};
use tables::access::{AccountRecord, Change};
use tables::{Session, Table};

use crate::error::Error;

/// The most attempts if other processes change the same account. An account issues 100 keys a day, so few can
/// be waiting.
const ATTEMPTS: u32 = 50;
/// The pause before the next attempt.
const PAUSE: Duration = Duration::from_millis(20);
/// The time limit of one operation on the table, including all retries.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(20);

/// The table and the API Gateway that the commands use.
#[derive(Debug)]
pub(crate) struct Access {
    table: Table,
    pub(crate) gateway: Gateway,
    pub(crate) limits: PlanLimits,
}

/// A command that changes an account.
pub(crate) trait Plan {
    type Result;

    /// Returns the change of the account as it was read, which is `None` if it does not exist. Called again
    /// if another process changes the account meanwhile.
    ///
    /// # Errors
    /// If the command is refused, or a step that must come before the change fails.
    fn plan(
        &self,
        access: &Access,
        before: Option<&AccountRecord>,
    ) -> impl Future<Output = Result<Planned<Self::Result>, Error>> + Send;
}

/// A change that a command makes, and its result.
pub(crate) struct Planned<T> {
    /// `None` if there is nothing to change.
    pub(crate) change: Option<Change>,
    pub(crate) result: T,
}

impl<T> Planned<T> {
    /// The change from `before` to `account`, without a change of keys.
    pub(crate) fn of_account(before: Option<&AccountRecord>, account: AccountRecord, result: T) -> Self {
        let change = Change::of(account);
        Self { change: Some(change).filter(|change| before != Some(&change.account)), result }
    }
}

impl Access {
    pub(crate) fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self {
            table: Table::access(config)?,
            gateway: Gateway::of_function(config)?,
            limits: PlanLimits::of_config(config)?,
        })
    }

    /// The table, with a time limit for each operation.
    pub(crate) const fn table(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }

    pub(crate) async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    /// Returns the account, or an error if it does not exist.
    pub(crate) async fn existing(&self, name: &AccountName) -> Result<AccountRecord, Error> {
        self.account(name).await?.ok_or_else(|| Error::NoAccount(name.clone()))
    }

    pub(crate) async fn account(&self, name: &AccountName) -> Result<Option<AccountRecord>, Error> {
        Ok(tables::access::account(self.table(), name).await?)
    }

    /// Returns the key, or an error if it does not exist or belongs to another account than `owner`.
    pub(crate) async fn key(&self, id: &KeyId, owner: Option<&AccountName>) -> Result<KeyRecord, Error> {
        let key = tables::access::key(self.table(), id).await?;
        let is_owned = |key: &KeyRecord| owner.is_none_or(|owner| key.account == *owner);
        key.filter(is_owned).ok_or_else(|| Error::NoKey(id.clone()))
    }

    /// Reads the account, makes the change that the command plans, and returns the command's result.
    pub(crate) async fn change<P: Plan>(&self, name: &AccountName, command: &P) -> Result<P::Result, Error> {
        for _ in 0..ATTEMPTS {
            let before = self.account(name).await?;
            let Planned { change, result } = match command.plan(self, before.as_ref()).await {
                Ok(planned) => planned,
                // The reason may be a change that came after the account was read.
                Err(error) if self.account(name).await? == before => return Err(error),
                Err(_) => continue,
            };
            let is_done = match change {
                None => true,
                Some(change) => tables::access::apply(self.table(), before.as_ref(), &change).await?,
            };
            if is_done {
                return Ok(result);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(Error::Contended(name.clone()))
    }
}
