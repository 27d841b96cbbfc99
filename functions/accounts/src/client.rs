//! A client of the function `accounts`. It sends the request to Lambda's Invoke API itself, because the SDK's Lambda client would be a
//! large package for one request.

use std::time::{Duration, SystemTime};

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_sdk_apigateway::config::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use common::config::Config;
use common::error::chain;
use common::upstream::http::{self, ClientError};
use reqwest::header::HeaderValue;
use reqwest::{Request, StatusCode};
use serde_json::Value;

use crate::REQUEST_ID;
use crate::aws::AwsError;
use crate::command::Command;
use crate::response::Reply;

/// The time limit of one invocation, longer than the function's own time limit.
const TIMEOUT: Duration = Duration::from_secs(70);
/// The maximum number of attempts of an invocation. All attempts have the same request id, so a repeated `issue_key` revokes the key of the
/// earlier attempt.
const ATTEMPTS: u32 = 4;
/// The pause before the second attempt. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The error code of an invocation in which the function itself failed.
const FAILED: &str = "Unhandled";

/// Why a command has no reply.
#[derive(Debug, thiserror::Error)]
pub enum InvokeError {
    #[error(transparent)]
    Aws(#[from] AwsError),
    #[error("the reply is not from this version: {0}")]
    OtherVersion(#[from] serde_json::Error),
}

/// The function of a stack or of the local cloud.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    signer: Option<Signer>,
}

/// The sender of signed requests.
#[derive(Debug)]
pub struct Signer {
    pub credentials: SharedCredentialsProvider,
    pub region: String,
}

impl Client {
    /// Returns a client of the function `name`. Without `endpoint`, requests go to Lambda in the signer's region. Without `signer`,
    /// requests are not signed; only the local cloud accepts such requests.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn new(name: &str, endpoint: Option<&str>, signer: Option<Signer>) -> Result<Self, ClientError> {
        let region = signer.as_ref().map(|signer| signer.region.as_str()).unwrap_or_default();
        let endpoint =
            endpoint.map_or_else(|| format!("https://lambda.{region}.amazonaws.com"), str::to_owned);
        let url = format!("{}/2015-03-31/functions/{name}/invocations", endpoint.trim_end_matches('/'));
        Ok(Self { http: http::client(|client| client.timeout(TIMEOUT))?, url, signer })
    }

    /// Returns a client for use in another function, with the configuration of that function.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn of_config(config: &Config) -> Result<Self, ClientError> {
        let credentials = SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new());
        let signer = Signer { credentials, region: config.aws_region.clone() };
        Self::new(&config.accounts_function, config.lambda_endpoint.as_deref(), Some(signer))
    }

    /// Returns the reply to the command. `request` is the id that the audit log shows.
    ///
    /// # Errors
    /// If the function cannot be invoked, or fails without a reply.
    pub async fn invoke(&self, command: &Command, request: &str) -> Result<Reply, InvokeError> {
        let mut event = serde_json::to_value(command)?;
        if let Some(fields) = event.as_object_mut() {
            fields.insert(REQUEST_ID.to_owned(), Value::from(request));
        }
        let body = Bytes::from(serde_json::to_vec(&event)?);
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.send(body.clone()).await {
                Err(error) if can_repeat(&error) => tokio::time::sleep(pause).await,
                reply => return Ok(serde_json::from_slice(&reply?)?),
            }
            pause *= 2;
        }
        Ok(serde_json::from_slice(&self.send(body).await?)?)
    }

    async fn send(&self, body: Bytes) -> Result<Bytes, AwsError> {
        let client_error = |error: reqwest::Error| failed(None, chain(&error.without_url()));
        let mut request = self.http.post(&self.url).body(body.clone()).build().map_err(client_error)?;
        if let Some(signer) = &self.signer {
            signer.sign(&mut request, &body).await.map_err(|error| failed(None, chain(&*error)))?;
        }
        let response = self.http.execute(request).await.map_err(client_error)?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let code = header("x-amzn-errortype").unwrap_or_else(|| status.to_string());
        let is_failed = header("x-amz-function-error").is_some();
        let payload = response.bytes().await.map_err(client_error)?;
        if status == StatusCode::OK && !is_failed {
            return Ok(payload);
        }
        let message = String::from_utf8_lossy(&payload);
        if is_failed {
            return Err(failed(Some(FAILED), format!("the function failed: {message}")));
        }
        // AWS may append a colon and a URL to the error code.
        let name = code.split(':').next().unwrap_or_default();
        Err(failed(Some(name), format!("{name}: {message}")))
    }
}

impl Signer {
    /// Adds the signature to the request.
    async fn sign(
        &self,
        request: &mut Request,
        body: &[u8],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let identity = self.credentials.provide_credentials().await?.into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("lambda")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()?;
        let url = request.url().to_string();
        let headers = request.headers().iter();
        let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let signed = SignableRequest::new("POST", &url, headers, SignableBody::Bytes(body))?;
        let (instructions, _) = sign(signed, &parameters.into())?.into_parts();
        let (added, _) = instructions.into_parts();
        for header in added {
            let mut value = HeaderValue::from_str(header.value())?;
            value.set_sensitive(header.sensitive());
            request.headers_mut().insert(header.name(), value);
        }
        Ok(())
    }
}

/// Whether a repeated invocation may succeed: there was no response, or Lambda throttled the request, failed or was updating the function.
fn can_repeat(error: &AwsError) -> bool {
    const CODES: [&str; 4] =
        ["TooManyRequestsException", "ServiceException", "InternalFailure", "ResourceConflictException"];
    error.code.as_deref().is_none_or(|code| CODES.contains(&code))
}

fn failed(code: Option<&str>, cause: String) -> AwsError {
    AwsError { service: "Lambda", operation: "Invoke", code: code.map(str::to_owned), cause }
}
