//! The profiles of a player: `/v2/skyblock/profiles`, which needs the provider's key.

use serde::Deserialize;

use crate::invocation::Invocation;
use crate::json::{ObjectText, StringText};
use crate::upstream::{Question, Reply, Success, Upstream, UpstreamError};

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/profiles";

/// The provider's answer.
#[derive(Debug, Deserialize)]
pub struct Profiles<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The profiles; `null` for a player who never played this game, but never absent.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    pub profiles: Option<Vec<Profile<'a>>>,
}

/// One profile, with the fields that the contract has (`interface.md`, part 2).
#[derive(Debug, Deserialize)]
pub struct Profile<'a> {
    /// The id, with dashes.
    #[serde(borrow)]
    pub profile_id: StringText<'a>,
    /// The display name: a fruit.
    #[serde(borrow)]
    pub cute_name: StringText<'a>,
    /// Whether the player plays this one; absent on some.
    pub selected: Option<bool>,
    /// The members by their id without dashes.
    #[serde(borrow)]
    pub members: ObjectText<'a>,
}

/// The provider's answer for the player `uuid` (32 hexadecimal digits).
///
/// # Errors
/// If the provider gives no answer.
pub async fn fetch(upstream: &Upstream, invocation: &Invocation, uuid: &str) -> Result<Reply, UpstreamError> {
    let question = Question { path: PATH, parameter: Some(("uuid", uuid)), refusals: &[] };
    upstream.get(invocation, &question).await
}
