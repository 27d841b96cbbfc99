//! Black-box tests: the real binaries behind the local cloud, asked over HTTP. One file per promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic, and so may what it is made of"
)]

mod support;

mod caching;
mod dependencies;
mod errors;
mod limits;
mod parameters;
mod routes;
mod shapes;
mod upstream_faults;
