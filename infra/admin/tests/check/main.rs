//! `cargo admin check`, as operators run it: against nothing, against a local cloud, and against a local cloud that breaks
//! one promise after another.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic, and so may its helpers"
)]

mod broken_promises;
mod local_cloud;
mod promises;
mod support;
mod without_deployment;
