//! `GET /v1/bazaar/candles`: how the prices of a product moved during intervals of five minutes to a day.

use std::str::FromStr;
use std::sync::Arc;

use common::cache::Cache;
use common::lambda::config::Config;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::parameters::{Allowed, Before, InvalidValue, ItemId, Value};
use common::response::Response;
use common::response::envelope::Document;
use common::response::error::ApiError;
use common::response::openapi::{Describe, Description};
use common::routes::{self, CANDLE_INTERVALS, CandlesLimit, Route};
use common::time::{UnixMilliseconds, UnixSeconds};
use schemars::JsonSchema;
use serde::Serialize;
use tables::Table;
use tables::bazaar::{Candle, INTERVALS, Prices};
use tables::series::{self, Page, PagedCandle};

/// Room for a few hundred pages.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// A page of candles of a product.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarCandles")]
struct Data<'a> {
    /// The product's id.
    item_id: &'a str,
    /// The requested interval.
    #[schemars(extend("enum" = INTERVALS.each_ref().map(|interval| interval.name)))]
    interval: &'static str,
    /// The number of candles.
    count: usize,
    /// The candles, oldest first. An interval in which the product was not recorded has none.
    candles: Vec<PageEntry>,
    /// The `before` of the next page, which is older; null if there are no older candles.
    next_before: Option<UnixSeconds>,
}

/// The prices and volumes of a product during one interval. Prices are in coins, rounded to 0.01; volumes are in items.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarCandle")]
struct PageEntry {
    /// The start of the interval.
    opened_at: UnixSeconds,
    /// The sell price at the first recorded minute: the average of the best 2 % of the volume of buy orders, 0 if there were none.
    sell_open: f64,
    /// The highest sell price.
    sell_high: f64,
    /// The lowest sell price.
    sell_low: f64,
    /// The sell price at the last recorded minute.
    sell_close: f64,
    /// The buy price at the first recorded minute: the average of the best 2 % of the volume of sell offers, 0 if there were none.
    buy_open: f64,
    /// The highest buy price.
    buy_high: f64,
    /// The lowest buy price.
    buy_low: f64,
    /// The buy price at the last recorded minute.
    buy_close: f64,
    /// The number of items in open buy orders at the last recorded minute.
    sell_volume: i64,
    /// The number of items in open sell offers at the last recorded minute.
    buy_volume: i64,
    /// The number of minutes of the interval in which the product was recorded.
    samples: u32,
    /// Whether the candle is complete. Otherwise the interval is under way, or the candle is not built yet but made of finer data; minutes may be
    /// added.
    complete: bool,
}

impl From<PagedCandle<Candle>> for PageEntry {
    fn from(PagedCandle { opened_at, candle, is_complete }: PagedCandle<Candle>) -> Self {
        let Candle { sell, buy, sell_volume, buy_volume, samples, .. } = candle;
        let coins = |Prices { open, high, low, close }: Prices| {
            (open.coins(), high.coins(), low.coins(), close.coins())
        };
        let (sell_open, sell_high, sell_low, sell_close) = coins(sell);
        let (buy_open, buy_high, buy_low, buy_close) = coins(buy);
        Self {
            opened_at,
            sell_open,
            sell_high,
            sell_low,
            sell_close,
            buy_open,
            buy_high,
            buy_low,
            buy_close,
            sell_volume,
            buy_volume,
            samples,
            complete: is_complete,
        }
    }
}

/// The parameter `interval`.
#[derive(Debug, Clone, Copy)]
struct Interval(&'static series::Interval);

impl Value for Interval {
    const ALLOWED: Allowed = CANDLE_INTERVALS;
}

impl Default for Interval {
    fn default() -> Self {
        let [_, _, hour, ..] = &INTERVALS;
        Self(hour)
    }
}

impl FromStr for Interval {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let interval = INTERVALS.iter().find(|interval| interval.name == text);
        interval.map(Self).ok_or(InvalidValue::of::<Self>())
    }
}

/// What a page depends on: the interval, the product, the end, and the limit. Without an end, the page ends now.
type Key = (&'static str, ItemId, Option<UnixSeconds>, usize);

/// The handler.
#[derive(Debug)]
pub struct BazaarCandles {
    table: Table,
    pages: Cache<Key, Arc<Document>>,
}

impl Handler for BazaarCandles {
    const ROUTE: &'static Route = &routes::BAZAAR_CANDLES;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, pages: Cache::new(Self::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let id: ItemId = request.required("item_id", "")?;
        let Interval(interval) = request.parameter("interval")?;
        let before = request.parameter::<Before>("before")?.get().map(UnixMilliseconds::rounded_up);
        let limit = request.parameter::<CandlesLimit>("limit")?.get();
        let invocation = request.invocation();
        let fetch = async || {
            let table = self.table.during(invocation);
            let now = invocation.now();
            // A candle that opens now has not been recorded yet.
            let before = before.unwrap_or_else(|| now.rounded_up());
            let Page { candles, next_before } =
                series::page(table, interval, &id, before, limit, now.into()).await?;
            let candles: Vec<_> = candles.into_iter().map(PageEntry::from).collect();
            let (item_id, interval) = (id.as_str(), interval.name);
            let data = Data { item_id, interval, count: candles.len(), candles, next_before };
            Document::of(&data).map(Arc::new).map_err(tables::Error::unwritable)
        };
        let key = (interval.name, id.clone(), before, limit);
        Ok(self.pages.get(key, invocation, fetch).await?.into())
    }
}

impl Describe for BazaarCandles {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_of_the_table_of_routes_has_candles() {
        let Allowed::OneOf { words, default } = CANDLE_INTERVALS else { panic!("intervals are words") };
        assert_eq!(INTERVALS.each_ref().map(|interval| interval.name), words);
        assert_eq!(Interval::default().0.name, default);
    }
}
