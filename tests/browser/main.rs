//! The pages in a real browser, on the service in the local cloud.
//!
//! Each promise has its own file. Without Chromium, all tests are ignored.
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
