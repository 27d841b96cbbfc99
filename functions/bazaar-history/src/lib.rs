//! `GET /v1/bazaar/history`: the prices and volumes of a product over a range of time.

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::parameters::ItemId;
use common::request::{Request, missing_parameter};
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use common::upstream::bazaar::spread::{spread, spread_percent};
use schemars::JsonSchema;
use serde::Serialize;
use tables::Table;
use tables::bazaar::{self, Point, RANGES};

/// Room for a few hundred charts.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// The prices and volumes of a product over a range of time.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarHistory")]
struct PriceHistory<'a> {
    /// The product's id.
    item_id: &'a str,
    /// The requested range.
    range: &'static str,
    /// The number of points.
    #[serde(rename = "dataPoints")]
    count: usize,
    /// The points, oldest first.
    history: Vec<HistoryPoint>,
}

/// The prices and volumes at one recorded minute. Prices are in coins, rounded to 0.01; volumes are in items.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarHistoryPoint")]
struct HistoryPoint {
    /// The average price of the best 2 % of the volume of buy orders, in coins; 0 if there were no buy
    /// orders.
    sell_price: f64,
    /// The average price of the best 2 % of the volume of sell offers, in coins; 0 if there were no sell
    /// offers.
    buy_price: f64,
    /// The number of items in open buy orders.
    sell_volume: i64,
    /// The number of items in open sell offers.
    buy_volume: i64,
    /// `buy_price - sell_price` in coins, not rounded.
    spread: f64,
    /// The spread in per cent of `sell_price`; 0 if `sell_price` is 0.
    spread_percent: f64,
    /// The recorded minute.
    recorded_at: UnixSeconds,
}

impl From<Point> for HistoryPoint {
    fn from(Point { recorded_at, quote }: Point) -> Self {
        let sell_price = quote.sell_price.coins();
        let buy_price = quote.buy_price.coins();
        Self {
            sell_price,
            buy_price,
            sell_volume: quote.sell_volume,
            buy_volume: quote.buy_volume,
            spread: spread(sell_price, buy_price),
            spread_percent: spread_percent(sell_price, buy_price),
            recorded_at,
        }
    }
}

#[derive(Debug)]
pub struct BazaarHistory {
    table: Table,
    charts: Cache<(&'static str, ItemId), Arc<Document>>,
}

impl Handler for BazaarHistory {
    const ROUTE: &'static Route = &routes::BAZAAR_HISTORY;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, charts: Cache::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let id: ItemId = request.required("item_id", "")?;
        let range = request.choice("range", &RANGES, |range| range.name)?;
        let invocation = request.invocation();
        let fetch = async || {
            let table = self.table.during(invocation);
            let points = bazaar::points(table, range, &id, invocation.now().into()).await?;
            document(&id, range, points).map(Arc::new)
        };
        Ok(self.charts.get((range.name, id.clone()), invocation, fetch).await?.into())
    }
}

/// Returns the data of the response, with the product's points in the range.
fn document(id: &ItemId, range: &bazaar::Range, points: Vec<Point>) -> Result<Document, tables::Error> {
    let history: Vec<_> = points.into_iter().map(HistoryPoint::from).collect();
    let data = PriceHistory { item_id: id.as_str(), range: range.name, count: history.len(), history };
    Document::of(&data).map_err(tables::Error::unwritable)
}

impl Describe for BazaarHistory {
    fn description() -> Description {
        Description::of::<PriceHistory>(Self::ROUTE, include_str!("../example.json"))
            .fails("missing", "/v1/bazaar/history", missing_parameter("item_id", ""))
            .invalid("item_id", "/v1/bazaar/history?item_id=ink_sack")
            .invalid("range", "/v1/bazaar/history?item_id=INK_SACK:3&range=2h")
    }
}

#[cfg(test)]
mod tests {
    use common::request::parameters::Allowed;
    use common::routes::BAZAAR_RANGES;

    use super::*;

    #[test]
    fn the_ranges_are_those_of_the_table_of_routes() {
        let Allowed::OneOf { words, default } = BAZAAR_RANGES else { panic!("ranges are words") };
        assert_eq!(RANGES.each_ref().map(|range| range.name), words);
        assert!(words.contains(&default));
    }
}
