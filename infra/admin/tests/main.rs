//! `cargo admin` as operators run it. One program for all its commands: each would link the AWS SDK once more.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic, and so may its helpers"
)]

mod access;
mod check;
mod dynamodb;
mod history;
mod server;
