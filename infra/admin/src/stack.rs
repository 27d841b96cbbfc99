//! The `CloudFormation` stack of a deployment. Its outputs name its tables and functions.

use std::collections::BTreeMap;
use std::time::Duration;

use aws::{AwsError, Client, Identity, Request, Service};
use reqwest::Method;
use serde::Deserialize;
use tables::SdkConfig;

use crate::error::Error;

static CLOUD_FORMATION: Service = Service {
    title: "CloudFormation",
    name: "cloudformation",
    accepts: "text/xml",
    attempt_timeout: Duration::from_secs(10),
    attempts: 6,
    temporary: &[],
};

/// The environment variable with the endpoint of `CloudFormation`.
const ENDPOINT: &str = "AWS_ENDPOINT_URL_CLOUDFORMATION";

#[derive(Debug)]
pub(crate) struct Stack {
    name: String,
    outputs: BTreeMap<String, String>,
}

/// The response of `DescribeStacks`. Each list is an element with elements named `member`.
#[derive(Deserialize)]
struct Described {
    #[serde(rename = "DescribeStacksResult")]
    result: DescribedStacks,
}

#[derive(Deserialize)]
struct DescribedStacks {
    #[serde(rename = "Stacks", default)]
    stacks: Members<DescribedStack>,
}

#[derive(Deserialize)]
struct Members<T> {
    #[serde(default = "Vec::new")]
    member: Vec<T>,
}

#[derive(Deserialize)]
struct DescribedStack {
    #[serde(rename = "Outputs", default)]
    outputs: Members<Output>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "OutputKey")]
    key: String,
    #[serde(rename = "OutputValue", default)]
    value: String,
}

#[derive(Deserialize)]
struct Failed {
    #[serde(rename = "Error")]
    error: Failure,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "Code")]
    code: String,
    #[serde(rename = "Message", default)]
    message: String,
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self { member: Vec::new() }
    }
}

impl Stack {
    /// The stack with this name.
    ///
    /// # Errors
    /// If there is no such stack, or the request fails.
    pub(crate) async fn find(sdk: &SdkConfig, name: &str) -> Result<Self, Error> {
        let region = sdk.region().map(ToString::to_string).unwrap_or_default();
        let absent = || Error::NoStack { name: name.to_owned(), region: region.clone() };
        let credentials = sdk.credentials_provider();
        let identity = credentials.map(|credentials| Identity { credentials, region: region.clone() });
        let endpoint = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
        let endpoint = endpoint.as_deref().or(sdk.endpoint_url());
        let stacks = match describe(&Client::new(&CLOUD_FORMATION, endpoint, identity)?, name).await {
            Ok(stacks) => stacks,
            Err(error) if error.is("ValidationError") && error.cause.ends_with("does not exist") => {
                return Err(absent());
            }
            Err(error) => return Err(error.into()),
        };
        let outputs = stacks.into_iter().next().ok_or_else(absent)?.outputs.member;
        let outputs = outputs.into_iter().map(|output| (output.key, output.value)).collect();
        Ok(Self { name: name.to_owned(), outputs })
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

async fn describe(client: &Client, name: &str) -> Result<Vec<DescribedStack>, AwsError> {
    let request = Request {
        operation: "DescribeStacks",
        method: Method::GET,
        path: &[],
        query: &[("Action", "DescribeStacks"), ("Version", "2010-05-15"), ("StackName", name)],
        json: None,
    };
    let response = client.send(&request).await?;
    let text = String::from_utf8_lossy(&response.body);
    if !response.status.is_success() {
        return Err(match quick_xml::de::from_str::<Failed>(&text) {
            Ok(Failed { error: Failure { code, message } }) => response.error(code, &message),
            Err(_) => response.error(response.status.to_string(), &text),
        });
    }
    let described = quick_xml::de::from_str::<Described>(&text);
    described
        .map(|described| described.result.stacks.member)
        .map_err(|error| response.invalid(format!("unexpected response: {error}")))
}
