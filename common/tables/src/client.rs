//! The client for DynamoDB, with explicit timeouts and retries. By default, an unreachable endpoint would
//! block a request for seconds, and an unresponsive one would block it without limit.

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
use common::upstream::http::{self, ClientError};
use reqwest::Url;

use crate::connector;

/// The environment variable with the endpoint of DynamoDB.
pub(crate) const ENDPOINT: &str = "AWS_ENDPOINT_URL_DYNAMODB";
/// The environment variable with the endpoint of every AWS service without a separate variable.
const GENERAL_ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// The timeout of one attempt. DynamoDB responds within milliseconds, so after two seconds a retry is faster
/// than waiting.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of attempts, including the first one. Throttled requests are also retried.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt. Each further pause is twice as long, up to `LONGEST_PAUSE`. Pauses
/// are partly random.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The client of a function. Its whole configuration comes from the environment, so that start-up needs no
/// request.
pub(crate) fn of_function(region: String, endpoint: Option<&Url>, http: reqwest::Client) -> Client {
    let mut builder = with_timeouts(aws_sdk_dynamodb::Config::builder())
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(region))
        .credentials_provider(EnvironmentVariableCredentialsProvider::new())
        .http_client(connector::over(http));
    builder.set_endpoint_url(endpoint.map(ToString::to_string));
    Client::from_conf(builder.build())
}

/// The client of a tool.
pub(crate) fn of_sdk(sdk: &SdkConfig) -> Client {
    let mut builder = Builder::from(sdk);
    if is_empty_variable(ENDPOINT) {
        builder.set_endpoint_url(sdk.endpoint_url().map(str::to_owned));
    }
    Client::from_conf(with_timeouts(builder).build())
}

/// Whether the variable is set and empty. The service treats an empty variable as unset (`Config`). The SDK
/// treats its value as an endpoint, and panics at the first request.
#[must_use]
pub fn is_empty_variable(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value.is_empty())
}

/// Why a tool cannot connect to DynamoDB.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error(transparent)]
    Environment(#[from] ConfigError),
    /// The TLS stack cannot be set up.
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("no AWS region is known: set AWS_REGION, or choose a profile that has one with AWS_PROFILE")]
    NoRegion,
    #[error("no AWS credentials can be used ({0}): sign in, or choose another profile with AWS_PROFILE")]
    NoCredentials(String),
}

/// Returns region, credentials and endpoints as the AWS CLI finds them: from the environment, the profile,
/// and so on. An endpoint on this machine needs neither a region nor credentials.
///
/// # Errors
/// If `AWS_ENDPOINT_URL_DYNAMODB` is not an address, the TLS stack cannot be set up, or region or credentials
/// are missing.
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

/// Whether the environment selects an emulator of DynamoDB on this machine.
///
/// # Errors
/// If `AWS_ENDPOINT_URL_DYNAMODB` is not an address.
fn is_on_this_machine() -> Result<bool, ConfigError> {
    let endpoint = Config::from_environment().address(ENDPOINT)?;
    let general = std::env::var(GENERAL_ENDPOINT).ok().and_then(|endpoint| Url::parse(&endpoint).ok());
    Ok(endpoint.or(general).is_some_and(|endpoint| is_local(&endpoint)))
}

/// Returns the cause in one line, without the SDK's list of all places where it looked for credentials.
fn without_attempts(cause: &str) -> String {
    let cause = cause.split_once(". Attempted:").map_or(cause, |(cause, _)| cause);
    cause.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_local(endpoint: &Url) -> bool {
    matches!(endpoint.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Adds a placeholder region and placeholder credentials if they are missing. An emulator of DynamoDB checks
/// neither. Without placeholders, the SDK would search the network for credentials for seconds, and then send
/// no request.
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

fn with_timeouts(builder: Builder) -> Builder {
    builder
        .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(ATTEMPT_TIMEOUT).build())
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(ATTEMPTS)
                .with_initial_backoff(FIRST_PAUSE)
                .with_max_backoff(LONGEST_PAUSE),
        )
        // The timeout of an attempt already covers stalled streams.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}
