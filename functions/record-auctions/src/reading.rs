//! Decides which requests a run makes.
//!
//! Pages are sorted by `last_updated`, newest first, so new auctions are on the first pages. A usual run reads the list of ended auctions,
//! and pages from the first one until a row is older than the rows that earlier runs have read. No list shows cancelled auctions, so a run
//! reads all pages every ten minutes: a complete reading. The first run and a run after a pause also read all pages. If a page cannot be
//! read, the next run reads it.
//!
//! `lastUpdated` shows whether a list of ended auctions was missed. If so, some known auctions may already be sold, and all pages are read
//! as soon as the limit of requests allows it.

use std::collections::BTreeSet;
use std::time::Duration;

use common::request::parameters::PageNumber;
use common::time::UnixMilliseconds;
use common::upstream::auctions::{self, Listing};
use common::upstream::ended_auctions::{self, COVERED};
use common::upstream::{Skipped, StatusCode, UpstreamError, UpstreamResponse};
use tables::Filing;
use tables::auctions::{Minute, SALES_KEPT, Sales};
use tables::heartbeat::Refresh;

use crate::house::{ABSENCES, House, JITTER};
use crate::pages::{Page, Pages, is_lost};
use crate::prices::prices;

/// If no first page was read for longer than this, the known auctions are too old, and all pages are read.
const LONGEST_PAUSE: Duration = Duration::from_mins(3).saturating_add(JITTER);

/// The next complete reading is due this long after the last one.
const BETWEEN_COMPLETE: Duration = Duration::from_mins(10).saturating_sub(JITTER);

/// If the last complete reading is older, a run fails when too many pages are missing: too many known auctions may be cancelled by then.
const LONGEST_INCOMPLETE: Duration = Duration::from_hours(1);

/// If the refreshes of two lists of ended auctions are further apart, the run has missed a list between them.
const SUCCESSIVE: Duration = COVERED.saturating_add(JITTER);

/// A new list of ended auctions becomes visible at most this long after its refresh, because of caches.
const LIST_DELAY: Duration = Duration::from_secs(10);

/// The shortest time until the list of ended auctions is requested again.
const LIST_PAUSE: Duration = Duration::from_secs(2);

/// After this many successive runs without a buy-it-now auction, the house counts as empty. Fewer such runs may be a fault of the provider.
const EMPTY_RUNS: u32 = 3;

/// In this many first attempts of a run, the first page and the list of ended auctions may use requests that are reserved for a complete
/// reading.
const NEEDED_ATTEMPTS: u32 = 3;

/// The average rate is at most one request in this time.
const PER_REQUEST: Duration = Duration::from_secs(6);
/// The most time whose unused requests are saved for later.
const MOST_CREDIT: Duration = Duration::from_mins(15);

/// The highest valid number of pages. The highest number seen is 66.
const MOST_PAGES: u32 = 150;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// The list of ended auctions.
    EndedAuctions,
    /// The page of running auctions with this number.
    Page(u32),
}

/// The request for the first page, which has the number of pages.
pub(crate) const FIRST_PAGE: Request = Request::Page(0);

/// The result of a run.
#[derive(Debug)]
pub struct Found {
    /// The minute under which to file the result, from the fetch of the first page. `None` if an earlier first page was newer.
    pub filing: Option<Filing>,
    /// The refresh of the first page.
    pub refresh: Option<Refresh>,
    /// The prices and sales to record.
    pub minute: Minute,
    /// The number of pages that were read.
    pub pages: usize,
    /// The number of known auctions.
    pub auctions: usize,
    /// The number of requests that failed or were not sent. The next run sends them.
    pub missing: usize,
    /// The failure of the last failed request.
    pub failure: Option<UpstreamError>,
    /// The number of buy-it-now auctions on pages, of sales, and of invalid rows. It includes `left_out`.
    pub rows: usize,
    /// The auctions that are invalid or whose item has no id.
    pub left_out: Skipped,
    /// Whether all pages were read.
    pub is_complete: bool,
}

/// Why a run has nothing to record.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Too many pages are missing, or the first one is.
    #[error("{lost} of {total} pages were not read")]
    Lost {
        /// The number of missing pages.
        lost: usize,
        /// The number of all pages; 0 if it is unknown.
        total: u32,
        /// The failure of the last failed request.
        #[source]
        failure: Option<UpstreamError>,
    },
    /// There is no price. From the third such run in a row on, this is not a failure, and an empty minute is recorded.
    #[error("no auction has a price")]
    Empty,
}

