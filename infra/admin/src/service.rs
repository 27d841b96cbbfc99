//! What every request to an AWS service beside the tables needs: patience with bounds, and errors that a person can act on.

use std::error::Error as StandardError;
use std::time::Duration;

use aws_sdk_apigateway::config::StalledStreamProtectionConfig;
use aws_sdk_apigateway::config::retry::RetryConfig;
use aws_sdk_apigateway::config::timeout::TimeoutConfig;
use aws_sdk_apigateway::error::{ProvideErrorMetadata, SdkError};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use tables::SdkConfig;

/// How long one attempt may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request may take with all its attempts.
const OPERATION_TIMEOUT: Duration = Duration::from_mins(1);
/// How often a request is made at the most, the first time included. API Gateway throttles early: it takes a few requests
/// a second from a whole AWS account.
const ATTEMPTS: u32 = 6;
/// The pauses between them, which double, with a random part.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// Why a service did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{service} failed at {operation}: {cause}; {}", self.advice())]
pub(crate) struct ServiceError {
    pub(crate) service: &'static str,
    pub(crate) operation: &'static str,
    /// The service's name for the error, if it was the service that refused.
    pub(crate) code: Option<String>,
    /// What the service or the client says.
    pub(crate) cause: String,
}

impl ServiceError {
    /// Whether this is the service's name for the error.
    pub(crate) fn is(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }

    /// What to do about it.
    fn advice(&self) -> &'static str {
        match self.code.as_deref() {
            Some(
                "AccessDenied" | "AccessDeniedException" | "UnauthorizedException" | "UnauthorizedOperation",
            ) => "these credentials need more rights: infra/admin/README.md lists them",
            Some(
                "UnrecognizedClientException"
                | "InvalidClientTokenId"
                | "InvalidSignatureException"
                | "SignatureDoesNotMatch"
                | "IncompleteSignature"
                | "MissingAuthenticationToken"
                | "MissingAuthenticationTokenException"
                | "ExpiredToken"
                | "ExpiredTokenException",
            ) => "sign in again, or choose another profile with AWS_PROFILE",
            Some("LimitExceededException") => {
                "delete API keys that nobody needs, or ask AWS for more; then run the same command again"
            }
            Some("TooManyRequestsException" | "Throttling" | "ThrottlingException") => {
                "run the same command again later to do the rest"
            }
            Some(_) => "run the same command again to do the rest, once the reason is gone",
            None => {
                "check the network, the region, the credentials and AWS_ENDPOINT_URL, and run the same command again \
                 to do the rest"
            }
        }
    }
}

/// The configuration for a service: that of the tables, with another patience.
pub(crate) fn patient(sdk: &SdkConfig) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(OPERATION_TIMEOUT)
        .build();
    let retries = RetryConfig::standard()
        .with_max_attempts(ATTEMPTS)
        .with_initial_backoff(FIRST_PAUSE)
        .with_max_backoff(LONGEST_PAUSE);
    let builder = sdk.to_builder().timeout_config(timeouts).retry_config(retries);
    // The timeouts above do the same.
    builder.stalled_stream_protection(StalledStreamProtectionConfig::disabled()).build()
}

/// What `request` brings. Boxed, because the SDK's futures take 30 kB each.
pub(crate) fn answered<'a, T, E, R>(
    service: &'static str,
    operation: &'static str,
    request: impl Future<Output = Result<T, SdkError<E, R>>> + 'a,
) -> LocalBoxFuture<'a, Result<T, ServiceError>>
where
    E: StandardError + ProvideErrorMetadata + 'static,
    R: std::fmt::Debug + 'static,
{
    let answered = request.map(move |result| {
        result.map_err(|error| ServiceError {
            service,
            operation,
            code: error.code().map(str::to_owned),
            cause: cause(&error),
        })
    });
    answered.boxed_local()
}

/// What went wrong. How long was waited in vain is not the client's to say in its own words.
fn cause<E, R>(error: &SdkError<E, R>) -> String
where
    E: StandardError + ProvideErrorMetadata + 'static,
    R: std::fmt::Debug + 'static,
{
    match error {
        SdkError::TimeoutError(_) => "no answer in time".to_owned(),
        _ => tables::cause(error),
    }
}
