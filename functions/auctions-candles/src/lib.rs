//! `GET /v1/auctions/candles`: how the lowest price of an item in auctions moved during hours or days, and for how much it was sold.

use common::request::Request;
use common::request::auction_item_id::AuctionItemId;
use common::request::parameters::Allowed;
use common::response::envelope::Document;
use common::response::error::ApiError;
use common::response::openapi::{Describe, Description};
use common::routes::{self, AUCTION_INTERVALS, Route};
use common::time::UnixSeconds;
use schemars::JsonSchema;
use serde::Serialize;
use tables::CandlePages;
use tables::auctions::{Candle, Coins, Lowest, Sold};
use tables::series::{Page, PagedCandle};

/// A page of candles of an item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsCandles")]
struct Data<'a> {
    /// The item's id.
    id: &'a str,
    /// The requested interval.
    interval: &'static str,
    /// The number of candles.
    count: usize,
    /// The candles, oldest first. An interval in which the item was neither listed nor sold has none.
    candles: Vec<PageEntry>,
    /// The `before` of the next page, which is older; null if there are no older candles. A page can be short or empty before the last one.
    next_before: Option<UnixSeconds>,
}

/// The prices of an item during one interval, in coins, exact to 0.01 and those of one item also if stacks are sold. A `lowest_` price is
/// null if the item was not listed, and a `sale_` price if it was not sold.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuctionsCandle")]
struct PageEntry {
    /// The start of the interval.
    opened_at: UnixSeconds,
    /// The lowest buy-it-now price at the first minute in which the item was listed.
    lowest_open: Option<f64>,
    /// The highest of these prices.
    lowest_high: Option<f64>,
    /// The lowest of these prices.
    lowest_low: Option<f64>,
    /// The lowest buy-it-now price at the last minute in which the item was listed.
    lowest_close: Option<f64>,
    /// The average over the minutes in which the item was listed.
    lowest_average: Option<f64>,
    /// The number of running buy-it-now auctions at the last minute in which there was one; null if the item was not listed.
    listings: Option<u32>,
    /// The number of sales, buy-it-now and by bids.
    sales: u32,
    /// The number of items that were sold.
    sold: u64,
    /// The lowest price of a sale.
    sale_low: Option<f64>,
    /// The sum of the prices divided by the number of items.
    sale_average: Option<f64>,
    /// The median price of the sales. For a day, the median of those of its hours, each counted as often as the hour has sales.
    sale_median: Option<f64>,
    /// The highest price of a sale.
    sale_high: Option<f64>,
    /// The number of minutes in which the item was listed.
    samples: u32,
    /// Whether the candle is complete. Otherwise the day is under way, or not built yet but made of its hours.
    complete: bool,
}

impl From<PagedCandle<Candle>> for PageEntry {
    fn from(PagedCandle { opened_at, candle, is_complete }: PagedCandle<Candle>) -> Self {
        let Candle { lowest, sold } = candle;
        let lowest_price = |price: fn(&Lowest) -> Coins| lowest.as_ref().map(|lowest| price(lowest).coins());
        let sale_price = |price: fn(&Sold) -> Coins| sold.as_ref().map(|sold| price(sold).coins());
        Self {
            opened_at,
            lowest_open: lowest_price(|lowest| lowest.open),
            lowest_high: lowest_price(|lowest| lowest.high),
            lowest_low: lowest_price(|lowest| lowest.low),
            lowest_close: lowest_price(|lowest| lowest.close),
            lowest_average: lowest_price(Lowest::average),
            listings: lowest.as_ref().map(|lowest| lowest.listings),
            sales: sold.as_ref().map_or(0, |sold| sold.sales),
            sold: sold.as_ref().map_or(0, |sold| sold.sold),
            sale_low: sale_price(|sold| sold.low),
            sale_average: sale_price(Sold::average),
            sale_median: sale_price(Sold::median),
            sale_high: sale_price(|sold| sold.high),
            samples: lowest.map_or(0, |lowest| lowest.samples),
            complete: is_complete,
        }
    }
}

/// The pages of the route.
#[derive(Debug)]
pub struct AuctionsCandles;

impl CandlePages for AuctionsCandles {
    const ROUTE: &'static Route = &routes::AUCTIONS_CANDLES;

    const INTERVALS: Allowed = AUCTION_INTERVALS;

    type Candle = Candle;

    fn id(request: &Request) -> Result<AuctionItemId, ApiError> {
        let id = request.required("id", "")?;
        request.refuse_split("id").map(|()| id)
    }

    fn document(
        id: &AuctionItemId,
        interval: &'static str,
        Page { candles, next_before }: Page<Candle>,
    ) -> serde_json::Result<Document> {
        let (id, candles) = (id.as_str(), candles.into_iter().map(PageEntry::from).collect::<Vec<_>>());
        Document::of(&Data { id, interval, count: candles.len(), candles, next_before })
    }
}

impl Describe for AuctionsCandles {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE)
    }
}

#[cfg(test)]
mod tests {
    use tables::auctions::INTERVALS;

    use super::*;

    #[test]
    fn every_interval_of_the_table_of_routes_has_candles() {
        let Allowed::OneOf { words, default } = AUCTION_INTERVALS else { panic!("intervals are words") };
        assert_eq!(INTERVALS.each_ref().map(|interval| interval.name), words);
        assert!(words.contains(&default));
    }
}