/// The knowledge of a recorder, and the pending requests of the current run.
#[derive(Default)]
pub struct Reading {
    house: House,
    /// The requests that are still to be made. A run leaves unfinished ones to the next run.
    pending: BTreeSet<Request>,
    /// The number of pages.
    total: u32,
    /// When the newest first page was read.
    read_at: Option<UnixMilliseconds>,
    /// When all pages were last read.
    completed_at: Option<UnixMilliseconds>,
    /// All updates before this time were read.
    since: Option<UnixMilliseconds>,
    /// The refresh of the newest list of ended auctions.
    listed_at: Option<UnixMilliseconds>,
    /// Since this time, every sale is in a list that was read.
    covered_since: Option<UnixMilliseconds>,
    /// The number of complete readings that are still needed to confirm the known auctions, for example after a missed list.
    doubts: u8,
    /// The sales that are not recorded yet.
    sales: Option<Sales>,
    /// The number of successive runs that found no buy-it-now auction.
    empty_runs: u32,
    /// The time of the current run.
    now: Option<UnixMilliseconds>,
    /// The unused part of the limit of requests. Each request takes `PER_REQUEST`.
    credit: Duration,
    run: Run,
}

/// The current run.
#[derive(Default)]
struct Run {
    /// Whether the run begins without known auctions.
    is_first: bool,
    /// Whether the run reads all pages.
    is_complete: bool,
    /// A refresh after this time is invalid.
    latest: Option<UnixMilliseconds>,
    /// Whether a page has auctions whose item has no id.
    has_unreadable: bool,
    /// The minute of the fetch of the first page.
    filing: Option<Filing>,
    refresh: Option<Refresh>,
    pages: Pages,
    list: List,
    rows: usize,
    left_out: Skipped,
    /// The number of attempts.
    attempts: u32,
    /// The requests of the current attempt.
    asked: BTreeSet<Request>,
    /// The number of failed requests for pages in the current attempt.
    failed: usize,
    failure: Option<UpstreamError>,
}

/// The list of ended auctions that a run has read.
#[derive(Default, PartialEq, Eq)]
enum List {
    /// The run has read no list yet, or a new one.
    #[default]
    New,
    /// The run has read the previous list again.
    Previous,
    /// The run has read the previous list again, and has repeated the request.
    Repeated,
}

impl Reading {
    /// Begins a run at the time `now`. A response whose refresh is after `latest` is invalid.
    pub fn begin(&mut self, now: UnixMilliseconds, latest: UnixMilliseconds) {
        let pause = self.now.map_or(MOST_CREDIT, |before| now.distance(before));
        self.credit = MOST_CREDIT.min(self.credit + pause);
        self.now = Some(now);
        let is_first = self.read_at.is_none_or(|read_at| now.distance(read_at) > LONGEST_PAUSE);
        if is_first {
            self.house.forget();
            (self.completed_at, self.since) = (None, None);
        }
        if pause > LONGEST_PAUSE {
            self.empty_runs = 0;
        }
        self.house.begin_reading();
        self.run = Run { is_first, latest: Some(latest), ..Run::default() };
        self.pending.extend([Request::EndedAuctions, FIRST_PAGE]);
    }

    /// Begins an attempt to make the pending requests.
    pub fn begin_attempt(&mut self) {
        self.run.attempts += 1;
        self.run.asked.clear();
        self.run.failed = 0;
    }

    /// Returns the next request of the attempt. `None` if nothing is pending, if too many pages failed in this attempt, or if the limit of
    /// requests is reached. The first page comes before all other pages. A request is repeated only if the limit leaves enough requests for
    /// all pages; this does not apply to the first page, the last page and the list of ended auctions.
    pub fn next_request(&mut self) -> Option<Request> {
        let last = if self.pending.contains(&FIRST_PAGE) { FIRST_PAGE } else { Request::Page(u32::MAX) };
        let is_lost = is_lost(self.run.failed, self.total);
        let next = *self.pending.range(..=last).find(|request| !self.run.asked.contains(request))?;
        if is_lost && next > FIRST_PAGE {
            return None;
        }
        let is_needed = next <= FIRST_PAGE && self.run.attempts <= NEEDED_ATTEMPTS;
        let is_repeated = self.run.attempts > 1 && !is_needed && next != self.last_page();
        let kept = if is_repeated { PER_REQUEST * self.total } else { Duration::ZERO };
        if self.credit < kept.max(PER_REQUEST) {
            return None;
        }
        self.credit -= PER_REQUEST;
        self.run.asked.insert(next);
        Some(next)
    }

    /// Notes that a request of the attempt has failed.
    pub fn note_failure(&mut self, request: Request, failure: UpstreamError) {
        self.run.failed += usize::from(request >= FIRST_PAGE);
        let is_not_found = matches!(failure, UpstreamError::Status { status: StatusCode::NOT_FOUND, .. });
        if let Request::Page(number) = request
            && is_not_found
        {
            self.total = self.run.pages.note_not_found(number, self.total);
            let first_nonexistent = Request::Page(self.total.max(1));
            self.pending.retain(|request| *request < first_nonexistent);
        }
        self.run.failure = Some(failure);
    }

