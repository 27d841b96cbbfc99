//! The simulator over HTTP.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

mod client;
mod faults;
mod responses;
