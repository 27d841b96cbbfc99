//! Every minute, records the prices and volumes of all bazaar products, for `GET /v1/bazaar/history` and the
//! candles.

use std::error::Error;

use common::config::Config;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::time::{Tick, UnixMilliseconds};
use common::upstream::bazaar::prices::{Prices, ProductPrices, prices};
use common::upstream::bazaar::{Orders, PATH, market};
use common::upstream::{Rows, Skipped, Upstream, UpstreamRequest};
use files::{Files, Form, Market, Price, PriceRow, advance};
use recorder::feed::{self, Feed};
use recorder::heartbeat::Refresh;
use recorder::{Attempt, Effect, Recorder, repeat};
use serde::Serialize;
use tables::bazaar::{ONE_MINUTE, Quote, Quotes, SERIES, record};
use tables::series::{Written, is_due, note_late};
use tables::{Session, Ticks};

#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The number of products with a price; 0 if the tick was already recorded.
    products: usize,
    /// The rows that were written.
    #[serde(flatten)]
    written: Written,
}

/// The data of the bazaar for the public files.
#[derive(Debug)]
pub struct Public {
    last_updated: UnixMilliseconds,
    /// The content of `bazaar.json`.
    document: Vec<u8>,
    /// The rows for `prices.json`, which lists both markets.
    rows: Vec<PriceRow>,
}

impl Public {
    fn of(prices: &Prices<'_>) -> serde_json::Result<Self> {
        let rows = prices.items.iter().map(|item| PriceRow {
            id: item.id.to_owned(),
            price: Price::Bazaar { top_buy_order: item.top_buy_order, top_sell_offer: item.top_sell_offer },
        });
        Ok(Self {
            last_updated: UnixMilliseconds::new(prices.last_updated),
            document: serde_json::to_vec(prices)?,
            rows: rows.collect(),
        })
    }
}

#[derive(Debug)]
pub struct RecordBazaar {
    upstream: Upstream,
    files: Option<Files>,
}

impl Recorder for RecordBazaar {
    const NAME: &'static str = "record-bazaar";

    const FEED: &'static Feed = &feed::BAZAAR;

    type Outcome = Outcome;

    /// `None` if the tick was already recorded, or if the service has no public files.
    type Public = Option<Public>;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { upstream: Upstream::provider(config, None)?, files: Files::of(config)? })
    }

    async fn warm_up(&self) {
        self.upstream.warm_up().await;
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<Attempt<Outcome, Option<Public>>, Box<dyn Error + Send + Sync>> {
        let now = invocation.now().into();
        let event = ticks.event();
        if !is_due(table, &ONE_MINUTE, event, now).await? {
            note_late(table, &SERIES, ticks).await?;
            return Ok(nothing(event));
        }
        let fetch = |attempt: Invocation| async move {
            let response = self.upstream.get(&attempt, &UpstreamRequest::of(PATH)).await?;
            let filing = ticks.current();
            let market = market(&response, Orders::LeftOut)?;
            let Rows { usable, skipped } = market.products;
            let prices = prices(&response, &usable, market.last_updated);
            let public = self.files.as_ref().map(|_| Public::of(&prices));
            let refreshed_at = UnixMilliseconds::new(market.last_updated);
            let quotes = quotes(&prices.items, skipped);
            // An empty tick would count as recorded, and hide that the provider has no price that can be
            // stored.
            if quotes.is_empty() {
                return Err(response.invalid("no price can be recorded"));
            }
            Ok((filing, refreshed_at, quotes, public))
        };
        let (filing, refreshed_at, quotes, public) = repeat(invocation, fetch).await?;
        if !is_due(table, &ONE_MINUTE, filing, now).await? {
            return Ok(nothing(filing.tick));
        }
        let written = record(table, filing, &quotes).await?;
        note_late(table, &SERIES, ticks).await?;
        let public = public.transpose()?;
        let refresh = Some(Refresh::of(refreshed_at, &quotes));
        let outcome = Outcome { products: quotes.len(), written };
        Ok(Attempt { effect: written.into(), refresh, public, ..Attempt::of(filing.tick, outcome) })
    }

    async fn publish(
        &self,
        _: Session<'_>,
        invocation: &Invocation,
        public: &Option<Public>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (Some(files), Some(public)) = (&self.files, public) else { return Ok(()) };
        let Public { last_updated, document, rows } = public;
        let seen = files.seen("bazaar.json", Form::Plain).await?;
        let (updated_at, now) = ((*last_updated).into(), invocation.now().into());
        if advance(files, Market::Bazaar, updated_at, now, rows).await? {
            files.replace(seen, document).await?;
        }
        Ok(())
    }
}

/// The attempt to record a tick that was already recorded.
fn nothing(tick: Tick) -> Attempt<Outcome, Option<Public>> {
    Attempt { effect: Effect::Nothing, ..Attempt::of(tick, Outcome::default()) }
}

/// Returns the quotes of the products with a price on at least one side. Leaves out products with an invalid
/// id or price and logs a warning, so that the other products are recorded. `skipped` are the products that
/// the response does not describe.
fn quotes(products: &[ProductPrices<'_>], mut skipped: Skipped) -> Quotes {
    let mut quotes = Quotes::new();
    for product in products {
        match (product.id.parse(), quote(product)) {
            _ if !product.has_price() => {}
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

fn quote(product: &ProductPrices<'_>) -> Option<Quote> {
    let &ProductPrices { sell_price, buy_price, sell_volume, buy_volume, .. } = product;
    Quote::nearest(sell_price, buy_price, sell_volume, buy_volume)?.with(
        [product.top_buy_order, product.top_sell_offer],
        [Some(product.sell_moving_week), Some(product.buy_moving_week)],
    )
}
