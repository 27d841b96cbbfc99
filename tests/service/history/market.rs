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
            let Quote { sell_price, buy_price, sell_volume, buy_volume } = quote;
            let id = json!(id);
            format!(
                r#"{id}:{{"product_id":{id},"sell_summary":[],"buy_summary":[],"quick_status":{{"productId":{id},
                "sellPrice":{sell_price},"sellVolume":{sell_volume},"sellMovingWeek":3,"sellOrders":2,
                "buyPrice":{buy_price},"buyVolume":{buy_volume},"buyMovingWeek":5,"buyOrders":1}}}}"#
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
