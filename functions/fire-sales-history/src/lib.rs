//! `GET /v1/fire-sales/history`: the fire sales that were recorded, newest first.

use common::params::Limit;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use serde::Serialize;
use tables::history::fire_sales::{self, Sighting};
use tables::{Error, Listable, Table};
use tokio::time::Instant;

/// A fire sale that was recorded (`interface.md`, part 2).
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct PastFireSale {
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

/// The fire sales that were recorded.
#[derive(Debug)]
pub struct FireSalesHistory;

impl Listable for FireSalesHistory {
    const ROUTE: &'static Route = &routes::FIRE_SALES_HISTORY;

    /// How many sales an answer has: 1 to 200, 50 by default (`interface.md`, part 4).
    type Limit = Limit<1, 200, 50>;

    type Entry = PastFireSale;

    async fn newest(
        table: &Table,
        _: UnixSeconds,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<PastFireSale>, Error> {
        let sales = fire_sales::latest(table, limit, deadline).await?;
        Ok(sales.into_iter().map(PastFireSale::from).collect())
    }
}
