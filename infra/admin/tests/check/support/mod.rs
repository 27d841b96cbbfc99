//! Runs `cargo admin check`, and puts a proxy between it and a local cloud.

pub(crate) mod message;
pub(crate) mod mutation;
pub(crate) mod proxy;
pub(crate) mod run;
pub(crate) mod stage_cache;
