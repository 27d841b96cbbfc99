//! Code that several functions of the Game Data Query Service share. Except for the table of routes, no module here depends on a single
//! function. Each line below depends only on the lines above it.
//!
//! 1. The foundation: [`time`], [`config`], [`invocation`], [`error`], [`excerpt`], and the [`text`] and [`json`] of the provider.
//! 2. [`cache`] and [`auth`].
//! 3. [`request`] and [`response`].
//! 4. [`upstream`], the client of the provider.
//! 5. [`lambda`], which runs handlers; [`routes`], the table; and [`description`], which describes routes for the documentation.

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
