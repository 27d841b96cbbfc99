//! The `CloudFormation` stack of a deployment. Its outputs name its tables and functions.

use std::collections::BTreeMap;

use accounts::aws::{configure, send};
use aws_sdk_cloudformation::Client;
use aws_sdk_cloudformation::config::Builder;
use tables::SdkConfig;

use crate::error::Error;

const SERVICE: &str = "CloudFormation";
/// The environment variable with the endpoint of `CloudFormation`.
const ENDPOINT: &str = "AWS_ENDPOINT_URL_CLOUDFORMATION";

#[derive(Debug)]
pub(crate) struct Stack {
    name: String,
    outputs: BTreeMap<String, String>,
}

impl Stack {
    /// The stack with this name.
    ///
    /// # Errors
    /// If there is no such stack, or the request fails.
    pub(crate) async fn find(sdk: &SdkConfig, name: &str) -> Result<Self, Error> {
        let sdk = configure(sdk);
        let mut builder = Builder::from(&sdk);
        if tables::is_empty_variable(ENDPOINT) {
            builder.set_endpoint_url(sdk.endpoint_url().map(str::to_owned));
        }
        let request = Client::from_conf(builder.build()).describe_stacks().stack_name(name);
        let absent = || {
            let region = sdk.region().map(ToString::to_string).unwrap_or_default();
            Error::NoStack { name: name.to_owned(), region }
        };
        let description = match send(SERVICE, "DescribeStacks", request.send()).await {
            Ok(description) => description,
            Err(error) if error.is("ValidationError") && error.cause.ends_with("does not exist") => {
                return Err(absent());
            }
            Err(error) => return Err(error.into()),
        };
        let stack = description.stacks().first().ok_or_else(absent)?;
        let outputs = stack
            .outputs()
            .iter()
            .filter_map(|output| Some((output.output_key()?.to_owned(), output.output_value()?.to_owned())));
        Ok(Self { name: name.to_owned(), outputs: outputs.collect() })
    }

    /// The value of the output with this name.
    ///
    /// # Errors
    /// If the stack has no such output.
    pub(crate) fn output(&self, output: &'static str) -> Result<&str, Error> {
        let value = self.outputs.get(output).map(String::as_str);
        value.ok_or_else(|| Error::NoOutput { stack: self.name.clone(), output })
    }
}
