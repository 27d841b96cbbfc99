//! The client for the game's provider and for the name service: one place for timeouts, the retry, the bounds and the
//! provider's rate limit. A file per resource below says what the service reads of it.
//!
//! What goes wrong here is described for the log ([`UpstreamError`]); callers never read it.

pub mod auctions;
pub mod bazaar;
pub mod election;
pub mod fire_sales;
pub mod mojang;
pub mod profiles;
pub mod resources;

use std::error::Error as _;
use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::read::MultiGzDecoder;
pub use lambda_http::http::StatusCode;
use lambda_http::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::time::timeout_at;

use crate::cache::SourceError;
use crate::error::{ApiError, chain};
use crate::http::{self, ClientError};
use crate::invocation::Invocation;
use crate::params::Echo;
use crate::time::UnixMilliseconds;

/// How many bytes a body may have, on the wire and unpacked.
const LARGEST_BODY: usize = 32 * 1024 * 1024;
/// Between which bounds the pause before the retry is drawn, in milliseconds.
const RETRY_PAUSE_MS: std::ops::RangeInclusive<u64> = 50..=250;
/// For how long a rate limit is believed at the most.
const LONGEST_BLOCK: Duration = Duration::from_hours(1);
/// How many characters of somebody else's words a cause repeats.
const LONGEST_CAUSE: usize = 256;

const API_KEY: HeaderName = HeaderName::from_static("api-key");
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Why an upstream gave no usable answer. For the log; it holds no key.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// No connection, or it broke before an answer began.
    #[error("cannot reach the upstream for {path}: {cause}")]
    Unreachable {
        /// The path that was asked for.
        path: String,
        /// What the HTTP client says.
        cause: String,
    },
    /// No answer in time.
    #[error("the upstream did not answer {path} in time")]
    Timeout {
        /// The path that was asked for.
        path: String,
    },
    /// The body ended early, is too large or cannot be unpacked.
    #[error("the upstream's answer to {path} cannot be read: {cause}")]
    Unreadable {
        /// The path that was asked for.
        path: String,
        /// What is wrong with the body.
        cause: String,
    },
    /// Another status than expected.
    #[error("the upstream answered {path} with {status}: {body}")]
    Status {
        /// The path that was asked for.
        path: String,
        /// The status.
        status: StatusCode,
        /// How the body begins.
        body: String,
    },
    /// Too many requests: now, or not long ago.
    #[error("the upstream limits the rate of requests for another {} s", wait.as_secs())]
    RateLimited {
        /// How long it must be left alone; zero if it did not say.
        wait: Duration,
    },
    /// It did not answer in time a moment ago, and is not asked while there is something else to serve.
    #[error("the upstream did not answer in time a moment ago")]
    Paused,
    /// A body that is not what it should be.
    #[error("the upstream's answer to {path} makes no sense: {cause}; it begins: {body}")]
    Nonsense {
        /// The path that was asked for.
        path: String,
        /// What is wrong with it.
        cause: String,
        /// How the body begins.
        body: String,
    },
}

impl SourceError for UpstreamError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    fn paused() -> Self {
        Self::Paused
    }
}

impl From<UpstreamError> for ApiError {
    fn from(error: UpstreamError) -> Self {
        let wait = match &error {
            UpstreamError::RateLimited { wait } if !wait.is_zero() => Some(*wait),
            _ => None,
        };
        Self::internal(error).retry_after(wait)
    }
}

/// What an upstream is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The path, which begins with a slash.
    pub path: &'a str,
    /// The query's parameter, if there is one: name and value.
    pub parameter: Option<(&'a str, &'a str)>,
    /// The statuses by which the upstream says that there is no such thing. They are answers; others but 200 and 204 are
    /// failures.
    pub refusals: &'a [StatusCode],
}

impl<'a> Question<'a> {
    /// The question for what stands at `path` and has to be there.
    #[must_use]
    pub const fn of(path: &'a str) -> Self {
        Self { path, parameter: None, refusals: &[] }
    }
}

/// An answer of an upstream to the question itself, not a failure to answer it.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The path that was asked for.
    pub path: String,
    /// The status.
    pub status: StatusCode,
    /// The body, unpacked.
    pub body: Arc<String>,
    /// The key that was shown, so that no error repeats it.
    key: Option<HeaderValue>,
}

