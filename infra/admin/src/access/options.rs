//! The options of `account` and `key`.

use accounts::Access;
use accounts::client::Client;
use aws::Identity;
use clap::Args;
use common::config::Config;
use tables::Table;

use super::{Accounts, Target, quoted};
use crate::arguments::resource_name;
use crate::error::Error;
use crate::output::Format;
use crate::stack::Stack;

/// The environment variable with the endpoint of Lambda.
const LAMBDA_ENDPOINT: &str = "AWS_ENDPOINT_URL_LAMBDA";
/// The logical id of the function in template.yaml. The local cloud accepts it in place of the function's name.
const LOGICAL_ID: &str = "AccountsFunction";

/// Options that select the accounts, and the format of results.
#[derive(Args)]
pub(crate) struct AccessOptions {
    /// The table; the default is the environment variable `ACCESS_TABLE`, then `Access`
    #[arg(long, value_name = "NAME", global = true, value_parser = resource_name)]
    table: Option<String>,
    /// Use the function for accounts and keys of this CloudFormation stack
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "table", value_parser = resource_name)]
    stack: Option<String>,
    /// Write one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
}

impl AccessOptions {
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }

    /// The options to append to a command line in a message, so that it selects the same accounts.
    fn as_arguments(&self) -> String {
        match (&self.table, &self.stack) {
            (_, Some(stack)) => format!(" --stack {}", quoted(stack)),
            (Some(table), None) => format!(" --table {}", quoted(table)),
            (None, None) => String::new(),
        }
    }

    pub(crate) async fn open(&self) -> Result<Accounts, Error> {
        let endpoint = std::env::var(LAMBDA_ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
        let target = match (&self.stack, &self.table, endpoint) {
            (Some(name), _, endpoint) => {
                let sdk = Box::pin(tables::from_profile()).await?;
                let stack = Stack::find(&sdk, name).await?;
                let region = sdk.region().map(ToString::to_string).unwrap_or_default();
                let identity = sdk.credentials_provider().map(|credentials| Identity { credentials, region });
                let endpoint = endpoint.or_else(|| sdk.endpoint_url().map(str::to_owned));
                let name = stack.output("AccountsFunction")?;
                Target::Function(Client::new(name, endpoint.as_deref(), identity)?)
            }
            (None, None, Some(endpoint)) => Target::Function(Client::new(LOGICAL_ID, Some(&endpoint), None)?),
            (None, table, _) => {
                let sdk = Box::pin(tables::from_profile()).await?;
                let variable =
                    |name: &str| (name == "ACCESS_TABLE").then(|| std::env::var(name).ok()).flatten();
                let from_environment = || Config::from_lookup(variable).map(|config| config.access_table);
                let name = table.clone().map_or_else(from_environment, Ok)?;
                Target::Table(Access::without_gateway(Table::of_sdk(&sdk, &name)))
            }
        };
        Ok(Accounts { target, options: self.as_arguments() })
    }
}
