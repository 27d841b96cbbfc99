//! Makes bazaar markets for tests, which the simulator serves.

use std::collections::BTreeMap;
use std::fmt::Display;

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use super::record;
use crate::oracle;
use crate::support::simulator;

/// The provider's path of the bazaar.
pub(crate) const BAZAAR: &str = "/v2/skyblock/bazaar";

pub(crate) const RECORDER: &str = "record-bazaar";

/// The time of the provider's refresh, in Unix milliseconds.
const LAST_UPDATED: &str = "1777388398578";

/// The prices and volumes of a product, each in the provider's spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) sell_price: String,
    pub(crate) buy_price: String,
    pub(crate) sell_volume: String,
    pub(crate) buy_volume: String,
    /// The lists `sell_summary` and `buy_summary`.
    pub(crate) buy_orders: String,
    pub(crate) sell_offers: String,
    pub(crate) sell_moving_week: String,
    pub(crate) buy_moving_week: String,
}

impl Quote {
    /// The recorded quote. `None` if a value is not a number, or both prices are 0.
    pub(crate) fn recorded(&self) -> Option<oracle::Quote> {
        let quote = oracle::Quote {
            sell_price: self.sell_price.parse().ok()?,
            buy_price: self.buy_price.parse().ok()?,
            sell_volume: self.sell_volume.parse().ok()?,
            buy_volume: self.buy_volume.parse().ok()?,
        };
        (quote.sell_price > 0.0 || quote.buy_price > 0.0).then_some(quote)
    }

    /// The recorded minute. `None` if the quote is not recorded.
    pub(crate) fn recorded_minute(&self) -> Option<oracle::Minute> {
        let sides = [levels(&self.buy_orders), levels(&self.sell_offers)];
        let [buy_orders, sell_offers] = if let [Some(buy_orders), Some(sell_offers)] = sides {
            [buy_orders, sell_offers]
        } else {
            // If one side is invalid, neither counts.
            [Vec::new(), Vec::new()]
        };
        Some(oracle::Minute {
            quote: self.recorded()?,
            buy_order: buy_orders.into_iter().reduce(f64::max),
            sell_offer: sell_offers.into_iter().reduce(f64::min),
            sell_moving_week: self.sell_moving_week.parse().ok()?,
            buy_moving_week: self.buy_moving_week.parse().ok()?,
        })
    }
}

/// The prices of the valid levels in a list of orders. `None` if it is not a list, or more than half of its
/// levels are invalid.
fn levels(summary: &str) -> Option<Vec<f64>> {
    let levels: Vec<Value> = serde_json::from_str(summary).ok()?;
    let price = |level: &Value| {
        let is_count = |field: &str| level[field].as_i64().is_some_and(|count| count > 0);
        let price = level["pricePerUnit"].as_f64()?;
        (0.0 < price && price <= 1e12 && is_count("amount") && is_count("orders")).then_some(price)
    };
    let prices: Vec<f64> = levels.iter().filter_map(price).collect();
    (prices.len() * 2 >= levels.len()).then_some(prices)
}

pub(crate) fn quote(
    sell_price: impl Display,
    buy_price: impl Display,
    sell_volume: impl Display,
    buy_volume: impl Display,
) -> Quote {
    Quote {
        sell_price: sell_price.to_string(),
        buy_price: buy_price.to_string(),
        sell_volume: sell_volume.to_string(),
        buy_volume: buy_volume.to_string(),
        buy_orders: "[]".to_owned(),
        sell_offers: "[]".to_owned(),
        sell_moving_week: "3".to_owned(),
        buy_moving_week: "5".to_owned(),
    }
}

/// The quotes of all products at one time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Market(pub(crate) BTreeMap<String, Quote>);

impl Market {
    pub(crate) fn of(id: &str, quote: Quote) -> Self {
        Self::default().with(id, quote)
    }

    /// Adds a product to the market.
    pub(crate) fn with(mut self, id: &str, quote: Quote) -> Self {
        self.0.insert(id.to_owned(), quote);
        self
    }

    /// The provider's response with this market.
    pub(crate) fn body(&self) -> String {
        let products = self.0.iter().map(|(id, quote)| {
            let Quote { sell_price, buy_price, sell_volume, buy_volume, .. } = quote;
            let Quote { buy_orders, sell_offers, sell_moving_week, buy_moving_week, .. } = quote;
            let id = json!(id);
            format!(
                r#"{id}:{{"product_id":{id},"sell_summary":{buy_orders},"buy_summary":{sell_offers},"quick_status":{{"productId":{id},
                "sellPrice":{sell_price},"sellVolume":{sell_volume},"sellMovingWeek":{sell_moving_week},"sellOrders":2,
                "buyPrice":{buy_price},"buyVolume":{buy_volume},"buyMovingWeek":{buy_moving_week},"buyOrders":1}}}}"#
            )
        });
        let joined = products.collect::<Vec<_>>().join(",");
        format!(r#"{{"success":true,"lastUpdated":{LAST_UPDATED},"products":{{{joined}}}}}"#)
    }

    /// Makes the provider serve this market, refreshed at this time in Unix milliseconds.
    pub(crate) fn show_refreshed(&self, cloud: &Cloud, time_ms: i64) {
        let body = self.body().replace(LAST_UPDATED, &time_ms.to_string());
        simulator(cloud).set_fault(BAZAAR, Fault::default().with_body(body));
    }

    /// Makes the provider serve this market.
    pub(crate) fn show(&self, cloud: &Cloud) {
        simulator(cloud).set_fault(BAZAAR, Fault::default().with_body(self.body()));
    }

    /// Records the market at the tick in Unix seconds, and returns the recorder's report.
    pub(crate) async fn record(&self, cloud: &Cloud, tick: i64) -> Value {
        self.show_refreshed(cloud, tick * 1_000);
        record(cloud, RECORDER, tick).await
    }
}
