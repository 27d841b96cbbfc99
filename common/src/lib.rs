//! What several functions of the Game Data Query Service share: requests, the upstream client, the cache, responses. No module
//! here knows a single function, except for the table of routes.

pub mod auth;
pub mod cache;
pub mod lambda;
pub mod request;
pub mod response;
pub mod routes;
pub mod time;
pub mod upstream;
