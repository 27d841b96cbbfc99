//! Invokes the function for accounts and keys by Lambda's API. The SDK's client of Lambda would be a large package for one request.

use std::error::Error as StandardError;
use std::time::{Duration, SystemTime};

use accounts::aws::AwsError;
use accounts::command::Command;
use accounts::error::CommandFailure;
use accounts::response::{Reply, Response};
use aws_sdk_cloudformation::config::{Credentials, ProvideCredentials as _};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use common::error::chain;
use common::upstream::http;
use reqwest::header::HeaderValue;
use reqwest::{Client, Request, StatusCode};
use serde_json::Value;
use tables::SdkConfig;

use crate::error::Error;
use crate::stack::Stack;

/// The environment variable with the endpoint of Lambda.
const ENDPOINT: &str = "AWS_ENDPOINT_URL_LAMBDA";
/// The function in template.yaml, by which the local cloud knows it.
const LOGICAL_ID: &str = "AccountsFunction";
/// How long an invocation may take: longer than the function.
const TIMEOUT: Duration = Duration::from_secs(70);
/// How often an invocation is sent at most. A key is issued for the id of the request, so that a repetition replaces it.
const ATTEMPTS: u32 = 4;
/// The code of a function that failed itself.
const FAILED: &str = "Unhandled";
/// The pause before the second attempt, which doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A function that can be invoked.
pub(super) struct Function {
    client: Client,
    url: String,
    /// `None` for the local cloud, which checks no signatures.
    signer: Option<Signer>,
}

struct Signer {
    credentials: Credentials,
    region: String,
}

impl Function {
    /// The function of the stack.
    ///
    /// # Errors
    /// If the stack has no output for it, or there are no credentials.
    pub(super) async fn of_stack(stack: &Stack, sdk: &SdkConfig) -> Result<Self, Error> {
        let name = stack.output("AccountsFunction")?;
        let region = sdk.region().map(ToString::to_string).unwrap_or_default();
        let endpoint = endpoint().or_else(|| sdk.endpoint_url().map(str::to_owned));
        let endpoint = endpoint.unwrap_or_else(|| format!("https://lambda.{region}.amazonaws.com"));
        let signer = match sdk.credentials_provider() {
            Some(provider) => {
                let credentials = provider.provide_credentials().await;
                let credentials = credentials.map_err(|error| failed(None, chain(&error)))?;
                Some(Signer { credentials, region })
            }
            None => None,
        };
        Self::at(&endpoint, name, signer)
    }

    /// The function of the local cloud with this Invoke API.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub(super) fn of_local_cloud(endpoint: &str) -> Result<Self, Error> {
        Self::at(endpoint, LOGICAL_ID, None)
    }

    fn at(endpoint: &str, name: &str, signer: Option<Signer>) -> Result<Self, Error> {
        let client = http::client(|client| client.timeout(TIMEOUT))?;
        let url = format!("{}/2015-03-31/functions/{name}/invocations", endpoint.trim_end_matches('/'));
        Ok(Self { client, url, signer })
    }

    /// The function's response to the command, or why it refuses it.
    ///
    /// # Errors
    /// If the function cannot be invoked, or does not respond.
    pub(super) async fn invoke(&self, command: &Command) -> Result<Result<Response, CommandFailure>, Error> {
        let unwritable = |error: serde_json::Error| failed(None, error.to_string());
        let mut event = serde_json::to_value(command).map_err(unwritable)?;
        if let Some(fields) = event.as_object_mut() {
            fields.insert("request_id".to_owned(), Value::String(random_id()?));
        }
        let body = serde_json::to_vec(&event).map_err(unwritable)?;
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.send(&body).await {
                Err(error) if can_repeat(&error) => tokio::time::sleep(pause).await,
                result => return read(&result?),
            }
            pause *= 2;
        }
        read(&self.send(&body).await?)
    }

    async fn send(&self, body: &[u8]) -> Result<Bytes, AwsError> {
        let client_error = |error: reqwest::Error| failed(None, chain(&error.without_url()));
        let mut request = self.client.post(&self.url).body(body.to_vec()).build().map_err(client_error)?;
        if let Some(signer) = &self.signer {
            signer.sign(&mut request, body).map_err(|error| failed(None, error.to_string()))?;
        }
        let response = self.client.execute(request).await.map_err(client_error)?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let code = header("x-amzn-errortype").unwrap_or_else(|| status.to_string());
        let is_failed = header("x-amz-function-error").is_some();
        let payload = response.bytes().await.map_err(client_error)?;
        if status == StatusCode::OK && !is_failed {
            return Ok(payload);
        }
        let message = String::from_utf8_lossy(&payload).into_owned();
        if is_failed {
            return Err(failed(Some(FAILED), format!("the function failed: {message}")));
        }
        // Its end names the service.
        let name = code.split(':').next().unwrap_or_default();
        Err(failed(Some(name), format!("{name}: {message}")))
    }
}

impl Signer {
    /// Adds the signature to the request.
    fn sign(&self, request: &mut Request, body: &[u8]) -> Result<(), Box<dyn StandardError>> {
        let identity = self.credentials.clone().into();
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

/// The endpoint of Lambda in the environment.
pub(super) fn endpoint() -> Option<String> {
    std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty())
}

fn read(reply: &[u8]) -> Result<Result<Response, CommandFailure>, Error> {
    match serde_json::from_slice(reply) {
        Ok(Reply::Done(response)) => Ok(Ok(response)),
        Ok(Reply::Failed { error }) => Ok(Err(error)),
        Err(error) => Err(Error::OtherVersion(error.to_string())),
    }
}

/// Whether the invocation may succeed if it is repeated: there was no response, or Lambda throttles it or has failed.
fn can_repeat(error: &AwsError) -> bool {
    const CODES: [&str; 4] =
        ["TooManyRequestsException", "ServiceException", "InternalFailure", "ResourceConflictException"];
    error.code.as_deref().is_none_or(|code| CODES.contains(&code))
}

fn failed(code: Option<&str>, cause: String) -> AwsError {
    AwsError { service: "Lambda", operation: "Invoke", code: code.map(str::to_owned), cause }
}

/// A random id, under which a repeated invocation issues one key.
fn random_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
