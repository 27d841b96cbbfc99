//! The client for DynamoDB, with timeouts and retries set on purpose: by default a dead endpoint would hold a caller for
//! seconds, and a request without an answer for ever.

use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{Builder, StalledStreamProtectionConfig};
use common::config::Config;
use common::http::{self, ClientError};

use crate::connector;

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
    Client::from_conf(with_patience(Builder::from(sdk)).build())
}

/// Region, credentials and endpoint as the AWS CLI would find them for this user: environment, profile, and so on.
///
/// # Errors
/// If the TLS stack cannot be set up.
pub async fn from_profile() -> Result<SdkConfig, ClientError> {
    let http = http::client(|client| client)?;
    Ok(aws_config::defaults(BehaviorVersion::latest()).http_client(connector::over(http)).load().await)
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
