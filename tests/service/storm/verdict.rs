//! Decides whether a response is right: its data follow from one snapshot that the upstream served and are
//! not too old, and its headers are true. An error is right if it has a reason.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::upstream::{auctions, bazaar};
use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde_json::Value;
use serde_json::value::RawValue;
use simulator::names;

use super::cloud::{Caller, Exchange};
use super::history;
use super::journal::{Failure, INVOCATION_MS, Journal, Serving};
use super::query::{Kind, Mode};
use super::snapshot::Snapshot;
use super::source::Source;
use crate::provider::{BAZAAR, Data, Facts, PROFILES};
use crate::support::{AUTHORIZER, Response};

/// How long a log line may take to arrive.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct ResponseCheck<'a> {
    pub(super) journal: &'a Journal,
    pub(super) has_stage_cache: bool,
    pub(super) seed: u64,
}

/// The verdict on a right response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Right,
    /// Right data that are stale, because a refresh failed.
    Stale,
    /// A 400, 401, 403 or 404 with a reason.
    RightError,
    Throttled,
    HonestFailure,
}

impl ResponseCheck<'_> {
    /// Returns the verdict on a right response.
    ///
    /// # Errors
    /// The reason why the response is wrong.
    pub(super) fn verdict(&self, exchange: &Exchange) -> Result<Verdict, String> {
        let response = &exchange.response;
        expect_headers(response)?;
        match response.status.as_u16() {
            200 if exchange.query.kind != Kind::Status
                && !matches!(exchange.caller, Caller::Pro | Caller::Starter) =>
            {
                Err("a caller without access got data".to_owned())
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
            // The route without a key has a separate throttle.
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

    /// Whether a 404 can be right.
    fn may_be_unknown(&self, exchange: &Exchange) -> bool {
        let Exchange { query, sent, .. } = exchange;
        let [.., longest_ms] = query.ages_ms(self.has_stage_cache);
        let oldest_ms = sent.cloud_ms - longest_ms - INVOCATION_MS;
        match &query.kind {
            Kind::Unknown => true,
            // An instance that has not fetched page 0 does not know the number of pages, so a lost page can
            // be a 404.
            Kind::Whole(source) if source.page() > Some(0) => {
                self.journal.entries().lost_pages.iter().any(|lost_ms| *lost_ms >= oldest_ms)
            }
            Kind::Bazaar(Mode::Item(id) | Mode::Book(id)) => {
                let served = self.journal.servings(&Source::of(BAZAAR.path));
                let mut recent = served.iter().filter(|serving| serving.requested.cloud_ms >= oldest_ms);
                recent.any(|serving| match serving.snapshot.facts() {
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
        awaits(|| has_failed(exchange.query.route.function) || has_failed(AUTHORIZER))
    }

    fn success(&self, exchange: &Exchange) -> Result<Verdict, String> {
        let Exchange { query, sent, response, .. } = exchange;
        let is_cached = response.cached();
        let envelope: BTreeMap<&str, &RawValue> = serde_json::from_str(&response.text).unwrap();
        let data = envelope["data"].get();
        let [ttl_ms, usual_ms, longest_ms] = query.ages_ms(self.has_stage_cache);
        let fetched_ms = fetched_ms(response, ttl_ms)?;
        let age_ms = sent.cloud_ms - fetched_ms;
        if age_ms > longest_ms {
            return Err(format!("the data is {age_ms} ms old, at most {longest_ms} ms are allowed"));
        }
        let verdict = if age_ms > usual_ms { Verdict::Stale } else { Verdict::Right };
        if verdict == Verdict::Stale {
            let is_reason = |failure: &Failure| failure.logged.cloud_ms >= fetched_ms;
            if !awaits(|| self.journal.has_failed(query.route.function, is_reason)) {
                return Err(format!("the data is {age_ms} ms old, and no refresh has failed"));
            }
        }
        if !is_cached && fetched_ms < sent.cloud_ms - 1_000 {
            return Err("the data was fetched earlier, but the response says cached: false".to_owned());
        }
        let source = match &query.kind {
            Kind::Whole(source) => source.clone(),
            Kind::Bazaar(_) => Source::of(BAZAAR.path),
            Kind::Player(name) => Source::with(PROFILES.path, names::uuid(self.seed, name).unwrap()),
            Kind::Unknown | Kind::Invalid => {
                return Err("a request that must fail got data".to_owned());
            }
            Kind::Chart(_) | Kind::History | Kind::Recorded | Kind::Status => {
                let data = serde_json::from_str(data).map_err(|error| error.to_string())?;
                history::expect_served(self.journal, &query.kind, &data)?;
                return Ok(verdict);
            }
        };
        self.expect_snapshot(exchange, &source, data, is_cached, fetched_ms)?;
        Ok(verdict)
    }

    /// Checks that the data follow from one snapshot, and that the snapshot was served at the time in the
    /// headers.
    fn expect_snapshot(
        &self,
        exchange: &Exchange,
        source: &Source,
        data: &str,
        is_cached: bool,
        fetched_ms: i64,
    ) -> Result<(), String> {
        let kind = &exchange.query.kind;
        let parsed = match kind {
            Kind::Bazaar(Mode::Full) => None,
            _ => Some(serde_json::from_str::<Value>(data).map_err(|error| error.to_string())?),
        };
        let mut different: Option<Arc<Snapshot>> = None;
        let mut untimely = None;
        for serving in self.journal.servings(source) {
            let is_known = different.as_ref().is_some_and(|other| Arc::ptr_eq(other, &serving.snapshot));
            if serving.requested.real > exchange.received.real || is_known {
                continue;
            }
            if !self.follows(kind, &serving.snapshot, data, parsed.as_ref()) {
                different = Some(serving.snapshot);
                continue;
            }
            match self.expect_time(exchange, source, &serving, is_cached, fetched_ms) {
                Ok(()) => return Ok(()),
                Err(reason) => untimely = Some(reason),
            }
        }
        Err(untimely.unwrap_or_else(|| format!("the data follows from no snapshot: {data:.300}")))
    }

    /// Checks that the headers agree with the time at which the data was served. Behind a stage cache, a
    /// function does not fetch data again until the provider's next refresh is due. `Last-Modified` then is
    /// the latest time at which the data was known to be current.
    fn expect_time(
        &self,
        exchange: &Exchange,
        source: &Source,
        serving: &Serving,
        is_cached: bool,
        fetched_ms: i64,
    ) -> Result<(), String> {
        let latest_for = match source {
            _ if !self.has_stage_cache => Duration::ZERO,
            source if source.is_bazaar() => bazaar::REFRESH,
            source if source.page().is_some() => auctions::REFRESH,
            _ => Duration::ZERO,
        };
        let late_ms = fetched_ms - serving.requested.cloud_ms;
        if late_ms > INVOCATION_MS + i64::try_from(latest_for.as_millis()).unwrap() {
            return Err(format!("Last-Modified is {late_ms} ms after the data was requested"));
        }
        if !is_cached && serving.requested.real < exchange.sent.real {
            return Err("cached: false, but the data was fetched for another request".to_owned());
        }
        Ok(())
    }

    /// Whether the data follows from the snapshot. `parsed` is `None` if the data is passed on byte for byte.
    fn follows(&self, kind: &Kind, snapshot: &Snapshot, data: &str, parsed: Option<&Value>) -> bool {
        match (kind, snapshot.facts(), parsed) {
            (_, Facts::Bazaar(market), _) if !market.is_usable => false,
            (Kind::Bazaar(Mode::Full), Facts::Bazaar(market), _) => market.full == data,
            (_, Facts::Single(Some(Data::Verbatim(expected))), _) => expected == data,
            (Kind::Bazaar(mode), Facts::Bazaar(market), Some(parsed)) => match mode {
                Mode::Full => false,
                Mode::List => market.list() == *parsed,
                Mode::Prices => market.prices() == *parsed,
                Mode::Flips(limit, rules) => market.flips(*limit, *rules) == *parsed,
                Mode::Item(id) => market.products.get(id) == Some(parsed),
                Mode::Book(id) => market.book(id).as_ref() == Some(parsed),
                Mode::Items(ids) => market.items(ids) == *parsed,
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

/// Waits for a log line. Returns false if it does not arrive in time.
fn awaits(has_line: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !has_line() {
        if started.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

fn expect_headers(response: &Response) -> Result<(), String> {
    let expected = [
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

/// Checks that the error is as documented. Panics if its envelope is not.
fn expect_error_envelope(response: &Response, status: u16) -> Result<(), String> {
    let code = match status {
        400 => "BAD_REQUEST",
        401 => "UNAUTHORIZED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        429 => "RATE_LIMITED",
        500 => "INTERNAL_ERROR",
        _ => return Err("an undocumented status".to_owned()),
    };
    let message = response.error(code);
    let wait = response.headers.get("retry-after").map(|wait| wait.to_str().unwrap().parse().unwrap());
    let has_leaked = message.contains("junk") || message.contains("maintenance");
    let has_times = ["last-modified", "expires"].iter().any(|name| response.headers.contains_key(*name));
    if has_leaked || has_times || wait.is_some_and(|seconds: u64| !(1..=3_600).contains(&seconds)) {
        return Err(format!("an undocumented error: {:?} {:.300}", response.headers, response.text));
    }
    Ok(())
}

/// Reads the time in `Last-Modified`, in Unix milliseconds. `Expires` must be one TTL later.
fn fetched_ms(response: &Response, ttl_ms: i64) -> Result<i64, String> {
    let read = |name: &str| -> Result<i64, String> {
        let header = response.headers.get(name).and_then(|value| value.to_str().ok());
        let value = header.ok_or_else(|| format!("the header {name} is missing"))?;
        let zoned = strtime::parse("%a, %d %b %Y %H:%M:%S GMT", value)
            .and_then(|time| time.to_datetime()?.to_zoned(TimeZone::UTC))
            .map_err(|error| error.to_string())?;
        Ok(Timestamp::from(zoned).as_millisecond())
    };
    let fetched_ms = read("last-modified")?;
    let expires_ms = read("expires")?;
    if expires_ms - fetched_ms != ttl_ms {
        return Err(format!("Expires is {} ms after Last-Modified", expires_ms - fetched_ms));
    }
    Ok(fetched_ms)
}
