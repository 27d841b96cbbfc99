//! The client for the game's provider and for the name service. Timeouts, the retry, the size limits and the
//! rate limit are the same for all requests. Each resource has one file, which describes the data that the
//! service reads from it.
//!
//! Rules for every response of the provider:
//!
//! - Java writes the JSON: a whole number may arrive as `6.0E7` (`json::whole_number`), and texts have
//!   escapes such as `\u0027`, which pass through unchanged (`json::Verbatim`).
//! - Invalid rows of a list are left out, and the valid rows are served (`rows.rs`).
//! - `success: true` marks a good body ([`Success`]); a failure may have status 200 and `success: false`.
//! - Systems in front of the provider may fail with any status and an HTML body, so an unexpected body is an
//!   error, not a panic.
//! - Times are integers in Unix milliseconds.
//! - Only `/v2/skyblock/profiles` needs the key (`API-Key`). The bazaar, the auctions, the fire sales and
//!   `/v2/resources/…` work without the key, so their functions are deployed without it. A missing key gives
//!   a 400. An invalid key gives a 403 with the provider's JSON: `success: false` and a `cause`. Any other
//!   403 comes from a system in front of the provider.
//! - A 429 gives the wait in `Retry-After` or `RateLimit-Reset` (`rate_limit.rs`).
//!
//! Errors here are written for the log ([`UpstreamError`]); clients never see them.

mod body;
mod client;
mod error;
mod rate_limit;
mod response;
mod rhythm;
mod rows;
mod secrets;

pub mod auctions;
pub mod bazaar;
pub mod calendar;
pub mod election;
pub mod ended_auctions;
pub mod fire_sales;
pub mod http;
pub mod items;
pub mod mojang;
pub mod profiles;

pub use lambda_http::http::StatusCode;

pub use self::client::{Upstream, UpstreamRequest};
pub use self::error::UpstreamError;
pub use self::response::{Success, UpstreamResponse};
pub use self::rhythm::{Refresh, Rhythm};
pub use self::rows::{Entry, Row, Rows, Skipped};
