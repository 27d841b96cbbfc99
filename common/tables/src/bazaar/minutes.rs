//! Writes and reads the recorded minutes.

use common::request::parameters::ItemId;
use common::time::Tick;

use super::intervals::MINUTES;
use super::quote::{Quote, Quotes, corrupt_products};
use crate::error::Error;
use crate::item::{PRODUCTS, readable};
use crate::series::marker::mark;
use crate::series::rows::{Written, put_rows, rows_of};
use crate::session::Session;

/// Records the quotes of the tick: a row for each shard, and then the marker. Recording a tick again replaces its rows, so after a failure
/// the same call completes it.
///
/// # Errors
/// If a part was not written before the deadline.
pub async fn record(table: Session<'_>, tick: Tick, quotes: &Quotes) -> Result<Written, Error> {
    let minute = MINUTES.at(tick.time());
    let values = quotes.iter().map(|(id, quote)| (id, quote.attribute()));
    let (rows, write_units) = put_rows(table, minute, values).await?;
    mark(table, minute, rows).await?;
    Ok(Written { rows, write_units })
}

/// Returns the quotes of a recorded tick, or `None` if rows of it are missing or corrupt.
///
/// # Errors
/// If the table does not answer in time.
pub async fn quotes(table: Session<'_>, tick: Tick) -> Result<Option<Quotes>, Error> {
    let minute = MINUTES.at(tick.time());
    let Some((expected, rows)) = rows_of(table, minute).await? else { return Ok(None) };
    let shards = readable(&rows, &MINUTES.markers(), |row| {
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok());
        let products = products.ok_or_else(corrupt_products)?.iter();
        let quotes = products.map(|(id, quote)| Some((id.parse().ok()?, Quote::of_attribute(quote)?)));
        quotes.collect::<Option<Vec<(ItemId, Quote)>>>().ok_or_else(corrupt_products).map(Some)
    });
    Ok((shards.len() >= expected).then(|| shards.into_iter().flatten().collect()))
}
