//! The running auctions: which pages a run reads, and what it knows after them.
//!
//! Pages are sorted by `last_updated`, newest first, so new auctions are on the first pages. A usual run
//! reads pages from the first one until a row is older than the rows that earlier runs have read. No list
//! shows cancelled auctions, so a run reads all pages every ten minutes: a complete reading. The first run
//! and a run after a pause also read all pages. If a page cannot be read, the next run reads it.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use common::request::auction_item_id::AuctionItemId;
use common::request::parameters::PageNumber;
use common::time::UnixMilliseconds;
use common::upstream::auctions::{self, Listing};
use common::upstream::{Skipped, StatusCode, UpstreamError, UpstreamResponse};
use recorder::heartbeat::Refresh;
use serde::{Serialize, Serializer};
use tables::Filing;
use tables::auctions::Minute;

use super::limit::{Limit, Request};
use crate::house::{ABSENCES, House, JITTER, LONGEST_PAUSE};
use crate::pages::{Page, Pages, is_lost};

/// The next complete reading is due this long after the last one.
const BETWEEN_COMPLETE: Duration = Duration::from_mins(10).saturating_sub(JITTER);

/// If the last complete reading is older, a run fails when too many pages are missing: too many known
/// auctions may be cancelled by then.
const LONGEST_INCOMPLETE: Duration = Duration::from_hours(1);

/// After this many successive runs without a buy-it-now auction, the house counts as empty. Fewer such runs
/// may be a fault of the provider.
const EMPTY_RUNS: u32 = 3;

/// The highest valid number of pages. The highest number seen is 66.
const MOST_PAGES: u32 = 150;

/// The result of a run.
#[derive(Debug)]
pub struct Found {
    /// The minute of the fetch of the first page, under which to file the result, and the refresh of the
    /// page. `None` if an earlier first page was newer.
    pub first_page: Option<(Filing, Refresh)>,
    /// The prices to record.
    pub minute: Minute,
    pub blocks: Result<Vec<(AuctionItemId, Bytes)>, files::Error>,
    pub read: Read,
    /// The number of requests that failed or were not sent. The next run sends them.
    pub missing: usize,
    /// The failure of the last failed request.
    pub failure: Option<UpstreamError>,
}

/// What a run has read.
#[derive(Debug, Default, Serialize)]
pub struct Read {
    pub pages: usize,
    /// The number of running buy-it-now auctions, including those that earlier runs have read.
    pub auctions: usize,
    /// The number of items with a price.
    pub items: usize,
    /// The number of sales; `None` if no list of ended auctions was read.
    pub sales: Option<usize>,
    /// The auctions that are invalid or whose item has no id.
    #[serde(serialize_with = "number")]
    pub left_out: Skipped,
    /// The number of buy-it-now auctions on pages, of sales, and of invalid rows. It includes `left_out`.
    #[serde(skip)]
    pub rows: usize,
    /// Whether all pages were read.
    #[serde(skip)]
    pub is_complete: bool,
}

impl Read {
    /// Adds this many valid rows, and invalid rows with these names.
    pub(super) fn add(&mut self, valid: usize, invalid: Vec<String>) {
        self.rows += valid + invalid.len();
        self.left_out.names.extend(invalid);
    }
}

fn number<S: Serializer>(rows: &Skipped, serializer: S) -> Result<S::Ok, S::Error> {
    rows.names.len().serialize(serializer)
}

/// Why a run has no prices to record.
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
    /// There is no price. From the third such run in a row on, this is not a failure, and an empty minute is
    /// recorded.
    #[error("no auction has a price")]
    Empty,
}

#[derive(Default)]
pub(super) struct Running {
    pub(super) house: House,
    /// The pages that are still to be read. A run leaves unread ones to the next run.
    pending: BTreeSet<u32>,
    /// The number of pages; 0 if it is unknown.
    pub(super) total: u32,
    known: Known,
    /// The number of complete readings that are still needed to confirm the known auctions, for example after
    /// a missed list.
    doubts: u8,
    /// The number of successive runs that found no buy-it-now auction.
    empty_runs: u32,
    run: Run,
}

/// What the runs have read. Empty if the next run must read all pages.
#[derive(Default)]
struct Known {
    /// When the newest first page was read.
    first_at: Option<UnixMilliseconds>,
    /// When all pages were last read.
    completed_at: Option<UnixMilliseconds>,
    /// All updates before this time were read.
    until: Option<UnixMilliseconds>,
}

