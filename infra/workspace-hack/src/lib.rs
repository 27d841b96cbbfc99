//! An empty crate that unifies the features of dependencies across development builds.
//!
//! Cargo unifies features over the packages that one command selects. `cargo local`, the functions that it builds and
//! `cargo test` select different packages, so without this crate each of them compiles its own copy of tokio, hyper and
//! their dependents. The crate depends on these packages with the features of the whole workspace. Tools depend on
//! it, tests depend on it through `dev-dependencies`, and `cargo local` adds it to the functions that it builds.
//!
//! Functions do not depend on it: `cargo local --profile release`, `cargo lambda build` and `sam build` select functions alone
//! and build them with the few features that they need.
