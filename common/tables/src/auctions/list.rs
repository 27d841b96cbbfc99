//! The lists of ended auctions, one row each:
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#lists` | `UNTIL#PART`: the refresh of the list in Unix milliseconds, and the position of the row | `content` |
//!
//! `record-auctions` writes a list as soon as it has read it, whatever happens to the prices of the minute.
//! Lists overlap, so readers count each auction once. The first row of a list is written last, so a list with
//! this row is complete.

use std::collections::HashSet;
use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use common::request::auction_item_id::AuctionItemId;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use common::upstream::ended_auctions::COVERED;

use super::packed::{CONTENT, LARGEST_PART, pack, unpack};
use super::sale::Sale;
use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, SORT_KEY, TIME_TO_LIVE, binary, bytes, number, readable, text};
use crate::series::Found;
use crate::series::keys::{FIRST_SLOT, LAST_SLOT, MARGIN};
use crate::session::Session;

const LISTS: &str = "auctions#lists";

const LISTS_KEPT: Duration = Duration::from_hours(48);

/// If the refreshes of two lists are further apart, a list between them is missing. Refreshes can be 30
/// seconds late.
pub const SUCCESSIVE: Duration = COVERED.saturating_add(Duration::from_secs(30));

/// The sales of an hour are in lists that are refreshed at most this long after the hour.
pub(super) const LIST_DELAY: Duration = Duration::from_mins(2);

/// An auction that a player won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoldAuction {
    pub auction: AuctionId,
    /// The ids that the item counts under.
    pub items: Vec<AuctionItemId>,
    pub sale: Sale,
}

/// A list of ended auctions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// When the provider refreshed the list.
    pub until: UnixMilliseconds,
    pub auctions: Vec<SoldAuction>,
}

/// An auction in the content of a list.
type Entry = (AuctionId, Vec<AuctionItemId>, String);

impl List {
    /// Returns the time from which the times of the list's texts count.
    fn base(until: UnixMilliseconds) -> UnixMilliseconds {
        until.minus(COVERED)
    }

    /// Writes the list. If the list is already stored, nothing changes. Returns whether the list is new.
    ///
    /// # Errors
    /// If a row was not written before the deadline. Repeating the call completes it.
    pub async fn write(&self, table: Session<'_>) -> Result<bool, Error> {
        let Self { until, auctions } = self;
        let base = Self::base(*until);
        let entry = |SoldAuction { auction, items, sale }: &SoldAuction| -> Entry {
            (*auction, items.clone(), sale.to_text(base))
        };
        let content = pack(&auctions.iter().map(entry).collect::<Vec<_>>()).map_err(Error::unwritable)?;
        let expires = UnixSeconds::from(*until).plus(LISTS_KEPT + MARGIN);
        let mut is_new = false;
        let parts: Vec<_> = content.chunks(LARGEST_PART).enumerate().collect();
        for (part, bytes) in parts.into_iter().rev() {
            let row = table
                .put_item()
                .set_item(Some(item::key(LISTS, part_key(*until, part))))
                .item(CONTENT, binary(bytes))
                .item(TIME_TO_LIVE, number(expires.get()))
                .condition_expression("attribute_not_exists(pk)");
            is_new = table.write("PutItem", row.send()).await?.is_some();
        }
        Ok(is_new)
    }
}

/// Returns the sort key of a row of a list. Keys are ordered by time: a time of the provider has 13 digits.
fn part_key(until: UnixMilliseconds, part: usize) -> String {
    format!("{:013}#{part:02}", until.get())
}

/// Returns the refresh of a row's list.
fn until_of(row: &Attributes) -> Result<UnixMilliseconds, Corrupt> {
    let until = text(row, SORT_KEY)?.split_once('#').and_then(|(until, _)| until.parse().ok());
    until.map(UnixMilliseconds::new).ok_or(Corrupt::new(SORT_KEY, "the refresh of a list and a position"))
}

/// Returns the list in its rows; `None` if its first row is not written yet.
fn list_of(rows: &[Attributes]) -> Result<Option<List>, Corrupt> {
    const CORRUPT: Corrupt = Corrupt::new(CONTENT, "a list of ended auctions");
    let Some(first) = rows.first() else { return Ok(None) };
    let until = until_of(first)?;
    if text(first, SORT_KEY)? != part_key(until, 0) {
        return Ok(None);
    }
    let content = rows.iter().map(|row| bytes(row, CONTENT)).collect::<Result<Vec<_>, _>>()?.concat();
    let entries: Vec<Entry> = unpack(&content).ok_or(CORRUPT)?;
    let base = List::base(until);
    let auction = |(auction, items, text): Entry| {
        Some(SoldAuction { auction, items, sale: Sale::of_text(base, &text)? })
    };
    let auctions: Option<_> = entries.into_iter().map(auction).collect();
    Ok(Some(List { until, auctions: auctions.ok_or(CORRUPT)? }))
}

