//! `GET /v1/profile/{username}`: a player and all of their profiles. The name service says who has the name, the game's
//! provider what they play.

use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::invocation::Invocation;
use common::json::{ObjectText, StringText};
use common::lambda::{Function, StartError};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::params::Username;
use common::request::Request;
use common::routes::{self, Route};
use common::upstream::mojang::{self, Player};
use common::upstream::profiles;
use common::upstream::{Reply, Upstream, UpstreamError};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// A few very large players or hundreds of usual ones.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// A player and their profiles.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "Player"))]
struct Data<'a> {
    /// The player: 32 hexadecimal digits.
    uuid: &'a str,
    /// The player's own spelling of the name.
    username: &'a str,
    /// All profiles of the player; none for one who never played.
    profiles: Vec<Profile<'a>>,
}

/// One profile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema))]
#[expect(clippy::struct_field_names, reason = "the contract's names")]
struct Profile<'a> {
    /// The id, with dashes.
    profile_id: StringText<'a>,
    /// The display name: a fruit.
    cute_name: StringText<'a>,
    /// Whether the player plays this one.
    selected: bool,
    /// The members by their id without dashes, as the provider gives them.
    members: ObjectText<'a>,
}

impl<'a> From<profiles::Profile<'a>> for Profile<'a> {
    fn from(profile: profiles::Profile<'a>) -> Self {
        let profiles::Profile { profile_id, cute_name, selected, members } = profile;
        Self { profile_id, cute_name, selected: selected.unwrap_or(false), members }
    }
}

fn shape(player: &Player, reply: &Reply) -> Result<Document, UpstreamError> {
    let profiles::Profiles { profiles, .. } = reply.parse()?;
    let profiles = profiles.into_iter().flatten().map(Profile::from).collect();
    let data = Data { uuid: &player.uuid, username: &player.name, profiles };
    Document::of(&data).map_err(|error| reply.nonsense(error))
}

/// The function.
#[derive(Debug)]
pub struct Profiles {
    provider: Upstream,
    name_service: Upstream,
    /// The players by folded name; `None` for a name that nobody has.
    players: Cached<String, Option<Arc<Document>>>,
}

impl Profiles {
    async fn fetch(
        &self,
        invocation: &Invocation,
        username: &Username,
    ) -> Result<Option<Arc<Document>>, UpstreamError> {
        let Some(player) = mojang::look_up(&self.name_service, invocation, username).await? else {
            return Ok(None);
        };
        let reply = profiles::fetch(&self.provider, invocation, &player.uuid).await?;
        Ok(Some(Arc::new(shape(&player, &reply)?)))
    }
}

impl Function for Profiles {
    const ROUTE: &'static Route = &routes::PROFILE;

    fn new(config: &Config) -> Result<Self, StartError> {
        let (agent, key) = (&config.user_agent, config.hypixel_api_key.clone());
        Ok(Self {
            provider: Upstream::new(config.hypixel_base_url.clone(), agent, key)?,
            name_service: Upstream::new(config.mojang_base_url.clone(), agent, None)?,
            players: Cached::new(Self::ROUTE.cache, CACHE_BYTES),
        })
    }

    async fn warm_up(&self) {
        tokio::join!(self.provider.warm_up(), self.name_service.warm_up());
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let username: Username = request.required("username", "")?;
        let invocation = request.invocation();
        let fetch = async || self.fetch(invocation, &username).await;
        let served = self.players.get(username.folded(), invocation.now(), fetch).await?;
        let document = served.value.as_ref().ok_or_else(|| unknown_player(&username))?;
        Ok(served.answer(Arc::clone(document)))
    }
}

fn unknown_player(username: &Username) -> ApiError {
    let name = username.as_str();
    ApiError::not_found(format!(
        "No player is called '{name}'. Players can change their names: check the spelling."
    ))
}

#[cfg(feature = "openapi")]
impl Described for Profiles {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE).parameter::<Username>("username")
    }
}
