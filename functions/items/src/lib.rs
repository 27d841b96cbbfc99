//! `GET /v1/items`: the complete item catalogue.

mod schema;

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::json::StringText;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::upstream::{Upstream, UpstreamError, UpstreamRequest, UpstreamResponse, items};
use schemars::JsonSchema;
use serde::Serialize;

/// The data of `mode=basic`: the names and tiers of all items.
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
    /// The block or item of Minecraft that the item looks like.
    material: StringText<'a>,
    /// The rarity; `COMMON` if the provider gives none.
    #[schemars(with = "String")]
    tier: Rarity<'a>,
}

/// A rarity. The game shows items without a rarity as common.
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

/// The data of `mode=full`, in the shape of [`schema::WholeItems`].
#[derive(Serialize)]
struct WholeCatalogue<'a> {
    items: Vec<items::WholeItem<'a>>,
}

#[derive(Debug)]
pub struct Items {
    upstream: Upstream,
    /// The data of each mode. The data of a mode is fetched only when the mode is requested, so few instances
    /// hold the large data of `mode=full`.
    latest: Cache<&'static str, Arc<Document>>,
}

impl Handler for Items {
    const ROUTE: &'static Route = &routes::ITEMS;

    fn new(config: &Config) -> Result<Self, StartError> {
        let latest = Cache::new(Self::ROUTE.cache, usize::MAX).of_one_resource();
        Ok(Self { upstream: Upstream::provider(config, None)?, latest })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let mode = request.word("mode")?;
        let invocation = request.invocation();
        let fetch = async || {
            let response = self.upstream.get(invocation, &UpstreamRequest::of(items::PATH)).await?;
            let document = if mode == "full" { full(&response) } else { basic(&response) };
            document.map(Arc::new)
        };
        Ok(self.latest.get(mode, invocation, fetch).await?.into())
    }
}

fn basic(response: &UpstreamResponse) -> Result<Document, UpstreamError> {
    let items = items::parse(response)?.into_usable(response)?;
    let items = items.into_iter().map(CatalogueItem::from).collect();
    Document::of(&Catalogue { items }).map_err(|error| response.invalid(error))
}

fn full(response: &UpstreamResponse) -> Result<Document, UpstreamError> {
    let items = items::parse_whole(response)?.into_usable(response)?;
    Document::of(&WholeCatalogue { items }).map_err(|error| response.invalid(error))
}

impl Describe for Items {
    fn description() -> Description {
        Description::new(Self::ROUTE)
            .kind::<Catalogue>("basic", include_str!("../examples/basic.json"))
            .kind::<schema::WholeItems>("full", include_str!("../examples/full.json"))
            .invalid("mode", "/v1/items?mode=all")
    }
}
