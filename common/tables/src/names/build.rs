//! Collects the ids that have a price, and names them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use common::error::chain;
use common::time::UnixSeconds;

use super::list::Names;
use super::rules::names_of;
use crate::auctions::{self, WINDOWS, averages_of};
use crate::bazaar;
use crate::error::Error;
use crate::series::{self, SeriesCandle, SlotCandles};
use crate::session::Session;

const DAY: Duration = Duration::from_hours(24);

/// The whole days whose ids are listed.
const DAYS: RangeInclusive<u32> = 1..=9;

/// The days of auctions that the longest averages do not contain completely.
const EARLIER_DAYS: RangeInclusive<u32> = 7..=9;

/// Returns the names of the items that have or had a price in the last nine days. `catalogue` has names by
/// the provider's id, without color codes.
///
/// # Errors
/// If the table does not answer in time, or rows of yesterday are missing. The ids of other missing or corrupt
/// rows are left out unless another source has them.
pub async fn build(
    table: Session<'_>,
    now: UnixSeconds,
    catalogue: &BTreeMap<String, String>,
) -> Result<Names, Error> {
    let mut in_bazaar = BTreeSet::new();
    days::<bazaar::Candle>(table, now, DAYS, &mut in_bazaar).await?;
    if let Some(minute) = series::newest(table, &bazaar::ONE_MINUTE, now).await?
        && let Some(recorded) = series::recorded_candles::<bazaar::Candle>(table, minute).await?
    {
        in_bazaar.extend(recorded.candles.keys().map(|id| id.as_ref().to_owned()));
    }
    let mut in_auctions = BTreeSet::new();
    days::<auctions::Candle>(table, now, EARLIER_DAYS, &mut in_auctions).await?;
    if let Some(window) = WINDOWS.last()
        && let Some(averages) = skip_corrupt(averages_of(table, window, false).await)?
    {
        in_auctions.extend(averages.items.iter().map(|(id, _)| id.as_str().to_owned()));
    }
    if let Some(minute) = auctions::newest(table, now).await? {
        in_auctions.extend(minute.prices.iter().map(|(id, _)| id.as_str().to_owned()));
    }
    let items = names_of(&in_bazaar, &in_auctions, catalogue);
    Ok(Names { updated_at: now, count: items.len(), items })
}

/// Adds the ids of all candles of the days, which are counted backwards from today.
async fn days<C: SeriesCandle>(
    table: Session<'_>,
    now: UnixSeconds,
    days: RangeInclusive<u32>,
    ids: &mut BTreeSet<String>,
) -> Result<(), Error> {
    let Some(interval) = C::SERIES.intervals.last() else { return Ok(()) };
    for day in days {
        let slot = interval.at(now.minus(DAY * day));
        let read = series::slot_candles::<C>(table, slot).await.map(Some);
        // Rows of yesterday can be missing because they were written a moment ago.
        let candles = if day > 1 { skip_corrupt(read)? } else { read? };
        if let Some(SlotCandles::Built(candles)) = candles {
            ids.extend(candles.keys().map(|id| id.as_ref().to_owned()));
        }
    }
    Ok(())
}

/// Returns `None`, and logs the cause, if the source is corrupt.
fn skip_corrupt<T>(read: Result<Option<T>, Error>) -> Result<Option<T>, Error> {
    match read {
        Err(error @ Error::Corrupt { .. }) => {
            tracing::warn!(cause = chain(&error), "names lack the ids of a corrupt source");
            Ok(None)
        }
        read => read,
    }
}
