//! How a minute is stored.

use std::time::Duration;

use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, ReturnValue};
use common::time::{UnixMilliseconds, UnixSeconds};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Minute, Price, Prices};
use crate::auctions::packed::{CONTENT, Ids, LARGEST_PART, pack, unpack};
use crate::error::Error;
use crate::filing::Filing;
use crate::item::{self, Attributes, Corrupt, SORT_KEY, binary, integer, number, string, text};
use crate::series::keys::{Interval, Slot, slot_key, slot_of};
use crate::series::marker::{ROWS, of_minute};
use crate::series::rows::{Written, units};
use crate::session::Session;
use common::coins::Coins;

/// The interval of recorded minutes. They are kept for two days.
pub const ONE_MINUTE: Interval = Interval {
    series: "auctions",
    name: "1m",
    length: Duration::from_mins(1),
    kept: Some(Duration::from_hours(48)),
    shards: 1,
};

/// The partition key of the auctions of the lowest prices.
pub(super) const LOWEST: &str = "auctions#lowest";

pub(super) const SLOT: &str = "slot";
const RANK: &str = "rank";
pub(super) const AUCTIONS: &str = "auctions";
const LAST_UPDATED: &str = "last_updated";

/// The maximum number of auctions in a row of the table. Each auction takes 16 bytes.
pub(super) const MOST_AUCTIONS: usize = 25_000;

/// The content of a minute, in columns: neighbouring values of one kind compress best.
#[derive(Serialize, Deserialize)]
struct Content {
    ids: Ids,
    /// The lowest price of each id, in hundredths of a coin.
    lowest: Vec<u64>,
    /// The second lowest price of each id minus the lowest, in hundredths of a coin.
    second: Vec<Option<u64>>,
    listings: Vec<u32>,
}

impl Content {
    fn of(minute: &Minute) -> Self {
        let prices = || minute.prices.iter().map(|(_, price)| price);
        let above = |price: &Price| {
            price.second.map(|second| second.hundredths().saturating_sub(price.lowest.hundredths()))
        };
        Self {
            ids: Ids::of(minute.prices.iter().map(|(id, _)| id)),
            lowest: prices().map(|price| price.lowest.hundredths()).collect(),
            second: prices().map(above).collect(),
            listings: prices().map(|price| price.listings).collect(),
        }
    }

    /// Returns the prices; `None` if the columns have different lengths.
    fn prices(self) -> Option<Prices> {
        let ids = self.ids.ids()?;
        let are_all = [self.lowest.len(), self.second.len(), self.listings.len()] == [ids.len(); 3];
        let columns = self.lowest.into_iter().zip(self.second).zip(self.listings);
        let prices = columns.map(|((lowest, above), listings)| Price {
            lowest: Coins::of_hundredths(lowest),
            second: above.map(|above| Coins::of_hundredths(lowest.saturating_add(above))),
            listings,
        });
        are_all.then(|| ids.into_iter().zip(prices).collect())
    }
}

/// The rank of a result for a minute. The greatest rank wins, whatever the order in which results arrive. A
/// rank is stored as text and ordered as text, so that DynamoDB can compare it. It compares, in this order:
/// whether the result is for the minute's own event, the time of the refresh, the time of the last complete
/// read, and a hash of the result, so that only equal results have the same rank.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(String);

impl Rank {
    fn of(filing: Filing, minute: &Minute, content: &[u8], auctions: &[u8]) -> Self {
        // "own" sorts after "-".
        let event = if filing.is_own() { "own" } else { "-" };
        let refreshed = minute.last_updated.get().max(0);
        let completed = minute.completed_at.map_or(0, UnixMilliseconds::get).max(0);
        let digest = Sha256::new().chain_update(content).chain_update(auctions).finalize();
        let hash = digest.iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
        // An `i64` has at most 19 digits.
        Self(format!("{event}{refreshed:019}{completed:019}{hash}"))
    }

    pub(super) fn of_row(row: &Attributes) -> Result<Self, Corrupt> {
        text(row, RANK).map(Self)
    }

    fn value(&self) -> AttributeValue {
        string(&self.0)
    }
}

