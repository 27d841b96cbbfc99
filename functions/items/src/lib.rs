//! `GET /v1/items`: the complete item catalogue.

use common::description::{Describe, Description};
use common::json::StringText;
use common::lambda::provider_route::ProviderRoute;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::{UpstreamError, UpstreamResponse, items};
use schemars::JsonSchema;
use serde::Serialize;

/// The complete item catalogue.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Items")]
struct Catalogue<'a> {
    /// The items, in the provider's order.
    items: Vec<CatalogueItem<'a>>,
}

/// One item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Item")]
struct CatalogueItem<'a> {
    /// The id, which is unique.
    id: StringText<'a>,
    /// The display name. It is not unique and may contain `§` colour codes.
    name: StringText<'a>,
    /// The block or item that it looks like.
    material: StringText<'a>,
    /// The rarity; `COMMON` if the provider gives none.
    #[schemars(with = "String")]
    tier: Rarity<'a>,
}

/// A rarity. The game shows an item without one as common.
#[derive(Debug, Serialize)]
enum Rarity<'a> {
    #[serde(rename = "COMMON")]
    Common,
    #[serde(untagged)]
    Given(StringText<'a>),
}

impl<'a> From<items::Item<'a>> for CatalogueItem<'a> {
    fn from(item: items::Item<'a>) -> Self {
        let items::Item { id, name, material, tier } = item;
        Self { id, name, material, tier: tier.map_or(Rarity::Common, Rarity::Given) }
    }
}

/// The item catalogue.
#[derive(Debug)]
pub struct Items;

impl ProviderRoute for Items {
    const ROUTE: &'static Route = &routes::ITEMS;

    fn document(response: &UpstreamResponse) -> Result<Document, UpstreamError> {
        let items = items::parse(response)?.into_usable(response)?;
        let items = items.into_iter().map(CatalogueItem::from).collect();
        Document::of(&Catalogue { items }).map_err(|error| response.invalid(error))
    }
}

impl Describe for Items {
    fn description() -> Description {
        Description::of::<Catalogue>(Self::ROUTE, include_str!("../example.json"))
    }
}
