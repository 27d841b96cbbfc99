//! `cargo admin history` as operators run it: the real program against an embedded `DynamoDB`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic, and so may its helpers")]

mod bad_lines;
mod captured;
#[path = "../dynamodb/mod.rs"]
mod dynamodb;
mod failures;
mod round_trips;
mod support;
