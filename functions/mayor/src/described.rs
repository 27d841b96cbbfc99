//! What passes through unread, as the provider writes it: for the API description only.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use schemars::JsonSchema;

/// An election as the provider gives it. It may have more fields than these, or none.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct Election {
    /// The year of the election, in the game's calendar.
    #[schemars(skip_serializing_if = "Option::is_none", with = "i64")]
    year: Option<i64>,
    /// Who stands for election, in no particular order.
    #[schemars(skip_serializing_if = "Option::is_none", with = "Vec<Candidate>")]
    candidates: Option<Vec<Candidate>>,
}

/// A candidate as the provider gives them.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct Candidate {
    /// The role, such as `mining`.
    key: String,
    /// The display name.
    name: String,
    /// What the candidate promises.
    perks: Vec<PromisedPerk>,
    /// How many votes the candidate has; absent while votes are hidden.
    #[schemars(skip_serializing_if = "Option::is_none", with = "i64")]
    votes: Option<i64>,
}

/// A perk that a candidate promises.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct PromisedPerk {
    /// The display name.
    name: String,
    /// What it does, with the game's `§` colour codes.
    description: String,
    /// Whether it comes into force, too, when the candidate only becomes the minister; absent in elections before there
    /// were ministers.
    #[schemars(skip_serializing_if = "Option::is_none", with = "bool")]
    minister: Option<bool>,
}
