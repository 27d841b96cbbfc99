//! What happens later in a simulation, and requests on their way.

use std::cmp::Ordering;

use crate::schedule::Arrival;

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) arrival: Arrival,
    /// The index of its function's pool.
    pub(crate) pool: usize,
}

/// Something that happens later.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) at: f64,
    pub(crate) number: u64,
    pub(crate) request: Request,
    /// The instance that has finished.
    pub(crate) instance: usize,
    pub(crate) result: Finished,
}

/// What an instance has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    Decision,
    Response,
    Failure,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// The earliest is the greatest, as the heap returns the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.number.cmp(&self.number))
    }
}
