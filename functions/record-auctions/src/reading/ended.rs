//! The list of ended auctions: when a run requests it, and whether the runs have missed one.

use std::time::Duration;

use common::time::UnixMilliseconds;
use common::upstream::ended_auctions::COVERED;
use tables::auctions::SUCCESSIVE;

use super::limit::Request;
use crate::house::LONGEST_PAUSE;

/// A new list becomes visible at most this long after its refresh, because of caches.
const LIST_DELAY: Duration = Duration::from_secs(10);

/// The shortest time until the list is requested again.
const LIST_PAUSE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct Ended {
    /// The refresh of the newest list.
    newest: Option<UnixMilliseconds>,
    /// Since this time, every sale is in a list that was read.
    pub(super) known_since: Option<UnixMilliseconds>,
    step: Step,
}

/// What the current run does next.
#[derive(Default)]
enum Step {
    #[default]
    Read,
    /// It has read the previous list again, and reads the next one at this time.
    ReadNext(UnixMilliseconds),
    /// It reads no further list.
    Nothing,
}

/// How a list continues the lists that were read before.
#[derive(PartialEq, Eq)]
pub(super) enum Continuity {
    /// It is the newest of them.
    Same,
    /// No list is missing between them.
    Successive,
    /// A list is missing before it, or it is the first one.
    AfterGap,
}

impl Ended {
    pub(super) fn begin(&mut self) {
        self.step = Step::default();
    }

    /// Returns the pending request; `None` if the run reads no further list.
    pub(super) const fn pending(&self) -> Option<Request> {
        match self.step {
            Step::Read => Some(Request::EndedAuctions { due: None }),
            Step::ReadNext(due) => Some(Request::EndedAuctions { due: Some(due) }),
            Step::Nothing => None,
        }
    }

    /// Notes a list of this refresh that was read at the time `now`. If it is the previous list, the run
    /// requests the list once more, unless the next one is not due before `end`, or is very late.
    pub(super) fn note(
        &mut self,
        refresh: UnixMilliseconds,
        now: UnixMilliseconds,
        end: UnixMilliseconds,
    ) -> Continuity {
        let before = self.newest.filter(|before| refresh.distance(*before) <= LONGEST_PAUSE);
        let previous = before.filter(|before| refresh <= *before);
        let read = if matches!(self.step, Step::Read) { previous } else { None };
        let next = read.and_then(|previous| {
            let due = previous.plus(COVERED + LIST_DELAY).max(now.plus(LIST_PAUSE));
            // A list that is late by a whole refresh is unlikely to come within seconds.
            (due <= end && now <= previous.plus(COVERED * 2)).then_some(due)
        });
        self.step = next.map_or(Step::Nothing, Step::ReadNext);
        if previous.is_none() {
            self.newest = Some(refresh);
        }
        if before.is_some_and(|before| refresh <= before.plus(SUCCESSIVE)) {
            return if before == Some(refresh) { Continuity::Same } else { Continuity::Successive };
        }
        self.known_since = Some(refresh.minus(COVERED));
        Continuity::AfterGap
    }
}
