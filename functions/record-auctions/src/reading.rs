//! Which requests a run makes.
//!
//! A new auction is in front, because rows are sorted by `last_updated`: usually a run reads pages from the first on until a row is older
//! than the last refresh, and the list of ended auctions. A cancelled auction shows nowhere, so every ten minutes a run reads all pages.
//! So does the first run, and one that does not follow the last run at once. A page that was lost is read by the next run.

use std::collections::BTreeSet;
use std::time::Duration;

use common::request::parameters::PageNumber;
use common::time::{Tick, UnixMilliseconds};
use common::upstream::auctions::{self, Listing};
use common::upstream::{Skipped, UpstreamError, UpstreamResponse, ended_auctions};
use tables::auctions::{Minute, Sales};

use crate::house::House;
use crate::prices::prices;

/// What is known is that old at most; otherwise all pages are read.
const LONGEST_PAUSE: Duration = Duration::from_mins(3);

/// The time between two complete readings.
const BETWEEN_COMPLETE: Duration = Duration::from_mins(10);

/// On average, there is at most one request in this time. Unused requests are kept, up to those of a quarter of an hour.
const PER_REQUEST: Duration = Duration::from_secs(6);
const MOST_CREDIT: Duration = Duration::from_mins(15);

/// The most pages. The largest number that is known of is 66.
const MOST_PAGES: u32 = 150;

/// A run fails if one of this many pages is lost.
const LOST: usize = 10;

/// A request to the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// For the list of ended auctions.
    EndedAuctions,
    /// For the page with this number of the running ones.
    Page(u32),
}

/// The request for the first page, which says how many there are.
pub(crate) const FIRST_PAGE: Request = Request::Page(0);

/// What a run has found.
#[derive(Debug)]
pub struct Found {
    /// The minute in which the first page was fetched; `None` if it was older than an earlier one.
    pub tick: Option<Tick>,
    /// What to record.
    pub minute: Minute,
    /// The number of pages that were read.
    pub pages: usize,
    /// The number of auctions that are known.
    pub auctions: usize,
    /// The number of requests that are left to the next run.
    pub missing: usize,
    /// Why the last request that failed did.
    pub failure: Option<UpstreamError>,
    /// The auctions that make no sense or whose item has no id.
    pub left_out: Skipped,
}

/// Why there is nothing to record.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Too many pages are missing.
    #[error("{lost} of {total} pages were not read")]
    Lost {
        /// Their number.
        lost: usize,
        /// The number of all pages; 0 if it is not known.
        total: u32,
        /// Why the last request failed.
        #[source]
        failure: Option<UpstreamError>,
    },
    /// There is not a single price.
    #[error("no auction has a price")]
    Empty,
}

/// What a recorder knows, and what the present run still has to read.
#[derive(Default)]
pub struct Reading {
    house: House,
    /// What is still to be read. What a run does not read is left to the next one.
    pending: BTreeSet<Request>,
    /// The number of pages.
    total: u32,
    /// When the newest first page was read, and when all pages were.
    read_at: Option<UnixMilliseconds>,
    completed_at: Option<UnixMilliseconds>,
    /// Whether a complete reading is under way.
    is_completing: bool,
    /// The time of the present run, and the time before it for which no request was made.
    now: Option<UnixMilliseconds>,
    credit: Duration,
    run: Run,
}

/// The present run.
#[derive(Default)]
struct Run {
    /// Whether what is known is too old.
    is_first: bool,
    /// Whether it reads all pages.
    is_complete: bool,
    /// When the first page was fetched.
    tick: Option<Tick>,
    /// Earlier runs have read what was updated before.
    since: Option<UnixMilliseconds>,
    sales: Option<Sales>,
    pages: usize,
    left_out: Skipped,
    /// The number of attempts, what the last one has asked for, and how many of these requests failed.
    attempts: u32,
    asked: BTreeSet<Request>,
    failed: usize,
    failure: Option<UpstreamError>,
}

impl Reading {
    /// Begins a run at this time.
    pub fn begin(&mut self, now: UnixMilliseconds) {
        let pause = self.now.map_or(MOST_CREDIT, |before| now.distance(before));
        self.credit = MOST_CREDIT.min(self.credit + pause);
        self.now = Some(now);
        let is_first = self.read_at.is_none_or(|read_at| now.distance(read_at) > LONGEST_PAUSE);
        if is_first {
            self.house.doubt();
            (self.completed_at, self.is_completing) = (None, false);
        }
        let since = self.house.refreshed();
        self.run = Run { is_first, since, ..Run::default() };
        self.pending.extend([Request::EndedAuctions, FIRST_PAGE]);
    }

    /// Begins an attempt to read what is pending.
    pub fn begin_attempt(&mut self) {
        self.run.attempts += 1;
        self.run.asked.clear();
        self.run.failed = 0;
    }