/// Returns a query of the rows of lists that were refreshed from `from` to before `end`. It may miss a list
/// that was written a moment ago; the recorder then lets the list's hour be built again.
fn query(table: Session<'_>, from: UnixSeconds, end: UnixSeconds) -> QueryFluentBuilder {
    let key = |time: UnixSeconds| {
        format!("{:013}", UnixMilliseconds::from(time.clamp(FIRST_SLOT, LAST_SLOT)).get())
    };
    let [first, last] = [from, end].map(key);
    table.query_between(LISTS, first, last)
}

/// Returns the stored lists that were refreshed from `from` to before `end`, in order. A corrupt list is
/// logged and skipped.
pub async fn lists(table: Session<'_>, from: UnixSeconds, end: UnixSeconds) -> Result<Vec<List>, Error> {
    let rows = table.rows(query(table, from, end), usize::MAX).await?;
    let read = |rows: &[Attributes]| {
        let sort_key = || rows.first().and_then(|row| text(row, SORT_KEY).ok()).unwrap_or_default();
        item::unless_corrupt(list_of(rows), LISTS, sort_key)
    };
    let same = |one: &Attributes, other: &Attributes| until_of(one).ok() == until_of(other).ok();
    Ok(rows.chunk_by(same).filter_map(read).collect())
}

/// Returns the minutes from `first` to before `end` with sales in lists, found in at most `limit` rows.
pub(super) async fn listed_minutes(
    table: Session<'_>,
    first: UnixSeconds,
    end: UnixSeconds,
    limit: usize,
) -> Result<Found, Error> {
    // DynamoDB refuses a range of keys that ends before it begins.
    if first >= end {
        return Ok(Found::new(std::iter::empty(), end));
    }
    let query = query(table, first, end.plus(LIST_DELAY)).projection_expression(SORT_KEY);
    let rows = table.rows(query, limit).await?;
    let refreshes = readable(&rows, LISTS, |row| until_of(row).map(Some));
    let minute = |time: UnixMilliseconds| UnixSeconds::from(time).rounded_down(Duration::from_mins(1));
    // A list has sales from the minute of its refresh and the minute before.
    let minutes = refreshes.iter().flat_map(|until| [until.minus(COVERED), *until]).map(minute);
    let until = match refreshes.last() {
        Some(last) if rows.len() >= limit => minute(last.minus(COVERED)).min(end),
        _ => end,
    };
    Ok(Found::new(minutes.filter(|minute| (first..end).contains(minute)), until))
}

/// Returns for how much of the time from `from` to `end` every sale is in one of the lists, which are in
/// order.
#[must_use]
pub fn known(lists: &[List], from: UnixSeconds, end: UnixSeconds) -> Duration {
    let [mut known_until, end] = [from, end].map(UnixMilliseconds::from);
    let mut before: Option<UnixMilliseconds> = None;
    let mut known = Duration::ZERO;
    for List { until, .. } in lists {
        let covered_since = until.minus(COVERED);
        let successive = before.filter(|before| *until <= before.plus(SUCCESSIVE));
        let since = successive.unwrap_or(covered_since).min(covered_since).max(known_until);
        known_until = (*until).clamp(known_until, end.max(known_until));
        known += if since < known_until { known_until.distance(since) } else { Duration::ZERO };
        before = Some(*until);
    }
    known
}

