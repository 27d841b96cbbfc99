//! The deployment that is asked.

use std::cell::{Cell, RefCell};
use std::io::Read as _;
use std::time::Duration;

use common::error::chain;
use flate2::read::GzDecoder;
use indicatif::ProgressBar;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use reqwest::{Client, Url};
use tokio::time::{Instant, sleep};

use super::answer::Answer;
use super::pace::Pace;
use super::question::Question;
use super::report::Failure;
use crate::error::Error;

/// How long an answer may take. API Gateway gives up after 29 s.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long all requests together wait after a 429 to be made again, and how long one waits at the most.
const PATIENCE: Duration = Duration::from_mins(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// How many requests in a row may be without an answer before no more are made.
const SILENCES: u32 = 3;
/// More than API Gateway ever sends, and more than any of it holds when it is unpacked.
const LONGEST_BODY: usize = 16 * 1024 * 1024;
const LONGEST_TEXT: u64 = 128 * 1024 * 1024;

/// A deployment.
pub(super) struct Target {
    base: String,
    client: Client,
    pace: RefCell<Pace>,
    /// How many requests in a row had no answer.
    silences: Cell<u32>,
    asked: Cell<u32>,
    throttled: Cell<u32>,
    /// How long may still be waited after a 429.
    patience: Cell<Duration>,
    progress: ProgressBar,
}

impl Target {
    /// The deployment at `base`, asked `rate` times a second with a key that counts.
    ///
    /// # Errors
    /// If nobody can be asked.
    pub(super) fn new(base: &str, rate: f64, progress: ProgressBar) -> Result<Self, Error> {
        let agent = concat!("game-data-query-service-check/", env!("CARGO_PKG_VERSION"));
        let client = common::http::client(|builder| builder.timeout(TIMEOUT).user_agent(agent))?;
        Ok(Self {
            base: base.to_owned(),
            client,
            pace: RefCell::new(Pace::new(rate)),
            silences: Cell::new(0),
            asked: Cell::new(0),
            throttled: Cell::new(0),
            patience: Cell::new(PATIENCE),
            progress,
        })
    }

    /// How many requests were made.
    pub(super) fn asked(&self) -> u32 {
        self.asked.get()
    }

    /// How many of them were made again because of a 429.
    pub(super) fn throttled(&self) -> u32 {
        self.throttled.get()
    }

    /// The answer, asked for not too fast, and again where that was too fast all the same.
    ///
    /// # Errors
    /// If there is none.
    pub(super) async fn ask(&self, question: &Question) -> Result<Answer, Failure> {
        loop {
            if question.is_counted {
                let pause = self.pace.borrow_mut().take(Instant::now());
                sleep(pause).await;
            }
            let answer = self.ask_once(question).await?;
            let pause = answer.retry_after().unwrap_or_default().max(SHORTEST_PAUSE);
            if answer.status != 429 || pause > LONGEST_PAUSE {
                return Ok(answer);
            }
            let Some(left) = self.patience.get().checked_sub(pause) else { return Ok(answer) };
            self.patience.set(left);
            self.throttled.set(self.throttled.get() + 1);
            sleep(pause).await;
        }
    }

    /// The answer to this very request.
    ///
    /// # Errors
    /// If there is none.
    pub(super) async fn ask_once(&self, question: &Question) -> Result<Answer, Failure> {
        let failed = |came: String| {
            Failure::new("an answer", format!("{} {}: {came}", question.method, question.path))
        };
        // Appended to the base address, anything else could make another host of it.
        if !question.path.starts_with('/') {
            return Err(failed("not asked, because that is no path".to_owned()));
        }
        if self.silences.get() >= SILENCES {
            return Err(failed(format!("not asked, because the last {SILENCES} requests had no answer")));
        }
        let answer = self.send(question).await;
        self.asked.set(self.asked.get() + 1);
        self.progress.inc(1);
        self.silences.set(if answer.is_ok() { 0 } else { self.silences.get() + 1 });
        answer.map_err(failed)
    }

    /// # Errors
    /// Why there is no answer.
    async fn send(&self, question: &Question) -> Result<Answer, String> {
        let reason = |error: reqwest::Error| {
            if error.is_timeout() { "no answer in time".to_owned() } else { chain(&error.without_url()) }
        };
        let url = format!("{}{}", self.base, question.path);
        let mut request = self.client.request(question.method.clone(), url);
        for (name, value) in &question.headers {
            request = request.header(*name, value);
        }
        if let Some(encoding) = question.encoding {
            request = request.header(ACCEPT_ENCODING, encoding);
        }
        let started = Instant::now();
        let mut response = request.send().await.map_err(reason)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(reason)? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_BODY {
                return Err(format!("more than {LONGEST_BODY} bytes"));
            }
        }
        let elapsed = started.elapsed();
        let sent_bytes = body.len();
        // The answer to HEAD may name an encoding and has no body.
        let is_packed =
            headers.get(CONTENT_ENCODING).is_some_and(|value| value == "gzip") && !body.is_empty();
        let body = if is_packed {
            unpacked(&body).map_err(|error| format!("a broken gzip body: {error}"))?
        } else {
            body
        };
        let text = String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Answer { status, headers, text, sent_bytes, elapsed })
    }
}

fn unpacked(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    GzDecoder::new(body).take(LONGEST_TEXT).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// A base address, without a slash at its end. It is not repeated where it may hold a secret.
pub(super) fn base(text: &str) -> Result<String, &'static str> {
    let url: Url = text.parse().map_err(|_| "it must be an address like https://api.example.com/live")?;
    if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
        return Err("it must begin with https:// or http://");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it must have neither a query (?) nor a fragment (#): paths are appended to it");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must have neither a user nor a password");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_address_is_what_paths_can_be_appended_to() {
        for (text, expected) in [
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("https://x.example/live/", "https://x.example/live"),
        ] {
            assert_eq!(base(text).unwrap(), expected);
        }
        for text in
            ["", "x", "/v1", "ftp://x", "mailto:a@b", "http://x?a", "http://x#a", "https://a:b@x", "http://"]
        {
            assert!(base(text).is_err(), "{text}");
        }
    }
}
