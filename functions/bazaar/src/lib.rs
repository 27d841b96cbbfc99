//! `GET /v1/bazaar`: the bazaar in six modes, all from one snapshot. A snapshot that a mode cannot be served from does not
//! replace an earlier one for that mode.

mod book;
mod flips;
mod items;
mod market;
mod mode;
mod processed;
mod query;
mod schema;
mod snapshot;

use std::sync::Arc;

use common::cache::{Cache, Lookup};
use common::config::Config;
use common::envelope::Document;
use common::error::ApiError;
use common::invocation::Invocation;
use common::lambda::{Handler, StartError};
use common::openapi::{Describe, Description};
use common::request::Request;
use common::response::Response;
use common::routes::{self, Route};
use common::upstream::bazaar::{PATH, REFRESH};
use common::upstream::{Rhythm, Upstream, UpstreamError, UpstreamRequest};

pub use self::items::ProductIds;
pub use self::market::Market;
pub use self::query::{
    BOOK_ID_CONDITION, ID_CONDITION, IDS_CONDITION, MarketQuery, ProductId, Query, unknown_item,
};
pub use self::snapshot::{Earlier, Snapshot};

/// How many bytes the responses of `mode=items` and `mode=book` may take, each. A hundred items take 50 KB.
const CACHE_BYTES: usize = 2 * 1024 * 1024;

/// The handler.
#[derive(Debug)]
pub struct Bazaar {
    upstream: Upstream,
    rhythm: Rhythm,
    /// The last response of the provider, from which all modes are served for a TTL.
    latest: Cache<(), Arc<Snapshot>>,
    /// The last response that `mode=full` can be served from. A later one that is invalid for a mode does not replace it.
    full: Cache<(), Arc<Document>>,
    /// The last response that the other modes can be served from.
    market: Cache<(), Arc<Market>>,
    /// Many items are made of `market` once and not for each request: a hundred take as long as the rest of a request.
    items: Cache<ProductIds, Arc<Document>>,
    /// So is an order book. A later one that is invalid does not replace it.
    books: Cache<ProductId, Arc<Document>>,
}

impl Bazaar {
    /// Returns what `read` reads from the latest snapshot, which is fetched if it has expired, or from an earlier one if the
    /// latest is invalid for it.
    async fn latest<T>(
        &self,
        invocation: &Invocation,
        read: impl Fn(&Snapshot) -> Result<T, UpstreamError>,
    ) -> Result<Lookup<T>, UpstreamError> {
        let now = invocation.now();
        let may_serve = |fetched_at| self.latest.may_serve(fetched_at, now);
        let fetch = async || {
            let snapshot = Snapshot::new(self.upstream.get(invocation, &UpstreamRequest::of(PATH)).await?);
            // A body that cannot serve the request that it was fetched for is a failed refresh.
            read(&snapshot)?;
            Ok(Arc::new(match self.latest.kept(&(), now) {
                Some(Lookup { value, fetched_at, .. }) => {
                    snapshot.replacing(Earlier { snapshot: value, fetched_at }, may_serve)
                }
                None => snapshot,
            }))
        };
        // A snapshot that this request cannot be served from is not kept.
        let is_latest = |snapshot: &Arc<Snapshot>| {
            let refresh = read(snapshot).ok().and_then(|_| snapshot.refresh());
            refresh.is_some_and(|refresh| self.rhythm.is_latest(refresh, now))
        };
        let Lookup { value, fetched_at, cached, refresh_failure } =
            self.latest.get_news((), invocation, is_latest, fetch).await?;
        let failure = match read(&value) {
            Ok(value) => return Ok(Lookup { value, fetched_at, cached, refresh_failure }),
            Err(failure) => failure,
        };
        let earlier = value.earlier().filter(|earlier| may_serve(earlier.fetched_at));
        let Some(Earlier { snapshot, fetched_at }) = earlier else { return Err(failure) };
        let Ok(value) = read(&snapshot) else { return Err(failure) };
        Ok(Lookup { value, fetched_at, cached: true, refresh_failure: Some(failure.to_string()) })
    }

    /// Returns the last market that can be served.
    async fn market(&self, invocation: &Invocation) -> Result<Lookup<Arc<Market>>, UpstreamError> {
        let source = async || self.latest(invocation, Snapshot::market).await;
        self.market.get_through((), invocation, source).await
    }

    /// Returns the data of `mode=items`.
    async fn items(&self, invocation: &Invocation, ids: ProductIds) -> Result<Response, ApiError> {
        let market = self.market(invocation).await?;
        let source = async || market.try_map(|market| market.items(&ids));
        Ok(self.items.get_through(ids.clone(), invocation, source).await?.into())
    }

    /// Returns the data of `mode=book`.
    async fn book(&self, invocation: &Invocation, id: ProductId) -> Result<Response, ApiError> {
        let market = self.market(invocation).await?;
        // A product that has left the market has no order book, even if one is cached.
        market.value.product(&id)?;
        let source = async || match market.try_map(|market| market.book(&id)) {
            Ok(lookup) => Ok(lookup),
            // An earlier snapshot may have one.
            Err(_) => self.latest(invocation, |snapshot| snapshot.market()?.book(&id)).await,
        };
        Ok(self.books.get_through(id.clone(), invocation, source).await?.into())
    }
}

impl Handler for Bazaar {
    const ROUTE: &'static Route = &routes::BAZAAR;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::provider(config)?;
        let ttl = Self::ROUTE.cache;
        Ok(Self {
            upstream,
            rhythm: Rhythm::of(REFRESH, config),
            latest: Cache::new(ttl, usize::MAX),
            full: Cache::new(ttl, usize::MAX),
            market: Cache::new(ttl, usize::MAX),
            items: Cache::new(ttl, CACHE_BYTES),
            books: Cache::new(ttl, CACHE_BYTES),
        })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let invocation = request.invocation();
        match Query::of(request)? {
            Query::Full => {
                let source = async || self.latest(invocation, Snapshot::full).await;
                Ok(self.full.get_through((), invocation, source).await?.into())
            }
            Query::Market(query) => {
                let lookup = self.market(invocation).await?;
                Ok(Response::of_lookup(&lookup, lookup.value.document(&query)?))
            }
            Query::Items(ids) => self.items(invocation, ids).await,
            Query::Book(id) => self.book(invocation, id).await,
        }
    }
}

impl Describe for Bazaar {
    fn description() -> Description {
        Description::new(Self::ROUTE)
            .kind::<schema::Bazaar>("full")
            .kind::<market::List>("list")
            .kind::<processed::ProcessedItem>("item")
            .kind::<flips::Flips>("flips")
            .kind::<items::Selection>("items")
            .kind::<book::Book>("book")
    }
}
