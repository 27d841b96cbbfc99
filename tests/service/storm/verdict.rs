//! Whether a response is right: it follows from one snapshot that the upstream served, it is not too old, and its headers tell
//! the truth; or it is an error with a reason.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::upstream::{auctions, bazaar};
use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use simulator::names;

use super::exchange::{Caller, Exchange};
use super::journal::{Failure, Journal, Serving};
use super::past;
use super::query::Kind;
use super::snapshot::Snapshot;
use crate::oracle::{Data, Facts, Source};
use crate::support::{AUTHORIZER, Response};

/// The longest that the gateway waits for an invocation. A stage cache adds it to the age, and a function to the time of a fetch.
const INVOCATION_MS: i64 = 29_000;

/// How long a line of a log may take to arrive.
const PATIENCE: Duration = Duration::from_mins(1);

/// Checks the responses of one cloud.
pub(super) struct ResponseCheck<'a> {
    pub(super) journal: &'a Journal,
    pub(super) has_stage_cache: bool,
    pub(super) seed: u64,
}

/// What a response turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Right,
    /// Right and stale, because a refresh failed.
    Stale,
    /// A right 400, 401, 403 or 404.
    RightError,
    Throttled,
    HonestFailure,
}

/// The times in the headers of a success, in Unix milliseconds.
struct Times {
    fetched_ms: i64,
}

