//! Every minute, records the lowest buy-it-now prices of all items, and the list of ended auctions. The
//! routes below `/v1/auctions/` serve this data.
//!
//! `item` parses the item of an auction, `house` has the running auctions, `by_id` their lowest prices and
//! blocks, `reading` decides which requests a run makes, and `pages` has the pages that a run has read. This
//! file sends the requests, and writes the lists, the prices, the running auctions and the public files.

mod by_id;
mod house;
pub mod item;
mod pages;
pub mod reading;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::config::Config;
use common::error::chain;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::{Upstream, UpstreamError, UpstreamRequest, auctions, ended_auctions};
use files::listings::{Listings, Object, Stamp};
use files::{Files, Form, Market, Price, PriceRow, advance};
use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream::FuturesUnordered;
use recorder::feed::{self, Feed};
use recorder::{Attempt, Effect, Recorder, RowsRead, fetching_deadline, repeat};
use serde::Serialize;
use tables::auctions::{List, Minute, ONE_MINUTE, SERIES, SUCCESSIVE, record};
use tables::series::{Written, build_again, is_due, note_late};
use tables::{Session, Ticks};
use tokio::time::{Instant, sleep_until, timeout_at};

use self::reading::{Found, Read, Reading, Request, Times};

const CONCURRENT_REQUESTS: usize = 4;
/// The shortest time between the starts of two requests.
const BETWEEN_REQUESTS: Duration = Duration::from_millis(250);

/// How far the provider's clock may be ahead of ours.
const AHEAD: Duration = Duration::from_mins(2);

/// An hour may have been built without a list that is written this long after its end: hours are built after
/// five minutes, and clocks differ.
const LATE: Duration = Duration::from_mins(4);

/// The number of lists that are kept until they are written. Older ones are lost.
const MOST_LISTS: usize = 15;

type Recorded = Result<Attempt<Outcome, Option<Public>>, Box<dyn Error + Send + Sync>>;

#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The counts of the read rows; all 0 if the tick was already recorded.
    #[serde(flatten)]
    read: Read,
    /// The rows that were written, without those of the list.
    #[serde(flatten)]
    written: Written,
}

/// The data of a recorded minute that is not in the table.
pub struct Public {
    /// The minute, for the public files.
    minute: Minute,
    /// The running auctions of the minute.
    object: Object,
}

pub struct RecordAuctions {
    upstream: Upstream,
    files: Option<Files>,
    listings: Listings,
    reading: Mutex<Reading>,
    /// The lists of ended auctions that are not written yet, by refresh.
    lists: Mutex<BTreeMap<UnixMilliseconds, List>>,
    /// The earliest time of the next request.
    next_request_at: tokio::sync::Mutex<Instant>,
}

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
        // A run may fetch for at least half of its remaining time. In a short run, the usual reserve for
        // writing would leave less.
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

    /// `None` if this run did not record the minute.
    type Public = Option<Public>;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::provider(config, None)?;
        let files = Files::of(config)?;
        let listings = Listings::of(config)?;
        let (reading, lists) = (Mutex::default(), Mutex::default());
        Ok(Self { upstream, files, listings, reading, lists, next_request_at: Instant::now().into() })
    }

    async fn warm_up(&self) {
        join(self.upstream.warm_up(), self.listings.warm_up()).await;
    }

    /// Records the prices. The list of ended auctions is written as soon as it is read, whatever happens to
    /// the prices.
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
        public: &Option<Public>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let Some(Public { minute, object }) = public else { return Ok(()) };
        let now = invocation.now();
        let (published, ()) =
            join(self.publish_prices(now, minute), self.replace_listings(now, object)).await;
        Ok(published?)
    }
}

impl RecordAuctions {
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists(&self) -> MutexGuard<'_, BTreeMap<UnixMilliseconds, List>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the public files of the minute.
    async fn publish_prices(&self, now: UnixMilliseconds, minute: &Minute) -> Result<(), files::Error> {
        let Some(files) = &self.files else { return Ok(()) };
        let seen = files.seen("lowestbin.json", Form::Both).await?;
        let prices = || minute.prices.iter().map(|(id, price)| (id.as_str(), price.lowest.coins()));
        let row =
            |(id, lowest): (&str, f64)| PriceRow { id: id.to_owned(), price: Price::Auctions { lowest } };
        let rows: Vec<_> = prices().map(row).collect();
        let updated_at = minute.last_updated.into();
        if advance(files, Market::Auctions, updated_at, now.into(), &rows).await? {
            let lowest: BTreeMap<_, _> = prices().collect();
            files.replace(seen, &serde_json::to_vec(&lowest)?).await?;
        }
        Ok(())
    }

    /// Replaces the running auctions. After a failure, the next run replaces them.
    async fn replace_listings(&self, now: UnixMilliseconds, object: &Object) {
        if let Err(error) = self.listings.replace(object, now).await {
            tracing::error!(function = Self::NAME, cause = chain(&error), "running auctions are not written");
        }
    }

    /// Reads the auctions, and records the prices, unless the minute of the event is already recorded.
    async fn record_prices(&self, run: Run<'_>, invocation: &Invocation) -> Recorded {
        let Run { table, ticks, times, .. } = run;
        let event = ticks.event();
        if !is_due(table, &ONE_MINUTE, event, invocation.now().into()).await? {
            return Ok(Attempt { effect: Effect::Nothing, ..Attempt::of(event, Outcome::default()) });
        }
        let began = ticks.at(times.began);
        self.reading().begin(times);
        let requests = repeat(invocation, |attempt| self.attempt(attempt, run));
        // Failed requests stay pending, and `finish` decides whether too many pages are missing.
        let _ = invocation.waiting_for(requests).await;
        let Found { first_page, minute, blocks, read, missing, failure } = self.reading().finish()?;
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
        let Minute { last_updated, completed_at, .. } = minute;
        let stamp = Stamp { last_updated, completed_at, recorded_at: filing.tick.time() };
        let public = match written {
            Some(_) => Some(Public { minute, object: Object { stamp, blocks: blocks? } }),
            None => None,
        };
        let written = written.unwrap_or_default();
        let rows_read =
            RowsRead { read: read.rows, left_out: read.left_out.names.len(), is_complete: read.is_complete };
        Ok(Attempt {
            effect: written.into(),
            refresh,
            rows_read: Some(rows_read),
            public,
            ..Attempt::of(filing.tick, Outcome { read, written })
        })
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

    /// Sends the request in its turn, and passes the response to the reading. Writes a list of ended
    /// auctions.
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

    /// Writes the lists that are not written yet. Hours that may have been built without a list are built
    /// again.
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
