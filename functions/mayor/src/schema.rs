//! Schemas of data that passes through unparsed, for the OpenAPI document.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use schemars::JsonSchema;

/// An election as the provider gives it, or an empty object. It may have more fields.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct Election {
    /// The year of the election, in the game's calendar.
    #[schemars(skip_serializing_if = "Option::is_none", with = "i64")]
    year: Option<i64>,
    /// The candidates, in no particular order.
    #[schemars(skip_serializing_if = "Option::is_none", with = "Vec<Candidate>")]
    candidates: Option<Vec<Candidate>>,
}

/// A candidate as the provider gives them. It may have more fields.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct Candidate {
    /// The role, such as `mining`.
    key: String,
    /// The display name.
    name: String,
    /// The perks that the candidate promises.
    perks: Vec<PromisedPerk>,
    /// The number of votes; absent while votes are hidden.
    #[schemars(skip_serializing_if = "Option::is_none", with = "i64")]
    votes: Option<i64>,
}

/// A perk that a candidate promises. It may have more fields.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct PromisedPerk {
    /// The display name.
    name: String,
    /// The effect of the perk, with the game's `§` colour codes.
    description: String,
    /// Whether the perk also applies if the candidate only becomes minister. Absent in old elections, which
    /// had no ministers.
    #[schemars(skip_serializing_if = "Option::is_none", with = "bool")]
    minister: Option<bool>,
}
