//! When auctions were read.

use std::time::Duration;

use common::routes::is_recent;
use common::time::{UnixMilliseconds, UnixSeconds};
use serde::{Deserialize, Serialize};

/// The maximum lead of the provider's time over the clock. A stored time with a larger lead is wrong, and
/// must not block updates.
const LARGEST_LEAD: Duration = Duration::from_mins(2);

/// When auctions were read. Of two objects, the one with the greater stamp stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stamp {
    /// When the provider refreshed the auctions.
    pub last_updated: UnixMilliseconds,
    /// When all pages were last read; `None` if unknown.
    pub completed_at: Option<UnixMilliseconds>,
    /// The minute in which the auctions are recorded.
    pub recorded_at: UnixSeconds,
}

impl Stamp {
    /// Whether the auctions may still be served at the time `now`.
    #[must_use]
    pub fn is_recent(&self, now: UnixSeconds) -> bool {
        is_recent(self.recorded_at, now)
    }

    /// Whether an object with this stamp must not be replaced by one with the stamp `other` at the time
    /// `now`.
    pub(super) fn stays(&self, other: &Self, now: UnixMilliseconds) -> bool {
        self > other && self.last_updated <= now.plus(LARGEST_LEAD)
    }
}
