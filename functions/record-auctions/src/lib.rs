//! Every minute, records the lowest buy-it-now prices of all items, and the sold auctions. The routes below `/v1/auctions/` serve this
//! data.
//!
//! `item` parses the item of an auction, `house` has the running auctions, `reading` decides which requests a run makes, `pages` has the
//! pages that a run has read, and `prices` finds the lowest prices. This file sends the requests and writes the public files.

mod house;
pub mod item;
mod pages;
mod prices;
pub mod reading;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::config::Config;
use common::error::chain;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::{Upstream, UpstreamError, UpstreamRequest, auctions, ended_auctions};
use files::{Files, Form, Market, Price, PriceRow, advance};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde::Serialize;
use tables::auctions::{Minute, ONE_MINUTE, SERIES, Sales, record};
use tables::feed::{self, Feed};
use tables::heartbeat::Refresh;
use tables::series::{Written, build_again, is_due, is_free, note_late};
use tables::{Recorder, RowsRead, Session, Ticks, fetching_deadline, repeat};
use tokio::time::{Instant, sleep_until};

use self::reading::{Found, Reading, Request};

const CONCURRENT_REQUESTS: usize = 4;
/// The shortest time between the starts of two requests.
const BETWEEN_REQUESTS: Duration = Duration::from_millis(250);

/// How far the provider's clock may be ahead of ours.
const AHEAD: Duration = Duration::from_mins(2);

/// Sales that are older than the recorded minute by more than this were read by runs that failed to record them. The candles of that time
/// may have been built without these sales.
const LATE: Duration = Duration::from_mins(5);

#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The number of pages that were read; 0 if the tick was already recorded.
    pages: usize,
    /// The number of running buy-it-now auctions.
    auctions: usize,
    /// The number of items with a price.
    items: usize,
    /// The number of sales; `None` if no list of ended auctions was read.
    sales: Option<usize>,
    /// The number of auctions that are invalid or whose item has no id.
    left_out: usize,
    /// The number of rows that were read, including `left_out`, for the log.
    #[serde(skip)]
    read: usize,
    /// Whether all pages were read, for the log.
    #[serde(skip)]
    is_complete: bool,
    /// The rows that were written.
    #[serde(flatten)]
    written: Written,
    /// The refresh of the first page; `None` if an earlier first page was newer, or if the tick was already recorded.
    #[serde(skip)]
    refresh: Option<Refresh>,
    /// The minute, for the public files; `None` if this run did not record it.
    #[serde(skip)]
    minute: Option<Minute>,
}

pub struct RecordAuctions {
    upstream: Upstream,
    files: Option<Files>,
    reading: Mutex<Reading>,
    /// The earliest time of the next request.
    next_request_at: tokio::sync::Mutex<Instant>,
}

impl Recorder for RecordAuctions {
    const NAME: &'static str = "record-auctions";

    const FEED: &'static Feed = &feed::AUCTIONS;