impl Reply {
    /// The good answer `body` to a question for `path` that needed no key.
    #[must_use]
    pub fn new(path: &str, body: String) -> Self {
        Self { path: path.to_owned(), status: StatusCode::OK, body: Arc::new(body), key: None }
    }

    /// The body read as `T`, which borrows from it.
    ///
    /// # Errors
    /// [`UpstreamError::Nonsense`] where the body is no JSON, of another shape, or says `success: false`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, UpstreamError> {
        serde_json::from_str(&self.body).map_err(|error| self.nonsense(error))
    }

    /// That this answer is not what it should be, because of `cause`.
    #[must_use]
    pub fn nonsense(&self, cause: impl fmt::Display) -> UpstreamError {
        let key = self.key.as_ref();
        // The parser's words can quote the body, and the whole of it.
        let cause = Echo::up_to(LONGEST_CAUSE, &without_key(key, &cause.to_string())).to_string();
        let beginning: String = self.body.chars().take(LONGEST_CAUSE).collect();
        let body = Echo::of(&without_key(key, &beginning)).to_string();
        UpstreamError::Nonsense { path: self.path.clone(), cause, body }
    }
}

/// The text with the key taken out, should an upstream repeat it: for the log.
fn without_key(key: Option<&HeaderValue>, text: &str) -> String {
    match key.and_then(|key| key.to_str().ok()) {
        Some(key) => text.replace(key, "[key]"),
        None => text.to_owned(),
    }
}

/// `success: true`, as every good answer of the game's provider has it. Reading anything else as this fails.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "bool")]
pub struct Success;

impl TryFrom<bool> for Success {
    type Error = &'static str;

    fn try_from(success: bool) -> Result<Self, Self::Error> {
        if success { Ok(Self) } else { Err("it says success: false") }
    }
}

/// One upstream: its address, its connections, and whether it wants to be left alone.
#[derive(Debug)]
pub struct Upstream {
    client: Client,
    base: Url,
    key: Option<HeaderValue>,
    /// In Unix milliseconds, by the clock of the events.
    blocked_until: AtomicI64,
}

