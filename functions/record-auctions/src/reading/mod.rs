//! Decides which requests a run makes, and what follows from the responses: the list of ended auctions
//! (`ended`), and the pages of running auctions (`running`), within the limit of requests (`limit`).
//!
//! If a list of ended auctions was missed, some known auctions may already be sold, and all pages are read as
//! soon as the limit allows it.

mod ended;
mod limit;
mod running;

use common::time::UnixMilliseconds;
use common::upstream::{UpstreamError, UpstreamResponse, ended_auctions};
use tables::Filing;
use tables::auctions::List;

use self::ended::{Continuity, Ended};
use self::limit::Limit;
pub use self::limit::Request;
pub use self::running::{Failure, Found, Read};
use self::running::{Running, past};

/// The knowledge of a recorder, and the pending requests of the current run.
#[derive(Default)]
pub struct Reading {
    limit: Limit,
    ended: Ended,
    running: Running,
    /// The times of the current run.
    times: Option<Times>,
    /// What the current run has read.
    read: Read,
    /// The last failure of the current run.
    failure: Option<UpstreamError>,
}

/// The times of a run.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub began: UnixMilliseconds,
    /// When the run sends its last request.
    pub end: UnixMilliseconds,
    /// A refresh after this time is invalid.
    pub latest: UnixMilliseconds,
}

impl Reading {
    pub fn begin(&mut self, times: Times) {
        let pause = self.times.map(|before| times.began.distance(before.began));
        self.times = Some(times);
        (self.read, self.failure) = (Read::default(), None);
        self.limit.begin(pause);
        self.ended.begin();
        self.running.begin(times.began, pause);
    }

    /// Begins an attempt to make the pending requests.
    pub fn begin_attempt(&mut self) {
        self.limit.begin_attempt();
    }

    /// Returns the next request of the attempt. `None` if nothing is pending, if too many pages failed in
    /// this attempt, or if the limit of requests is reached.
    pub fn next_request(&mut self) -> Option<Request> {
        let ended = self.ended.pending().filter(|request| self.limit.is_new(*request));
        let request = ended.or_else(|| self.running.pending(&self.limit))?;
        self.limit.take(request, self.running.total).then_some(request)
    }

    /// Adds the response to a request, which arrived at the time `now` in the minute `filing`. Returns the
    /// list of ended auctions if the response is a new one.
    ///
    /// # Errors
    /// The failure of the request. A response is a failure if it is invalid, much older than the first page,
    /// or repeats another page.
    pub fn respond(
        &mut self,
        request: Request,
        response: Result<UpstreamResponse, UpstreamError>,
        now: UnixMilliseconds,
        filing: Filing,
    ) -> Result<Option<List>, UpstreamError> {
        let Some(Times { end, latest, .. }) = self.times else { return Ok(None) };
        let learned = response.and_then(|response| match request {
            Request::EndedAuctions { .. } => self.learn_list(&response, latest, now, end),
            Request::Page(number) => {
                let Self { limit, running, read, .. } = self;
                running.learn(number, &response, filing, latest, limit, read).map(|()| None)
            }
        });
        if let Err(failure) = &learned {
            if let Request::Page(number) = request {
                self.limit.failed += 1;
                self.running.note_failure(number, failure);
            }
            self.failure = Some(failure.clone());
        }
        learned
    }

    fn learn_list(
        &mut self,
        response: &UpstreamResponse,
        latest: UnixMilliseconds,
        now: UnixMilliseconds,
        end: UnixMilliseconds,
    ) -> Result<Option<List>, UpstreamError> {
        let (refresh, rows) = ended_auctions::parse(response)?;
        let until = past(refresh, latest, response)?;
        let invalid = rows.skipped.names.clone();
        let sold = rows.into_usable(response)?;
        self.read.add(sold.len(), invalid);
        let auctions = self.running.house.sell(&sold, &mut self.read.left_out);
        self.read.sales = Some(self.read.sales.unwrap_or_default() + auctions.len());
        let continuity = self.ended.note(until, now, end);
        if continuity == Continuity::AfterGap {
            self.running.doubt(&self.limit);
        }
        Ok((continuity != Continuity::Same).then_some(List { until, auctions }))
    }

    /// Ends the run, and returns its result.
    ///
    /// # Errors
    /// If too many pages are missing, or there is no price.
    pub fn finish(&mut self) -> Result<Found, Failure> {
        let (read, failure) = (std::mem::take(&mut self.read), self.failure.take());
        let mut found = self.running.finish(self.ended.known_since, read, failure)?;
        found.missing += self.ended.pending().iter().count();
        Ok(found)
    }
}
