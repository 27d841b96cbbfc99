//! The local cloud, with templates for tests in which every function is the parrot (`examples/parrot.rs`).
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

mod api_keys;
mod cloud;
mod command;
mod dynamodb;
mod gateway;
mod schedules;
mod support;
mod template;
