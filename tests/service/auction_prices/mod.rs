//! Auctions: `record-auctions` records prices and sales completely and once, and the routes serve them. The header of each file states
//! its promise.

mod capacity;
mod captured;
mod hours;
pub(crate) mod house;
mod recorded;
mod responses;
