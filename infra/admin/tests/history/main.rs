//! `cargo admin history` as operators run it: the real program against a real `DynamoDB` API.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic, and so may what it is made of"
)]

mod bad_lines;
mod captured;
#[path = "../dynamodb/mod.rs"]
mod dynamodb;
mod failures;
mod round_trips;
mod support;
