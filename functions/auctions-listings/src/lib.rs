//! `GET /v1/auctions/listings`: the running buy-it-now auctions of an item, with filters.

mod filters;
mod page;

use std::sync::Arc;

use common::auction_filters::AfterAuction;
use common::cache::{Cache, Failure};
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::invocation::Invocation;
use common::lambda::{Handler, StartError};
use common::request::auction_item_id::AuctionItemId;
use common::request::split::split_id;
use common::request::{Request, missing_parameter};
use common::response::Response;
use common::routes::{self, Route};
use files::Error;
use files::listings::{Index, Listings};

use self::filters::Filters;
use self::page::{Auctions, Page};

/// Room for the auctions of a few dozen items.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct AuctionsListings {
    listings: Listings,
    /// The index of the newest known version.
    index: Cache<(), Arc<Index>>,
    items: Cache<AuctionItemId, Arc<Auctions>>,
}

impl AuctionsListings {
    async fn fetch(
        &self,
        invocation: &Invocation,
        id: &AuctionItemId,
    ) -> Result<Arc<Auctions>, Failure<Error>> {
        let now = invocation.now().into();
        let read_index = async || {
            let index = self.listings.index(invocation).await?;
            if index.stamp().is_recent(now) { Ok(Arc::new(index)) } else { Err(Error::Outdated) }
        };
        let known =
            self.index.get_recent((), invocation, |index| index.stamp().is_recent(now), read_index).await?;
        let mut index = known.value;
        let mut read = self.listings.auctions(invocation, &index, id).await;
        let is_outdated = match &read {
            // A newer index may have the id.
            Ok(None) => known.cached,
            Ok(Some(_)) => false,
            Err(error) => matches!(error, Error::Replaced),
        };
        if is_outdated {
            self.index.forget(&());
            index = self.index.get((), invocation, read_index).await?.value;
            read = self.listings.auctions(invocation, &index, id).await;
        }
        Ok(Arc::new(Auctions { stamp: index.stamp(), listings: read?.unwrap_or_default() }))
    }
}

impl Handler for AuctionsListings {
    const ROUTE: &'static Route = &routes::AUCTIONS_LISTINGS;

    fn new(config: &Config) -> Result<Self, StartError> {
        let ttl = Self::ROUTE.cache;
        Ok(Self {
            listings: Listings::of(config)?,
            index: Cache::new(ttl, usize::MAX),
            items: Cache::new(ttl, CACHE_BYTES),
        })
    }

    async fn warm_up(&self) {
        self.listings.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let id: AuctionItemId = request.required("id", "")?;
        request.refuse_split("id")?;
        let filters = Filters::of(request)?;
        let limit = request.limit("limit")?;
        let after: Option<AfterAuction> = request.optional("after")?;
        let invocation = request.invocation();
        let now = invocation.now().into();
        let fetch = async || self.fetch(invocation, &id).await;
        let lookup =
            self.items.get_recent(id.clone(), invocation, |kept| kept.stamp.is_recent(now), fetch).await?;
        let document = lookup.value.page(&id, &filters, after, limit).map_err(ApiError::internal)?;
        Ok(Response::of_lookup(&lookup, Arc::new(document)))
    }
}

impl Describe for AuctionsListings {
    fn description() -> Description {
        Description::of::<Page<'_>>(Self::ROUTE, include_str!("../example.json"))
            .fails("missing", "/v1/auctions/listings", missing_parameter("id", ""))
            .invalid("id", "/v1/auctions/listings?id=hyperion")
            .invalid("clean", "/v1/auctions/listings?id=HYPERION&clean=yes")
            .invalid("min_level", "/v1/auctions/listings?id=SHEEP%3B4&min_level=201")
            .invalid("min_stars", "/v1/auctions/listings?id=HYPERION&min_stars=11")
            .invalid("recombobulated", "/v1/auctions/listings?id=HYPERION&recombobulated=1")
            .invalid("reforge", "/v1/auctions/listings?id=HYPERION&reforge=Heroic")
            .invalid("enchantments", "/v1/auctions/listings?id=HYPERION&enchantments=growth:5,growth:6")
            .invalid("max_price", "/v1/auctions/listings?id=HYPERION&max_price=0")
            .invalid("limit", "/v1/auctions/listings?id=HYPERION&limit=101")
            .invalid("after", "/v1/auctions/listings?id=HYPERION&after=2")
            .fails("semicolon", "/v1/auctions/listings?id=GOLDEN_DRAGON;4", split_id("id", "4"))
    }
}