    const fn last_page(&self) -> Request {
        Request::Page(self.total.saturating_sub(1))
    }

    /// Adds the response to a request. `filing` is the minute of the fetch.
    ///
    /// # Errors
    /// If the response is invalid, much older than the first page, or repeats another page.
    pub fn learn(
        &mut self,
        request: Request,
        response: &UpstreamResponse,
        filing: Filing,
    ) -> Result<(), UpstreamError> {
        let Request::Page(number) = request else { return self.learn_sales(response) };
        let page = auctions::parse::<Listing<'_>>(PageNumber::new(number), response)?;
        let refresh = UnixMilliseconds::new(page.last_updated);
        let total = u32::try_from(page.total_pages)
            .ok()
            .filter(|total| *total <= MOST_PAGES)
            .ok_or_else(|| response.invalid("its number of pages is out of range"))?;
        let rows = page.auctions.usable.len() + page.auctions.skipped.names.len();
        let says_empty = total == 0 || page.total_auctions == 0;
        let is_before_last = number + 1 < total;
        let is_contradictory = if rows == 0 {
            is_before_last || page.total_auctions > 0 && (number == 0 || total == 0)
        } else {
            says_empty
        };
        if is_contradictory {
            return Err(response.invalid("its rows and its totals contradict each other"));
        }
        self.expect_past(refresh, response)?;
        let invalid = page.auctions.skipped.names.clone();
        let usable = page.auctions.into_usable(response)?;
        let is_new = if number == 0 { self.house.refresh(refresh) } else { !self.house.is_stale(refresh) };
        if !is_new && number > 0 {
            return Err(response.invalid("it is much older than the first page"));
        }
        if !is_new {
            self.pending.remove(&request);
            return Ok(());
        }
        let read = Page::new(refresh, &usable, rows, page.total_auctions);
        if let Err(other) = self.run.pages.add(number, read) {
            self.pending.extend((!self.run.pages.contains(other)).then_some(Request::Page(other)));
            return Err(response.invalid(format_args!("page {number} repeats page {other}")));
        }
        self.pending.remove(&request);
        if number == 0 {
            self.run.filing = Some(filing);
            // New auctions and bids come first, so the first page changes with each of them.
            let newest: Vec<_> = usable.iter().map(|row| (row.uuid, row.last_updated)).collect();
            self.run.refresh = Some(Refresh::of(refresh, &newest));
            self.plan(total);
        }
        self.run.rows += invalid.len() + usable.iter().filter(|row| row.bin).count();
        self.run.left_out.names.extend(invalid);
        let before = self.run.left_out.names.len();
        self.house.add(&usable, &mut self.run.left_out);
        self.run.has_unreadable |= self.run.left_out.names.len() > before;
        let oldest = usable.last().map(|row| UnixMilliseconds::new(row.last_updated));
        if !self.run.is_complete && oldest >= self.since && number + 1 < self.total {
            self.pending.insert(Request::Page(number + 1));
        }
        Ok(())
    }

    /// Fails if the refresh is in the future. If it were accepted, every later response would be too old.
    fn expect_past(
        &self,
        refresh: UnixMilliseconds,
        response: &UpstreamResponse,
    ) -> Result<(), UpstreamError> {
        let is_past = self.run.latest.is_none_or(|latest| refresh <= latest);
        if is_past { Ok(()) } else { Err(response.invalid("its time is in the future")) }
    }

    /// Decides which pages the run reads, once the first page has shown that there are `total` pages.
    fn plan(&mut self, total: u32) {
        self.total = total;
        self.read_at = self.now;
        self.pending.retain(|request| *request < Request::Page(total));
        self.begin_complete_reading();
    }

    /// Begins a due complete reading if the first page is read and the limit of requests allows it.
    fn begin_complete_reading(&mut self) {
        let is_due = self.doubts > 0 || self.since_complete().is_none_or(|since| since >= BETWEEN_COMPLETE);
        let is_ready = self.run.filing.is_some() && !self.run.pages.show_none() && !self.run.is_complete;
        if is_due && is_ready && (self.run.is_first || self.credit >= PER_REQUEST * self.total) {
            self.run.is_complete = true;
            let unread = (1..self.total).filter(|page| !self.run.pages.contains(*page));
            self.pending.extend(unread.map(Request::Page));
        }
    }

    /// The time since the last complete reading.
    fn since_complete(&self) -> Option<Duration> {
        Some(self.now?.distance(self.completed_at?))
    }

