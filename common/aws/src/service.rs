//! The services of AWS, and who sends requests to them.

use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_credential_types::provider::SharedCredentialsProvider;
use common::config::Config;

/// A service of AWS, and the limits of requests to it.
#[derive(Debug)]
pub struct Service {
    /// The name in messages.
    pub title: &'static str,
    /// The name in addresses and signatures.
    pub name: &'static str,
    /// The media type of responses.
    pub accepts: &'static str,
    /// The time limit of one attempt.
    pub attempt_timeout: Duration,
    /// The maximum number of attempts, including the first.
    pub attempts: u32,
    /// Error codes after which a request is repeated. It is also repeated if there was no response, or if the
    /// service was throttled or failed.
    pub temporary: &'static [&'static str],
}

/// Who sends a request, and to which region.
#[derive(Debug, Clone)]
pub struct Identity {
    pub credentials: SharedCredentialsProvider,
    pub region: String,
}

impl Identity {
    #[must_use]
    pub fn of_function(config: &Config) -> Self {
        let credentials = SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new());
        Self { credentials, region: config.region() }
    }
}
