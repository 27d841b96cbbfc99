//! `GET /v1/auctions/sales`: the single sales of an item in auctions, with their prices.

use std::num::NonZeroU32;
use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::auction_item_id::AuctionItemId;
use common::request::parameters::Before;
use common::request::split::split_id;
use common::request::{Request, missing_parameter};
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::UnixMilliseconds;
use schemars::JsonSchema;
use serde::Serialize;
use tables::auctions::{self, PetLevel, Sale, sales_before};
use tables::{Error, Table};

/// Room for a few hundred pages.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// A page of the sales of an item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsSales")]
struct SalesPage<'a> {
    /// The item's id.
    id: &'a str,
    /// The number of sales.
    count: usize,
    /// The sales, newest first. Sales in the same millisecond are always on one page, so a page can have more
    /// than `limit`.
    sales: Vec<ItemSale>,
    /// The `before` of the next page, which is older; null if there are no older sales. Even a short or empty
    /// page can have a next page.
    next_before: Option<UnixMilliseconds>,
}

/// A sale of an item in an auction.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsSale")]
struct ItemSale {
    /// When the item was sold, with milliseconds.
    sold_at: UnixMilliseconds,
    /// The price of one item in coins, exact to 0.01.
    price: f64,
    /// The number of items.
    #[schemars(with = "u32")]
    amount: NonZeroU32,
    /// Whether the auction was buy-it-now. Otherwise the highest bid won.
    bin: bool,
    /// Whether the item is clean: it has no enchantments, reforge, stars, gems, skin or other upgrades. The
    /// level of a pet does not matter.
    clean: bool,
    /// The level of a pet, from 1 to 200; null for other items.
    level: Option<PetLevel>,
}

impl From<Sale> for ItemSale {
    fn from(sale: Sale) -> Self {
        Self {
            sold_at: sale.sold_at,
            price: sale.price_of_one().coins(),
            amount: sale.amount,
            bin: sale.bin,
            clean: sale.clean,
            level: sale.level,
        }
    }
}

#[derive(Debug)]
pub struct AuctionsSales {
    table: Table,
    /// The pages, by item, `before` and `limit`. A page without `before` begins with the newest sale.
    pages: Cache<(AuctionItemId, Option<UnixMilliseconds>, usize), Arc<Document>>,
}

impl Handler for AuctionsSales {
    const ROUTE: &'static Route = &routes::AUCTIONS_SALES;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, pages: Cache::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let id: AuctionItemId = request.required("id", "")?;
        request.refuse_split("id")?;
        let before = request.parameter::<Before>("before")?.get();
        let limit = request.limit("limit")?;
        let invocation = request.invocation();
        let fetch = async || {
            let now = invocation.now();
            let table = self.table.during(invocation);
            let page = sales_before(table, &id, before.unwrap_or(now), limit, now.into()).await?;
            document(&id, page).map(Arc::new).map_err(Error::unwritable)
        };
        Ok(self.pages.get((id.clone(), before, limit), invocation, fetch).await?.into())
    }
}

fn document(id: &AuctionItemId, page: auctions::SalesPage) -> serde_json::Result<Document> {
    let auctions::SalesPage { sales, next_before } = page;
    let sales: Vec<_> = sales.into_iter().map(ItemSale::from).collect();
    Document::of(&SalesPage { id: id.as_str(), count: sales.len(), sales, next_before })
}

impl Describe for AuctionsSales {
    fn description() -> Description {
        Description::of::<SalesPage>(Self::ROUTE, include_str!("../example.json"))
            .fails("missing", "/v1/auctions/sales", missing_parameter("id", ""))
            .invalid("id", "/v1/auctions/sales?id=hyperion")
            .invalid("before", "/v1/auctions/sales?id=HYPERION&before=now")
            .invalid("limit", "/v1/auctions/sales?id=HYPERION&limit=501")
            .fails("semicolon", "/v1/auctions/sales?id=GOLDEN_DRAGON;4", split_id("id", "4"))
    }
}
