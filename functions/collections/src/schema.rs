//! Schemas of data that passes through unparsed, for the OpenAPI document.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// All collections.
#[derive(JsonSchema)]
pub(crate) struct Collections {
    /// The categories by key, such as `FARMING`, as the provider gives them.
    collections: BTreeMap<String, Category>,
}

/// A category of collections. It may have more fields.
#[derive(JsonSchema)]
#[schemars(rename = "CollectionCategory", extend("additionalProperties" = true))]
struct Category {
    /// The display name.
    name: String,
    /// The collections by the id of their item.
    items: BTreeMap<String, Collection>,
}

/// A collection. It may have more fields.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct Collection {
    /// The display name.
    name: String,
    /// The number of tiers.
    max_tiers: i64,
    /// The tiers in ascending order.
    tiers: Vec<CollectionTier>,
}

/// A tier of a collection. It may have more fields.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct CollectionTier {
    /// The number of the tier, counted from 1.
    tier: i64,
    /// The number of collected items that the tier requires.
    amount_required: i64,
    /// The unlocked rewards, as the game displays them.
    unlocks: Vec<String>,
}
