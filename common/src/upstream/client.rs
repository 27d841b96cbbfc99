//! The client of one upstream: sends requests within the invocation's time, retries once, and respects rate
//! limits.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use lambda_http::http::StatusCode;
use lambda_http::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::time::timeout_at;

use super::body;
use super::error::UpstreamError;
use super::http::{self, ClientError};
use super::rate_limit::{self, LONGEST_WAIT, requested_wait, wait_for_pace};
use super::response::UpstreamResponse;
use super::secrets::Secrets;
use crate::config::{Config, ConfigError};
use crate::error::chain;
use crate::invocation::Invocation;
use crate::json::Object;
use crate::time::UnixMilliseconds;

/// The pause before the retry is drawn from this range, in milliseconds.
const RETRY_PAUSE_MS: std::ops::RangeInclusive<u64> = 50..=250;

/// The largest possible `Age` in seconds: a week, the longest time for which the provider's network may keep
/// a copy.
const LARGEST_AGE: u64 = 7 * 24 * 60 * 60;

/// The `User-Agent` if the environment has none.
const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("game-data-query-service/", env!("CARGO_PKG_VERSION")));

const API_KEY: HeaderName = HeaderName::from_static("api-key");

#[derive(Debug, Clone, Copy)]
pub struct UpstreamRequest<'a> {
    /// The path, which begins with a slash.
    pub path: &'a str,
    /// The query parameter, if there is one: name and value.
    pub parameter: Option<(&'a str, &'a str)>,
    /// The player whom the request is about: the name, or the id without dashes. No error repeats this text.
    pub player: Option<&'a str>,
    /// The statuses, besides 200 and 204, that are a response and not a failure, such as 404 for an unknown
    /// name.
    pub expected_statuses: &'a [StatusCode],
}

impl<'a> UpstreamRequest<'a> {
    /// Returns a request for `path`; a 404 is a failure.
    #[must_use]
    pub const fn of(path: &'a str) -> Self {
        Self { path, parameter: None, player: None, expected_statuses: &[] }
    }
}

/// One upstream: its address, its connections, and its rate limit.
#[derive(Debug)]
pub struct Upstream {
    client: Client,
    base: Url,
    key: Option<HeaderValue>,
    /// How long requests are blocked after a 403 or 429 that gives no wait; `None` if a 403 is not a rate
    /// limit.
    pause_after_refusal: Option<Duration>,
    /// The time until which the upstream's rate limit blocks requests, in Unix milliseconds by the clock of
    /// the events.
    blocked_until: AtomicI64,
}

