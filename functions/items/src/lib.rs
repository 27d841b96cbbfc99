//! `GET /v1/items`: the complete item catalogue.

use common::envelope::Document;
use common::json::StringText;
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::resource::Resource;
use common::routes::{self, Route};
use common::upstream::resources::{self, ITEMS_PATH};
use common::upstream::{Reply, UpstreamError};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// The complete item catalogue.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "Items"))]
struct Data<'a> {
    /// The items, in the provider's order.
    items: Vec<Item<'a>>,
}

/// One item.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema))]
struct Item<'a> {
    /// The id, unique among items.
    id: StringText<'a>,
    /// The display name; not unique, may hold `§` colour codes.
    name: StringText<'a>,
    /// The block or item that it looks like.
    material: StringText<'a>,
    /// The rarity; `COMMON` for an item that the provider gives none.
    #[cfg_attr(feature = "openapi", schemars(with = "String"))]
    tier: Tier<'a>,
}

/// A rarity. An item without one is shown as common in the game (`decisions.md`).
#[derive(Debug, Serialize)]
enum Tier<'a> {
    #[serde(rename = "COMMON")]
    Common,
    #[serde(untagged)]
    Given(StringText<'a>),
}

impl<'a> From<resources::Item<'a>> for Item<'a> {
    fn from(item: resources::Item<'a>) -> Self {
        let resources::Item { id, name, material, tier } = item;
        Self { id, name, material, tier: tier.map_or(Tier::Common, Tier::Given) }
    }
}

/// The item catalogue.
#[derive(Debug)]
pub struct Items;

impl Resource for Items {
    const ROUTE: &'static Route = &routes::ITEMS;
    const PATH: &'static str = ITEMS_PATH;

    fn document(reply: &Reply) -> Result<Document, UpstreamError> {
        let resources::Items { items, .. } = reply.parse()?;
        let items = items.into_iter().map(Item::from).collect();
        Document::of(&Data { items }).map_err(|error| reply.nonsense(error))
    }
}

#[cfg(feature = "openapi")]
impl Described for Items {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE)
    }
}
