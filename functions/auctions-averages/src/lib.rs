//! `GET /v1/auctions/averages`: average prices of items in auctions over windows of one to seven days.

mod snapshot;

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::routes::{self, AuctionIds, Route};
use tables::Table;
use tables::auctions::{self, WINDOWS};

use self::snapshot::{AveragePrices, Snapshot};

#[derive(Debug)]
pub struct AuctionsAverages {
    table: Table,
    /// The snapshots, by the name of the window.
    snapshots: Cache<&'static str, Arc<Snapshot>>,
}

impl Handler for AuctionsAverages {
    const ROUTE: &'static Route = &routes::AUCTIONS_AVERAGES;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, snapshots: Cache::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let window = request.choice("window", &WINDOWS, |window| window.name)?;
        let ids: Option<AuctionIds> = request.optional("ids")?;
        if ids.is_some() {
            request.refuse_split("ids")?;
        }
        let invocation = request.invocation();
        let fetch = async || {
            let averages = auctions::averages_of(self.table.during(invocation), window, false).await?;
            Snapshot::new(window.name, averages, invocation.now().into()).map(Arc::new)
        };
        let lookup = self.snapshots.get(window.name, invocation, fetch).await?;
        let document = lookup.value.document(ids.as_ref()).map_err(ApiError::internal)?;
        Ok(Response::of_lookup(&lookup, document))
    }
}

impl Describe for AuctionsAverages {
    fn description() -> Description {
        Description::of::<AveragePrices<'_>>(Self::ROUTE, include_str!("../example.json"))
            .invalid("window", "/v1/auctions/averages?window=2d")
            .invalid("ids", "/v1/auctions/averages?ids=HYPERION,")
    }
}

#[cfg(test)]
mod tests {
    use common::request::parameters::Allowed;
    use common::routes::AVERAGES_WINDOWS;

    use super::*;

    #[test]
    fn every_window_of_the_table_of_routes_has_averages() {
        let Allowed::OneOf { words, default } = AVERAGES_WINDOWS else { panic!("windows are words") };
        assert_eq!(WINDOWS.each_ref().map(|window| window.name), words);
        assert!(words.contains(&default));
    }
}
