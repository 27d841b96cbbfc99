//! What must hold for any input that strangers send: a body of the provider, the item of an auction, a key. Each property reads one input and
//! panics if a promise is broken. `cargo test -p fuzz` generates inputs with `proptest`; `cargo fuzz` (`tests/README.md`) finds bodies by
//! coverage.

pub mod json;

mod provider;

pub use self::provider::provider_body;

#[cfg(test)]
mod item_bytes;
#[cfg(test)]
mod key;
#[cfg(test)]
mod tests;
