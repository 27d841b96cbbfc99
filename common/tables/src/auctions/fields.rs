//! The fields of a candle in responses and files.

use schemars::JsonSchema;
use serde::Serialize;

use super::candle::{Candle, Listed, Sold};
use common::coins::Coins;

/// The prices of one item during an interval, in coins, exact to 0.01. The price of a stack is divided by its
/// number of items. `lowest_` prices are null if the item was not listed, and `sale_` prices if it was not
/// sold.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CandleFields {
    /// The lowest buy-it-now price at the first minute in which the item was listed.
    lowest_open: Option<f64>,
    /// The highest of the minutes' lowest buy-it-now prices.
    lowest_high: Option<f64>,
    /// The lowest of the minutes' lowest buy-it-now prices.
    lowest_low: Option<f64>,
    /// The lowest buy-it-now price at the last minute in which the item was listed.
    lowest_close: Option<f64>,
    /// The average of the minutes' lowest buy-it-now prices. Minutes in which the item was not listed do not
    /// count.
    lowest_average: Option<f64>,
    /// The number of running buy-it-now auctions at the last minute in which there was one; null if the item
    /// was not listed.
    listings: Option<u32>,
    /// The number of sales, both buy-it-now and by bids.
    sales: u32,
    /// The number of items that were sold.
    sold: u64,
    /// The lowest price of a sale.
    sale_low: Option<f64>,
    /// The sum of the prices of all sales divided by the number of items that were sold.
    sale_average: Option<f64>,
    /// The median price of the sales. For a day, the median of its hourly medians, each weighted by the
    /// hour's number of sales.
    sale_median: Option<f64>,
    /// The highest price of a sale.
    sale_high: Option<f64>,
    /// The number of minutes in which the item was listed.
    samples: u32,
}

impl From<&Candle> for CandleFields {
    fn from(Candle { listed, sold }: &Candle) -> Self {
        let lowest_price = |price: fn(&Listed) -> Coins| listed.as_ref().map(|listed| price(listed).coins());
        let sale_price = |price: fn(&Sold) -> Coins| sold.as_ref().map(|sold| price(sold).coins());
        Self {
            lowest_open: lowest_price(|listed| listed.open),
            lowest_high: lowest_price(|listed| listed.high),
            lowest_low: lowest_price(|listed| listed.low),
            lowest_close: lowest_price(|listed| listed.close),
            lowest_average: lowest_price(Listed::average),
            listings: listed.as_ref().map(|listed| listed.listings),
            sales: sold.as_ref().map_or(0, |sold| sold.sales),
            sold: sold.as_ref().map_or(0, |sold| sold.sold),
            sale_low: sale_price(|sold| sold.low),
            sale_average: sale_price(Sold::average),
            sale_median: sale_price(Sold::median),
            sale_high: sale_price(|sold| sold.high),
            samples: listed.as_ref().map_or(0, |listed| listed.samples),
        }
    }
}

/// The candle of one item, in a list of all items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemCandle<'a> {
    /// The item's id.
    pub(crate) id: &'a str,
    #[serde(flatten)]
    pub(crate) fields: CandleFields,
}
