//! Every minute, records the lowest buy-it-now prices of all items, and the list of ended auctions. The routes below `/v1/auctions/` serve
//! this data.
//!
//! `item` parses the item of an auction, `house` has the running auctions, `reading` decides which requests a run makes, `pages` has the
//! pages that a run has read, and `prices` finds the lowest prices. This file sends the requests, and writes the lists, the prices and the
//! public files.

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
use tables::auctions::{List, Minute, ONE_MINUTE, SERIES, SUCCESSIVE, record};
use tables::feed::{self, Feed};
use tables::heartbeat::Refresh;
use tables::series::{Written, build_again, is_due, note_late};
use tables::{Effect, Recorder, RowsRead, Session, Ticks, fetching_deadline, repeat};
use tokio::time::{Instant, sleep_until, timeout_at};

use self::reading::{Found, Read, Reading, Request, Times};

const CONCURRENT_REQUESTS: usize = 4;
/// The shortest time between the starts of two requests.
const BETWEEN_REQUESTS: Duration = Duration::from_millis(250);

/// How far the provider's clock may be ahead of ours.
const AHEAD: Duration = Duration::from_mins(2);

/// An hour may have been built without a list that is written this long after its end: hours are built after five minutes, and clocks
/// differ.
const LATE: Duration = Duration::from_mins(4);

/// The number of lists that are kept until they are written. Older ones are lost.
const MOST_LISTS: usize = 15;

type Recorded = Result<(Tick, Outcome), Box<dyn Error + Send + Sync>>;

#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The counts of the read rows; all 0 if the tick was already recorded.
    #[serde(flatten)]
    read: Read,
    /// The rows that were written, without those of the list.
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
    /// The lists of ended auctions that are not written yet, by refresh.
    lists: Mutex<BTreeMap<UnixMilliseconds, List>>,
    /// The earliest time of the next request.
    next_request_at: tokio::sync::Mutex<Instant>,
}

/// A run, for its requests.
#[derive(Clone, Copy)]
struct Run<'a> {
    table: Session<'a>,
    ticks: Ticks,
    times: Times,
    began: Instant,
    /// When the run sends its last request.
    end: Instant,
}

impl<'a> Run<'a> {
    fn new(table: Session<'a>, ticks: Ticks, invocation: &Invocation) -> Self {
        let (now, began) = (invocation.now(), Instant::now());
        // A run may fetch for at least half of its remaining time. In a short run, the usual reserve for writing would leave less.
        let half = invocation.deadline().saturating_duration_since(began) / 2;
        let end = fetching_deadline(invocation).max(began + half);
        let latest = now.max(UnixMilliseconds::of_system_clock()).plus(AHEAD);
        let times = Times { began: now, end: now.plus(end.saturating_duration_since(began)), latest };
        Self { table, ticks, times, began, end }
    }

    fn now(&self) -> UnixMilliseconds {
        self.times.began.plus(self.began.elapsed())
    }
}

impl Recorder for RecordAuctions {
    const NAME: &'static str = "record-auctions";

    const FEED: &'static Feed = &feed::AUCTIONS;

    type Outcome = Outcome;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::provider(config)?;
        let files = Files::of(config)?;
        let (reading, lists) = (Mutex::default(), Mutex::default());
        Ok(Self { upstream, files, reading, lists, next_request_at: Instant::now().into() })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    /// Records the prices. The list of ended auctions is written as soon as it is read, whatever happens to the prices.
    async fn record(&self, table: Session<'_>, ticks: Ticks, invocation: &Invocation) -> Recorded {
        let run = Run::new(table, ticks, invocation);
        let recorded = self.record_prices(run, invocation).await;
        if let Err(error) = self.write_lists(run).await {
            tracing::error!(cause = chain(&error), "a list of ended auctions is not written yet");
        }
        note_late(table, &SERIES, ticks).await?;
        recorded
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
        let Read { rows, left_out, is_complete, .. } = &outcome.read;
        Some(RowsRead { read: *rows, left_out: left_out.names.len(), is_complete: *is_complete })
    }

    fn effect(outcome: &Outcome) -> Effect {
        outcome.written.into()
    }
}

