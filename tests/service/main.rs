//! Black-box tests: HTTP requests to the real function binaries behind the local cloud. The header of each
//! file states its promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests and their helpers may panic"
)]

mod support;

mod access;
mod arbitrary_events;
mod auction_prices;
mod caching;
mod candles;
mod capacity;
mod circles;
mod dependencies;
mod documentation;
mod errors;
mod function_failures;
mod history;
mod limits;
mod local_cloud;
mod names;
mod openapi;
mod oracle;
mod pages;
mod parameters;
mod provider;
mod public_files;
mod routes;
mod rows;
mod shapes;
mod simulated_past;
mod status;
mod storm;
mod upstream_faults;