    /// Returns the next request of the attempt; `None` if it must wait, or if nothing is pending. The first page comes before all others, and too
    /// many failures end the attempt. Repeated requests leave enough for all pages.
    pub fn next_request(&mut self) -> Option<Request> {
        let last = if self.pending.contains(&FIRST_PAGE) { FIRST_PAGE } else { Request::Page(u32::MAX) };
        let is_lost = is_lost(self.run.failed, self.total);
        let next = self.pending.range(..=last).find(|request| !self.run.asked.contains(request)).copied();
        let next = next.filter(|request| !is_lost || *request <= FIRST_PAGE)?;
        let kept = if self.run.attempts > 1 { PER_REQUEST * self.total } else { Duration::ZERO };
        self.credit = Some(self.credit).filter(|credit| *credit >= kept)?.checked_sub(PER_REQUEST)?;
        self.run.asked.insert(next);
        Some(next)
    }

    /// Notes that a request of the attempt has failed.
    pub fn note_failure(&mut self, request: Request, failure: UpstreamError) {
        self.run.failed += usize::from(request >= FIRST_PAGE);
        self.run.failure = Some(failure);
    }

    /// Learns from the response to a request, which was fetched in the minute `tick`.
    ///
    /// # Errors
    /// If the response is invalid.
    pub fn learn(
        &mut self,
        request: Request,
        response: &UpstreamResponse,
        tick: Tick,
    ) -> Result<(), UpstreamError> {
        let Request::Page(number) = request else { return self.learn_sales(response) };
        let page = auctions::parse::<Listing<'_>>(PageNumber::new(number), response)?;
        let refresh = UnixMilliseconds::new(page.last_updated);
        let total = u32::try_from(page.total_pages).ok().filter(|total| (1..=MOST_PAGES).contains(total));
        let total = total.ok_or_else(|| response.invalid("its number of pages makes no sense"))?;
        let invalid = page.auctions.skipped.names.clone();
        let rows = page.auctions.into_usable(response)?;
        let is_new = if number == 0 { self.house.refresh(refresh) } else { !self.house.is_stale(refresh) };
        if is_new || number == 0 {
            self.pending.remove(&request);
        }
        if !is_new {
            return Ok(());
        }
        if number == 0 {
            self.run.tick = Some(tick);
            self.plan(total);
        }
        self.run.pages += 1;
        self.run.left_out.names.extend(invalid);
        self.house.add(&rows, &mut self.run.left_out);
        let oldest = rows.last().map(|row| UnixMilliseconds::new(row.last_updated));
        if !self.run.is_complete && oldest >= self.run.since && number + 1 < self.total {
            self.pending.insert(Request::Page(number + 1));
        }
        Ok(())
    }

    /// Decides whether the run reads all pages, when the first one says how many there are.
    fn plan(&mut self, total: u32) {
        self.total = total;
        self.read_at = self.now;
        self.pending.retain(|request| *request < Request::Page(total));
        let since = self.now.zip(self.completed_at).map(|(now, completed_at)| now.distance(completed_at));
        let is_due = since.is_none_or(|since| since >= BETWEEN_COMPLETE) && !self.is_completing;
        if is_due && (self.run.is_first || self.credit >= PER_REQUEST * total) {
            (self.run.is_complete, self.is_completing) = (true, true);
            self.pending.extend((1..total).map(Request::Page));
            self.house.begin_reading();
        }
    }

    fn learn_sales(&mut self, response: &UpstreamResponse) -> Result<(), UpstreamError> {
        let (refresh, rows) = ended_auctions::parse(response)?;
        let invalid = rows.skipped.names.clone();
        let rows = rows.into_usable(response)?;
        self.run.left_out.names.extend(invalid);
        self.run.sales = Some(self.house.sell(UnixMilliseconds::new(refresh), &rows, &mut self.run.left_out));
        self.pending.remove(&Request::EndedAuctions);
        Ok(())
    }

    /// Ends the run, and returns what it has found.
    ///
    /// # Errors
    /// If too little was read.
    pub fn finish(&mut self) -> Result<Found, Failure> {
        let lost = self.pending.range(FIRST_PAGE..).count();
        let is_complete = self.is_completing && lost == 0;
        // The next run may read the last page, which comes and goes: no row moves from it to a page that was read. From others, rows do.
        let last_page = Request::Page(self.total.saturating_sub(1));
        self.is_completing &= lost == 1 && self.pending.contains(&last_page);
        if is_lost(lost, self.total) || self.pending.contains(&FIRST_PAGE) {
            return Err(Failure::Lost { lost, total: self.total, failure: self.run.failure.take() });
        }
        if is_complete {
            self.house.end_reading();
            self.completed_at = self.now;
        }
        self.house.expire();
        let (prices, lowest) = prices(self.house.listings());
        let last_updated = self.house.refreshed().filter(|_| !prices.is_empty()).ok_or(Failure::Empty)?;
        let Run { tick, sales, pages, left_out, failure, .. } = std::mem::take(&mut self.run);
        let minute = Minute { last_updated, prices, lowest, sales };
        let (auctions, missing) = (self.house.listings().len(), self.pending.len());
        Ok(Found { tick, minute, pages, auctions, missing, failure, left_out })
    }
}

/// Whether a tenth of the pages or more is missing, so that the run fails.
const fn is_lost(missing: usize, total: u32) -> bool {
    missing > 0 && missing * LOST >= total as usize
}
