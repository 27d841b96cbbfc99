//! `GET /v1/profile/{username}`: a player and their profiles. The name service resolves the name to an id,
//! and the game's provider has the profiles for the id.

use std::sync::Arc;
use std::time::Duration;

use common::cache::{Cache, Failure};
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::invocation::Invocation;
use common::json::{ObjectText, StringText};
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::parameters::Username;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::mojang::{self, Player};
use common::upstream::profiles;
use common::upstream::{Upstream, UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

/// Room for a few players with very large profiles, or for hundreds of typical players.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// How long the id of a name is cached. During this time, a profile requires no request to the name service.
const NAME_TTL: Duration = Duration::from_hours(24);
/// Room for several thousand names.
const NAME_BYTES: usize = 1024 * 1024;

/// The pause after the name service refuses a request without saying how long to wait. The name service
/// counts requests per address in windows of a minute or more.
const NAME_PAUSE: Duration = Duration::from_mins(1);

/// A player and their profiles.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Player")]
struct PlayerProfiles<'a> {
    /// The player's id: 32 hexadecimal digits.
    uuid: &'a str,
    /// The player's own spelling of the name.
    username: &'a str,
    /// All profiles; empty if the player has never played the game.
    profiles: Vec<Profile<'a>>,
}

/// One profile.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
struct Profile<'a> {
    /// The id, with dashes.
    profile_id: StringText<'a>,
    /// The display name: a fruit.
    cute_name: StringText<'a>,
    /// Whether the player currently plays this profile.
    selected: bool,
    /// The members by id without dashes, as the provider gives them.
    members: ObjectText<'a>,
}

impl<'a> From<profiles::Profile<'a>> for Profile<'a> {
    fn from(profile: profiles::Profile<'a>) -> Self {
        let profiles::Profile { profile_id, cute_name, selected, members } = profile;
        Self { profile_id, cute_name, selected: selected.unwrap_or(false), members }
    }
}

pub fn shape(player: &Player, response: &UpstreamResponse) -> Result<Document, UpstreamError> {
    let usable = profiles::parse(response)?.into_any_usable(response)?;
    let profiles = usable.into_iter().map(Profile::from).collect();
    let data = PlayerProfiles { uuid: &player.uuid, username: &player.name, profiles };
    Document::passing(&data, &response.body).map_err(|error| response.invalid(error))
}

#[derive(Debug)]
pub struct Profiles {
    provider: Upstream,
    name_service: Upstream,
    /// The ids of players, by name in lower case. Separate from `players`, so that requests for known names
    /// do not pause while the name service fails.
    names: Cache<String, Option<Arc<Player>>>,
    /// The players by name in lower case; `None` for a name without a player.
    players: Cache<String, Option<Arc<Document>>>,
}

impl Profiles {
    async fn fetch(
        &self,
        invocation: &Invocation,
        username: &Username,
    ) -> Result<Option<Arc<Document>>, Failure<UpstreamError>> {
        let name = username.folded();
        let look_up = async || {
            let player = mojang::look_up(&self.name_service, invocation, username).await?;
            Ok::<_, UpstreamError>(player.map(Arc::new))
        };
        let Some(player) = self.names.get(name.clone(), invocation, look_up).await?.value else {
            // A player may take the name at any time, so only `players` caches that there is no player, for
            // one TTL of the route.
            self.names.forget(&name);
            return Ok(None);
        };
        let response = profiles::fetch(&self.provider, invocation, &player.uuid).await?;
        Ok(Some(Arc::new(shape(&player, &response)?)))
    }
}

impl Handler for Profiles {
    const ROUTE: &'static Route = &routes::PROFILE;

    fn new(config: &Config) -> Result<Self, StartError> {
        let key = config.secret("HYPIXEL_API_KEY")?;
        let name_service = Upstream::of(config, "MOJANG_BASE_URL", "https://api.mojang.com", None)?;
        Ok(Self {
            provider: Upstream::provider(config, key)?,
            name_service: name_service.limited_by_address(NAME_PAUSE),
            names: Cache::new(NAME_TTL, NAME_BYTES).never_stale(),
            players: Cache::new(Self::ROUTE.cache, CACHE_BYTES),
        })
    }

    async fn warm_up(&self) {
        tokio::join!(self.provider.warm_up(), self.name_service.warm_up());
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let username: Username = request.required("username", "")?;
        let invocation = request.invocation();
        let fetch = async || self.fetch(invocation, &username).await;
        let lookup = self.players.get(username.folded(), invocation, fetch).await?;
        match &lookup.value {
            Some(document) => Ok(Response::of_lookup(&lookup, Arc::clone(document))),
            None => Err(unknown_player(username.as_str())),
        }
    }
}

fn unknown_player(name: &str) -> ApiError {
    ApiError::not_found(format!(
        "No player is called '{name}'. Players can change their names: check the spelling."
    ))
}

impl Describe for Profiles {
    fn description() -> Description {
        Description::of::<PlayerProfiles>(Self::ROUTE, include_str!("../example.json"))
            .invalid("username", "/v1/profile/not.a.name")
            .fails("player", "/v1/profile/nobody_here", unknown_player("nobody_here"))
    }
}
