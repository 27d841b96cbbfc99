//! `GET /v1/fire-sales/history`: the recorded fire sales, newest first.

use common::description::{Describe, Description};
use common::routes::{self, Route};
use common::time::UnixSeconds;
use handlers::{HistoryList, HistoryListHandler};
use schemars::JsonSchema;
use serde::Serialize;
use tables::history::fire_sales::{self, Sighting};
use tables::{Error, Session};

/// A recorded fire sale.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PastFireSale {
    /// The id of the item for sale.
    item_id: String,
    /// The number of items for sale, as last seen.
    amount: i64,
    /// The price of one item, in gems, as last seen.
    price: i64,
    /// The minute in which the service first saw the sale.
    recorded_at: UnixSeconds,
}

impl From<Sighting> for PastFireSale {
    fn from(Sighting { sale, recorded_at, .. }: Sighting) -> Self {
        Self { item_id: sale.item_id().to_owned(), amount: sale.amount(), price: sale.price(), recorded_at }
    }
}

#[derive(Debug)]
pub struct FireSalesHistory;

impl HistoryList for FireSalesHistory {
    const ROUTE: &'static Route = &routes::FIRE_SALES_HISTORY;

    type Entry = PastFireSale;

    async fn newest(
        table: Session<'_>,
        _: UnixSeconds,
        before: Option<UnixSeconds>,
        limit: usize,
    ) -> Result<Vec<PastFireSale>, Error> {
        let sales = match before {
            None => fire_sales::latest(table, limit).await?,
            Some(before) => fire_sales::seen_before(table, before, limit).await?,
        };
        Ok(sales.into_iter().map(PastFireSale::from).collect())
    }
}

impl Describe for FireSalesHistory {
    fn description() -> Description {
        HistoryListHandler::<Self>::description(include_str!("../example.json"))
            .invalid("limit", "/v1/fire-sales/history?limit=201")
            .invalid("before", "/v1/fire-sales/history?before=now")
    }
}
