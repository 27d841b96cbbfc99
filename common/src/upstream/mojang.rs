//! The name service, which resolves a player's name to an id: `/users/profiles/minecraft/NAME`.
//!
//! - Names match in any case, and the response has the player's own spelling. Players can change their names,
//!   so a name is not a permanent id.
//! - An unknown name gives a 404 with an `errorMessage`, or a 204 without a body. An illegal name gives a 400
//!   with an `errorMessage`.
//! - A 403 means that the requests of this IP address are limited, as a 429 does, or that a firewall refused
//!   the request.
//! - A 429 has no `errorMessage` and no header with the wait. A 429 must not be mistaken for an unknown name.

use serde::Deserialize;

use super::StatusCode;
use super::client::{Upstream, UpstreamRequest};
use super::error::UpstreamError;
use crate::cache::Weight;
use crate::invocation::Invocation;
use crate::request::parameters::Username;

/// The path to a player.
pub const PATH: &str = "/users/profiles/minecraft/{username}";

#[derive(Debug, Deserialize)]
pub struct Player {
    /// The id: 32 hexadecimal digits.
    #[serde(rename = "id")]
    pub uuid: String,
    /// The player's own spelling of the name.
    pub name: String,
}

impl Weight for Player {
    fn bytes(&self) -> usize {
        self.uuid.len() + self.name.len()
    }
}

/// The error body for an unknown or illegal name.
#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "errorMessage")]
    _message: String,
}

/// Returns the player with the name `name`, or `None` if there is no such player.
pub async fn look_up(
    upstream: &Upstream,
    invocation: &Invocation,
    name: &Username,
) -> Result<Option<Player>, UpstreamError> {
    const NO_PLAYER: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST];
    let path = PATH.replace("{username}", name.as_str());
    let request = UpstreamRequest {
        player: Some(name.as_str()),
        expected_statuses: NO_PLAYER,
        ..UpstreamRequest::of(&path)
    };
    let response = upstream.get(invocation, &request).await?;
    if NO_PLAYER.contains(&response.status) {
        return response.parse::<ErrorBody>().map(|_| None);
    }
    if response.status == StatusCode::NO_CONTENT {
        return Ok(None);
    }
    let player: Player = response.parse()?;
    let is_uuid = player.uuid.len() == 32 && player.uuid.as_bytes().iter().all(u8::is_ascii_hexdigit);
    if is_uuid { Ok(Some(player)) } else { Err(response.invalid("the id is not 32 hexadecimal digits")) }
}
