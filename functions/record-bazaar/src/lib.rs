//! Every minute, records the prices and volumes of all bazaar products, for `GET /v1/bazaar/history` and its
//! candles.

use std::error::Error;

use common::lambda::StartError;
use common::lambda::config::Config;
use common::lambda::invocation::Invocation;
use common::time::Tick;
use common::upstream::bazaar::{Orders, PATH, Product, market};
use common::upstream::{Rows, Upstream, UpstreamRequest};
use serde::Serialize;
use tables::bazaar::{MINUTES, Quote, Quotes, SERIES, record};
use tables::feed::{self, Feed};
use tables::series::{Written, is_due, note_late};
use tables::{Recorder, Session, Ticks, repeat};

/// The outcome of one tick.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The number of products with a price; 0 if the tick was recorded before.
    products: usize,
    /// The rows that were written.
    #[serde(flatten)]
    written: Written,
}

/// The `record-bazaar` recorder.
#[derive(Debug)]
pub struct RecordBazaar(Upstream);

impl Recorder for RecordBazaar {
    const NAME: &'static str = "record-bazaar";

    const FEED: &'static Feed = &feed::BAZAAR;

    type Outcome = Outcome;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self(Upstream::provider(config)?))
    }

    async fn warm_up(&self) {
        self.0.warm_up().await;
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome), Box<dyn Error + Send + Sync>> {
        let now = invocation.now().into();
        let tick = ticks.current();
        if !is_due(table, &MINUTES, tick, now).await? {
            note_late(table, &SERIES, ticks).await?;
            return Ok((tick, Outcome::default()));
        }
        let fetch = |attempt: Invocation| async move {
            let response = self.0.get(&attempt, &UpstreamRequest::of(PATH)).await?;
            let fetched_at = ticks.current();
            let quotes = quotes(market(&response, Orders::LeftOut)?.products);
            // An empty tick would count as recorded, and so would hide that the provider shows nothing.
            if quotes.is_empty() {
                Err(response.invalid("no product has a price"))
            } else {
                Ok((fetched_at, quotes))
            }
        };
        let (fetched_at, quotes) = repeat(invocation, fetch).await?;
        if fetched_at != tick && !is_due(table, &MINUTES, fetched_at, now).await? {
            return Ok((fetched_at, Outcome::default()));
        }
        let written = record(table, fetched_at, &quotes).await?;
        note_late(table, &SERIES, ticks).await?;
        Ok((fetched_at, Outcome { products: quotes.len(), written }))
    }

    fn is_nothing(outcome: &Outcome) -> bool {
        outcome.products == 0
    }
}

/// Returns the quotes of the products with a price on at least one side. A product with an invalid id or price is left out with
/// a warning, so that it does not prevent the others from being recorded.
fn quotes(products: Rows<Product>) -> Quotes {
    let Rows { usable, mut skipped } = products;
    let mut quotes = Quotes::new();
    for product in usable {
        let status = product.status;
        let quote =
            Quote::nearest(status.sell_price, status.buy_price, status.sell_volume, status.buy_volume);
        match (product.id.parse(), quote) {
            (_, Some(quote)) if quote.sell_price.coins() == 0.0 && quote.buy_price.coins() == 0.0 => {}
            (Ok(id), Some(quote)) => drop(quotes.insert(id, quote)),
            _ => skipped.add(product.id, "its id or price cannot be stored"),
        }
    }
    if !skipped.names.is_empty() {
        let some = skipped.first_names();
        tracing::warn!(count = skipped.names.len(), some, "invalid products are not recorded");
    }
    quotes
}
