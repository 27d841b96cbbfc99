//! What every function of the Game Data Query Service shares: how a request is read, how the game's provider is asked,
//! how an answer is kept and written. Nothing here knows what a single route does.

pub mod auth;
pub mod cache;
pub mod calendar;
pub mod config;
pub mod envelope;
pub mod error;
pub mod http;
pub mod invocation;
pub mod json;
pub mod lambda;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod params;
pub mod prices;
pub mod request;
pub mod resource;
pub mod routes;
pub mod time;
pub mod upstream;
