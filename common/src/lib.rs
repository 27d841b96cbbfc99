//! What several functions of the Game Data Query Service share. No module here knows a single function, except for the table of
//! routes. Knowledge runs one way: each line below knows those above it.
//!
//! 1. What everything stands on: [`time`], [`config`], [`invocation`], [`error`], [`excerpt`], and the [`text`] and [`json`] of
//!    the provider.
//! 2. [`cache`] and [`auth`].
//! 3. [`request`] and [`response`].
//! 4. [`upstream`], the client of the provider.
//! 5. [`lambda`], which runs handlers; [`routes`], the table; and [`description`], what the documentation says of a route.

pub mod auth;
pub mod cache;
pub mod config;
pub mod description;
pub mod error;
pub mod excerpt;
pub mod invocation;
pub mod json;
pub mod lambda;
pub mod request;
pub mod response;
pub mod routes;
pub mod text;
pub mod time;
pub mod upstream;
