//! An empty crate that unifies the features of dependencies across development builds.
//!
//! Cargo unifies features over the packages that one command selects. `cargo local`, the functions that it
//! builds and `cargo test` select different packages, so without this crate each of them compiles its own
//! copy of tokio, hyper and their dependents. This crate depends on such packages with the features of the
//! whole workspace. Tools depend on this crate, tests depend on it through `dev-dependencies`, and `cargo
//! local` builds it together with the functions.
//!
//! Functions do not depend on this crate: `cargo local --profile release`, `cargo lambda build` and `sam
//! build` select functions alone and build them with the few features that they need.
