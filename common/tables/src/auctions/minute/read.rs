//! Reads recorded minutes: the newest one, or all minutes of a period.

use common::routes::LONGEST_AGE;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::Prices;
use super::stored::{AUCTIONS, LOWEST, Marker, ONE_MINUTE, Rank, SLOT, parity, prices_in};
use crate::auctions::packed::CONTENT;
use crate::error::Error;
use crate::item::{self, Corrupt, bytes, integer, readable};
use crate::series::marker::markers;
use crate::session::Session;

/// The number of minutes that are read at the same time: enough to hide the network latency.
const CONCURRENT_READS: usize = 8;

/// A minute as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedMinute {
    pub slot: UnixSeconds,
    pub(super) rank: Rank,
    /// When the provider refreshed the auctions with these prices.
    pub last_updated: UnixMilliseconds,
    pub prices: Prices,
}

/// Reads the minute of a marker. If the content is missing or corrupt, logs this and returns `None`. If the
/// minute `is_settled`, an eventually consistent read is tried first, at half the cost.
async fn minute_of(
    table: Session<'_>,
    marker: Marker,
    is_settled: bool,
) -> Result<Option<RecordedMinute>, Error> {
    let partition = ONE_MINUTE.partition(0);
    let [first, last] = marker.part_keys();
    let most = marker.rows.max(1);
    let query = table.query_between(&partition, first.as_str(), last);
    let mut rows = table.rows(query.clone().consistent_read(!is_settled), most).await?;
    if is_settled && rows.len() < marker.rows {
        rows = table.rows(query.consistent_read(true), most).await?;
    }
    let parts: Vec<_> = readable(&rows, &partition, |row| bytes(row, CONTENT).map(Some));
    let content = if parts.len() == marker.rows { prices_in(&parts.concat()) } else { None };
    let read = content.map(Some).ok_or(Corrupt::new(CONTENT, "the content of its minute"));
    Ok(item::unless_corrupt(read, &partition, || first).map(|prices| RecordedMinute {
        slot: marker.slot.start,
        rank: marker.rank,
        last_updated: marker.last_updated,
        prices,
    }))
}

/// Returns the newest minute of the ten minutes before `now` ([`LONGEST_AGE`]) that was recorded, if there is
/// one. If its rows are missing or corrupt, logs this and returns the minute before it. Requires only the
/// permission `dynamodb:Query`.
pub async fn newest(table: Session<'_>, now: UnixSeconds) -> Result<Option<RecordedMinute>, Error> {
    let query = markers(table, &ONE_MINUTE, ONE_MINUTE.slot(now.minus(LONGEST_AGE)), now);
    let rows = table.rows(query.scan_index_forward(false), usize::MAX).await?;
    for marker in readable(&rows, &ONE_MINUTE.markers(), |row| Marker::of_row(row).map(Some)) {
        if let Some(minute) = minute_of(table, marker, false).await? {
            return Ok(Some(minute));
        }
    }
    Ok(None)
}

/// Returns the auction of each lowest price of a minute from [`newest`], in the order of its prices. `None`
/// if a later minute has replaced the auctions. There can be fewer auctions than prices. Requires only the
/// permission `dynamodb:Query`.
pub async fn lowest_auctions(
    table: Session<'_>,
    minute: &RecordedMinute,
) -> Result<Option<Vec<AuctionId>>, Error> {
    let parity = parity(minute.slot);
    let query = table.query_between(LOWEST, parity.as_str(), parity.as_str()).consistent_read(true);
    let rows = table.rows(query, 1).await?;
    let auctions = readable(&rows, LOWEST, |row| {
        let fits = integer(row, SLOT)? == minute.slot.get() && Rank::of_row(row)? == minute.rank;
        let bytes = bytes(row, AUCTIONS)?;
        let (ids, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(Corrupt::new(AUCTIONS, "ids of 16 bytes"));
        }
        Ok(fits.then(|| ids.iter().map(|id| AuctionId::of_bytes(*id)).collect()))
    });
    Ok(auctions.into_iter().next())
}

/// Returns the recorded minutes from `from` to before `end`, in order. Assumes that the minutes were recorded
/// some time ago. A minute with missing or corrupt rows is logged and skipped.
pub async fn recorded_minutes(
    table: Session<'_>,
    from: UnixSeconds,
    end: UnixSeconds,
) -> Result<Vec<RecordedMinute>, Error> {
    let rows = table.rows(markers(table, &ONE_MINUTE, from, end), usize::MAX).await?;
    let markers = readable(&rows, &ONE_MINUTE.markers(), |row| Marker::of_row(row).map(Some)).into_iter();
    let reads = markers.filter(|marker| marker.slot.start < end).map(|marker| minute_of(table, marker, true));
    let minutes = stream::iter(reads).buffered(CONCURRENT_READS);
    minutes.try_filter_map(async |minute| Ok(minute)).try_collect().await
}
