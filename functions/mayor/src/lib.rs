//! `GET /v1/mayor`: the sitting mayor, the open election, and the election that the mayor won.

mod schema;

use common::description::{Describe, Description};
use common::json::{ObjectText, StringText};
use common::lambda::provider_route::ProviderRoute;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::election::{self, Elections, Perk};
use common::upstream::{UpstreamError, UpstreamResponse};
use schemars::JsonSchema;
use serde::Serialize;

/// The sitting mayor and the elections.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Mayor")]
struct MayorAndElections<'a> {
    /// The sitting mayor.
    mayor: SittingMayor<'a>,
    /// The open election as the provider gives it; `{}` while the booth is closed.
    #[schemars(with = "schema::Election")]
    current: Election<'a>,
    /// The election that the sitting mayor won, as the provider gives it; `{}` if the provider gives none.
    /// The sitting minister is its candidate with the second most `votes`, and gives the perk with `minister:
    /// true`. A special mayor has no minister: none of the mayor's perks here has `minister: true`. While
    /// `votes` are hidden, no response shows the minister.
    #[schemars(with = "schema::Election")]
    election: Election<'a>,
}

/// The sitting mayor.
#[derive(Debug, Serialize, JsonSchema)]
struct SittingMayor<'a> {
    /// The display name.
    name: StringText<'a>,
    /// The role, such as `mining`.
    key: StringText<'a>,
    /// The perks of this term.
    perks: Vec<Perk<'a>>,
}

/// An election as the provider gives it, or an empty object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Election<'a> {
    Given(ObjectText<'a>),
    None {},
}

impl<'a> From<Option<ObjectText<'a>>> for Election<'a> {
    fn from(given: Option<ObjectText<'a>>) -> Self {
        given.map_or(Self::None {}, Self::Given)
    }
}

#[derive(Debug)]
pub struct Mayor;

impl ProviderRoute for Mayor {
    const ROUTE: &'static Route = &routes::MAYOR;

    fn document(response: &UpstreamResponse) -> Result<Document, UpstreamError> {
        let Elections { mayor, current, .. } = election::parse(response)?;
        let perks = mayor.perks.into_any_usable(response)?;
        let sitting = SittingMayor { name: mayor.name, key: mayor.key, perks };
        let data =
            MayorAndElections { mayor: sitting, current: current.into(), election: mayor.election.into() };
        Document::of(&data).map_err(|error| response.invalid(error))
    }
}

impl Describe for Mayor {
    fn description() -> Description {
        Description::of::<MayorAndElections>(Self::ROUTE, include_str!("../example.json"))
    }
}
