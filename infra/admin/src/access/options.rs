//! The options of `account` and `key`.

use clap::Args;
use common::config::Config;
use tables::Table;

use super::{Access, quoted};
use crate::arguments::resource_name;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::output::Format;
use crate::stack::Stack;

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
    pub(crate) fn format(&self) -> Format {
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

    pub(crate) async fn open(&self) -> Result<Access, Error> {
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
