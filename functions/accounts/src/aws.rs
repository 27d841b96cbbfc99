//! Timeouts, retries and errors of requests to `CloudFormation` and API Gateway. For `DynamoDB`, see the crate `tables`.

use std::error::Error as StandardError;
use std::time::Duration;

use aws_sdk_apigateway::config::StalledStreamProtectionConfig;
use aws_sdk_apigateway::config::retry::RetryConfig;
use aws_sdk_apigateway::config::timeout::TimeoutConfig;
use aws_sdk_apigateway::error::{ProvideErrorMetadata, SdkError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tables::SdkConfig;

/// The time limit of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit of a request, including all attempts.
const OPERATION_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum number of attempts, including the first. API Gateway throttles early: it accepts a few requests per second
/// from an AWS account.
const ATTEMPTS: u32 = 6;
/// The bounds of the exponential backoff between attempts.
const INITIAL_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(4);

#[derive(Debug, thiserror::Error)]
#[error("{service} failed at {operation}: {cause}")]
pub struct AwsError {
    pub service: &'static str,
    pub operation: &'static str,
    /// The error code of the service, if the service responded.
    pub code: Option<String>,
    /// The error message of the service, or of the SDK if there was no response.
    pub cause: String,
}

impl AwsError {
    /// Whether the service responded with this error code.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}

/// Returns the configuration with the timeouts and retries of this module.
#[must_use]
pub fn configure(sdk: &SdkConfig) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(OPERATION_TIMEOUT)
        .build();
    let retries = RetryConfig::standard()
        .with_max_attempts(ATTEMPTS)
        .with_initial_backoff(INITIAL_BACKOFF)
        .with_max_backoff(MAX_BACKOFF);
    let builder = sdk.to_builder().timeout_config(timeouts).retry_config(retries);
    // The timeouts above also end stalled responses.
    builder.stalled_stream_protection(StalledStreamProtectionConfig::disabled()).build()
}

/// Sends the request. Boxed, because the SDK's futures take 30 kB each.
pub fn send<'a, T, E, R>(
    service: &'static str,
    operation: &'static str,
    request: impl Future<Output = Result<T, SdkError<E, R>>> + Send + 'a,
) -> BoxFuture<'a, Result<T, AwsError>>
where
    E: StandardError + ProvideErrorMetadata + 'static,
    R: std::fmt::Debug + 'static,
{
    let result = request.map(move |result| {
        result.map_err(|error| AwsError {
            service,
            operation,
            code: error.code().map(str::to_owned),
            cause: cause(&error),
        })
    });
    result.boxed()
}

/// The cause of the error. Replaces the SDK's message about a timeout, which is hard to read.
fn cause<E, R>(error: &SdkError<E, R>) -> String
where
    E: StandardError + ProvideErrorMetadata + 'static,
    R: std::fmt::Debug + 'static,
{
    match error {
        SdkError::TimeoutError(_) => "timed out".to_owned(),
        _ => tables::cause(error),
    }
}
