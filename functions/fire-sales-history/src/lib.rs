//! `GET /v1/fire-sales/history`: the fire sales that were recorded, newest first.

use std::sync::Arc;

use common::cache::Cached;
use common::config::Config;
use common::envelope::{Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
use common::params::Limit;
use common::request::Request;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use serde::Serialize;
use tables::Table;
use tables::history::fire_sales::{self, Sighting};

/// How many sales an answer has: 1 to 200, 50 by default (`interface.md`, part 4).
type HistoryLimit = Limit<1, 200, 50>;

/// The data of an answer.
#[derive(Debug, Serialize)]
struct Data {
    /// The sales, the one with the latest start first.
    history: Vec<PastFireSale>,
}

/// A fire sale that was recorded (`interface.md`, part 2).
#[derive(Debug, Serialize)]
struct PastFireSale {
    /// The item that was sold.
    item_id: String,
    /// How many were for sale.
    amount: i64,
    /// The price of one, in gems.
    price: i64,
    /// When the provider was first seen to show it.
    recorded_at: UnixSeconds,
}

impl From<Sighting> for PastFireSale {
    fn from(Sighting { sale, recorded_at, .. }: Sighting) -> Self {
        Self { item_id: sale.item_id().to_owned(), amount: sale.amount(), price: sale.price(), recorded_at }
    }
}

/// The function.
#[derive(Debug)]
pub struct FireSalesHistory {
    table: Table,
    latest: Cached<usize, Arc<Document>, tables::Error>,
}

impl Function for FireSalesHistory {
    const ROUTE: &'static Route = &routes::FIRE_SALES_HISTORY;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, latest: Cached::new(Self::ROUTE.cache, usize::MAX) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let limit = request.parameter::<HistoryLimit>("limit")?.get();
        let invocation = request.invocation();
        let fetch = async || {
            let sales = fire_sales::latest(&self.table, limit, invocation.upstream_deadline());
            let sales = invocation.waiting_for(sales).await?;
            let data = Data { history: sales.into_iter().map(PastFireSale::from).collect() };
            Document::of(&data).map(Arc::new).map_err(tables::Error::unwritable)
        };
        let served = self.latest.get(limit, invocation.now(), fetch).await?;
        Ok(served.answer(Arc::clone(&served.value)))
    }
}