impl Upstream {
    /// A client for the upstream at `base`, which introduces itself as `user_agent` and shows `key` if there is one.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn new(base: Url, user_agent: &HeaderValue, key: Option<HeaderValue>) -> Result<Self, ClientError> {
        // The client leaves bodies packed: unpacking in one go takes half the time of unpacking as they come.
        let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]);
        let client = http::client(|client| client.user_agent(user_agent).default_headers(headers))?;
        Ok(Self { client, base, key, blocked_until: AtomicI64::new(i64::MIN) })
    }

    /// Opens a connection while the function starts.
    pub async fn warm_up(&self) {
        http::warm_up(&self.client, &self.base).await;
    }

    /// The answer to `question`. A failed connection and a 5xx are tried once more.
    ///
    /// # Errors
    /// If there is no answer, or one with a status that the question does not expect, or one that cannot be read.
    pub async fn get(
        &self,
        invocation: &Invocation,
        question: &Question<'_>,
    ) -> Result<Reply, UpstreamError> {
        invocation.waiting_for(self.within_limits(invocation, question)).await
    }

    async fn within_limits(
        &self,
        invocation: &Invocation,
        question: &Question<'_>,
    ) -> Result<Reply, UpstreamError> {
        let blocked_until = UnixMilliseconds::new(self.blocked_until.load(Ordering::Relaxed));
        if invocation.now() < blocked_until {
            // An event from far in the past must not wait for a limit of today.
            let wait = blocked_until.distance(invocation.now());
            if wait <= LONGEST_BLOCK {
                return Err(UpstreamError::RateLimited { wait });
            }
        }
        let in_time = timeout_at(invocation.upstream_deadline(), self.attempts(invocation, question)).await;
        in_time.unwrap_or_else(|_| Err(UpstreamError::Timeout { path: question.path.to_owned() }))
    }

    async fn attempts(
        &self,
        invocation: &Invocation,
        question: &Question<'_>,
    ) -> Result<Reply, UpstreamError> {
        match self.attempt(invocation.now(), question).await {
            Err(failure) if is_transient(&failure) => {
                invocation.note_retry(chain(&failure));
                tokio::time::sleep(Duration::from_millis(fastrand::u64(RETRY_PAUSE_MS))).await;
                self.attempt(invocation.now(), question).await
            }
            reply => reply,
        }
    }

    async fn attempt(&self, now: UnixMilliseconds, question: &Question<'_>) -> Result<Reply, UpstreamError> {
        let path = question.path;
        let mut request = self.client.get(self.url(question));
        if let Some(key) = &self.key {
            request = request.header(API_KEY, key);
        }
        let response = request.send().await.map_err(|error| failure(path, error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status == StatusCode::TOO_MANY_REQUESTS {
            let wait = asked_wait(&headers, now);
            self.blocked_until.store(now.plus(wait).get(), Ordering::Relaxed);
            return Err(UpstreamError::RateLimited { wait });
        }
        let body = read(path, response).await.and_then(|packed| unpack(path, &headers, packed));
        if matches!(status, StatusCode::OK | StatusCode::NO_CONTENT) || question.refusals.contains(&status) {
            return Ok(Reply { path: path.to_owned(), status, body: Arc::new(body?), key: self.key.clone() });
        }
        let body = body.unwrap_or_else(|unreadable| unreadable.to_string());
        let body = Echo::of(&without_key(self.key.as_ref(), &body)).to_string();
        Err(UpstreamError::Status { path: path.to_owned(), status, body })
    }

    fn url(&self, question: &Question<'_>) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{}", self.base.path().trim_end_matches('/'), question.path));
        if let Some((name, value)) = question.parameter {
            url.query_pairs_mut().append_pair(name, value);
        }
        url
    }
}

/// Whether a second attempt may succeed at once.
fn is_transient(failure: &UpstreamError) -> bool {
    match failure {
        UpstreamError::Unreachable { .. } => true,
        UpstreamError::Status { status, .. } => status.is_server_error(),
        _ => false,
    }
}

fn failure(path: &str, error: reqwest::Error) -> UpstreamError {
    let path = path.to_owned();
    // The address has the player's identity in its query; the path says enough.
    let error = error.without_url();
    if error.is_timeout() && !error.is_connect() {
        return UpstreamError::Timeout { path };
    }
    let cause = error.source().map_or_else(|| error.to_string(), chain);
    UpstreamError::Unreachable { path, cause }
}

/// The body as it comes over the wire.
async fn read(path: &str, mut response: reqwest::Response) -> Result<Vec<u8>, UpstreamError> {
    let unreadable = |cause: String| UpstreamError::Unreadable { path: path.to_owned(), cause };
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut packed = Vec::with_capacity(announced.min(LARGEST_BODY));
    loop {
        let chunk = response.chunk().await.map_err(|error| unreadable(chain(&error.without_url())))?;
        let Some(chunk) = chunk else { return Ok(packed) };
        if packed.len() + chunk.len() > LARGEST_BODY {
            return Err(unreadable(format!("it has more than {LARGEST_BODY} bytes")));
        }
        packed.extend_from_slice(&chunk);
    }
}

/// The text in a body.
fn unpack(path: &str, headers: &HeaderMap, packed: Vec<u8>) -> Result<String, UpstreamError> {
    let unreadable = |cause: String| UpstreamError::Unreadable { path: path.to_owned(), cause };
    let plain = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => packed,
        Some(b"gzip") => inflate(&packed).map_err(|error| unreadable(error.to_string()))?,
        Some(other) => {
            return Err(unreadable(format!("unknown encoding {}", String::from_utf8_lossy(other))));
        }
    };
    if plain.len() > LARGEST_BODY {
        return Err(unreadable(format!("it unpacks to more than {LARGEST_BODY} bytes")));
    }
    String::from_utf8(plain).map_err(|error| unreadable(error.to_string()))
}

/// At most one byte more than the bound, so that the caller can tell.
fn inflate(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    // The last four bytes say how long the text is, if the packer told the truth and wrote one member.
    let announced = packed.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
    let mut plain = Vec::with_capacity(announced.min(LARGEST_BODY));
    MultiGzDecoder::new(packed).take(LARGEST_BODY as u64 + 1).read_to_end(&mut plain)?;
    Ok(plain)
}

