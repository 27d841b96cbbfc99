//! The client for DynamoDB, with timeouts and retries set on purpose: by default a dead endpoint would hold a caller for
//! seconds, and a request without an answer for ever.

use std::time::Duration;

use aws_config::environment::{EnvironmentVariableCredentialsProvider, EnvironmentVariableRegionProvider};
use aws_config::meta::credentials::CredentialsProviderChain;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::provider_config::ProviderConfig;
use aws_config::{BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{
    Builder, Credentials, ProvideCredentials, SharedHttpClient, StalledStreamProtectionConfig,
};
use common::config::{Config, ConfigError};
use common::error::chain;
use common::http::{self, ClientError};
use reqwest::Url;

use crate::connector;

/// The variable with the endpoint, and the one with that of every service that has none of its own.
const ENDPOINT: &str = "AWS_ENDPOINT_URL_DYNAMODB";
const ENDPOINT_OF_ALL: &str = "AWS_ENDPOINT_URL";

/// How long one attempt may take. DynamoDB answers in milliseconds; after two seconds another attempt is the better bet.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a request is made at the most, the first time included. Throttled requests are made again, too.
const ATTEMPTS: u32 = 5;
/// The pauses between them, which double, with a random part.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The client of a function: everything comes from its environment, so that start-up asks nobody.
pub(crate) fn of_function(config: &Config, http: reqwest::Client) -> Client {
    let mut builder = with_patience(aws_sdk_dynamodb::Config::builder())
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(config.aws_region.clone()))
        .credentials_provider(EnvironmentVariableCredentialsProvider::new())
        .http_client(connector::over(http));
    builder.set_endpoint_url(config.dynamodb_endpoint.as_ref().map(ToString::to_string));
    Client::from_conf(builder.build())
}

/// The client of a tool.
pub(crate) fn of_sdk(sdk: &SdkConfig) -> Client {
    let mut builder = Builder::from(sdk);
    if is_empty_variable(ENDPOINT) {
        builder.set_endpoint_url(sdk.endpoint_url().map(str::to_owned));
    }
    Client::from_conf(with_patience(builder).build())
}

/// Whether the variable is there with nothing in it. That counts as unset (`Config`). The SDK takes it for the address of
/// an endpoint, and panics at the first request.
#[must_use]
pub fn is_empty_variable(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value.is_empty())
}

/// Why a tool cannot ask any table.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// An environment variable cannot be used.
    #[error(transparent)]
    Environment(#[from] ConfigError),
    /// The TLS stack cannot be set up.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Nothing says where the tables are.
    #[error("no AWS region is known: set AWS_REGION, or choose a profile that has one with AWS_PROFILE")]
    NoRegion,
    /// Nothing says who asks.
    #[error("no AWS credentials can be used ({0}): sign in, or choose another profile with AWS_PROFILE")]
    NoCredentials(String),
}

/// Region, credentials and endpoints as the AWS CLI would find them for this user: environment, profile, and so on. An
/// endpoint on this machine needs neither a region nor credentials.
///
/// # Errors
/// If `AWS_ENDPOINT_URL_DYNAMODB` is no address, the TLS stack cannot be set up, or region or credentials are missing.
pub async fn from_profile() -> Result<SdkConfig, ProfileError> {
    let http = http::client(|client| client)?;
    let http = connector::over(http);
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http.clone());
    if is_on_this_machine()? {
        loader = with_placeholders(loader, http);
    }
    let mut sdk = loader.load().await;
    if sdk.endpoint_url() == Some("") {
        let mut builder = sdk.into_builder();
        builder.set_endpoint_url(None);
        sdk = builder.build();
    }
    if sdk.region().is_none() {
        return Err(ProfileError::NoRegion);
    }
    if let Some(credentials) = sdk.credentials_provider() {
        let found = credentials.provide_credentials().await;
        found.map_err(|error| ProfileError::NoCredentials(without_attempts(&chain(&error))))?;
    }
    Ok(sdk)
}

/// Whether the environment says that DynamoDB is played on this machine.
///
/// # Errors
/// If `AWS_ENDPOINT_URL_DYNAMODB` is no address.
pub fn is_on_this_machine() -> Result<bool, ConfigError> {
    let variable = |name: &str| std::env::var(name).ok();
    let endpoint = |name: &str| (name == ENDPOINT).then(|| variable(name)).flatten();
    let endpoint = Config::from_lookup(endpoint)?.dynamodb_endpoint;
    let of_all = || variable(ENDPOINT_OF_ALL).and_then(|endpoint| Url::parse(&endpoint).ok());
    Ok(endpoint.or_else(of_all).is_some_and(|endpoint| is_local(&endpoint)))
}

/// The cause in one line, without the list of all places where credentials might have been.
fn without_attempts(cause: &str) -> String {
    let cause = cause.split_once(". Attempted:").map_or(cause, |(cause, _)| cause);
    cause.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_local(endpoint: &Url) -> bool {
    matches!(endpoint.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// With a region and credentials even where there are none: what plays DynamoDB on a laptop does not check them, but the
/// SDK would not send a request without. It would look for them on the network, too, for seconds.
fn with_placeholders(loader: ConfigLoader, http: SharedHttpClient) -> ConfigLoader {
    let region = RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new())
        .or_else(ProfileFileRegionProvider::new())
        .or_else(Region::from_static("us-east-1"));
    let environment = EnvironmentVariableCredentialsProvider::new();
    let profile = ProviderConfig::without_region().with_http_client(http);
    let profile = ProfileFileCredentialsProvider::builder().configure(&profile).build();
    let credentials = CredentialsProviderChain::first_try("Environment", environment)
        .or_else("Profile", profile)
        .or_else("Local", Credentials::new("local", "local", None, None, "Local"));
    loader.region(region).credentials_provider(credentials)
}

fn with_patience(builder: Builder) -> Builder {
    builder
        .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT_TIMEOUT).build())
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(ATTEMPTS)
                .with_initial_backoff(FIRST_PAUSE)
                .with_max_backoff(LONGEST_PAUSE),
        )
        // The timeout above does the same.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}
