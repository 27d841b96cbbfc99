//! Auctions: `record-auctions` records all prices, and each sale once. The routes serve them. The header of
//! each file states its promise.

mod capacity;
mod captured;
mod hours;
pub(crate) mod house;
mod listings;
mod lists;
mod recorded;
mod responses;
