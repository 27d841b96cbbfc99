//! The profiles of a player: `/v2/skyblock/profiles`, which needs the provider's key.
//!
//! - `profiles` is `null`, with status 200, for a player who never played the game.
//! - Members are keyed by ids without dashes, while `profile_id` has dashes. The content of a member depends
//!   on the player's settings and changes over the years, so `members` pass through as raw text.
//! - `selected` is absent on some profiles.

use std::borrow::Cow;

use serde::Deserialize;

use super::client::{Upstream, UpstreamRequest};
use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows};
use crate::invocation::Invocation;
use crate::json::{Object, ObjectText, StringText};

pub const PATH: &str = "/v2/skyblock/profiles";

/// The provider's response.
#[derive(Deserialize)]
#[serde(bound = "P: Deserialize<'de>")]
struct Profiles<P> {
    #[serde(rename = "success")]
    _success: Success,
    /// The profiles. The field may be `null`, but not absent.
    #[serde(deserialize_with = "Option::deserialize")]
    profiles: Option<Vec<P>>,
}

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
    #[serde(borrow)]
    pub members: ObjectText<'a>,
}

impl<'a> Row for Profile<'a> {
    const NAME: &'static str = "profile_id";

    type Key = Cow<'a, str>;

    fn key(&self) -> Cow<'a, str> {
        self.profile_id.decoded()
    }

    fn name(&self) -> String {
        self.profile_id.decoded().into_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.profile_id.is_empty() { Err("profile_id is empty") } else { Ok(()) }
    }
}

/// Returns the profiles in the provider's response; an empty list if they are `null`.
pub fn parse(response: &UpstreamResponse) -> Result<Rows<Profile<'_>>, UpstreamError> {
    if let Ok(all) = response.parse::<Profiles<Object<Profile<'_>>>>() {
        return Ok(all.profiles.unwrap_or_default().into());
    }
    let entries = response.parse::<Profiles<Entry<'_, Profile<'_>>>>()?.profiles;
    Ok(entries.unwrap_or_default().into())
}

/// Returns the provider's response for the player `uuid` (32 hexadecimal digits).
pub async fn fetch(
    upstream: &Upstream,
    invocation: &Invocation,
    uuid: &str,
) -> Result<UpstreamResponse, UpstreamError> {
    let request =
        UpstreamRequest { parameter: Some(("uuid", uuid)), player: Some(uuid), ..UpstreamRequest::of(PATH) };
    upstream.get(invocation, &request).await
}