    fn learn_sales(&mut self, response: &UpstreamResponse) -> Result<(), UpstreamError> {
        let (refresh, rows) = ended_auctions::parse(response)?;
        let until = UnixMilliseconds::new(refresh);
        self.expect_past(until, response)?;
        let invalid = rows.skipped.names.clone();
        let ended = rows.into_usable(response)?;
        self.run.rows += invalid.len() + ended.len();
        self.run.left_out.names.extend(invalid);
        let list = self.house.sell(&ended, &mut self.run.left_out);
        self.pending.remove(&Request::EndedAuctions);
        let before = self.listed_at.filter(|before| until.distance(*before) <= LONGEST_PAUSE);
        let is_previous = before.is_some_and(|before| until <= before);
        if is_previous && self.run.list == List::New {
            self.run.list = List::Previous;
        }
        let is_successive = before.is_some_and(|before| until <= before.plus(SUCCESSIVE));
        let covered_since = until.minus(COVERED);
        let since = before.filter(|before| is_successive && *before < until);
        let since = since.map_or(covered_since, |before| before.min(covered_since));
        if !is_previous {
            self.listed_at = Some(until);
        }
        if !is_successive {
            self.covered_since = Some(since);
            self.doubts = ABSENCES;
            self.begin_complete_reading();
        }
        let sales = Sales { since, until, list };
        self.sales = Some(match self.sales.take() {
            Some(earlier) => earlier.followed_by(sales, SALES_KEPT),
            None => sales,
        });
        Ok(())
    }

    /// If the run has read the previous list of ended auctions again, makes the request pending once more, and returns when to send it.
    /// `None` if the next list is not due before `end`, or is very late.
    pub fn repeat_list(&mut self, now: UnixMilliseconds, end: UnixMilliseconds) -> Option<UnixMilliseconds> {
        let before = self.listed_at.filter(|_| self.run.list == List::Previous)?;
        let due = before.plus(COVERED + LIST_DELAY).max(now.plus(LIST_PAUSE));
        // A list that is late by a whole refresh is unlikely to come within seconds.
        if due > end || now > before.plus(COVERED * 2) {
            return None;
        }
        self.run.list = List::Repeated;
        self.run.asked.remove(&Request::EndedAuctions);
        self.pending.insert(Request::EndedAuctions);
        Some(due)
    }

    /// Notes that the minute of the run is recorded, with its sales.
    pub fn note_recorded(&mut self) {
        self.sales = None;
    }

    /// Ends the run, and returns its result. Sales are kept until they are recorded.
    ///
    /// # Errors
    /// If too many pages are missing, or there is no price.
    pub fn finish(&mut self) -> Result<Found, Failure> {
        let lost = self.pending.range(FIRST_PAGE..).count();
        let is_known =
            !self.run.is_first && self.since_complete().is_some_and(|since| since <= LONGEST_INCOMPLETE);
        let is_lost = is_lost(lost, self.total) && !is_known;
        if is_lost || self.pending.contains(&FIRST_PAGE) {
            return Err(Failure::Lost { lost, total: self.total, failure: self.run.failure.take() });
        }
        self.since = self.run.pages.read_since(self.since, self.total).or(self.since);
        self.end_complete_reading(lost);
        self.house.expire();
        let last_updated = self.house.refreshed().ok_or(Failure::Empty)?;
        let is_closed = self.run.pages.show_none();
        if is_closed && self.empty_runs + 1 >= EMPTY_RUNS {
            self.house.forget();
            // Without this time, the next run reads all pages, in case the house has opened again.
            self.read_at = None;
        }
        let (prices, lowest_auctions) = prices(self.house.listings());
        let is_empty = is_closed || prices.is_empty();
        self.empty_runs = if is_empty && !self.run.has_unreadable { self.empty_runs + 1 } else { 0 };
        if is_empty && self.empty_runs < EMPTY_RUNS {
            return Err(Failure::Empty);
        }
        let run = std::mem::take(&mut self.run);
        let completed_at = self.completed_at;
        let sales = self.sales.clone();
        Ok(Found {
            filing: run.filing,
            refresh: run.refresh,
            minute: Minute { last_updated, completed_at, prices, lowest_auctions, sales },
            pages: run.pages.len(),
            auctions: self.house.listings().len(),
            missing: self.pending.len(),
            failure: run.failure,
            rows: run.rows,
            left_out: run.left_out,
            is_complete: run.is_complete && lost == 0,
        })
    }

    /// Ends a complete reading if no page is missing, and decides how many more are needed to confirm the known auctions.
    fn end_complete_reading(&mut self, lost: usize) {
        let is_one_snapshot = self.run.pages.are_one_snapshot();
        let is_covered = self.covered_since.is_some_and(|since| self.run.pages.are_refreshed_since(since));
        if self.run.is_complete && lost == 0 {
            self.house.end_reading(is_one_snapshot);
            self.completed_at = self.now;
            self.doubts = if is_one_snapshot { 0 } else { self.doubts.saturating_sub(1) };
        }
        // A page from before `covered_since` can show an auction that was sold, but whose sale is in no list that was read.
        if !is_covered {
            self.doubts = ABSENCES;
        }
    }
}
