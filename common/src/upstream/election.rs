//! The mayor and the elections: `/v2/resources/skyblock/election`.

use serde::{Deserialize, Serialize};

use crate::json::{ObjectText, StringText};
use crate::upstream::Success;

/// The provider's path.
pub const PATH: &str = "/v2/resources/skyblock/election";

/// The provider's answer.
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
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Perk<'a> {
    /// The display name.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// What it does, with the game's `§` colour codes.
    #[serde(borrow)]
    pub description: StringText<'a>,
}
