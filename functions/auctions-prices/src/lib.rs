//! `GET /v1/auctions/prices`: the lowest prices of items in auctions, from the newest recorded minute.

mod snapshot;

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::split::split_id;
use common::response::Response;
use common::routes::{self, AuctionIds, Route, is_recent};
use tables::auctions::{self, RecordedMinute};
use tables::{ResponseError, Table};

use self::snapshot::{LowestPrices, Snapshot};

/// The error if prices are too old to be served, or were never recorded.
fn not_recorded() -> ApiError {
    ApiError::internal("no run of record-auctions has succeeded for ten minutes")
}

#[derive(Debug)]
pub struct AuctionsPrices {
    table: Table,
    snapshot: Cache<(), Arc<Snapshot>>,
}

impl Handler for AuctionsPrices {
    const ROUTE: &'static Route = &routes::AUCTIONS_PRICES;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, snapshot: Cache::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ids: Option<AuctionIds> = request.optional("ids")?;
        if ids.is_some() {
            request.refuse_split("ids")?;
        }
        let invocation = request.invocation();
        let now = invocation.now().into();
        let fetch = async || {
            let table = self.table.during(invocation);
            let newest = auctions::newest(table, now).await?;
            let recent = newest.filter(|minute| is_recent(minute.slot, now));
            let minute = recent.ok_or_else(|| ResponseError::Nothing(not_recorded()))?;
            let lowest = auctions::lowest_auctions(table, &minute).await?.unwrap_or_default();
            let RecordedMinute { slot, last_updated, prices, .. } = minute;
            Ok::<_, ResponseError>(Arc::new(Snapshot::new(slot, last_updated, prices, lowest)?))
        };
        let lookup =
            self.snapshot.get_recent((), invocation, |kept| is_recent(kept.recorded_at, now), fetch).await?;
        let document = lookup.value.document(ids.as_ref()).map_err(ApiError::internal)?;
        Ok(Response::of_lookup(&lookup, document))
    }
}

impl Describe for AuctionsPrices {
    fn description() -> Description {
        Description::of::<LowestPrices<'_>>(Self::ROUTE, include_str!("../example.json"))
            .invalid("ids", "/v1/auctions/prices?ids=HYPERION,,TERMINATOR")
            .fails("semicolon", "/v1/auctions/prices?ids=GOLDEN_DRAGON;4", split_id("ids", "4"))
    }
}
