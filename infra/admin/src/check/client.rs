//! Sends requests to the deployment: not too fast, and again after a 429.

use std::cell::Cell;
use std::time::Duration;

use common::auth::ApiKey;
use common::response::error::chain;
use conformance::{Mismatch, excerpt, header_text, single_header};
use indicatif::ProgressBar;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Method, RequestBuilder};
use tokio::time::{Instant, sleep, sleep_until};

use crate::error::Error;

/// How long a response may take. API Gateway gives up after 29 s.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait after a 429 without `Retry-After`. One with a longer wait than the maximum is final.
const DEFAULT_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// After how many requests in a row without a response no more are sent.
const MAX_FAILURES: u32 = 3;

/// A client of one deployment.
pub(super) struct Client {
    base_url: String,
    http: reqwest::Client,
    /// The time between two requests, and when the next one may be sent.
    pause: Duration,
    next: Cell<Instant>,
    /// How many requests in a row had no response.
    failures: Cell<u32>,
    /// Counts the requests.
    pub(super) progress: ProgressBar,
    /// How many of them were repeated after a 429.
    pub(super) throttled: Cell<u32>,
}

/// A response.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Client {
    /// A client of the deployment at `base_url` that sends `rate` requests per second.
    ///
    /// # Errors
    /// If the HTTP client cannot be built.
    pub(super) fn new(base_url: &str, rate: f64, progress: ProgressBar) -> Result<Self, Error> {
        let agent = concat!("game-data-query-service-check/", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            base_url: base_url.to_owned(),
            http: common::upstream::http::client(|builder| builder.timeout(TIMEOUT).user_agent(agent))?,
            pause: Duration::from_secs_f64(rate.recip()),
            next: Cell::new(Instant::now()),
            failures: Cell::default(),
            progress,
            throttled: Cell::default(),
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

    /// The response to the request, which waits for its turn, and is repeated after a 429.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Mismatch> {
        sleep_until(self.next.get()).await;
        self.next.set(Instant::now() + self.pause);
        let again = request.try_clone();
        let response = self.send_now(request).await?;
        let retry_after = single_header(&response.headers, "retry-after").and_then(|text| text.parse().ok());
        let delay = retry_after.map_or(DEFAULT_RETRY_DELAY, Duration::from_secs);
        match again {
            Some(again) if response.status == 429 && delay <= MAX_RETRY_DELAY => {
                self.throttled.update(|throttled| throttled + 1);
                sleep(delay).await;
                self.send_now(again).await
            }
            _ => Ok(response),
        }
    }

    /// The response to the request, which is sent at once and only once.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn send_now(&self, request: RequestBuilder) -> Result<Response, Mismatch> {
        if self.failures.get() >= MAX_FAILURES {
            let reason = format!("not sent, because the last {MAX_FAILURES} requests had no response");
            return Err(Mismatch::new("a response", reason));
        }
        self.progress.inc(1);
        let result = exchange(request).await;
        self.failures.update(|failures| if result.is_ok() { 0 } else { failures + 1 });
        result.map_err(|error| Mismatch::new("a response", chain(&error.without_url())))
    }
}

async fn exchange(request: RequestBuilder) -> Result<Response, reqwest::Error> {
    let response = request.send().await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Ok(Response { status, headers, body: response.bytes().await?.into() })
}

impl Response {
    /// The body as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Status, content type and the beginning of the body on one line.
    pub(super) fn summary(&self) -> String {
        let media_type = header_text(&self.headers, CONTENT_TYPE.as_str());
        format!("{}, Content-Type {media_type}: {}", self.status, excerpt(&self.text()))
    }
}
