//! The table of accounts and keys, and API Gateway, for the commands `account` and `key`. The authorizer decides by the table
//! `Access`. API Gateway has a key of its own for each of ours, under which it counts requests. Every command may be interrupted at
//! any point: the service accepts a key only when it is complete, and running the same command again does the rest.

pub(crate) mod options;
pub(crate) mod view;

use std::time::Duration;

use common::auth::{Account, AccountName, KeyRecord};
use futures_util::TryStreamExt;
use tables::{Session, Table};

use crate::console;
use crate::error::Error;
use crate::gateway::{Gateway, GatewayKey};

/// How often a change is retried when another process changes the same account.
pub(crate) const ATTEMPTS: u32 = 5;
/// How long one operation on the table may take, with all retries.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(20);

/// The table and the API Gateway that the commands use.
pub(crate) struct Access {
    table: Table,
    /// `None` without a stack.
    pub(crate) gateway: Option<Gateway>,
    /// The options with which another command selects the same table and stack.
    options: String,
}

impl Access {
    /// The table, with a time limit for each operation.
    pub(crate) const fn table(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
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
        Err(Error::Contended { name: account.name })
    }

    pub(crate) fn no_account(&self, name: &AccountName) -> Error {
        let command = self.command(&format!("account set {name} --tier starter --paid-until DATE"));
        Error::NoAccount { name: name.clone(), command }
    }

    /// A command line for the same table and stack.
    pub(crate) fn command(&self, command: &str) -> String {
        format!("cargo admin {command}{}", self.options)
    }

    /// Warns that API Gateway stays unchanged, unless the table is in the local cloud.
    pub(crate) fn warn_without_gateway(&self, consequence: &str) -> Result<(), Error> {
        if self.gateway.is_none() && !tables::is_on_this_machine()? {
            console::print(format_args!("warning: without --stack, {consequence}"));
        }
        Ok(())
    }
}

/// The word, quoted for a shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+/:".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