/// Returns the auctions that were sold from `from` to before `end`, each once.
pub fn sold_between(
    lists: &[List],
    from: UnixSeconds,
    end: UnixSeconds,
) -> impl Iterator<Item = &SoldAuction> {
    let [from, end] = [from, end].map(UnixMilliseconds::from);
    let mut seen = HashSet::new();
    let auctions = lists.iter().flat_map(|list| &list.auctions);
    auctions
        .filter(move |sold| (from..end).contains(&sold.sale.sold_at))
        .filter(move |sold| seen.insert(sold.auction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auctions::PetLevel;
    use crate::raw_query::tests::{session, table};

    /// Returns a list that was refreshed at the second `until`, with one sale for each number, at ten seconds
    /// times the number.
    fn list(until: i64, numbers: &[u8]) -> List {
        let sold = |number: &u8| SoldAuction {
            auction: AuctionId::of_bytes([*number; 16]),
            items: vec!["SHEEP;4".parse().unwrap(), "SHEEP;4+100".parse().unwrap()],
            sale: Sale {
                sold_at: UnixMilliseconds::new(START.get() * 1_000 + i64::from(*number) * 10_000 + 1),
                price: 3_015_293_760,
                amount: (1 + u32::from(*number)).try_into().unwrap(),
                bin: number.is_multiple_of(2),
                clean: number.is_multiple_of(3),
                level: PetLevel::new(u32::from(*number) * 50),
            },
        };
        let auctions = numbers.iter().map(sold).collect();
        List { until: UnixMilliseconds::new((START.get() + until) * 1_000), auctions }
    }

    const START: UnixSeconds = UnixSeconds::new(1_777_388_400);

    fn after(seconds: i64) -> UnixSeconds {
        UnixSeconds::new(START.get() + seconds)
    }

    #[tokio::test]
    async fn a_list_is_stored_once_and_read_as_it_was_written() {
        let table = table();
        let session = session(&table);
        let first = list(43, &[1, 2, 4]);
        let second = list(103, &[4, 5]);
        assert!(second.write(session).await.unwrap() && first.write(session).await.unwrap());
        assert!(!List { auctions: Vec::new(), ..first.clone() }.write(session).await.unwrap());
        assert_eq!(lists(session, START, after(120)).await.unwrap(), [first.clone(), second]);
        assert_eq!(lists(session, START, after(44)).await.unwrap(), [first]);
        assert_eq!(lists(session, after(44), after(103)).await.unwrap(), []);
        let found = listed_minutes(session, START, after(3_600), 10).await.unwrap();
        assert_eq!(found.times.into_iter().collect::<Vec<_>>(), [START, after(60)]);
        assert_eq!(found.until, after(3_600));
        assert_eq!(listed_minutes(session, START, after(3_600), 1).await.unwrap().until, after(-60));
        // As for an event from before the hour that is already built.
        assert_eq!(listed_minutes(session, after(3_600), START, 10).await.unwrap().times.len(), 0);
    }

    #[tokio::test]
    async fn a_large_list_has_several_rows() {
        let table = table();
        let session = session(&table);
        let small = list(43, &[1]);
        let sold = small.auctions[0].clone();
        // Ids of auctions do not compress.
        let auction = |number: u64| {
            let id = [crc32fast::hash(&number.to_be_bytes()), crc32fast::hash(&(!number).to_be_bytes())];
            let bytes = [id, id.map(u32::reverse_bits)]
                .concat()
                .iter()
                .flat_map(|id| id.to_be_bytes())
                .collect::<Vec<_>>();
            SoldAuction { auction: AuctionId::of_bytes(bytes.try_into().unwrap()), ..sold.clone() }
        };
        let large = List { auctions: (0..20_000).map(auction).collect(), ..small };
        assert!(large.write(session).await.unwrap());
        let rows = session.rows(query(session, START, after(60)), usize::MAX).await.unwrap();
        assert!(rows.len() > 1);
        assert_eq!(lists(session, START, after(60)).await.unwrap(), std::slice::from_ref(&large));
        // Without its first row, which is written last, a list is not complete.
        let first = item::key(LISTS, part_key(large.until, 0));
        session.delete_item().set_key(Some(first)).send().await.unwrap();
        assert_eq!(lists(session, START, after(60)).await.unwrap(), []);
        assert!(large.write(session).await.unwrap());
        assert_eq!(lists(session, START, after(60)).await.unwrap(), [large]);
    }

    #[test]
    fn a_sale_counts_once_and_a_gap_is_not_known() {
        let lists = [list(40, &[1, 2]), list(98, &[2, 9]), list(340, &[30])];
        let sold = |from, end| {
            let sold = sold_between(&lists, after(from), after(end));
            sold.map(|sold| sold.auction.bytes()[0]).collect::<Vec<_>>()
        };
        assert_eq!((sold(-60, 90), sold(90, 500)), (vec![1, 2], vec![9, 30]));
        let known = |from, end| known(&lists, after(from), after(end)).as_secs();
        assert_eq!([known(-60, 500), known(-60, 90), known(90, 500)], [178, 110, 68]);
        // A refresh may be late, but then the time before it is known.
        assert_eq!(super::known(&[list(40, &[]), list(130, &[])], after(0), after(130)).as_secs(), 130);
        assert_eq!(super::known(&[list(40, &[]), list(131, &[])], after(0), after(131)).as_secs(), 100);
    }
}