impl ResponseCheck<'_> {
    /// Returns what the response is.
    ///
    /// # Errors
    /// Why it is wrong.
    pub(super) fn verdict(&self, exchange: &Exchange) -> Result<Verdict, String> {
        let response = &exchange.response;
        expect_headers(response)?;
        match response.status.as_u16() {
            200 if exchange.query.kind != Kind::Status
                && !matches!(exchange.caller, Caller::Pro | Caller::Starter) =>
            {
                Err("a caller without a right got a response".to_owned())
            }
            200 => self.success(exchange),
            status => self.error(exchange, status),
        }
    }

    fn error(&self, exchange: &Exchange, status: u16) -> Result<Verdict, String> {
        let Exchange { query, caller, response, .. } = exchange;
        expect_error_envelope(response, status)?;
        let needs_key = query.kind != Kind::Status;
        let has_right = matches!(caller, Caller::Pro | Caller::Starter);
        let is_right = match status {
            400 => has_right && query.kind == Kind::Invalid,
            401 => needs_key && matches!(caller, Caller::Revoked | Caller::WithoutKey),
            403 => needs_key && *caller == Caller::Lapsed,
            404 => has_right && self.may_be_unknown(exchange),
            429 if *caller == Caller::Starter => return Ok(Verdict::Throttled),
            // The route without a key has a throttle of its own.
            429 if !needs_key => return Ok(Verdict::Throttled),
            500 if (*caller != Caller::WithoutKey || !needs_key) && self.is_explained(exchange) => {
                if self.has_stage_cache && response.headers["retry-after"] != "5" {
                    return Err(format!("Retry-After is {:?}", response.headers["retry-after"]));
                }
                return Ok(Verdict::HonestFailure);
            }
            _ => false,
        };
        if is_right {
            Ok(Verdict::RightError)
        } else {
            Err(format!("a {status} without a reason: {}", response.text))
        }
    }

    /// Whether a 404 is right.
    fn may_be_unknown(&self, exchange: &Exchange) -> bool {
        let Exchange { query, sent, .. } = exchange;
        let [usual, stale, usual_stored, stale_stored] = query.ages();
        match &query.kind {
            Kind::NoPage | Kind::NoPlayer | Kind::NoCandles => true,
            // An instance that has no page yet cannot know how many there are.
            Kind::Page(0) => false,
            Kind::Page(_) => {
                let oldest_ms = sent.cloud_ms
                    - 1_000 * if self.has_stage_cache { usual_stored } else { usual }
                    - INVOCATION_MS;
                self.journal.has_lost_page_since(oldest_ms)
            }
            Kind::Item(id) | Kind::Book(id) => {
                let oldest_ms = sent.cloud_ms
                    - 1_000 * if self.has_stage_cache { stale_stored } else { stale }
                    - INVOCATION_MS;
                let served = self.journal.servings(&Source::Bazaar);
                let mut served = served.iter().filter(|serving| serving.sent.cloud_ms >= oldest_ms);
                served.any(|serving| match serving.snapshot.facts() {
                    Facts::Bazaar(market) => market.is_usable && !market.products.contains_key(id),
                    Facts::Single(_) => false,
                })
            }
            _ => false,
        }
    }

    /// Whether the function or the authorizer has logged a cause since the request was sent.
    fn is_explained(&self, exchange: &Exchange) -> bool {
        let has_failed =
            |function| self.journal.has_failed(function, |failure| failure.logged.real >= exchange.sent.real);
        let started = Instant::now();
        loop {
            if has_failed(exchange.query.function) || has_failed(AUTHORIZER) {
                return true;
            }
            if started.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn success(&self, exchange: &Exchange) -> Result<Verdict, String> {
        let Exchange { query, sent, response, .. } = exchange;
        let (data, is_cached) = success_envelope(&response.text)?;
        let times = Times::of(response, query.ages()[0] * 1_000)?;
        let age_ms = sent.cloud_ms - times.fetched_ms;
        let [usual, stale, usual_stored, stale_stored] = query.ages();
        // A header has whole seconds.
        let (usual_ms, longest_ms) = if self.has_stage_cache {
            (usual_stored * 1_000 + INVOCATION_MS + 1_000, stale_stored * 1_000 + INVOCATION_MS + 1_000)
        } else {
            (usual * 1_000 + 1_000, stale * 1_000 + 1_000)
        };
        if age_ms > longest_ms {
            return Err(format!("the data is {age_ms} ms old, allowed are {longest_ms}"));
        }
        let is_stale = age_ms > usual_ms;
        if is_stale {
            let is_reason = |failure: &Failure| failure.logged.cloud_ms >= times.fetched_ms;
            if !self.journal.has_failed(query.function, is_reason) {
                return Err(format!("the data is {age_ms} ms old, and no refresh has failed"));
            }
        }
        if !is_cached && times.fetched_ms < sent.cloud_ms - 1_000 {
            return Err("a response that was fetched earlier says cached: false".to_owned());
        }
        match self.expected_source(&query.kind)? {
            Some(source) => self.expect_snapshot(exchange, &source, data, is_cached, &times)?,
            None => past::expect_history(self.journal, exchange, data, times.fetched_ms)?,
        }
        Ok(if is_stale { Verdict::Stale } else { Verdict::Right })
    }

    /// The resource that the data must follow from; `None` for histories.
    fn expected_source(&self, kind: &Kind) -> Result<Option<Source>, String> {
        Ok(Some(match kind {
            Kind::Whole(source) => source.clone(),
            Kind::Full
            | Kind::List
            | Kind::Item(_)
            | Kind::Flips(_)
            | Kind::Items(_)
            | Kind::Book(_)
            | Kind::BestPrices => Source::Bazaar,
            Kind::Page(page) => Source::Auctions(*page),
            Kind::Player(name) => Source::Profiles(names::uuid(self.seed, name).unwrap()),
            Kind::MayorHistory(_)
            | Kind::FireSalesHistory(_)
            | Kind::Chart { .. }
            | Kind::Candles { .. }
            | Kind::Prices(_)
            | Kind::Averages(_)
            | Kind::AuctionCandles { .. }
            | Kind::Status => return Ok(None),
            Kind::NoPage | Kind::NoPlayer | Kind::NoCandles | Kind::Invalid => {
                return Err("a request that must fail got a response".to_owned());
            }
        }))
    }

    /// Expects the data to follow from one snapshot that was served at the time that the headers give.
    fn expect_snapshot(
        &self,
        exchange: &Exchange,
        source: &Source,
        data: &str,
        is_cached: bool,
        times: &Times,
    ) -> Result<(), String> {
        let kind = &exchange.query.kind;
        let parsed = match kind {
            Kind::Full | Kind::Whole(Source::Passed(_)) => None,
            _ => Some(serde_json::from_str::<Value>(data).map_err(|error| error.to_string())?),
        };
        let mut checked: Vec<(Arc<Snapshot>, bool)> = Vec::new();
        let mut untimely = None;
        for serving in self.journal.servings(source) {
            if serving.requested.real > exchange.received.real {
                continue;
            }
            let known = checked.iter().find(|(snapshot, _)| Arc::ptr_eq(snapshot, &serving.snapshot));
            let is_equal = if let Some((_, is_equal)) = known {
                *is_equal
            } else {
                let is_equal = self.follows(kind, &serving.snapshot, data, parsed.as_ref());
                checked.push((Arc::clone(&serving.snapshot), is_equal));
                is_equal
            };
            if !is_equal {
                continue;
            }
            match self.expect_time(exchange, source, &serving, is_cached, times) {
                Ok(()) => return Ok(()),
                Err(reason) => untimely = Some(reason),
            }
        }
        Err(untimely.unwrap_or_else(|| {
            format!("the data follows from none of {} snapshots: {data:.300}", checked.len())
        }))
    }

    /// Expects the headers to fit the time at which the data was served. Behind a stage cache, a function need not fetch what is still
    /// the latest: then `Last-Modified` is when that was known.
    fn expect_time(
        &self,
        exchange: &Exchange,
        source: &Source,
        serving: &Serving,
        is_cached: bool,
        times: &Times,
    ) -> Result<(), String> {
        let latest_for = match source {
            Source::Bazaar if self.has_stage_cache => bazaar::REFRESH,
            Source::Auctions(_) if self.has_stage_cache => auctions::REFRESH,
            _ => Duration::ZERO,
        };
        let late_ms = times.fetched_ms - serving.sent.cloud_ms;
        if late_ms > INVOCATION_MS + i64::try_from(latest_for.as_millis()).unwrap() {
            return Err(format!("Last-Modified is {late_ms} ms after the data was served"));
        }
        if !is_cached && serving.requested.real < exchange.sent.real {
            return Err("cached: false, but the data was fetched for another request".to_owned());
        }
        Ok(())
    }

    /// Whether the data follows from the snapshot. It is parsed unless it is passed on byte for byte.
    fn follows(&self, kind: &Kind, snapshot: &Snapshot, data: &str, parsed: Option<&Value>) -> bool {
        match (kind, snapshot.facts(), parsed) {
            (_, Facts::Bazaar(market), _) if !market.is_usable => false,
            (Kind::Full, Facts::Bazaar(market), _) => market.full == data,
            (_, Facts::Single(Some(Data::Verbatim(expected))), _) => expected == data,
            (_, Facts::Bazaar(market), Some(parsed)) => match kind {
                Kind::List => market.list() == *parsed,
                Kind::Item(id) => market.products.get(id) == Some(parsed),
                Kind::Flips(limit) => market.flips(*limit) == *parsed,
                Kind::Items(ids) => market.items(ids) == *parsed,
                Kind::Book(id) => market.book(id).as_ref() == Some(parsed),
                Kind::BestPrices => market.prices() == *parsed,
                _ => false,
            },
            (Kind::Player(name), Facts::Single(Some(Data::Parsed(profiles))), Some(parsed)) => {
                parsed["uuid"] == names::uuid(self.seed, name).unwrap()
                    && parsed["username"] == names::spelling(self.seed, name)
                    && parsed["profiles"] == *profiles
                    && parsed.as_object().is_some_and(|player| player.len() == 3)
            }
            (_, Facts::Single(Some(Data::Parsed(expected))), Some(parsed)) => expected == parsed,
            _ => false,
        }
    }
}

fn expect_headers(response: &Response) -> Result<(), String> {
    let expected = [
        ("content-type", "application/json"),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "Retry-After"),
        ("cache-control", if response.status == 200 { "private" } else { "no-store" }),
    ];
    for (name, value) in expected {
        if response.headers.get(name).is_none_or(|found| found != value) {
            return Err(format!("the header {name} is {:?}", response.headers.get(name)));
        }
    }
    Ok(())
}

