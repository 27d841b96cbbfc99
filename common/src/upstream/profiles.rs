//! The profiles of a player: `/v2/skyblock/profiles`, which needs the provider's key.
//!
//! - `profiles` is `null`, with status 200, for a player who never played the game.
//! - Members are keyed by ids without dashes, while `profile_id` has dashes. What a member holds depends on the player's
//!   settings and drifts over the years, so `members` pass through as raw text.
//! - `selected` is absent on some profiles.

use serde::Deserialize;

use super::client::{Upstream, UpstreamRequest};
use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use crate::invocation::Invocation;
use crate::json::{ObjectText, StringText};

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/profiles";

/// The provider's response.
#[derive(Debug, Deserialize)]
pub struct Profiles<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The profiles. They may be `null`, but not absent.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    pub profiles: Option<Vec<Profile<'a>>>,
}

/// One profile.
#[derive(Debug, Deserialize)]
pub struct Profile<'a> {
    /// The id, with dashes.
    #[serde(borrow)]
    pub profile_id: StringText<'a>,
    /// The display name: a fruit.
    #[serde(borrow)]
    pub cute_name: StringText<'a>,
    /// Whether the player currently plays this profile.
    pub selected: Option<bool>,
    /// The members by id.
    #[serde(borrow)]
    pub members: ObjectText<'a>,
}

/// Returns the provider's response for the player `uuid` (32 hexadecimal digits).
///
/// # Errors
/// If the provider gives no response.
pub async fn fetch(
    upstream: &Upstream,
    invocation: &Invocation,
    uuid: &str,
) -> Result<UpstreamResponse, UpstreamError> {
    let request = UpstreamRequest { path: PATH, parameter: Some(("uuid", uuid)), expected_statuses: &[] };
    upstream.get(invocation, &request).await
}