#[derive(Default)]
struct Run {
    began: Option<UnixMilliseconds>,
    scope: Scope,
    first_page: Option<(Filing, Refresh)>,
    pages: Pages,
    /// Whether a page has auctions whose item has no id.
    has_unreadable: bool,
}

/// Which pages a run reads.
#[derive(Default, PartialEq, Eq)]
enum Scope {
    /// The pages with updates that no run has read.
    #[default]
    Updates,
    /// All pages, as soon as the first one shows how many there are, whatever the limit of requests is.
    First,
    /// All pages: the run is a complete reading.
    All,
}

impl Running {
    /// Begins a run this long after the run before; `None` for the first run.
    pub(super) fn begin(&mut self, now: UnixMilliseconds, pause: Option<Duration>) {
        self.run = Run { began: Some(now), ..Run::default() };
        if self.known.first_at.is_none_or(|read_at| now.distance(read_at) > LONGEST_PAUSE) {
            self.house.forget();
            self.known = Known::default();
            self.run.scope = Scope::First;
        }
        if pause.is_some_and(|pause| pause > LONGEST_PAUSE) {
            self.empty_runs = 0;
        }
        self.house.begin_reading();
        self.pending.insert(0);
    }

    /// Returns the next request of the attempt. `None` if no page is pending, or if too many pages failed in
    /// this attempt. The first page comes before all other pages.
    pub(super) fn pending(&self, limit: &Limit) -> Option<Request> {
        let last = if self.pending.contains(&0) { 0 } else { u32::MAX };
        let mut pages = self.pending.range(..=last).map(|page| Request::Page(*page));
        let next = pages.find(|request| limit.is_new(*request));
        next.filter(|request| *request == Request::Page(0) || !is_lost(limit.failed, self.total))
    }

    /// Notes that the request for a page has failed.
    pub(super) fn note_failure(&mut self, number: u32, failure: &UpstreamError) {
        if matches!(failure, UpstreamError::Status { status: StatusCode::NOT_FOUND, .. }) {
            self.total = self.run.pages.note_not_found(number, self.total);
            let first_nonexistent = self.total.max(1);
            self.pending.retain(|page| *page < first_nonexistent);
        }
    }

    /// Adds a page that was fetched in the minute `filing`. A refresh after `latest` is invalid.
    ///
    /// # Errors
    /// If the response is invalid, much older than the first page, or repeats another page.
    pub(super) fn learn(
        &mut self,
        number: u32,
        response: &UpstreamResponse,
        filing: Filing,
        latest: UnixMilliseconds,
        limit: &Limit,
        read: &mut Read,
    ) -> Result<(), UpstreamError> {
        let page = auctions::parse::<Listing<'_>>(PageNumber::new(number), response)?;
        let refresh = past(page.last_updated, latest, response)?;
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
        let invalid = page.auctions.skipped.names.clone();
        let usable = page.auctions.into_usable(response)?;
        let is_new = if number == 0 { self.house.refresh(refresh) } else { !self.house.is_stale(refresh) };
        if !is_new && number > 0 {
            return Err(response.invalid("it is much older than the first page"));
        }
        if !is_new {
            self.pending.remove(&number);
            return Ok(());
        }
        let added = Page::new(refresh, &usable, rows, page.total_auctions);
        if let Err(other) = self.run.pages.add(number, added) {
            self.pending.extend((!self.run.pages.contains(other)).then_some(other));
            return Err(response.invalid(format_args!("page {number} repeats page {other}")));
        }
        self.pending.remove(&number);
        if number == 0 {
            // New auctions and bids come first, so the first page changes with each of them.
            let newest: Vec<_> = usable.iter().map(|row| (row.uuid, row.last_updated)).collect();
            self.run.first_page = Some((filing, Refresh::of(refresh, &newest)));
            // The first page shows how many pages there are.
            self.total = total;
            self.known.first_at = self.run.began;
            self.pending.retain(|page| *page < total);
            self.begin_complete_reading(limit);
        }
        read.add(usable.iter().filter(|row| row.bin).count(), invalid);
        let left_out = read.left_out.names.len();
        self.house.add(&usable, &mut read.left_out);
        self.run.has_unreadable |= read.left_out.names.len() > left_out;
        let oldest = usable.last().map(|row| UnixMilliseconds::new(row.last_updated));
        if self.run.scope != Scope::All && oldest >= self.known.until && number + 1 < self.total {
            self.pending.insert(number + 1);
        }
        Ok(())
    }