impl Upstream {
    /// A client for the upstream at the address in the variable `base`, or else at `default`. It sends the
    /// header `USER_AGENT` of the environment, and `key` if there is one.
    pub fn of(
        config: &Config,
        base: &'static str,
        default: &'static str,
        key: Option<HeaderValue>,
    ) -> Result<Self, ClientError> {
        let base = match config.address(base)? {
            Some(address) => address,
            None => Url::parse(default).map_err(|_| ConfigError::new(base, "an address"))?,
        };
        let user_agent = config.header("USER_AGENT")?.unwrap_or(USER_AGENT);
        // The HTTP client leaves bodies compressed: decompressing them in one go takes half the time.
        let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]);
        let client = http::client(|client| client.user_agent(user_agent).default_headers(headers))?;
        let blocked_until = AtomicI64::new(i64::MIN);
        Ok(Self { client, base, key, pause_after_refusal: None, blocked_until })
    }

    /// Returns the same client for an upstream that limits requests per IP address. Such an upstream responds
    /// with 403 or 429. If the response does not give a wait, no request is sent for `pause`. Lambda's
    /// addresses are shared, so requests of other AWS customers also count.
    #[must_use]
    pub fn limited_by_address(self, pause: Duration) -> Self {
        Self { pause_after_refusal: Some(pause), ..self }
    }

    /// A client for the game's provider, at `HYPIXEL_BASE_URL` or its real address. It sends `key` if there
    /// is one.
    pub fn provider(config: &Config, key: Option<HeaderValue>) -> Result<Self, ClientError> {
        Self::of(config, "HYPIXEL_BASE_URL", "https://api.hypixel.net", key)
    }

    /// Opens a connection while the function starts.
    pub async fn warm_up(&self) {
        http::warm_up(&self.client, &self.base).await;
    }

    /// Returns the response to `request`. A failed connection, a 5xx, and the 404 of a path without a
    /// parameter are retried once, unless the upstream has just failed.
    ///
    /// # Errors
    /// If there is no response, or if it has an unexpected status or an unreadable body. While an earlier
    /// response limits the rate of requests, nothing is sent, and the error is `RateLimited`.
    pub async fn get(
        &self,
        invocation: &Invocation,
        request: &UpstreamRequest<'_>,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let response = self.attempts(invocation, request);
        invocation.waiting_for(self.within_limits(invocation, request, response)).await
    }

    /// Returns the response to `request`, without a retry. Does not add its time to the invocation's waiting
    /// time: the caller sends many requests at a limited rate, and adds the time that all of them take
    /// together.
    ///
    /// # Errors
    /// The same as for [`Upstream::get`].
    pub async fn get_once(
        &self,
        invocation: &Invocation,
        request: &UpstreamRequest<'_>,
    ) -> Result<UpstreamResponse, UpstreamError> {
        self.within_limits(invocation, request, self.attempt(invocation, request)).await
    }

    async fn within_limits(
        &self,
        invocation: &Invocation,
        request: &UpstreamRequest<'_>,
        response: impl Future<Output = Result<UpstreamResponse, UpstreamError>>,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let blocked_until = UnixMilliseconds::new(self.blocked_until.load(Ordering::Relaxed));
        if invocation.now() < blocked_until {
            // A limit of the present must not block an event from far in the past.
            let wait = blocked_until.distance(invocation.now());
            if wait <= LONGEST_WAIT {
                return Err(UpstreamError::RateLimited { wait });
            }
        }
        let in_time = timeout_at(invocation.upstream_deadline(), response).await;
        in_time.unwrap_or_else(|_| {
            Err(UpstreamError::Timeout { path: self.secrets(request).masked(request.path) })
        })
    }

    async fn attempts(
        &self,
        invocation: &Invocation,
        request: &UpstreamRequest<'_>,
    ) -> Result<UpstreamResponse, UpstreamError> {
        match self.attempt(invocation, request).await {
            Err(failure) if invocation.may_retry() && is_transient(&failure, request) => {
                invocation.note_retry(chain(&failure));
                tokio::time::sleep(Duration::from_millis(fastrand::u64(RETRY_PAUSE_MS))).await;
                self.attempt(invocation, request).await
            }
            result => result,
        }
    }

    async fn attempt(
        &self,
        invocation: &Invocation,
        request: &UpstreamRequest<'_>,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let now = invocation.now();
        let secrets = self.secrets(request);
        let path = secrets.masked(request.path);
        let mut builder = self.client.get(self.url(request));
        if let Some(key) = &self.key {
            builder = builder.header(API_KEY, key);
        }
        let response = builder.send().await.map_err(|error| failure(&path, error))?;
        let status = response.status();
        let headers = response.headers().clone();
        invocation.note_age(age(&headers));
        let is_refused_address = status == StatusCode::FORBIDDEN && self.pause_after_refusal.is_some();
        let is_limited = status == StatusCode::TOO_MANY_REQUESTS || is_refused_address;
        let wait = if is_limited {
            let requested = requested_wait(&headers, now);
            if requested.is_zero() { self.pause_after_refusal.unwrap_or_default() } else { requested }
        } else if self.key.is_some() {
            wait_for_pace(&headers)
        } else {
            // Without a key, requests are not paced: the provider counts them per IP address, which other
            // functions can share.
            Duration::ZERO
        };
        if !wait.is_zero() {
            self.block(now, wait);
        }
        let read = body::read(&path, response).await;
        let body = read.and_then(|compressed| body::decompress(&path, &headers, compressed));
        if matches!(status, StatusCode::OK | StatusCode::NO_CONTENT)
            || request.expected_statuses.contains(&status)
        {
            return Ok(UpstreamResponse { path, status, body: Arc::new(body?), secrets });
        }
        let text = body.unwrap_or_else(|unreadable| unreadable.to_string());
        let is_of_provider = is_error_of_provider(&text);
        let body = secrets.beginning_of(&text);
        if is_limited {
            return Err(UpstreamError::TooManyRequests { path, status, body, wait });
        }
        if self.key.is_some() && status == StatusCode::FORBIDDEN && is_of_provider {
            return Err(UpstreamError::KeyRefused { path, status, body });
        }
        Err(UpstreamError::Status { path, status, body })
    }

    fn secrets(&self, request: &UpstreamRequest<'_>) -> Secrets {
        Secrets::new(self.key.clone(), request.player)
    }

    /// Blocks requests for `wait` after `now`. If several responses block requests, the latest end counts.
    fn block(&self, now: UnixMilliseconds, wait: Duration) {
        let until = now.plus(wait);
        let later = |current| {
            let current = UnixMilliseconds::new(current);
            // A stored time that is too far from `now` does not count.
            (until > current || current.distance(now) > LONGEST_WAIT).then_some(until.get())
        };
        // An error means that the stored time is not earlier, and stays.
        let _ = self.blocked_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
    }

    fn url(&self, request: &UpstreamRequest<'_>) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{}", self.base.path().trim_end_matches('/'), request.path));
        if let Some((name, value)) = request.parameter {
            url.query_pairs_mut().append_pair(name, value);
        }
        url
    }
}

