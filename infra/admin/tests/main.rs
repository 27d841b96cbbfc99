//! `cargo admin` as operators run it. One test program covers all commands: each further program would link
//! the AWS SDK again.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic, and so may its helpers"
)]

mod check;
mod command_line;
mod dynamodb;
mod history;
mod pasted_keys;
mod program;
mod server;
