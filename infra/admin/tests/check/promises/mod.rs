//! A table of the promises that the service makes. A test breaks each of them, and `check` must report it.

pub(crate) mod caches;
pub(crate) mod errors;
pub(crate) mod keys;
pub(crate) mod pages;
mod requests;
pub(crate) mod responses;