/// The body of every error of the provider.
#[derive(Deserialize)]
struct ProviderError {
    success: bool,
    #[serde(rename = "cause")]
    _cause: String,
}

/// Whether the body of an error is from the provider. A firewall in front of the provider sends other bodies,
/// and does not check keys.
fn is_error_of_provider(body: &str) -> bool {
    serde_json::from_str(body).is_ok_and(|Object(error): Object<ProviderError>| !error.success)
}

/// The `Age` of a response in seconds, if it is a whole number of at most [`LARGEST_AGE`].
fn age(headers: &HeaderMap) -> Option<u64> {
    rate_limit::text(headers, &header::AGE).and_then(rate_limit::number).filter(|age| *age <= LARGEST_AGE)
}

/// Whether an immediate retry may succeed. A 404 is a failure only if the request does not expect a 404.
/// Without a parameter, the requested path is known to exist, but the provider sometimes returns a 404 for a
/// moment during a refresh.
fn is_transient(failure: &UpstreamError, request: &UpstreamRequest<'_>) -> bool {
    match failure {
        UpstreamError::Unreachable { .. } => true,
        UpstreamError::Status { status: StatusCode::NOT_FOUND, .. } => request.parameter.is_none(),
        UpstreamError::Status { status, .. } => status.is_server_error(),
        _ => false,
    }
}

