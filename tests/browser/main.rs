//! Tests of the pages in a real browser, with the service in the local cloud.
//!
//! The header of each file states its promise. Without Chromium, all tests are ignored.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests and their helpers may panic"
)]

mod auctions;
mod cloud;
mod docs;
mod market;
mod stage;
mod window;
