//! A request of the storm and its response.

use super::journal::Moment;
use super::query::Query;
use crate::support::Response;

/// Whose key a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Pro,
    /// Has a low limit.
    Starter,
    Lapsed,
    Revoked,
    WithoutKey,
}

/// A request and its response.
pub(super) struct Exchange {
    pub(super) query: Query,
    pub(super) caller: Caller,
    pub(super) sent: Moment,
    pub(super) received: Moment,
    pub(super) response: Response,
}
