//! The limit of requests: on average one in six seconds. Requests that a run does not use are saved for later
//! runs.

use std::collections::BTreeSet;
use std::time::Duration;

use common::time::UnixMilliseconds;

/// The average rate is at most one request in this time.
const PER_REQUEST: Duration = Duration::from_secs(6);
/// The most time whose unused requests are saved for later.
const MOST_CREDIT: Duration = Duration::from_mins(15);

/// In this many first attempts of a run, the first page and the list of ended auctions may use requests that
/// are reserved for a complete reading.
const NEEDED_ATTEMPTS: u32 = 3;

/// A request of a run. The list of ended auctions comes before all pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// The list of ended auctions, at the time `due`; `None` for at once.
    EndedAuctions { due: Option<UnixMilliseconds> },
    /// The page of running auctions with this number.
    Page(u32),
}

#[derive(Default)]
pub(super) struct Limit {
    /// The unused part of the limit. Each request takes `PER_REQUEST`.
    credit: Duration,
    /// The number of attempts of the run.
    attempts: u32,
    /// The requests of the current attempt.
    asked: BTreeSet<Request>,
    /// The number of requests for pages that failed in the current attempt.
    pub(super) failed: usize,
}

impl Limit {
    /// Begins a run this long after the run before; `None` for the first run.
    pub(super) fn begin(&mut self, pause: Option<Duration>) {
        self.credit = MOST_CREDIT.min(self.credit + pause.unwrap_or(MOST_CREDIT));
        self.attempts = 0;
    }

    pub(super) fn begin_attempt(&mut self) {
        self.attempts += 1;
        self.asked.clear();
        self.failed = 0;
    }

    /// Whether the current attempt has not made this request.
    pub(super) fn is_new(&self, request: Request) -> bool {
        !self.asked.contains(&request)
    }

    /// Whether requests for all of `total` pages are left.
    pub(super) fn allows(&self, total: u32) -> bool {
        self.credit >= PER_REQUEST * total
    }

    /// Returns whether the limit allows the request, and if so, counts it. A request is repeated only if
    /// requests for all of `total` pages are left; this does not apply to the first page, the last page and
    /// the list of ended auctions.
    pub(super) fn take(&mut self, request: Request, total: u32) -> bool {
        let is_needed = request <= Request::Page(0) && self.attempts <= NEEDED_ATTEMPTS;
        let is_last = request == Request::Page(total.saturating_sub(1));
        let is_reserved = self.attempts > 1 && !is_needed && !is_last;
        let is_allowed = self.allows(if is_reserved { total.max(1) } else { 1 });
        if is_allowed {
            self.credit -= PER_REQUEST;
            self.asked.insert(request);
        }
        is_allowed
    }
}
