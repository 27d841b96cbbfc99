//! Sends requests to the deployment: not too fast, and again after a 429.

use std::cell::Cell;
use std::io::Read as _;
use std::time::Duration;

use common::response::error::chain;
use conformance::Mismatch;
use flate2::read::GzDecoder;
use indicatif::ProgressBar;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use reqwest::{ClientBuilder, Url};
use tokio::time::{Instant, sleep, sleep_until};

use super::request::Request;
use super::response::Response;
use crate::error::Error;

/// How long a response may take. API Gateway gives up after 29 s.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The bounds of the number of requests per second.
const MIN_RATE: f64 = 0.1;
const MAX_RATE: f64 = 10_000.0;
/// How long all requests together may wait after a 429.
const RETRY_BUDGET: Duration = Duration::from_mins(2);
/// The bounds of one wait. A 429 with a longer `Retry-After` is final.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// After how many requests in a row without a response no more are sent.
const MAX_FAILURES: u32 = 3;
/// The largest body, and the largest decoded body. API Gateway sends at most 10 MB.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
const MAX_DECODED_BYTES: u64 = 128 * 1024 * 1024;

/// A client of one deployment.
pub(super) struct Client {
    base_url: String,
    http: reqwest::Client,
    /// Sends the names of headers in title case.
    title_case: reqwest::Client,
    /// The time between two requests with the good key, and when the next one may be sent.
    pause: Duration,
    next: Cell<Instant>,
    /// How many requests in a row had no response.
    failures: Cell<u32>,
    sent: Cell<u32>,
    throttled: Cell<u32>,
    retry_budget: Cell<Duration>,
    progress: ProgressBar,
}

impl Client {
    /// A client of the deployment at `base_url` that uses the good key `rate` times per second.
    ///
    /// # Errors
    /// If the HTTP client cannot be built.
    pub(super) fn new(base_url: &str, rate: f64, progress: ProgressBar) -> Result<Self, Error> {
        let agent = concat!("game-data-query-service-check/", env!("CARGO_PKG_VERSION"));
        let configured = |builder: ClientBuilder| builder.timeout(TIMEOUT).user_agent(agent);
        Ok(Self {
            base_url: base_url.to_owned(),
            http: common::upstream::http::client(configured)?,
            title_case: common::upstream::http::client(|builder| {
                configured(builder).http1_title_case_headers()
            })?,
            pause: Duration::from_secs_f64(rate.recip()),
            next: Cell::new(Instant::now()),
            failures: Cell::new(0),
            sent: Cell::new(0),
            throttled: Cell::new(0),
            retry_budget: Cell::new(RETRY_BUDGET),
            progress,
        })
    }

    /// How many requests have been sent.
    pub(super) fn sent(&self) -> u32 {
        self.sent.get()
    }

    /// How many of them were retried after a 429.
    pub(super) fn throttled(&self) -> u32 {
        self.throttled.get()
    }

    /// The response to the request, which waits for its turn and is retried after a 429.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn send(&self, request: &Request) -> Result<Response, Mismatch> {
        loop {
            if request.is_counted {
                sleep_until(self.next.get()).await;
                self.next.set(Instant::now() + self.pause);
            }
            let response = self.send_once(request).await?;
            if response.status != 429 || !self.wait_after_429(response.retry_after()).await {
                return Ok(response);
            }
        }
    }

    /// Waits after a 429. Returns `false` if the request must not be repeated.
    async fn wait_after_429(&self, retry_after: Option<Duration>) -> bool {
        let delay = retry_after.unwrap_or_default().max(MIN_RETRY_DELAY);
        let budget = self.retry_budget.get().checked_sub(delay);
        let Some(budget) = budget.filter(|_| delay <= MAX_RETRY_DELAY) else { return false };
        self.retry_budget.set(budget);
        self.throttled.set(self.throttled.get() + 1);
        sleep(delay).await;
        true
    }

    /// The response to the request, which is sent at once and not retried.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn send_once(&self, request: &Request) -> Result<Response, Mismatch> {
        let failed = |reason: String| {
            Mismatch::new("a response", format!("{} {}: {reason}", request.method, request.target))
        };
        // Appended to the base URL, anything else could change the host.
        if !request.target.starts_with('/') {
            return Err(failed("not sent, because the path does not begin with /".to_owned()));
        }
        if self.failures.get() >= MAX_FAILURES {
            return Err(failed(format!(
                "not sent, because the last {MAX_FAILURES} requests had no response"
            )));
        }
        let response = self.exchange(request).await;
        self.sent.set(self.sent.get() + 1);
        self.progress.inc(1);
        self.failures.set(if response.is_ok() { 0 } else { self.failures.get() + 1 });
        response.map_err(failed)
    }

    /// # Errors
    /// Why there is no response.
    async fn exchange(&self, request: &Request) -> Result<Response, String> {
        let reason = |error: reqwest::Error| {
            if error.is_timeout() { "timed out".to_owned() } else { chain(&error.without_url()) }
        };
        let url = format!("{}{}", self.base_url, request.target);
        let client = if request.is_in_title_case { &self.title_case } else { &self.http };
        let mut builder =
            client.request(request.method.clone(), url).header(ACCEPT_ENCODING, request.encoding);
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let mut response = builder.send().await.map_err(reason)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(reason)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BODY_BYTES {
                return Err(format!("the body has more than {MAX_BODY_BYTES} bytes"));
            }
        }
        let encoded_bytes = body.len();
        // A response to HEAD may name an encoding, but has no body.
        let is_gzip = headers.get(CONTENT_ENCODING).is_some_and(|value| value == "gzip") && !body.is_empty();
        let body = if is_gzip {
            decode_gzip(&body).map_err(|error| format!("the gzip body is broken: {error}"))?
        } else {
            body
        };
        let text = String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Response { status, headers, text, encoded_bytes })
    }
}

fn decode_gzip(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    GzDecoder::new(body).take(MAX_DECODED_BYTES).read_to_end(&mut decoded)?;
    Ok(decoded)
}

/// Parses a base URL and removes slashes from its end. Errors do not repeat the URL, which may hold a secret.
pub(super) fn base_url(text: &str) -> Result<String, &'static str> {
    let url: Url = text.parse().map_err(|_| "must be a URL like https://api.example.com/live")?;
    if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
        return Err("must begin with https:// or http://");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must have no query (?) and no fragment (#), because paths are appended to it");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must have no user name and no password");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Parses a number of requests per second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok().filter(|rate| (MIN_RATE..=MAX_RATE).contains(rate));
    rate.ok_or_else(|| format!("must be a number from {MIN_RATE} to {MAX_RATE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_can_be_appended_to_a_base_url() {
        for (text, expected) in [
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("https://x.example/live/", "https://x.example/live"),
        ] {
            assert_eq!(base_url(text).unwrap(), expected);
        }
        for text in
            ["", "x", "/v1", "ftp://x", "mailto:a@b", "http://x?a", "http://x#a", "https://a:b@x", "http://"]
        {
            assert!(base_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_a_number_within_bounds() {
        assert_eq!(rate("1.5"), Ok(1.5));
        for text in ["", "0", "-1", "NaN", "inf", "x", "1e9"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
