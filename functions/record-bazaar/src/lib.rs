//! Records what the products of the bazaar cost, every minute, for `GET /v1/bazaar/history`.

use std::error::Error;

use common::invocation::Invocation;
use common::params::Echo;
use common::time::Tick;
use common::upstream::bazaar::{Market, PATH, PatchyMarket, Product};
use common::upstream::{Question, Upstream};
use serde::Serialize;
use tables::history::bazaar::{self, Filled, Quote, Quotes};
use tables::{Recordable, Table};

/// What was recorded.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// How many products have a price; 0 where there was nothing to do.
    products: usize,
    /// The slots that the tick filled: none if it had been recorded before.
    slots: Vec<Filled>,
}

/// What this function records.
#[derive(Debug)]
pub struct RecordBazaar;

impl Recordable for RecordBazaar {
    const NAME: &'static str = "record-bazaar";

    type Outcome = Outcome;

    async fn record(
        upstream: &Upstream,
        table: &Table,
        tick: Tick,
        invocation: &Invocation,
    ) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
        let deadline = invocation.deadline();
        let due = bazaar::due(table, tick, invocation.now().into(), deadline);
        let due = invocation.waiting_for(due).await?;
        if due.is_empty() {
            return Ok(Outcome { products: 0, slots: Vec::new() });
        }
        let reply = upstream.get(invocation, &Question::of(PATH)).await?;
        let (products, nonsense) = match reply.parse::<Market>() {
            Ok(market) => (market.products, Vec::new()),
            Err(_) => reply.parse::<PatchyMarket<'_>>()?.sorted_out(),
        };
        let quotes = quotes(products, nonsense);
        // A slot that is marked complete stays as it is: better a gap of a minute than one of three hours.
        if quotes.is_empty() {
            return Err(reply.nonsense("no product has a price").into());
        }
        let filled = bazaar::fill(table, tick, &due, &quotes, deadline);
        Ok(Outcome { products: quotes.len(), slots: invocation.waiting_for(filled).await? })
    }
}

/// What is worth recording: products with a price on one side at least. What cannot be kept, because it makes no sense, its
/// id could not be asked for or its price is none, is left out with a warning: it must not keep the others from being
/// recorded. `refused` are the ids of those that make no sense.
fn quotes(products: Vec<Product>, mut refused: Vec<Box<str>>) -> Quotes {
    let mut quotes = Quotes::new();
    for product in products {
        let status = product.status;
        let quote =
            Quote::nearest(status.sell_price, status.buy_price, status.sell_volume, status.buy_volume);
        match (product.id.parse(), quote) {
            (_, Some(quote)) if quote.sell_price.coins() == 0.0 && quote.buy_price.coins() == 0.0 => {}
            (Ok(id), Some(quote)) => drop(quotes.insert(id, quote)),
            _ => refused.push(product.id),
        }
    }
    if !refused.is_empty() {
        let some = refused.iter().take(5).map(|id| Echo::of(id).to_string()).collect::<Vec<_>>().join(", ");
        tracing::warn!(count = refused.len(), some, "products that make no sense are not recorded");
    }
    quotes
}