/// Records the minute: its content, the auctions of the lowest prices, and then the marker. Repeating the
/// call after a failure completes it. If several runs record the same minute, the result with the highest
/// rank wins (`Rank`). Returns `None` if another result wins.
pub async fn record(
    table: Session<'_>,
    filing: impl Into<Filing>,
    minute: &Minute,
) -> Result<Option<Written>, Error> {
    let filing: Filing = filing.into();
    let content = pack(&Content::of(minute)).map_err(Error::unwritable)?;
    let auctions: Vec<_> =
        minute.lowest_auctions.iter().take(MOST_AUCTIONS).flat_map(|id| id.bytes()).collect();
    let rank = Rank::of(filing, minute, &content, &auctions);
    let slot = ONE_MINUTE.at(filing.tick.time());
    let mut parts = Vec::new();
    for (part, bytes) in content.chunks(LARGEST_PART).enumerate() {
        let mut row = slot.row(0);
        row.insert(SORT_KEY.to_owned(), string(part_key(slot, &rank, part)));
        row.insert(CONTENT.to_owned(), binary(bytes));
        parts.push(table.put_request(row)?);
    }
    let rows = parts.len();
    let mut write_units = table.write_all(parts).await?;
    let put = |row, condition| put_if(table, row, condition, &rank);
    let lowest = put(lowest_key(slot), "NOT (#slot > :slot OR (#slot = :slot AND #rank > :rank))")
        .expression_attribute_names("#slot", SLOT)
        .expression_attribute_values(":slot", number(slot.start.get()))
        .item(SLOT, number(slot.start.get()))
        .item(AUCTIONS, binary(&auctions))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let written = table.write("PutItem", lowest.send()).await?;
    write_units += written.map_or(0.0, |written| units(&written));
    let marker = put(of_minute(&ONE_MINUTE, filing), "NOT (#rank > :rank)")
        .item(ROWS, number(rows))
        .item(LAST_UPDATED, number(minute.last_updated.get()))
        .return_values(ReturnValue::AllOld);
    let written = table.write("PutItem", marker.send()).await?;
    Ok(written.map(|written| Written { rows, write_units, is_first: written.attributes().is_none() }))
}

/// Returns a request that puts the row with the rank if `condition` holds.
fn put_if(table: Session<'_>, row: Attributes, condition: &str, rank: &Rank) -> PutItemFluentBuilder {
    table
        .put_item()
        .set_item(Some(row))
        .item(RANK, rank.value())
        .condition_expression(condition)
        .expression_attribute_names("#rank", RANK)
        .expression_attribute_values(":rank", rank.value())
}

/// Returns the sort key of a part of the content.
fn part_key(slot: Slot, Rank(rank): &Rank, part: usize) -> String {
    format!("{}#{rank}#{part:02}", slot_key(slot.start))
}

/// Returns the key of the row with the auctions.
fn lowest_key(slot: Slot) -> Attributes {
    item::key(LOWEST, parity(slot.start))
}

/// Returns the sort key of the row for the minute's auctions. Minutes alternate between two rows, so writing
/// a minute leaves the auctions of the previous minute in place.
pub(super) fn parity(slot: UnixSeconds) -> String {
    (slot.get() / 60).rem_euclid(2).to_string()
}

pub(super) struct Marker {
    pub(super) slot: Slot,
    pub(super) rank: Rank,
    /// The number of rows with the content.
    pub(super) rows: usize,
    pub(super) last_updated: UnixMilliseconds,
}

impl Marker {
    pub(super) fn of_row(row: &Attributes) -> Result<Self, Corrupt> {
        Ok(Self {
            slot: slot_of(&ONE_MINUTE, row)?,
            rank: Rank::of_row(row)?,
            rows: usize::try_from(integer(row, ROWS)?).map_err(|_| Corrupt::new(ROWS, "a count"))?,
            last_updated: UnixMilliseconds::new(integer(row, LAST_UPDATED)?),
        })
    }

    /// Returns the first and the last sort key of the rows with the content.
    pub(super) fn part_keys(&self) -> [String; 2] {
        [0, self.rows.saturating_sub(1)].map(|part| part_key(self.slot, &self.rank, part))
    }
}

/// Parses the joined content of all rows of a minute; `None` if it is corrupt.
pub(super) fn prices_in(content: &[u8]) -> Option<Prices> {
    unpack::<Content>(content)?.prices()
}
