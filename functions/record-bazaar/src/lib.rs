//! Every minute, records the prices and volumes of all bazaar products, for `GET /v1/bazaar/history`.

use std::error::Error;

use common::excerpt::Excerpt;
use common::invocation::Invocation;
use common::time::Tick;
use common::upstream::bazaar::{LenientMarket, Market, PATH, Product};
use common::upstream::{Upstream, UpstreamRequest};
use serde::Serialize;
use tables::history::bazaar::{self, FilledSlot, Quote, Quotes};
use tables::{Recorder, Session, Ticks};

/// The outcome of one tick.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The number of products with a price; 0 if there was nothing to do.
    products: usize,
    /// The slots that the tick filled; empty if it was recorded before.
    slots: Vec<FilledSlot>,
}

/// The `record-bazaar` recorder.
#[derive(Debug)]
pub struct RecordBazaar;

impl Recorder for RecordBazaar {
    const NAME: &'static str = "record-bazaar";

    type Outcome = Outcome;

    async fn record(
        upstream: &Upstream,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome), Box<dyn Error + Send + Sync>> {
        let open_slots = async |tick| bazaar::open_slots(table, tick, None, invocation.now().into()).await;
        let mut tick = ticks.current();
        let mut slots = open_slots(tick).await?;
        if slots.is_empty() {
            return Ok((tick, Outcome { products: 0, slots: Vec::new() }));
        }
        let response = upstream.get(invocation, &UpstreamRequest::of(PATH)).await?;
        let fetched_at = ticks.current();
        if fetched_at != tick {
            // The minute has changed since the slots were read.
            tick = fetched_at;
            slots = open_slots(tick).await?;
        }
        let (products, invalid) = match response.parse::<Market>() {
            Ok(market) => (market.products, Vec::new()),
            Err(_) => response.parse::<LenientMarket<'_>>()?.into_valid_and_invalid(),
        };
        let quotes = quotes(products, invalid);
        // An empty tick would count as recorded, and so would hide that the provider shows nothing.
        if quotes.is_empty() {
            return Err(response.invalid("no product has a price").into());
        }
        let slots = bazaar::fill(table, tick, &slots, &quotes).await?;
        Ok((tick, Outcome { products: quotes.len(), slots }))
    }
}

/// Returns the quotes of the products with a price on at least one side. A product with an invalid id or price is left out with
/// a warning, so that it does not prevent the others from being recorded. `invalid` are the ids of products that could not be
/// parsed.
fn quotes(products: Vec<Product>, mut invalid: Vec<Box<str>>) -> Quotes {
    let mut quotes = Quotes::new();
    for product in products {
        let status = product.status;
        let quote =
            Quote::nearest(status.sell_price, status.buy_price, status.sell_volume, status.buy_volume);
        match (product.id.parse(), quote) {
            (_, Some(quote)) if quote.sell_price.coins() == 0.0 && quote.buy_price.coins() == 0.0 => {}
            (Ok(id), Some(quote)) => drop(quotes.insert(id, quote)),
            _ => invalid.push(product.id),
        }
    }
    if !invalid.is_empty() {
        let some =
            invalid.iter().take(5).map(|id| Excerpt::of(id).to_string()).collect::<Vec<_>>().join(", ");
        tracing::warn!(count = invalid.len(), some, "invalid products are not recorded");
    }
    quotes
}
