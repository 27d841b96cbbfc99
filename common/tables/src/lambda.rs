//! Sends events to functions by Lambda's API. The SDK's client of Lambda would be a large package for one request.

use std::time::{Duration, SystemTime};

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_sdk_dynamodb::config::ProvideCredentials as _;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use common::config::Config;
use common::upstream::http::{self, ClientError};
use reqwest::header::HeaderValue;
use reqwest::{Client, Request};

/// Lambda stores an event within milliseconds.
const TIMEOUT: Duration = Duration::from_secs(4);

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Another function.
#[derive(Debug)]
pub struct Function {
    client: Client,
    url: String,
    region: String,
}

impl Function {
    /// Returns the function `name`, for a function.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn named(config: &Config, name: &str) -> Result<Self, ClientError> {
        let region = config.aws_region.clone();
        let given = config.lambda_endpoint.clone();
        let endpoint = given.unwrap_or_else(|| format!("https://lambda.{region}.amazonaws.com"));
        let url = format!("{}/2015-03-31/functions/{name}/invocations", endpoint.trim_end_matches('/'));
        Ok(Self { client: http::client(|client| client.timeout(TIMEOUT))?, url, region })
    }

    /// Sends the event. Lambda repeats it if the function fails.
    ///
    /// # Errors
    /// If Lambda does not accept the event.
    pub async fn send(&self, event: &[u8]) -> Result<(), BoxedError> {
        let request = self.client.post(&self.url).header("X-Amz-Invocation-Type", "Event");
        let mut request = request.body(event.to_vec()).build()?;
        self.sign(&mut request, event).await?;
        self.client.execute(request).await?.error_for_status()?;
        Ok(())
    }

    /// Adds the signature of the function that sends the request.
    async fn sign(&self, request: &mut Request, body: &[u8]) -> Result<(), BoxedError> {
        let credentials = EnvironmentVariableCredentialsProvider::new().provide_credentials().await?;
        let identity = credentials.into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("lambda")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()?;
        let headers = request.headers().iter();
        let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let signable = SignableRequest::new("POST", &self.url, headers, SignableBody::Bytes(body))?;
        let (instructions, _) = sign(signable, &parameters.into())?.into_parts();
        for header in instructions.into_parts().0 {
            request.headers_mut().insert(header.name(), HeaderValue::from_str(header.value())?);
        }
        Ok(())
    }
}
