//! The mayor and the elections: `/v2/resources/skyblock/election`.
//!
//! - `current` is absent while the booth is closed, which is 31 of every 124 hours. The service then returns `{}`.
//! - The mayor elected in year N takes office in year N+1, and `mayor.election.year` is N (`calendar`).
//! - A minister, if there is one, stands inside `mayor` and is not read. `votes` are absent while they are hidden. Candidates
//!   are in no particular order. Elections therefore pass through as raw text.
//! - Perks differ from term to term of the same mayor, so a recorded mayor keeps those of the term.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::response::Success;
use crate::json::{ObjectText, StringText};

/// The provider's path.
pub const PATH: &str = "/v2/resources/skyblock/election";

/// The provider's response.
#[derive(Debug, Deserialize)]
pub struct Elections<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The sitting mayor.
    #[serde(borrow)]
    pub mayor: Mayor<'a>,
    /// The open election; absent while the booth is closed.
    #[serde(borrow)]
    pub current: Option<ObjectText<'a>>,
}

/// The sitting mayor.
#[derive(Debug, Deserialize)]
pub struct Mayor<'a> {
    /// The role, such as `mining`: lower case.
    #[serde(borrow)]
    pub key: StringText<'a>,
    /// The display name.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// The perks of this term.
    #[serde(borrow)]
    pub perks: Vec<Perk<'a>>,
    /// The election that this mayor won.
    #[serde(borrow)]
    pub election: Option<ObjectText<'a>>,
}

/// A perk of a mayor.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Perk<'a> {
    /// The display name.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// Its effect, with the game's `§` colour codes.
    #[serde(borrow)]
    pub description: StringText<'a>,
}
