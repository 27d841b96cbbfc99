//! The handler of routes that return pages of one product's candles.

use std::sync::Arc;

use common::cache::Cache;
use common::config::Config;
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::request::parameters::{Before, Since};
use common::response::Response;
use common::response::envelope::Document;
use common::routes::Route;
use common::time::{UnixMilliseconds, UnixSeconds};
use tables::Error;
use tables::Table;
use tables::series::{Page, Period, SeriesCandle, page};

/// Room for a few hundred pages.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

pub trait CandlePages: 'static {
    /// The route. It has the parameters `interval`, `from`, `before` and `limit`.
    const ROUTE: &'static Route;

    type Candle: SeriesCandle;

    fn id(request: &Request) -> Result<<Self::Candle as SeriesCandle>::Id, ApiError>;

    /// Returns the data of the response: a page of the product's candles.
    fn document(
        id: &<Self::Candle as SeriesCandle>::Id,
        interval: &'static str,
        page: Page<Self::Candle>,
    ) -> serde_json::Result<Document>;
}

/// The cache key of a page: interval, product, start, end and limit. Without an end, the page ends now.
type Key<Id> = (&'static str, Id, Option<UnixSeconds>, Option<UnixSeconds>, usize);

#[derive(Debug)]
pub struct CandlePagesHandler<P: CandlePages> {
    table: Table,
    pages: Cache<Key<<P::Candle as SeriesCandle>::Id>, Arc<Document>>,
}

impl<P: CandlePages> Handler for CandlePagesHandler<P> {
    const ROUTE: &'static Route = P::ROUTE;

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self { table: Table::history(config)?, pages: Cache::new(P::ROUTE.cache, CACHE_BYTES) })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let id = P::id(request)?;
        let interval = request.choice("interval", P::Candle::SERIES.intervals, |interval| interval.name)?;
        let from = request.optional::<Since>("from")?.map(Since::get);
        let before = request.parameter::<Before>("before")?.get();
        let limit = request.limit("limit")?;
        let invocation = request.invocation();
        let end = before.unwrap_or_else(|| invocation.now());
        if let Some(from) = from.filter(|from| *from >= end) {
            return Err(not_before(from, end));
        }
        let [from, before] = [from, before].map(|time| time.map(UnixMilliseconds::rounded_up));
        let fetch = async || {
            let table = self.table.during(invocation);
            let now = invocation.now();
            // A candle that opens now has not been recorded yet.
            let before = before.unwrap_or_else(|| now.rounded_up());
            let page = page(table, interval, &id, Period { from, before }, limit, now.into()).await?;
            P::document(&id, interval.name, page).map(Arc::new).map_err(Error::unwritable)
        };
        let key = (interval.name, id.clone(), from, before, limit);
        Ok(self.pages.get(key, invocation, fetch).await?.into())
    }
}

/// The error of a period whose start is not before its end.
#[must_use]
pub fn not_before(from: UnixMilliseconds, before: UnixMilliseconds) -> ApiError {
    let [from, before] = [from, before].map(UnixSeconds::from);
    ApiError::bad_request(format!(
        "Parameter 'from' must be earlier than 'before' (now, if absent), but 'from' was {from} and 'before' {before}."
    ))
}

#[cfg(test)]
mod tests {
    use common::request::parameters::Allowed;
    use common::routes::{AUCTION_INTERVALS, CANDLE_INTERVALS};

    use tables::{auctions, bazaar};

    #[test]
    fn every_interval_of_the_table_of_routes_has_candles() {
        let bazaar = &bazaar::INTERVALS[..];
        let auctions = &auctions::INTERVALS[..];
        for (allowed, intervals) in [(CANDLE_INTERVALS, bazaar), (AUCTION_INTERVALS, auctions)] {
            let Allowed::OneOf { words, default } = allowed else { panic!("intervals are words") };
            assert!(intervals.iter().map(|interval| interval.name).eq(words.iter().copied()));
            assert!(words.contains(&default));
        }
    }
}