/// How long a 429 asks to be left alone: `Retry-After` (seconds or a date) or `RateLimit-Reset` (seconds), the longer;
/// zero if it does not say.
fn asked_wait(headers: &HeaderMap, now: UnixMilliseconds) -> Duration {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
    };
    let until = |text: &str| {
        let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        let now = UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(now.get()).ok()?))?;
        SystemTime::duration_since(&UNIX_EPOCH.checked_add(date)?, now).ok()
    };
    let retry_after = text(&header::RETRY_AFTER).and_then(|text| seconds(text).or_else(|| until(text)));
    let reset = text(&RATE_LIMIT_RESET).and_then(seconds);
    retry_after.max(reset).unwrap_or(Duration::ZERO).min(LONGEST_BLOCK)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const NOW: UnixMilliseconds = UnixMilliseconds::new(1_777_388_600_000);

    fn wait(name: &HeaderName, value: &str) -> u64 {
        asked_wait(&HeaderMap::from_iter([(name.clone(), HeaderValue::from_str(value).unwrap())]), NOW)
            .as_secs()
    }

    #[test]
    fn a_rate_limit_is_honoured_in_every_spelling() {
        assert_eq!(wait(&RATE_LIMIT_RESET, "42"), 42);
        assert_eq!(wait(&header::RETRY_AFTER, "7"), 7);
        assert_eq!(wait(&header::RETRY_AFTER, "Tue, 28 Apr 2026 15:04:20 GMT"), 60);
    }

    #[test]
    fn a_rate_limit_that_makes_no_sense_is_no_longer_than_an_hour() {
        assert_eq!(wait(&header::RETRY_AFTER, "18446744073709551615"), 3_600);
        assert_eq!(wait(&RATE_LIMIT_RESET, "99999999999999999999999"), 3_600);
        for nonsense in ["", "-1", "1.5", "soon", "Mon, 01 Jan 2001 00:00:00 GMT"] {
            assert_eq!(wait(&header::RETRY_AFTER, nonsense), 0, "{nonsense}");
        }
    }

    fn upstream(base: &str) -> Upstream {
        Upstream::new(Url::parse(base).unwrap(), &HeaderValue::from_static("test"), None).unwrap()
    }

    #[tokio::test]
    async fn start_up_opens_a_connection_where_a_handshake_costs_and_waits_for_nobody() {
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
    fn a_base_address_may_have_a_path() {
        let question = Question { path: "/v2/x", parameter: Some(("page", "1&2")), refusals: &[] };
        let url = |base: &str| upstream(base).url(&question).to_string();
        assert_eq!(url("http://127.0.0.1:1"), "http://127.0.0.1:1/v2/x?page=1%262");
        assert_eq!(url("http://127.0.0.1:1/at/5/"), "http://127.0.0.1:1/at/5/v2/x?page=1%262");
    }

    #[test]
    fn what_unpacks_to_more_than_the_bound_is_refused() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let zeros = vec![b' '; 1024 * 1024];
        for _ in 0..=32 {
            encoder.write_all(&zeros).unwrap();
        }
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        let error = unpack("/", &headers, encoder.finish().unwrap()).unwrap_err();
        assert!(error.to_string().contains("33554432"), "{error}");
    }

    #[derive(Debug, Deserialize)]
    struct Answer {
        #[serde(rename = "success")]
        _success: Success,
    }

    #[test]
    fn a_failure_that_the_provider_admits_is_no_answer() {
        let read = |body: &str| Reply::new("/x", body.to_owned()).parse::<Answer>();
        let error = read(r#"{"success":false,"cause":"This endpoint is currently disabled"}"#).unwrap_err();
        assert!(error.to_string().contains("currently disabled"), "{error}");
        assert!(read("<html>").is_err());
        assert!(read(r#"{"success":true}"#).is_ok());
    }

    #[test]
    fn a_key_that_the_provider_repeats_is_in_no_error_and_its_letters_stay_in_the_data() {
        let mut reply = Reply::new("/x", r#"{"success":"kite"}"#.to_owned());
        reply.key = Some(HeaderValue::from_static("kite"));
        let error = reply.parse::<Answer>().unwrap_err().to_string();
        assert!(error.contains("[key]") && !error.contains("kite"), "{error}");
        assert!(reply.body.contains("kite"));
    }

    #[test]
    fn a_cause_does_not_grow_with_the_body() {
        let reply = Reply::new("/x", format!("\"{}\"", "x".repeat(100_000)));
        let error = reply.parse::<Success>().unwrap_err();
        assert!(error.to_string().len() < 500, "{error}");
    }
}