fn failure(path: &str, error: reqwest::Error) -> UpstreamError {
    let path = path.to_owned();
    // The query of the URL identifies a player; the path is enough for the log.
    let error = error.without_url();
    if error.is_timeout() && !error.is_connect() {
        return UpstreamError::Timeout { path };
    }
    let cause = error.source().map_or_else(|| error.to_string(), chain);
    UpstreamError::Unreachable { path, cause }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    fn upstream(base: &str) -> Upstream {
        let base = base.to_owned();
        let config = Config::from_lookup(move |name| (name == "BASE").then(|| base.clone()));
        Upstream::of(&config, "BASE", "", None).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn start_up_opens_a_connection_with_tls_only_and_does_not_wait_for_a_silent_server() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = silent.local_addr().unwrap();
        let start = Instant::now();
        upstream(&format!("https://{address}")).warm_up().await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        silent.accept().await.unwrap();

        upstream(&format!("http://{address}")).warm_up().await;
        let more = tokio::time::timeout(Duration::from_millis(100), silent.accept()).await;
        assert!(more.is_err(), "without TLS there is nothing to warm up");
    }

    #[test]
    fn of_several_rate_limits_the_longest_holds_if_it_is_of_this_time() {
        let upstream = upstream("http://127.0.0.1:1");
        let now = UnixMilliseconds::new(1_777_388_600_000);
        let blocked_for = |now: UnixMilliseconds, seconds| {
            upstream.block(now, Duration::from_secs(seconds));
            upstream.blocked_until.load(Ordering::Relaxed) - now.get()
        };
        assert_eq!(blocked_for(now, 60), 60_000);
        assert_eq!(blocked_for(now, 0), 60_000);
        assert_eq!(blocked_for(now, 61), 61_000);
        let future = now.plus(Duration::from_hours(9_000));
        assert_eq!(blocked_for(future, 0), 0);
        assert_eq!(blocked_for(now, 5), 5_000);
    }

    /// A server that sends this response to the first request.
    async fn responding(response: &'static str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 4_096]).await.unwrap() > 0);
            stream.write_all(response.as_bytes()).await.unwrap();
        });
        format!("http://{address}")
    }

    /// The response to the last request that is allowed in a window. Pacing then requires a wait of 70
    /// seconds.
    const AT_THE_LIMIT: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\
        RateLimit-Limit: 300\r\nRateLimit-Remaining: 0\r\nRateLimit-Reset: 100\r\n\r\n{}";

    /// Returns how many seconds an upstream with this key waits after [`AT_THE_LIMIT`].
    async fn wait_at_the_limit(key: Option<&'static str>) -> i64 {
        let base = responding(AT_THE_LIMIT);
        let upstream = Upstream { key: key.map(HeaderValue::from_static), ..upstream(&base.await) };
        let now = UnixMilliseconds::new(1_777_388_600_000);
        let invocation = Invocation::new(now, Instant::now() + Duration::from_secs(10));
        upstream.get(&invocation, &UpstreamRequest::of("/")).await.unwrap();
        (upstream.blocked_until.load(Ordering::Relaxed).saturating_sub(now.get()) / 1_000).max(0)
    }

    #[tokio::test]
    async fn requests_are_paced_with_a_key_only() {
        assert_eq!(wait_at_the_limit(Some("key")).await, 70);
        assert_eq!(wait_at_the_limit(None).await, 0);
    }

    #[tokio::test]
    async fn a_response_of_a_request_that_ran_already_does_not_end_the_wait_of_a_429_early() {
        let base = responding(AT_THE_LIMIT);
        let upstream = Upstream { key: Some(HeaderValue::from_static("key")), ..upstream(&base.await) };
        let now = UnixMilliseconds::new(1_777_388_600_000);
        let request = UpstreamRequest::of("/");
        let invocation = Invocation::new(now, Instant::now() + Duration::from_secs(10));
        let running = upstream.attempt(&invocation, &request);
        upstream.block(now, Duration::from_secs(100));
        running.await.unwrap();
        assert_eq!(upstream.blocked_until.load(Ordering::Relaxed), now.plus(Duration::from_secs(100)).get());
    }

    #[test]
    fn a_base_address_may_have_a_path() {
        let request = UpstreamRequest { parameter: Some(("page", "1&2")), ..UpstreamRequest::of("/v2/x") };
        let url = |base: &str| upstream(base).url(&request).to_string();
        assert_eq!(url("http://127.0.0.1:1"), "http://127.0.0.1:1/v2/x?page=1%262");
        assert_eq!(url("http://127.0.0.1:1/at/5/"), "http://127.0.0.1:1/at/5/v2/x?page=1%262");
    }
}
