//! The options of `account` and `key`.

use accounts::client::Client;
use aws::Identity;
use clap::Args;

use super::{Accounts, quoted};
use crate::arguments::resource_name;
use crate::error::Error;
use crate::output::Format;
use crate::stack::Stack;

/// The environment variable with the endpoint of Lambda.
const LAMBDA_ENDPOINT: &str = "AWS_ENDPOINT_URL_LAMBDA";
/// The logical id of the function in template.yaml. The local cloud accepts it in place of the function's
/// name.
const LOGICAL_ID: &str = "AccountsFunction";

/// Options that select the accounts, and the format of results.
#[derive(Args)]
pub(crate) struct AccessOptions {
    /// The CloudFormation stack; without it, the local cloud at `AWS_ENDPOINT_URL_LAMBDA`
    #[arg(long, value_name = "NAME", global = true, value_parser = resource_name)]
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
        self.stack.as_ref().map(|stack| format!(" --stack {}", quoted(stack))).unwrap_or_default()
    }

    pub(crate) async fn open(&self) -> Result<Accounts, Error> {
        let endpoint = std::env::var(LAMBDA_ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
        let function = match (&self.stack, endpoint) {
            (Some(name), endpoint) => {
                let sdk = Box::pin(tables::from_profile()).await?;
                let stack = Stack::find(&sdk, name).await?;
                let region = sdk.region().map(ToString::to_string).unwrap_or_default();
                let identity = sdk.credentials_provider().map(|credentials| Identity { credentials, region });
                let endpoint = endpoint.or_else(|| sdk.endpoint_url().map(str::to_owned));
                Client::new(stack.output("AccountsFunction")?, endpoint.as_deref(), identity)?
            }
            (None, Some(endpoint)) => Client::new(LOGICAL_ID, Some(&endpoint), None)?,
            (None, None) => return Err(Error::NoTarget),
        };
        Ok(Accounts { function, options: self.as_arguments() })
    }
}
