//! `GET /v1/mayor`: the sitting mayor, the open election, and the election that the mayor won.

#[cfg(feature = "openapi")]
mod described;

use common::envelope::Document;
use common::json::{ObjectText, StringText};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::election::{self, Elections, Perk};
use common::upstream::{Reply, UpstreamError};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// The sitting mayor and the elections.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "Mayor"))]
struct Data<'a> {
    /// The sitting mayor.
    mayor: SittingMayor<'a>,
    /// The open election as the provider gives it; `{}` while the booth is closed.
    #[cfg_attr(feature = "openapi", schemars(with = "described::Election"))]
    current: Election<'a>,
    /// The election that the sitting mayor won, as the provider gives it; `{}` if it gives none.
    #[cfg_attr(feature = "openapi", schemars(with = "described::Election"))]
    election: Election<'a>,
}

/// The sitting mayor.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema))]
struct SittingMayor<'a> {
    /// The display name.
    name: StringText<'a>,
    /// The role, such as `mining`.
    key: StringText<'a>,
    /// The perks of this term.
    perks: Vec<Perk<'a>>,
}

/// An election as the provider gives it, or an object without fields.
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

/// The mayor and the elections.
#[derive(Debug)]
pub struct Mayor;

impl Resource for Mayor {
    const ROUTE: &'static Route = &routes::MAYOR;
    const PATH: &'static str = election::PATH;

    fn document(reply: &Reply) -> Result<Document, UpstreamError> {
        let Elections { mayor, current, .. } = reply.parse()?;
        let sitting = SittingMayor { name: mayor.name, key: mayor.key, perks: mayor.perks };
        let data = Data { mayor: sitting, current: current.into(), election: mayor.election.into() };
        Document::of(&data).map_err(|error| reply.nonsense(error))
    }
}

#[cfg(feature = "openapi")]
impl Described for Mayor {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE)
    }
}
