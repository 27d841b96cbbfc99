//! The mayor and the elections: `/v2/resources/skyblock/election`.
//!
//! - `current` is absent while the booth of the election is closed: for 31 of every 124 hours. The service
//!   then returns `{}` as `current`.
//! - The mayor elected in year N takes office in year N+1, and `mayor.election.year` is N (`calendar`).
//! - A minister, if there is one, is inside `mayor` and is not read. `votes` are absent while they are
//!   hidden. Candidates are in no particular order. The service therefore passes elections through as raw
//!   text.
//! - The same mayor has different perks in different terms, so a recorded mayor keeps the perks of the term.
//! - A special mayor of 2025/26 changed perks within the term, sometimes had no perks, and had no `election`
//!   for the whole term.
//! - A response can be older than the previous response; `lastUpdated` shows this.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows};
use crate::json::{Object, ObjectText, StringText, object, whole_number};

pub const PATH: &str = "/v2/resources/skyblock/election";

/// The provider's response.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'a, P: Deserialize<'de>"))]
pub struct Elections<'a, P> {
    #[serde(rename = "success")]
    _success: Success,
    /// The sitting mayor.
    #[serde(deserialize_with = "object")]
    pub mayor: Mayor<'a, P>,
    /// The open election; absent while the booth is closed.
    pub current: Option<ObjectText<'a>>,
    /// When the provider refreshed the data, in Unix milliseconds; `None` if absent or invalid, because no
    /// response depends on it.
    #[serde(rename = "lastUpdated", default, deserialize_with = "whole_number_if_any")]
    pub last_updated: Option<i64>,
}

/// The sitting mayor.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'a, P: Deserialize<'de>"))]
pub struct Mayor<'a, P> {
    /// The role, such as `mining`: lower case.
    pub key: StringText<'a>,
    /// The display name.
    pub name: StringText<'a>,
    /// The perks of this term.
    pub perks: P,
    /// The election that this mayor won.
    pub election: Option<ObjectText<'a>>,
}

/// A perk of a mayor.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Perk<'a> {
    /// The display name.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// The effect of the perk, with the game's `§` colour codes.
    #[serde(borrow)]
    pub description: StringText<'a>,
}

impl<'a> Row for Perk<'a> {
    const NAME: &'static str = "name";

    type Key = Cow<'a, str>;

    fn key(&self) -> Cow<'a, str> {
        self.name.decoded()
    }

    fn name(&self) -> String {
        self.name.decoded().into_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.name.is_empty() { Err("name is empty") } else { Ok(()) }
    }
}

impl<'a, P: Into<Rows<Perk<'a>>>> Elections<'a, P> {
    fn with_rows(self) -> Elections<'a, Rows<Perk<'a>>> {
        let Self { mayor, current, last_updated, .. } = self;
        let Mayor { key, name, perks, election } = mayor;
        let mayor = Mayor { key, name, perks: perks.into(), election };
        Elections { _success: Success, mayor, current, last_updated }
    }
}

fn whole_number_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let text = Option::<&RawValue>::deserialize(deserializer)?;
    Ok(text.and_then(|text| whole_number(&mut serde_json::Deserializer::from_str(text.get())).ok()))
}

/// Returns the mayor and the elections in the provider's response.
///
/// # Errors
/// If the response is invalid, or the mayor has no name.
pub fn parse(response: &UpstreamResponse) -> Result<Elections<'_, Rows<Perk<'_>>>, UpstreamError> {
    let elections = match response.parse::<Elections<'_, Vec<Object<Perk<'_>>>>>() {
        Ok(all) => all.with_rows(),
        Err(_) => response.parse::<Elections<'_, Vec<Entry<'_, Perk<'_>>>>>()?.with_rows(),
    };
    if elections.mayor.name.is_empty() || elections.mayor.key.is_empty() {
        return Err(response.invalid("the mayor has no name"));
    }
    Ok(elections)
}
