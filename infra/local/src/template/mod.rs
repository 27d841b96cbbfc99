//! The part of `template.yaml` that the local cloud uses: functions, routes, authorizers, usage plans,
//! gateway responses, tables and schedules. The local cloud reads the template of deployments, so every use
//! of it also tests the template.

mod api;
mod auth;
mod cache_key;
mod document;
mod expression;
mod function;
mod gateway_response;
mod route;
mod schedule;
mod section;
mod stage_cache;
mod table;
mod usage_plan;
mod yaml;

pub use self::api::Api;
pub use self::auth::Authorizer;
pub use self::cache_key::CacheKey;
pub use self::document::{Document, Template};
pub use self::function::Function;
pub use self::gateway_response::GatewayResponse;
pub use self::route::Route;
pub use self::schedule::Schedule;
pub use self::table::Table;
pub use self::usage_plan::{Throttle, UsagePlan};
