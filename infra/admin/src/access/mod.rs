//! Accounts and API keys. The authorizer decides by the table `Access`. API Gateway has a key of its own for each of ours,
//! under which it counts requests. Every command may be interrupted at any point: the service accepts a key only when it is
//! complete, and running the same command again does the rest.

pub(crate) mod account;
mod explain;
mod issue;
pub(crate) mod key;
mod line;
mod revoke;
mod transfer;
mod view;

use std::time::Duration;

use clap::Args;
use common::auth::{Account, AccountName, KeyRecord};
use common::config::Config;
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::TryStreamExt;
use tables::{Session, Table};

use crate::arguments::resource_name;
use crate::console;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::output::Format;
use crate::stack::Stack;

/// How often a change is retried when another process changes the same account.
const ATTEMPTS: u32 = 5;
/// How long one operation on the table may take, with all retries.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(20);

/// Options that select the table, and the format of results.
#[derive(Args)]
pub(crate) struct AccessOptions {
    /// The table; the default is the environment variable `ACCESS_TABLE`, then `Access`
    #[arg(long, value_name = "NAME", global = true, value_parser = resource_name)]
    table: Option<String>,
    /// Use the table and the API Gateway of this CloudFormation stack
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "table", value_parser = resource_name)]
    stack: Option<String>,
    /// Write one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
}

impl AccessOptions {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }

    /// The options with which another command selects the same table and stack.
    fn as_arguments(&self) -> String {
        match (&self.table, &self.stack) {
            (_, Some(stack)) => format!(" --stack {}", quoted(stack)),
            (Some(table), None) => format!(" --table {}", quoted(table)),
            (None, None) => String::new(),
        }
    }

    async fn open(&self) -> Result<Access, Error> {
        let sdk = Box::pin(tables::from_profile()).await?;
        let (table, gateway) = if let Some(name) = &self.stack {
            let stack = Stack::find(&sdk, name).await?;
            (stack.output("AccessTable")?.to_owned(), Some(Gateway::new(&stack, &sdk)?))
        } else {
            let variable = |name: &str| (name == "ACCESS_TABLE").then(|| std::env::var(name).ok()).flatten();
            let from_environment = || Config::from_lookup(variable).map(|config| config.access_table);
            (self.table.clone().map_or_else(from_environment, Ok)?, None)
        };
        Ok(Access { table: Table::of_sdk(&sdk, &table), gateway, options: self.as_arguments() })
    }
}

/// The table and the API Gateway that the commands use.
struct Access {
    table: Table,
    /// `None` without a stack.
    gateway: Option<Gateway>,
    /// The options with which another command selects the same table and stack.
    options: String,
}

impl Access {
    /// The table, with a time limit for each operation.
    const fn table(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }

    async fn account(&self, name: &AccountName) -> Result<Option<Account>, Error> {
        Ok(tables::access::account(self.table(), name).await?)
    }

    /// The keys of the account, newest first.
    async fn keys_of(&self, name: &AccountName) -> Result<Vec<KeyRecord>, Error> {
        let mut keys: Vec<_> = tables::access::keys_of(self.table(), name).try_collect().await?;
        keys.sort_by_key(|key| (std::cmp::Reverse(key.created_at), key.id()));
        Ok(keys)
    }

    fn no_account(&self, name: &AccountName) -> Error {
        let command = self.command(&format!("account set {name} --tier starter --paid-until DATE"));
        Error::NoAccount { name: name.clone(), command }
    }

    /// A command line for the same table and stack.
    fn command(&self, command: &str) -> String {
        format!("cargo admin {command}{}", self.options)
    }

    /// Warns that API Gateway stays unchanged, unless the table is in the local cloud.
    fn warn_without_gateway(&self, consequence: &str) -> Result<(), Error> {
        if self.gateway.is_none() && !tables::is_on_this_machine()? {
            console::print(format_args!("warning: without --stack, {consequence}"));
        }
        Ok(())
    }
}

fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}

/// The word, quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+/:".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
