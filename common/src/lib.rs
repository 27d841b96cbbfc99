//! What several functions of the Game Data Query Service share: requests, the upstream client, the cache, responses. No module
//! here knows a single function, except for the table of routes.

pub mod auth;
pub mod cache;
pub mod calendar;
pub mod config;
pub mod envelope;
pub mod error;
pub mod excerpt;
pub mod file;
pub mod http;
pub mod invocation;
pub mod json;
pub mod lambda;
pub mod openapi;
pub mod params;
mod pieces;
pub mod prices;
pub mod provider_route;
pub mod request;
pub mod response;
pub mod routes;
pub mod time;
pub mod upstream;