    type Outcome = Outcome;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::provider(config)?;
        let files = Files::of(config)?;
        let reading = Mutex::default();
        Ok(Self { upstream, files, reading, next_request_at: Instant::now().into() })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome), Box<dyn Error + Send + Sync>> {
        let now = invocation.now().into();
        let event = ticks.event();
        if !is_due(table, &ONE_MINUTE, event, now).await? {
            note_late(table, &SERIES, ticks).await?;
            return Ok((event, Outcome::default()));
        }
        let began = ticks.current();
        let latest = invocation.now().max(UnixMilliseconds::of_system_clock()).plus(AHEAD);
        self.reading().begin(invocation.now(), latest);
        // A run may fetch for at least half of its remaining time. In a short run, the usual reserve for writing would leave less.
        let half = invocation.deadline().saturating_duration_since(Instant::now()) / 2;
        let end = fetching_deadline(invocation).max(Instant::now() + half);
        let read = repeat(invocation, |attempt| self.attempt(attempt, ticks, end));
        // Failed requests stay pending, and `finish` decides whether too many pages are missing.
        let _ = invocation.waiting_for(read).await;
        let found = self.reading().finish()?;
        let is_complete = found.is_complete;
        let Found {
            filing, refresh, minute, pages, auctions, missing, failure, rows: read, left_out, ..
        } = found;
        if missing > 0 {
            let cause = failure.as_ref().map(|failure| chain(failure));
            tracing::warn!(missing, cause, "pages or sales are missing");
        }
        if let Some(first) = &left_out.reason {
            let count = left_out.names.len();
            let some = left_out.first_names();
            tracing::warn!(count, some, first, "auctions without an item id are left out");
        }
        let filing = filing.unwrap_or(began);
        if !is_free(table, &ONE_MINUTE, filing, now).await? {
            return Ok((filing.tick, Outcome::default()));
        }
        let written = record(table, filing, &minute).await?;
        // If the table keeps the minute of another run, this run's sales stay in `reading`, and the next run records them.
        if written.is_some() {
            self.reading().note_recorded();
        }
        let slot = filing.tick.time();
        let is_kept = |sales: &&Sales| UnixSeconds::from(sales.since) < slot.minus(LATE);
        if let Some(sales) = minute.sales.as_ref().filter(is_kept) {
            build_again(table, &SERIES, sales.since.into()).await?;
        }
        note_late(table, &SERIES, ticks).await?;
        let items = minute.prices.len();
        let sales = minute.sales.as_ref().map(|sales| sales.list.len());
        // The public files show only recorded minutes.
        let (left_out, minute) = (left_out.names.len(), written.is_some().then_some(minute));
        let written = written.unwrap_or_default();
        let outcome =
            Outcome { pages, auctions, items, sales, left_out, read, is_complete, written, refresh, minute };
        Ok((filing.tick, outcome))
    }

    async fn publish(
        &self,
        _: Session<'_>,
        invocation: &Invocation,
        outcome: &Outcome,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (Some(files), Some(minute)) = (&self.files, &outcome.minute) else { return Ok(()) };
        let seen = files.seen("lowestbin.json", Form::Both).await?;
        let prices = || minute.prices.iter().map(|(id, price)| (id.as_str(), price.lowest.coins()));
        let row =
            |(id, lowest): (&str, f64)| PriceRow { id: id.to_owned(), price: Price::Auctions { lowest } };
        let rows: Vec<_> = prices().map(row).collect();
        let updated_at = minute.last_updated.into();
        let now = invocation.now().into();
        if advance(files, Market::Auctions, updated_at, now, &rows).await? {
            let lowest: BTreeMap<_, _> = prices().collect();
            files.replace(seen, &serde_json::to_vec(&lowest)?).await?;
        }
        Ok(())
    }

    fn refresh(outcome: &Outcome) -> Option<Refresh> {
        outcome.refresh
    }

    fn rows_read(outcome: &Outcome) -> Option<RowsRead> {
        let &Outcome { read, left_out, is_complete, .. } = outcome;
        Some(RowsRead { read, left_out, is_complete })
    }

    fn is_nothing(outcome: &Outcome) -> bool {
        outcome.minute.is_none()
    }
}

impl RecordAuctions {
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the pending requests until `end`. Returns an error if a request failed and repeating it may succeed.
    async fn attempt(&self, invocation: Invocation, ticks: Ticks, end: Instant) -> Result<(), UpstreamError> {
        let began = Instant::now();
        self.reading().begin_attempt();
        let next_request = || (Instant::now() < end).then(|| self.reading().next_request()).flatten();
        let mut running = FuturesUnordered::new();
        let mut failure = None;
        // When to request the list of ended auctions.
        let mut list_at = began;
        loop {
            while running.len() < CONCURRENT_REQUESTS
                && let Some(request) = next_request()
            {
                running.push(self.read(request, list_at, &invocation, ticks, end));
            }
            let Some((request, read)) = running.next().await else { return failure.map_or(Ok(()), Err) };
            if let Err(error) = read {
                failure = Some(error.clone()).filter(|error| error.wait_before_retry().is_some()).or(failure);
                self.reading().note_failure(request, error);
            }
            let time = |instant: Instant| invocation.now().plus(instant.saturating_duration_since(began));
            if let Some(due) = self.reading().repeat_list(time(Instant::now()), time(end)) {
                list_at = began + due.distance(invocation.now());
            }
        }
    }

    /// Sends the request in its turn, and passes the response to the reading.
    async fn read(
        &self,
        request: Request,
        list_at: Instant,
        invocation: &Invocation,
        ticks: Ticks,
        end: Instant,
    ) -> (Request, Result<(), UpstreamError>) {
        let number;
        let sent = match request {
            Request::EndedAuctions => UpstreamRequest::of(ended_auctions::PATH),
            Request::Page(page) => {
                number = page.to_string();
                UpstreamRequest { parameter: Some(("page", &number)), ..UpstreamRequest::of(auctions::PATH) }
            }
        };
        if request == Request::EndedAuctions {
            sleep_until(list_at).await;
        }
        let mut turn = self.next_request_at.lock().await;
        sleep_until(*turn).await;
        *turn = Instant::now() + BETWEEN_REQUESTS;
        drop(turn);
        let in_time = invocation.next_attempt(Duration::ZERO, end);
        let read = self.upstream.get_once(&in_time, &sent).await;
        (request, read.and_then(|response| self.reading().learn(request, &response, ticks.current())))
    }
}