fn expect_error_envelope(response: &Response, status: u16) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what}: {:?} {:.300}", response.headers, response.text));
    let code = match status {
        400 => "BAD_REQUEST",
        401 => "UNAUTHORIZED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        429 => "RATE_LIMITED",
        500 => "INTERNAL_ERROR",
        _ => return wrong("a status that is not documented"),
    };
    let Ok(body) = serde_json::from_str::<Value>(&response.text) else { return wrong("no JSON") };
    let message = body["error"]["message"].as_str().unwrap_or_default();
    if message.is_empty()
        || body != json!({"success": false, "error": {"code": code, "message": message}})
        || message.contains("junk")
        || message.contains("maintenance")
    {
        return wrong("another envelope");
    }
    let wait = response.headers.get("retry-after").and_then(|wait| wait.to_str().ok());
    let is_wait = |wait: &str| wait.parse().is_ok_and(|seconds: u64| (1..=3_600).contains(&seconds));
    if matches!(status, 429 | 500) != wait.is_some() || !wait.is_none_or(is_wait) {
        return wrong("another Retry-After");
    }
    if response.headers.contains_key("last-modified") || response.headers.contains_key("expires") {
        return wrong("an error with times");
    }
    Ok(())
}

/// The text of `data`, and `meta.cached`.
fn success_envelope(text: &str) -> Result<(&str, bool), String> {
    let wrong = || format!("another envelope: {text:.200}");
    let body: BTreeMap<&str, &RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let names: Vec<_> = body.keys().copied().collect();
    if names != ["data", "meta", "success"] || body["success"].get() != "true" {
        return Err(wrong());
    }
    let is_cached = match body["meta"].get() {
        r#"{"cached":true,"api_version":"v1"}"# => true,
        r#"{"cached":false,"api_version":"v1"}"# => false,
        _ => return Err(wrong()),
    };
    Ok((body["data"].get(), is_cached))
}

impl Times {
    /// Reads `Last-Modified` and `Expires`, which must be one TTL apart.
    fn of(response: &Response, ttl_ms: i64) -> Result<Self, String> {
        let read = |name: &str| -> Result<i64, String> {
            let value = response.headers.get(name).and_then(|value| value.to_str().ok());
            let value = value.ok_or_else(|| format!("without {name}"))?;
            let time = strtime::parse("%a, %d %b %Y %H:%M:%S GMT", value);
            let time = time.and_then(|time| time.to_datetime()).map_err(|error| error.to_string())?;
            let time = time.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
            Ok(Timestamp::from(time).as_millisecond())
        };
        let (fetched_ms, expires_ms) = (read("last-modified")?, read("expires")?);
        if expires_ms - fetched_ms != ttl_ms {
            return Err(format!("Expires is {} ms after Last-Modified", expires_ms - fetched_ms));
        }
        Ok(Self { fetched_ms })
    }
}
