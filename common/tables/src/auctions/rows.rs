//! Writes and reads the rows of minutes.

use std::time::Duration;

use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use futures_util::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};

use super::content;
use super::minute::{Minute, Prices, Sales};
use crate::error::Error;
use crate::item::{self, Corrupt, Item, SORT_KEY, integer, number, readable, string, text};
use crate::recorder::Filing;
use crate::series::keys::{Interval, Slot, slot_key, slot_of};
use crate::series::marker::{ROWS, markers, of_minute};
use crate::series::rows::{Written, units};
use crate::session::Session;

/// The recorded minutes. They are kept for two days.
pub const MINUTES: Interval = Interval {
    series: "auctions",
    name: "1m",
    length: Duration::from_mins(1),
    kept: Some(Duration::from_hours(48)),
    shards: 1,
};

/// The partition key of the auctions of the lowest prices.
const LOWEST: &str = "auctions#lowest";

const SLOT: &str = "slot";
const HASH: &str = "hash";
pub(super) const CONTENT: &str = "content";
const AUCTIONS: &str = "auctions";
const LAST_UPDATED: &str = "last_updated";
const SALES_SINCE: &str = "sales_since";
const SALES_UNTIL: &str = "sales_until";

/// The most bytes of the content in a row, and the most auctions. DynamoDB's limit of a row is 400 kB.
const LARGEST_PART: usize = 300_000;
const MOST_AUCTIONS: usize = 25_000;

/// The number of minutes that are read at the same time: enough to hide the network latency.
const CONCURRENT_READS: usize = 8;

/// For how long a minute is the newest if no later one is recorded.
pub const LONGEST_AGE: Duration = Duration::from_mins(10);

/// A minute as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedMinute {
    /// The minute.
    pub slot: UnixSeconds,
    /// The rank of its result. The end of it is a hash of the content.
    pub hash: String,
    /// When the provider refreshed what the prices are from.
    pub last_updated: UnixMilliseconds,
    pub prices: Prices,
    /// The sales; `None` if the list could not be fetched.
    pub sales: Option<Sales>,
}

