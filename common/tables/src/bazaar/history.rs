//! Reads the history of one product.

use common::request::parameters::ItemId;
use common::time::UnixSeconds;

use super::candle::Candle;
use super::intervals::Range;
use super::quote::Quote;
use crate::error::Error;
use crate::series::page::closes;
use crate::session::Session;

/// The quote of a product at a minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub recorded_at: UnixSeconds,
    /// The prices and volumes.
    pub quote: Quote,
}

/// Returns the product's points in the range before `now`, oldest first. Each point is the last recorded
/// minute of an interval. An interval in which the product was not recorded has no point.
pub async fn points(
    table: Session<'_>,
    range: &Range,
    id: &ItemId,
    now: UnixSeconds,
) -> Result<Vec<Point>, Error> {
    let candles = closes(table, range.interval, id, range.oldest_slot(now), now).await?;
    let point = |candle: Candle| Point { recorded_at: candle.closed_at, quote: candle.close() };
    Ok(candles.into_iter().map(point).collect())
}
