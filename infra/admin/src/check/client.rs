//! Sends requests to the deployment, and repeats a request once after a 429. Without `--throttle`, a run
//! sends fewer requests than the burst of the smallest tier.

use std::cell::Cell;
use std::time::Duration;

use common::auth::ApiKey;
use common::error::chain;
use conformance::{Mismatch, excerpt, header_text, single_header};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Method, RequestBuilder};
use tokio::time::sleep;

use crate::error::Error;

/// How long a response may take. API Gateway gives up after 29 s.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest `Retry-After` that is waited for, in seconds.
const MAX_RETRY_AFTER: u64 = 30;

pub(super) struct Client {
    base_url: String,
    http: reqwest::Client,
    pub(super) requests: Cell<u64>,
}

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Client {
    pub(super) fn new(base_url: &str) -> Result<Self, Error> {
        let agent = concat!("game-data-query-service-check/", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            base_url: base_url.to_owned(),
            http: common::upstream::http::client(|builder| builder.timeout(TIMEOUT).user_agent(agent))?,
            requests: Cell::default(),
        })
    }

    /// A request for this path and query.
    pub(super) fn request(&self, method: Method, target: &str, key: Option<&ApiKey>) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{target}", self.base_url));
        match key {
            Some(key) => request.header("x-api-key", key.expose()),
            None => request,
        }
    }

    /// Sends the request, and repeats it once after a 429 whose `Retry-After` is at most [`MAX_RETRY_AFTER`].
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Mismatch> {
        let again = request.try_clone();
        let response = self.send_now(request).await?;
        let retry_after = single_header(&response.headers, "retry-after").and_then(|text| text.parse().ok());
        match (again, retry_after) {
            (Some(again), Some(seconds)) if response.status == 429 && seconds <= MAX_RETRY_AFTER => {
                sleep(Duration::from_secs(seconds)).await;
                self.send_now(again).await
            }
            _ => Ok(response),
        }
    }

    /// Sends the request only once.
    pub(super) async fn send_now(&self, request: RequestBuilder) -> Result<Response, Mismatch> {
        self.requests.update(|requests| requests + 1);
        let failed = |error: reqwest::Error| Mismatch::new("a response", chain(&error.without_url()));
        let response = request.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await.map_err(failed)?;
        Ok(Response { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

impl Response {
    /// The status, the content type and the beginning of the body on one line.
    pub(super) fn summary(&self) -> String {
        let media_type = header_text(&self.headers, CONTENT_TYPE.as_str());
        format!("{}, Content-Type {media_type}: {}", self.status, excerpt(&self.body))
    }
}
