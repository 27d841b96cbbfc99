//! What passes through unread, as the provider writes it: for the API description only.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// All collections.
#[derive(JsonSchema)]
pub(crate) struct Collections {
    /// The categories by key, such as `FARMING`, as the provider gives them.
    collections: BTreeMap<String, Category>,
}

/// A category of collections. It may have more fields than these.
#[derive(JsonSchema)]
#[schemars(rename = "CollectionCategory", extend("additionalProperties" = true))]
struct Category {
    /// The display name.
    name: String,
    /// The collections by the id of the item that is collected.
    items: BTreeMap<String, Collection>,
}

/// A collection. It may have more fields than these.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct Collection {
    /// The display name.
    name: String,
    /// How many tiers there are.
    max_tiers: i64,
    /// The tiers, the first one first.
    tiers: Vec<CollectionTier>,
}

/// A tier of a collection. It may have more fields than these.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct CollectionTier {
    /// The number of the tier, counted from 1.
    tier: i64,
    /// How many items must have been collected for it.
    amount_required: i64,
    /// What it unlocks, in the game's words.
    unlocks: Vec<String>,
}
