//! Code that several functions of the Game Data Query Service share. Code that only one function needs is in
//! that function's crate. The modules of each line below depend only on each other and on the modules above
//! them.
//!
//! 1. The foundation: [`time`], [`config`], [`invocation`], [`error`], [`excerpt`], [`coins`], [`gzip`],
//!    [`pet_level`], and [`json`] for the provider's responses.
//! 2. [`cache`] and [`auth`].
//! 3. [`request`] and [`response`].
//! 4. [`upstream`], the client of the provider, and [`auction_filters`], parameters of routes.
//! 5. [`lambda`], which runs handlers; [`routes`], the table of routes; and [`description`], which describes
//!    routes for the documentation.

pub mod auction_filters;
pub mod auth;
pub mod cache;
pub mod coins;
pub mod config;
pub mod description;
pub mod error;
pub mod excerpt;
pub mod gzip;
pub mod invocation;
pub mod json;
pub mod lambda;
pub mod pet_level;
pub mod request;
pub mod response;
pub mod routes;
pub mod time;
pub mod upstream;