    /// Notes that a list of ended auctions is missing: any known auction may be sold.
    pub(super) fn doubt(&mut self, limit: &Limit) {
        self.doubts = ABSENCES;
        self.begin_complete_reading(limit);
    }

    /// Begins a due complete reading if the first page is read and the limit of requests allows it.
    fn begin_complete_reading(&mut self, limit: &Limit) {
        let is_due = self.doubts > 0 || self.since_complete().is_none_or(|since| since >= BETWEEN_COMPLETE);
        let is_allowed = match self.run.scope {
            Scope::Updates => limit.allows(self.total),
            Scope::First => true,
            Scope::All => false,
        };
        if is_due && is_allowed && self.run.first_page.is_some() && !self.run.pages.show_none() {
            self.run.scope = Scope::All;
            self.pending.extend((1..self.total).filter(|page| !self.run.pages.contains(*page)));
        }
    }

    /// The time since the last complete reading.
    fn since_complete(&self) -> Option<Duration> {
        Some(self.run.began?.distance(self.known.completed_at?))
    }

    /// Ends the run, and returns its result. Every sale since `known_since` is in a list of ended auctions
    /// that was read.
    ///
    /// # Errors
    /// If too many pages are missing, or there is no price.
    pub(super) fn finish(
        &mut self,
        known_since: Option<UnixMilliseconds>,
        read: Read,
        failure: Option<UpstreamError>,
    ) -> Result<Found, Failure> {
        self.house.expire();
        let lost = self.pending.len();
        let is_known = self.since_complete().is_some_and(|since| since <= LONGEST_INCOMPLETE);
        let is_lost = is_lost(lost, self.total) && !is_known;
        if is_lost || self.pending.contains(&0) {
            return Err(Failure::Lost { lost, total: self.total, failure });
        }
        let run = std::mem::take(&mut self.run);
        self.known.until = run.pages.read_since(self.known.until, self.total).or(self.known.until);
        let is_complete = run.scope == Scope::All && lost == 0;
        self.confirm(&run, is_complete, known_since);
        let last_updated = self.house.refreshed().ok_or(Failure::Empty)?;
        let completed_at = self.known.completed_at;
        let is_closed = run.pages.show_none();
        if is_closed && self.empty_runs + 1 >= EMPTY_RUNS {
            self.house.forget();
            // The next run reads all pages, in case the house has opened again.
            self.known = Known::default();
        }
        let (prices, lowest_auctions) = self.house.prices();
        let is_empty = is_closed || prices.is_empty();
        self.empty_runs = if is_empty && !run.has_unreadable { self.empty_runs + 1 } else { 0 };
        if is_empty && self.empty_runs < EMPTY_RUNS {
            return Err(Failure::Empty);
        }
        let blocks = self.house.blocks();
        let (pages, auctions, items) = (run.pages.len(), self.house.len(), prices.len());
        let read = Read { pages, auctions, items, is_complete, ..read };
        let minute = Minute { last_updated, completed_at, prices, lowest_auctions };
        Ok(Found { first_page: run.first_page, minute, blocks, read, missing: lost, failure })
    }

    /// Ends a complete reading if no page is missing, and decides how many more are needed to confirm the
    /// known auctions.
    fn confirm(&mut self, run: &Run, is_complete: bool, known_since: Option<UnixMilliseconds>) {
        let is_one_snapshot = run.pages.are_one_snapshot();
        if is_complete {
            self.house.end_reading(is_one_snapshot);
            self.known.completed_at = run.began;
            self.doubts = if is_one_snapshot { 0 } else { self.doubts.saturating_sub(1) };
        }
        // A page from before `known_since` can show an auction that was sold, but whose sale is in no list
        // that was read.
        if known_since.is_none_or(|since| !run.pages.are_refreshed_since(since)) {
            self.doubts = ABSENCES;
        }
    }
}

/// Returns the time of a refresh.
///
/// # Errors
/// If it is after `latest`. If it were accepted, every later response would be too old.
pub(super) fn past(
    refresh: i64,
    latest: UnixMilliseconds,
    response: &UpstreamResponse,
) -> Result<UnixMilliseconds, UpstreamError> {
    let refresh = UnixMilliseconds::new(refresh);
    if refresh <= latest { Ok(refresh) } else { Err(response.invalid("its time is in the future")) }
}
