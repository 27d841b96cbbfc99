//! The table of accounts and keys, and API Gateway. The authorizer decides by the table `Access`. For each of our keys, API Gateway
//! has a separate one, under which it counts requests. Every command may be interrupted at any point: the service accepts a key only
//! when it is complete, and repeating the command does the rest.

use std::time::Duration;

use common::auth::{Account, AccountName, KeyRecord};
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::TryStreamExt;
use tables::{Session, Table};

use crate::error::Error;
use crate::gateway::{Gateway, GatewayKey};

/// How often a change is retried when another process changes the same account.
pub(crate) const ATTEMPTS: u32 = 5;
/// How long one operation on the table may take, with all retries.
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

    /// A table without an API Gateway.
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

    /// The account.
    pub(crate) async fn existing(&self, name: &AccountName) -> Result<Account, Error> {
        self.account(name).await?.ok_or_else(|| Error::NoAccount(name.clone()))
    }

    pub(crate) async fn account(&self, name: &AccountName) -> Result<Option<Account>, Error> {
        Ok(tables::access::account(self.table(), name).await?)
    }

    /// The keys of the account, newest first.
    pub(crate) async fn keys_of(&self, name: &AccountName) -> Result<Vec<KeyRecord>, Error> {
        let mut keys: Vec<_> = tables::access::keys_of(self.table(), name).try_collect().await?;
        keys.sort_by_key(|key| (std::cmp::Reverse(key.created_at), key.id()));
        Ok(keys)
    }

    /// Moves the API Gateway key to the plan of the account's tier, which another process may be changing. Returns whether it was elsewhere.
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

/// The time at which a command runs.
pub(crate) fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}
