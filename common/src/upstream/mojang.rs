//! The name service: which player has a name. `/users/profiles/minecraft/NAME`

use serde::Deserialize;

use crate::invocation::Invocation;
use crate::params::Username;
use crate::upstream::{Question, StatusCode, Upstream, UpstreamError};

/// A player, as the name service knows them.
#[derive(Debug, Deserialize)]
pub struct Player {
    /// 32 hexadecimal digits.
    #[serde(rename = "id")]
    pub uuid: String,
    /// The player's own spelling of the name.
    pub name: String,
}

/// The name service's way to say that nobody has a name. A rate limit has no `errorMessage`.
#[derive(Deserialize)]
struct Refusal {
    #[serde(rename = "errorMessage")]
    _message: String,
}

/// The player called `name` in any case, or `None` if nobody is.
///
/// # Errors
/// If the name service gives no usable answer.
pub async fn look_up(
    upstream: &Upstream,
    invocation: &Invocation,
    name: &Username,
) -> Result<Option<Player>, UpstreamError> {
    // 404 for a name that nobody has, 400 for one that it takes for illegal; until 2022 an empty 204.
    const NOBODY: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST];
    let path = format!("/users/profiles/minecraft/{}", name.as_str());
    let question = Question { path: &path, parameter: None, refusals: NOBODY };
    let reply = upstream.get(invocation, &question).await?;
    if NOBODY.contains(&reply.status) {
        return reply.parse::<Refusal>().map(|_| None);
    }
    if reply.status == StatusCode::NO_CONTENT {
        return Ok(None);
    }
    let player: Player = reply.parse()?;
    let is_uuid = player.uuid.len() == 32 && player.uuid.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_uuid { Ok(Some(player)) } else { Err(reply.nonsense("the id is not 32 hexadecimal digits")) }
}
