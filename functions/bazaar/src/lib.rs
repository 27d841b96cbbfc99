//! `GET /v1/bazaar`: the bazaar in four modes, all from one snapshot.

mod flips;
mod mode;
mod processed;
mod query;
mod schema;
mod snapshot;

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::openapi::{Describe, Description};
use common::request::Request;
use common::response::Response;
use common::routes::{self, Route};
use common::upstream::bazaar::PATH;
use common::upstream::{Upstream, UpstreamError, UpstreamRequest};

pub use self::query::{ID_CONDITION, ProductId, Query, unknown_item};
pub use self::snapshot::Snapshot;

/// The handler.
#[derive(Debug)]
pub struct Bazaar {
    upstream: Upstream,
    latest: Cache<(), Arc<Snapshot>, UpstreamError>,
}

impl Handler for Bazaar {
    const ROUTE: &'static Route = &routes::BAZAAR;

    fn new(config: &Config) -> Result<Self, StartError> {
        let upstream = Upstream::new(config.hypixel_base_url.clone(), &config.user_agent, None)?;
        Ok(Self { upstream, latest: Cache::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query = Query::of(request)?;
        let invocation = request.invocation();
        let mut fetched = None;
        let fetch = async || {
            let snapshot = Snapshot::new(self.upstream.get(invocation, &UpstreamRequest::of(PATH)).await?);
            // A body that cannot serve the query is a failed refresh and must not replace the cached snapshot.
            fetched = Some(snapshot.document(&query)?);
            Ok(Arc::new(snapshot))
        };
        let lookup = self.latest.get((), invocation.now(), fetch).await?;
        let document = fetched.map_or_else(|| lookup.value.document(&query), Ok)??;
        Ok(Response::of_lookup(&lookup, document))
    }
}

impl Describe for Bazaar {
    fn description() -> Description {
        Description::new(Self::ROUTE)
            .kind::<schema::Bazaar>("full")
            .kind::<snapshot::List>("list")
            .kind::<processed::ProcessedItem>("item")
            .kind::<flips::Flips>("flips")
    }
}
