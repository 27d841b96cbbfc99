//! Black-box tests: the real binaries behind the local cloud, asked over HTTP. One file per promise.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic, and so may what it is made of"
)]

mod support;

mod access;
mod caching;
mod captures;
mod dependencies;
mod documentation;
mod dynamodb;
mod errors;
mod failures_inside;
mod history;
mod limits;
mod local_cloud;
mod openapi;
mod parameters;
mod routes;
mod shapes;
mod upstream_faults;
