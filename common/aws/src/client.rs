//! The client of one service: addresses, attempts and timeouts.

use std::time::Duration;

use common::error::chain;
use common::upstream::http::{self, ClientError};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Url};

use crate::error::AwsError;
use crate::response::Response;
use crate::service::{Identity, Service};
use crate::sign::add_signature;

/// The pause before the second attempt. Each further pause is twice as long, up to `LONGEST_PAUSE`. Half of a
/// pause is random.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The media type of requests, and of most responses.
pub const JSON: &str = "application/json";

/// One operation of a service.
#[derive(Debug)]
pub struct Request<'a> {
    pub operation: &'static str,
    pub method: Method,
    /// The segments of the path, not encoded.
    pub path: &'a [&'a str],
    /// The query parameters, not encoded.
    pub query: &'a [(&'a str, &'a str)],
    pub json: Option<Vec<u8>>,
}

impl Service {
    /// The error of an operation that got no response, or of a response without the expected contents.
    #[must_use]
    pub fn failed(&self, operation: &'static str, cause: String) -> AwsError {
        AwsError { service: self.title, operation, code: None, cause }
    }
}

#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    service: &'static Service,
    endpoint: String,
    identity: Option<Identity>,
}

impl Client {
    /// Returns a client of the service. Without `endpoint`, requests go to the service in the identity's
    /// region. Without `identity`, requests are not signed; only the local cloud accepts such requests.
    pub fn new(
        service: &'static Service,
        endpoint: Option<&str>,
        identity: Option<Identity>,
    ) -> Result<Self, ClientError> {
        let region = identity.as_ref().map(|identity| identity.region.as_str()).unwrap_or_default();
        let endpoint = endpoint
            .map_or_else(|| format!("https://{}.{region}.amazonaws.com", service.name), str::to_owned);
        let http = http::client(|client| client.timeout(service.attempt_timeout))?;
        Ok(Self { http, service, endpoint, identity })
    }

    /// Returns the response, which may be an error of the service.
    ///
    /// # Errors
    /// If the last attempt got no response.
    pub async fn send(&self, request: &Request<'_>) -> Result<Response, AwsError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..self.service.attempts {
            match self.attempt(request).await {
                Ok(response) if !response.is_temporary() => return Ok(response),
                Ok(_) | Err(_) => tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await,
            }
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        self.attempt(request).await
    }

    async fn attempt(&self, request: &Request<'_>) -> Result<Response, AwsError> {
        let failed = |cause| self.service.failed(request.operation, cause);
        let no_response = |error: reqwest::Error| {
            failed(if error.is_timeout() { "timed out".to_owned() } else { chain(&error.without_url()) })
        };
        let url = self.url(request).ok_or_else(|| failed("the endpoint is not an address".to_owned()))?;
        let mut builder = self.http.request(request.method.clone(), url).header(ACCEPT, self.service.accepts);
        if let Some(json) = &request.json {
            builder = builder.header(CONTENT_TYPE, JSON).body(json.clone());
        }
        let mut sent = builder.build().map_err(no_response)?;
        if let Some(identity) = &self.identity {
            let signed = add_signature(&mut sent, self.service.name, identity).await;
            signed.map_err(|error| failed(chain(&*error)))?;
        }
        let response = self.http.execute(sent).await.map_err(no_response)?;
        Ok(Response {
            service: self.service,
            operation: request.operation,
            status: response.status(),
            headers: response.headers().clone(),
            body: response.bytes().await.map_err(no_response)?,
        })
    }

    fn url(&self, request: &Request<'_>) -> Option<Url> {
        let mut url = Url::parse(&self.endpoint).ok()?;
        url.path_segments_mut().ok()?.pop_if_empty().extend(request.path);
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(request.query);
        }
        Some(url)
    }
}