impl RecordAuctions {
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists(&self) -> MutexGuard<'_, BTreeMap<UnixMilliseconds, List>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the auctions, and records the prices, unless the minute of the event is already recorded.
    async fn record_prices(&self, run: Run<'_>, invocation: &Invocation) -> Recorded {
        let Run { table, ticks, times, .. } = run;
        let event = ticks.event();
        if !is_due(table, &ONE_MINUTE, event, invocation.now().into()).await? {
            return Ok((event, Outcome::default()));
        }
        let began = ticks.at(times.began);
        self.reading().begin(times);
        let requests = repeat(invocation, |attempt| self.attempt(attempt, run));
        // Failed requests stay pending, and `finish` decides whether too many pages are missing.
        let _ = invocation.waiting_for(requests).await;
        let Found { first_page, minute, read, missing, failure } = self.reading().finish()?;
        if missing > 0 {
            let cause = failure.as_ref().map(|failure| chain(failure));
            tracing::warn!(missing, cause, "pages or sales are missing");
        }
        if let Some(first) = &read.left_out.reason {
            let count = read.left_out.names.len();
            let some = read.left_out.first_names();
            tracing::warn!(count, some, first, "auctions without an item id are left out");
        }
        let (filing, refresh) = first_page.map_or((began, None), |(filing, page)| (filing, Some(page)));
        let written = record(table, filing, &minute).await?;
        let minute = written.map(|_| minute);
        Ok((filing.tick, Outcome { read, written: written.unwrap_or_default(), refresh, minute }))
    }

    /// Sends the pending requests. Returns an error if a request failed and repeating it may succeed.
    async fn attempt(&self, invocation: Invocation, run: Run<'_>) -> Result<(), UpstreamError> {
        self.reading().begin_attempt();
        let next_request = || (Instant::now() < run.end).then(|| self.reading().next_request()).flatten();
        let mut running = FuturesUnordered::new();
        let mut failure = None;
        loop {
            while running.len() < CONCURRENT_REQUESTS
                && let Some(request) = next_request()
            {
                running.push(self.read(request, &invocation, run));
            }
            let Some(read) = running.next().await else { return failure.map_or(Ok(()), Err) };
            failure = read.err().filter(|error| error.wait_before_retry().is_some()).or(failure);
        }
    }

    /// Sends the request in its turn, and passes the response to the reading. Writes a list of ended auctions.
    async fn read(
        &self,
        request: Request,
        invocation: &Invocation,
        run: Run<'_>,
    ) -> Result<(), UpstreamError> {
        let number;
        let sent = match request {
            Request::EndedAuctions { due } => {
                let wait = due.map_or(Duration::ZERO, |due| due.distance(run.times.began));
                sleep_until(run.began + wait).await;
                UpstreamRequest::of(ended_auctions::PATH)
            }
            Request::Page(page) => {
                number = page.to_string();
                UpstreamRequest { parameter: Some(("page", &number)), ..UpstreamRequest::of(auctions::PATH) }
            }
        };
        let mut turn = self.next_request_at.lock().await;
        sleep_until(*turn).await;
        *turn = Instant::now() + BETWEEN_REQUESTS;
        drop(turn);
        let in_time = invocation.next_attempt(Duration::ZERO, run.end);
        let response = self.upstream.get_once(&in_time, &sent).await;
        let list = self.reading().respond(request, response, run.now(), run.ticks.at(run.now()))?;
        if let Some(list) = list {
            self.keep(list);
            // If it fails, or takes until the pages must be read, the list is written at the end of the run.
            let _ = timeout_at(run.end, self.write_lists(run)).await;
        }
        Ok(())
    }

    /// Keeps the list until it is written.
    fn keep(&self, list: List) {
        let mut lists = self.lists();
        lists.insert(list.until, list);
        if lists.len() > MOST_LISTS
            && let Some((until, _)) = lists.pop_first()
        {
            tracing::error!(until = UnixSeconds::from(until).to_string(), "a list of ended auctions is lost");
        }
    }

    /// Writes the lists that are not written yet. Hours that may have been built without a list are built again.
    ///
    /// # Errors
    /// The last error. The lists of all errors are kept.
    async fn write_lists(&self, run: Run<'_>) -> Result<(), tables::Error> {
        let lists: Vec<_> = self.lists().values().cloned().collect();
        let write = async |list: &List| {
            list.write(run.table).await?;
            let since = list.until.minus(SUCCESSIVE).into();
            let is_late = SERIES.finest.at(since).end().plus(LATE) <= run.now().into();
            if is_late { build_again(run.table, &SERIES, since).await } else { Ok(()) }
        };
        let mut result = Ok(());
        for list in lists {
            match write(&list).await {
                Ok(()) => drop(self.lists().remove(&list.until)),
                failed => result = failed,
            }
        }
        result
    }
}
