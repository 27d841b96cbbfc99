//! The table `Access`, from which the authorizer decides, and API Gateway, which counts requests. API Gateway has a separate key for each
//! key of this service. A command may be interrupted at any point: the service accepts a new key only once the command has made all of its
//! changes, and a repeated command makes the missing changes.

use std::time::Duration;

use common::auth::{Account, AccountName, KeyRecord};
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::TryStreamExt;
use gateway::{Gateway, GatewayKey};
use tables::{Session, Table};

use crate::error::Error;

/// The maximum number of attempts when another process makes a conflicting change.
pub(crate) const ATTEMPTS: u32 = 5;
/// The time limit of one operation on the table, including all retries.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(20);

/// The table and the API Gateway that the commands use.
#[derive(Debug)]
pub struct Access {
    table: Table,
    /// `None` if there are no usage plans.
    pub(crate) gateway: Option<Gateway>,
}

impl Access {
    pub(crate) const fn new(table: Table, gateway: Option<Gateway>) -> Self {
        Self { table, gateway }
    }

    /// Returns an `Access` whose commands change only the table.
    #[must_use]
    pub const fn without_gateway(table: Table) -> Self {
        Self::new(table, None)
    }

    /// The table, with a time limit for each operation.
    pub(crate) const fn table(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }

    pub(crate) async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    /// Returns the account, or an error if it does not exist.
    pub(crate) async fn existing(&self, name: &AccountName) -> Result<Account, Error> {
        self.account(name).await?.ok_or_else(|| Error::NoAccount(name.clone()))
    }

    pub(crate) async fn account(&self, name: &AccountName) -> Result<Option<Account>, Error> {
        Ok(tables::access::account(self.table(), name).await?)
    }

    /// Returns the keys of the account in every state, newest first.
    pub(crate) async fn keys_of(&self, name: &AccountName) -> Result<Vec<KeyRecord>, Error> {
        let mut keys: Vec<_> = tables::access::keys_of(self.table(), name).try_collect().await?;
        keys.sort_by_key(|key| (std::cmp::Reverse(key.created_at), key.id()));
        Ok(keys)
    }

    /// Moves the API Gateway key to the usage plan of the account's tier, and moves it again if another process changes the tier meanwhile.
    /// Returns false if the key was already in the right plan.
    pub(crate) async fn move_to_plan(
        &self,
        gateway: &Gateway,
        mut account: Account,
        gateway_key: &GatewayKey,
    ) -> Result<bool, Error> {
        let mut is_moved = false;
        for _ in 0..ATTEMPTS {
            let tier = account.subscription.tier;
            is_moved |= gateway.move_to(tier, gateway_key).await?;
            match self.account(&account.name).await? {
                Some(current) if current.subscription.tier != tier => account = current,
                _ => return Ok(is_moved),
            }
        }
        Err(Error::Contended(account.name))
    }
}

pub(crate) fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}
