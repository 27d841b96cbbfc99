//! `GET /v1/bazaar`: the bazaar in seven modes, all from one snapshot.

mod book;
mod flips;
mod items;
mod processed;
mod query;
mod schema;
mod snapshot;

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::{Request, missing_parameter};
use common::response::Response;
use common::routes::{self, Route};
use common::upstream::bazaar::prices::Prices;
use common::upstream::bazaar::{Orders, PATH, REFRESH};
use common::upstream::{Rhythm, Upstream, UpstreamError, UpstreamRequest};

use self::query::{BOOK_ID_CONDITION, ID_CONDITION, IDS_CONDITION, unknown_item};
pub use self::query::{ProductId, Query};
pub use self::snapshot::Snapshot;

#[derive(Debug)]
pub struct Bazaar {
    upstream: Upstream,
    rhythm: Rhythm,
    snapshot: Cache<(), Arc<Snapshot>>,
}

impl Handler for Bazaar {
    const ROUTE: &'static Route = &routes::BAZAAR;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self {
            upstream: Upstream::provider(config, None)?,
            rhythm: Rhythm::of(REFRESH, config)?,
            snapshot: Cache::new(Self::ROUTE.cache, usize::MAX),
        })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let (query, invocation) = (Query::of(request)?, request.invocation());
        let now = invocation.now();
        let is_latest = |snapshot: &Arc<Snapshot>| self.rhythm.is_latest(snapshot.refresh(), now);
        // Only `mode=full` returns the orders of all products. A refresh for this mode therefore reads the
        // orders, and fails if they are not JSON.
        let orders = if matches!(query, Query::Full) { Orders::Read } else { Orders::LeftOut };
        let fetch = async || {
            let response = self.upstream.get(invocation, &UpstreamRequest::of(PATH)).await?;
            let snapshot = Snapshot::of(response, orders)?;
            let kept = self.snapshot.kept(&(), now);
            let kept = kept.as_ref().map(|kept| (&*kept.value, kept.fetched_at));
            Ok::<_, UpstreamError>(Arc::new(snapshot.replacing(kept)))
        };
        let lookup = self.snapshot.get_revalidated((), invocation, is_latest, fetch).await?;
        Ok(Response::of_lookup(&lookup, lookup.value.document(&query)?))
    }
}

impl Describe for Bazaar {
    fn description() -> Description {
        Description::new(Self::ROUTE)
            .kind::<schema::Bazaar>("full", include_str!("../examples/full.json"))
            .kind::<snapshot::List>("list", include_str!("../examples/list.json"))
            .kind::<processed::ProcessedItem>("item", include_str!("../examples/item.json"))
            .kind::<flips::Flips>("flips", include_str!("../examples/flips.json"))
            .kind::<items::Selection>("items", include_str!("../examples/items.json"))
            .kind::<book::Book>("book", include_str!("../examples/book.json"))
            .kind::<Prices>("prices", include_str!("../examples/prices.json"))
            .invalid("mode", "/v1/bazaar?mode=best")
            .fails("id", "/v1/bazaar?mode=item", missing_parameter("id", ID_CONDITION))
            .invalid("limit", "/v1/bazaar?mode=flips&limit=0")
            .invalid("min_price", "/v1/bazaar?mode=flips&min_price=1.5")
            .invalid("min_volume", "/v1/bazaar?mode=flips&min_volume=-1")
            .fails("missing_ids", "/v1/bazaar?mode=items", missing_parameter("ids", IDS_CONDITION))
            .invalid("ids", "/v1/bazaar?mode=items&ids=COAL,,COBBLESTONE")
            .fails("book_id", "/v1/bazaar?mode=book", missing_parameter("id", BOOK_ID_CONDITION))
            .fails("item", "/v1/bazaar?mode=item&id=NO_SUCH_ITEM", unknown_item("NO_SUCH_ITEM"))
            .fails("book", "/v1/bazaar?mode=book&id=NO_SUCH_ITEM", unknown_item("NO_SUCH_ITEM"))
    }
}
