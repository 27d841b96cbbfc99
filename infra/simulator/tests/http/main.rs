//! The simulator over HTTP, as a service meets it.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

mod answers;
mod client;
mod faults;