/// Records the minute: its content, the auctions of the lowest prices, and then the marker. Recording the same minute again changes
/// nothing, so after a failure the same call completes it. Of two results for a minute, the same one stays in any order: the result for the
/// minute's own event, then a result with a list of sales, the later refresh, and the later complete reading. Returns `None` if another one
/// stays.
///
/// # Errors
/// If a part was not written before the deadline.
pub async fn record(
    table: Session<'_>,
    filing: impl Into<Filing>,
    minute: &Minute,
) -> Result<Option<Written>, Error> {
    let filing = filing.into();
    let content = content::compress(minute).map_err(Error::unwritable)?;
    let auctions: Vec<_> = minute.lowest.iter().take(MOST_AUCTIONS).flat_map(|id| id.bytes()).collect();
    let hash = rank(filing, minute, &content, &auctions);
    let slot = MINUTES.at(filing.tick.time());
    let parts = content.chunks(LARGEST_PART).enumerate().map(|(part, bytes)| {
        let mut row = slot.row(0);
        row.insert(SORT_KEY.to_owned(), string(part_key(slot, &hash, part)));
        row.insert(CONTENT.to_owned(), binary(bytes));
        table.put_request(row)
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let rows = parts.len();
    let mut write_units = table.write_all(parts).await?;
    let put = |row, condition| put_if(table, row, condition, &hash);
    let lowest = put(lowest_key(slot), "NOT (#slot > :slot OR (#slot = :slot AND #hash > :hash))")
        .expression_attribute_names("#slot", SLOT)
        .expression_attribute_values(":slot", number(slot.start.get()))
        .item(SLOT, number(slot.start.get()))
        .item(AUCTIONS, binary(&auctions))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let written = table.write("PutItem", lowest.send()).await?;
    write_units += written.map_or(0.0, |written| units(&written));
    let mut marker = put(of_minute(&MINUTES, filing), "NOT (#hash > :hash)")
        .item(ROWS, number(rows))
        .item(LAST_UPDATED, number(minute.last_updated.get()));
    if let Some(sales) = &minute.sales {
        marker = marker.item(SALES_SINCE, number(sales.since.get()));
        marker = marker.item(SALES_UNTIL, number(sales.until.get()));
    }
    let written = table.write("PutItem", marker.send()).await?;
    Ok(written.map(|_| Written { rows, write_units }))
}

/// Returns a request that puts the row with the rank unless `condition` says that there is one that stays.
fn put_if(table: Session<'_>, row: Item, condition: &str, hash: &str) -> PutItemFluentBuilder {
    table
        .put_item()
        .set_item(Some(row))
        .item(HASH, string(hash))
        .condition_expression(condition)
        .expression_attribute_names("#hash", HASH)
        .expression_attribute_values(":hash", string(hash))
}

fn binary(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

/// Returns the rank of a result, a text in whose order results of a minute replace each other. It is the same for two runs only if both
/// have found the same.
fn rank(filing: Filing, minute: &Minute, content: &[u8], auctions: &[u8]) -> String {
    let Minute { last_updated, completed_at, sales, .. } = minute;
    let milliseconds = |time: Option<UnixMilliseconds>| time.map_or(0, UnixMilliseconds::get).max(0);
    let event = if filing.is_own() { "own" } else { "-" };
    let has_sales = u8::from(sales.is_some());
    let (refreshed, completed) = (milliseconds(Some(*last_updated)), milliseconds(*completed_at));
    let sales_until = milliseconds(sales.as_ref().map(|sales| sales.until));
    let hasher = Sha256::new().chain_update(sales_until.to_be_bytes());
    let hash = hasher.chain_update(content).chain_update(auctions).finalize();
    let hash = hash.iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
    // Nineteen digits hold every time.
    format!("{event}{has_sales}{refreshed:019}{completed:019}{hash}")
}

/// Returns the sort key of a part of the content.
fn part_key(slot: Slot, hash: &str, part: usize) -> String {
    format!("{}#{hash}#{part:02}", slot_key(slot.start))
}

/// Returns the key of the row with the auctions.
fn lowest_key(slot: Slot) -> Item {
    item::key(LOWEST, parity(slot.start))
}

fn parity(slot: UnixSeconds) -> String {
    (slot.get() / 60).rem_euclid(2).to_string()
}

/// What a marker says.
struct Marker {
    slot: Slot,
    hash: String,
    rows: usize,
    last_updated: UnixMilliseconds,
    sales_between: Option<(UnixMilliseconds, UnixMilliseconds)>,
}

impl Marker {
    fn of_row(row: &Item) -> Result<Self, Corrupt> {
        let time = |attribute| integer(row, attribute).map(UnixMilliseconds::new);
        let optional = |attribute| row.contains_key(attribute).then(|| time(attribute)).transpose();
        Ok(Self {
            slot: slot_of(&MINUTES, row)?,
            hash: text(row, HASH)?,
            rows: usize::try_from(integer(row, ROWS)?).map_err(|_| Corrupt::new(ROWS, "a count"))?,
            last_updated: time(LAST_UPDATED)?,
            sales_between: optional(SALES_SINCE)?.zip(optional(SALES_UNTIL)?),
        })
    }

    /// Reads the content. `None` if it is missing or corrupt, which is logged. What is settled costs half as much to read.
    async fn minute(self, table: Session<'_>, is_settled: bool) -> Result<Option<RecordedMinute>, Error> {
        let Self { slot, hash, rows, last_updated, sales_between } = self;
        let partition = MINUTES.partition(0);
        let [first, last] = [0, rows.saturating_sub(1)].map(|part| part_key(slot, &hash, part));
        let query = table.query_between(&partition, first.as_str(), last);
        let mut parts = table.rows(query.clone().consistent_read(!is_settled), rows.max(1)).await?;
        if is_settled && parts.len() < rows {
            parts = table.rows(query.consistent_read(true), rows.max(1)).await?;
        }
        let parts: Vec<_> = readable(&parts, &partition, |row| bytes(row, CONTENT).map(Some));
        let content = Some(parts).filter(|parts| parts.len() == rows).map(|parts| parts.concat());
        let read = content.and_then(|content| content::read(&content, sales_between));
        let read = read.ok_or(Corrupt::new(CONTENT, "the content of its minute"));
        let read = item::unless_corrupt(read.map(Some), &partition, || first);
        Ok(read.map(|(prices, sales)| RecordedMinute { slot: slot.start, hash, last_updated, prices, sales }))
    }
}

/// Returns the bytes in `attribute`.
pub(super) fn bytes(row: &Item, attribute: &'static str) -> Result<Vec<u8>, Corrupt> {
    let bytes = row.get(attribute).and_then(|value| value.as_b().ok());
    Ok(bytes.ok_or(Corrupt::new(attribute, "binary"))?.as_ref().to_vec())
}

/// Returns the newest minute that was recorded in the ten minutes before `now`, if there is one. A minute whose rows are missing
/// or corrupt is logged, and the one before it is returned. Only queries.
///
/// # Errors
/// If the table does not answer in time.
pub async fn newest(table: Session<'_>, now: UnixSeconds) -> Result<Option<RecordedMinute>, Error> {
    let query = markers(table, &MINUTES, MINUTES.slot(now.minus(LONGEST_AGE)), now);
    let rows = table.rows(query.scan_index_forward(false), usize::MAX).await?;
    for marker in readable(&rows, &MINUTES.markers(), |row| Marker::of_row(row).map(Some)) {
        if let Some(minute) = marker.minute(table, false).await? {
            return Ok(Some(minute));
        }
    }
    Ok(None)
}

/// Returns the auctions of the lowest prices of the minute, which [`newest`] has returned, in the order of its prices. `None` if they are
/// not known: a later minute has replaced them. There can be fewer auctions than prices. Only queries.
///
/// # Errors
/// If the table does not answer in time.
pub async fn lowest_auctions(
    table: Session<'_>,
    minute: &RecordedMinute,
) -> Result<Option<Vec<AuctionId>>, Error> {
    let parity = parity(minute.slot);
    let query = table.query_between(LOWEST, parity.as_str(), parity.as_str()).consistent_read(true);
    let rows = table.rows(query, 1).await?;
    let auctions = readable(&rows, LOWEST, |row| {
        let fits = integer(row, SLOT)? == minute.slot.get() && text(row, HASH)? == minute.hash;
        let bytes = bytes(row, AUCTIONS)?;
        let (ids, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(Corrupt::new(AUCTIONS, "ids of 16 bytes"));
        }
        Ok(fits.then(|| ids.iter().map(|id| AuctionId::of_bytes(*id)).collect()))
    });
    Ok(auctions.into_iter().next())
}

/// Returns the recorded minutes from `from` until before `end`, in order, which have been recorded some time ago. One whose rows are
/// missing or corrupt is logged and left out.
///
/// # Errors
/// If the table does not answer in time.
pub async fn minutes(
    table: Session<'_>,
    from: UnixSeconds,
    end: UnixSeconds,
) -> Result<Vec<RecordedMinute>, Error> {
    let rows = table.rows(markers(table, &MINUTES, from, end), usize::MAX).await?;
    let markers = readable(&rows, &MINUTES.markers(), |row| Marker::of_row(row).map(Some)).into_iter();
    let minutes = markers.filter(|marker| marker.slot.start < end).map(|marker| marker.minute(table, true));
    let minutes = stream::iter(minutes).buffered(CONCURRENT_READS);
    minutes.try_filter_map(async |minute| Ok(minute)).try_collect().await
}

#[cfg(test)]
mod tests {
    use common::time::Tick;
    use common::upstream::ended_auctions::COVERED;
    use futures_util::future::join_all;

    use super::*;
    use crate::Table;
    use crate::auctions::{Coins, Price, Sale, covered, sales};
    use crate::raw_query::tests::{session, table};

    fn time(minute: i64) -> UnixSeconds {
        UnixSeconds::new(1_777_388_400 + 60 * minute)
    }

    /// A run with this many items, whose list has the sales of these auctions and was refreshed then.
    fn run(items: u32, sold: &[u8], refreshed: i64) -> Minute {
        let until = UnixMilliseconds::new(refreshed);
        let auction = |number: u8| AuctionId::of_bytes([number; 16]);
        let sale = |number: &u8| Sale {
            auction: auction(*number),
            items: vec!["SHEEP;4".parse().unwrap(), "SHEEP;4+100".parse().unwrap()],
            count: 1.try_into().unwrap(),
            price: 3_015_293_760,
            // The same in every list.
            time: UnixMilliseconds::new(i64::from(*number) * 50_000),
            bin: true,
            clean: true,
        };
        // Prices that do not compress.
        let price = |number: u32| Price {
            lowest: Coins::of_hundredths(crc32fast::hash(&number.to_be_bytes()).into()),
            second: None,
            listings: 1,
        };
        Minute {
            last_updated: until,
            completed_at: None,
            prices: (0..items).map(|at| (format!("ITEM_{at:07}").parse().unwrap(), price(at))).collect(),
            lowest: (0..items).map(|at| auction(at.to_be_bytes()[3])).collect(),
            sales: Some(Sales { since: until.minus(COVERED), until, list: sold.iter().map(sale).collect() }),
        }
    }

    async fn put(table: &Table, minute: i64, run: &Minute) -> Written {
        record(session(table), Tick::of(time(minute)), run).await.unwrap().unwrap_or_default()
    }

    async fn expect_newest(table: &Table, now: i64, minute: i64, expected: &Minute) {
        let newest = newest(session(table), time(now)).await.unwrap().unwrap();
        assert_eq!((newest.slot, newest.last_updated), (time(minute), expected.last_updated));
        assert!(newest.prices == expected.prices && newest.sales == expected.sales);
        let auctions = lowest_auctions(session(table), &newest).await.unwrap().unwrap();
        assert!(auctions == expected.lowest[..expected.lowest.len().min(MOST_AUCTIONS)]);
    }

    #[tokio::test]
    async fn the_newest_whole_minute_is_read_with_the_auctions_that_fit_it() {
        let table = table();
        let (large, other) = (run(90_000, &[1], 1), run(3, &[2], 2));
        put(&table, 1, &other).await;
        assert!(put(&table, 2, &large).await.rows > 1, "in several rows");
        expect_newest(&table, 2, 2, &large).await;
        // Late.
        put(&table, 0, &other).await;
        expect_newest(&table, 12, 2, &large).await;
        assert_eq!(newest(session(&table), time(13)).await.unwrap(), None);
        // Corrupt.
        let partition = MINUTES.partition(0);
        let parts = session(&table).query_between(&partition, slot_key(time(2)), slot_key(time(3)));
        let part = session(&table).rows(parts, 1).await.unwrap().remove(0);
        let key = item::key(partition, text(&part, SORT_KEY).unwrap());
        session(&table).delete_item().set_key(Some(key)).send().await.unwrap();
        expect_newest(&table, 2, 1, &other).await;
    }

    #[tokio::test]
    async fn of_several_results_for_a_minute_the_best_one_stays_in_any_order() {
        let tick = Tick::of(time(0));
        let (own, other) = (Filing::from(tick), Filing { tick, event: Tick::of(time(-1)) });
        let without_sales = |run| Minute { sales: None, ..run };
        let completed = |at, run| Minute { completed_at: Some(UnixMilliseconds::new(at)), ..run };
        // From the worst to the best; the first one is of another event. The numbers are those of the items.
        let results = [
            (other, completed(9, run(1, &[1], 9_000))),
            (own, completed(9, without_sales(run(3, &[], 9_000)))),
            (own, completed(9, run(4, &[1], 1))),
            (own, run(5, &[1], 20)),
            (own, completed(8, run(6, &[1], 20))),
            (own, completed(10, run(7, &[1], 20))),
        ];
        let put = async |table: &Table, result: usize| {
            let (filing, minute) = &results[result];
            record(session(table), *filing, minute).await.unwrap()
        };
        let pairs = (0..results.len()).flat_map(|one| (0..results.len()).map(move |other| vec![one, other]));
        let rotations = (0..results.len()).map(|first| (first..results.len()).chain(0..first).collect());
        for order in pairs.chain(rotations) {
            let table = table();
            for result in &order {
                put(&table, *result).await;
            }
            let best = order.iter().max().unwrap();
            expect_newest(&table, 0, 0, &results[*best].1).await;
        }
        // All at once.
        let table = table();
        join_all((0..results.len()).map(|result| put(&table, result))).await;
        expect_newest(&table, 0, 0, &results[results.len() - 1].1).await;
        // Of equal results, the hash decides.
        let mut winners = Vec::new();
        for order in [[3, 4], [4, 3]] {
            let table = super::tests::table();
            for items in order {
                super::tests::put(&table, 0, &run(items, &[1], 1)).await;
            }
            winners.push(newest(session(&table), time(0)).await.unwrap().unwrap());
        }
        assert_eq!(winners[0], winners[1]);
    }

    #[test]
    fn a_sale_counts_once_and_a_gap_is_not_covered() {
        let minute = |(minute, sold, refreshed): (i64, &[u8], i64)| {
            let Minute { last_updated, prices, sales, .. } = run(1, sold, refreshed);
            RecordedMinute { slot: time(minute), hash: String::new(), last_updated, prices, sales }
        };
        let mut minutes = [
            (0, &[1, 2][..], 100_000),
            (1, &[2, 3], 158_000),
            (2, &[2, 3], 158_000),
            (3, &[4], 200_000),
            (5, &[9], 400_000),
        ]
        .map(minute);
        minutes[3].sales = None;
        let [begin, middle, end] = [0, 150, 500].map(UnixSeconds::new);
        let counted = |from, end| {
            let sales = sales(&minutes, from, end);
            sales.iter().map(|sale| sale.auction.bytes()[0]).collect::<Vec<_>>()
        };
        assert_eq!((counted(begin, middle), counted(middle, end)), (vec![1, 2], vec![3, 9]));
        let covered = |from, end| covered(&minutes, from, end).as_secs();
        assert_eq!([covered(begin, end), covered(begin, middle), covered(middle, end)], [178, 110, 68]);
    }
}
