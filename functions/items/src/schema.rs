//! Schemas of data that passes through unparsed, for the OpenAPI document.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::BTreeMap;

use common::json::ObjectText;
use schemars::JsonSchema;

/// The data of `mode=full`: all items with every field of the provider, except the signatures of skins.
#[derive(JsonSchema)]
pub(crate) struct WholeItems {
    /// The items, in the provider's order.
    items: Vec<WholeItem>,
}

/// An item as the provider gives it, but without the signature of its skin. It may have more fields. Most
/// items have only a few of these fields.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct WholeItem {
    /// The id, which is unique.
    id: String,
    /// The display name. It is not unique and may contain `§` colour codes.
    name: String,
    /// The block or item of Minecraft that the item looks like.
    material: String,
    /// The rarity.
    #[schemars(skip_serializing_if = "Option::is_none", with = "String")]
    tier: Option<String>,
    /// The price that an NPC pays for one item, in coins.
    #[schemars(skip_serializing_if = "Option::is_none", with = "f64")]
    npc_sell_price: Option<f64>,
    /// The kind of item, such as `SWORD`.
    #[schemars(skip_serializing_if = "Option::is_none", with = "String")]
    category: Option<String>,
    /// Who may own the item: `SOLO` or `COOP`.
    #[schemars(skip_serializing_if = "Option::is_none", with = "String")]
    soulbound: Option<String>,
    /// The stats that the item gives, by name.
    #[schemars(skip_serializing_if = "Option::is_none", with = "BTreeMap<String, f64>")]
    stats: Option<BTreeMap<String, f64>>,
    /// The requirements for using the item.
    #[schemars(skip_serializing_if = "Option::is_none", with = "Vec<ObjectText<'static>>")]
    requirements: Option<()>,
    /// How the museum displays the item.
    #[schemars(skip_serializing_if = "Option::is_none", with = "ObjectText<'static>")]
    museum_data: Option<()>,
}
