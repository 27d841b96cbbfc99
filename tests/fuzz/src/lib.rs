//! The bodies of the fuzz targets: each reads one input and panics if a promise is broken. Two runners call them. `cargo test -p
//! fuzz` generates inputs with `proptest`, and `cargo fuzz` (`tests/README.md`) finds them by coverage.

pub mod json;

mod event;
mod item_bytes;
mod key;
mod provider;

pub use self::event::event_to_request;
pub use self::item_bytes::item_bytes;
pub use self::key::key;
pub use self::provider::provider_body;

#[cfg(test)]
mod tests;
