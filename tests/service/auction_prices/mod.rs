//! Prices of auctions: what `record-auctions` records, and what `GET /v1/auctions/prices` responds.

mod capacity;
mod captured;
mod hours;
pub(crate) mod house;
mod recorded;
mod responses;
