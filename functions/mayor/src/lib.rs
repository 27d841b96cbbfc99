//! `GET /v1/mayor`: the sitting mayor, the open election, and the election that the mayor won.

use common::envelope::Document;
use common::json::{ObjectText, StringText};
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::election::{self, Elections, Perk};
use common::upstream::{Reply, UpstreamError};
use serde::Serialize;

/// The data of an answer.
#[derive(Debug, Serialize)]
struct Data<'a> {
    /// The sitting mayor.
    mayor: SittingMayor<'a>,
    /// The open election as the provider gives it; `{}` while the booth is closed.
    current: Election<'a>,
    /// The election that the sitting mayor won, as the provider gives it.
    election: Election<'a>,
}

/// The sitting mayor.
#[derive(Debug, Serialize)]
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
