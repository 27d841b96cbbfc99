//! An hour: the candles of all items, two texts for the averages, and the sales of each item (`sold.rs`).
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#sales` | the hour | `content`: the sales of the hour; `covered`: for how many milliseconds of the hour the sales are known; `minutes` |
//! | `auctions#sums` | the hour | `content`: for each item, the sum of its closing prices in the day's hours up to and including this hour, and the number of these prices; `minutes` |
//! | `auctions#averages` | `built` | `changes`: how often an hourly text was written |
//!
//! `minutes` is the number of minutes that a text was built from. A text that was built from fewer minutes never replaces a text that was
//! built from more.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::auction_item_id::AuctionItemId;
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

use super::candle::{Candle, Listed, Sold, divided};
use super::coins::Coins;
use super::intervals::HOURS;
use super::minute::Sale;
use super::minute::read::{RecordedMinute, covered, sales};
use super::packed::{CONTENT, Ids, content, pack};
use super::sold::{self, HourSold, MINUTES};
use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, TIME_TO_LIVE, binary, integer, number, readable};
use crate::series::keys::{Slot, slot_key, slot_of};
use crate::session::Session;

pub(super) const DAY: Duration = Duration::from_hours(24);

const SALES: &str = "auctions#sales";
const SUMS: &str = "auctions#sums";
pub(super) const AVERAGES: &str = "auctions#averages";
pub(super) const BUILT: &str = "built";
pub(super) const CHANGES: &str = "changes";
const COVERED: &str = "covered";

/// The name of the expected `content` in error messages.
const HOUR_TEXT: &str = "the text of the row's hour";

/// How long the texts are kept. Averages need the texts of the last week, back to the beginning of its first day.
const KEPT: Duration = Duration::from_hours(9 * 24);

/// The sales of an item in an hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ItemSales {
    pub(super) all: Total,
    pub(super) clean: Total,
    /// The price of one item, for each sale.
    pub(super) prices: Vec<Coins>,
}

impl ItemSales {
    /// `stacks`: the item's entry in `SalesText::stacks`.
    fn of(clean: &[u64], others: &[u64], stacks: Option<[(u64, u64); 2]>) -> Self {
        let [of_clean, of_others] = stacks.map_or([None; 2], |stacks| stacks.map(Some));
        let total = Total::of(clean, of_clean);
        let prices = [clean, others].concat().into_iter().map(Coins::of_hundredths).collect();
        Self { all: total.plus(Total::of(others, of_others)), clean: total, prices }
    }
}

/// The total of several sales.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Total {
    /// The sum of the prices of whole stacks, in coins.
    pub(super) sum: u64,
    /// The number of items.
    pub(super) sold: u64,
    /// The number of sales.
    pub(super) sales: u32,
}

impl Total {
    /// `stacks`: the sum of the prices and the number of items; `None` if no sale was a stack, so that both follow from `prices`.
    fn of(prices: &[u64], stacks: Option<(u64, u64)>) -> Self {
        let singles = || (prices.iter().sum::<u64>() / 100, prices.len() as u64);
        let (sum, sold) = stacks.unwrap_or_else(singles);
        Self { sum, sold, sales: u32::try_from(prices.len()).unwrap_or(u32::MAX) }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            sum: self.sum.saturating_add(other.sum),
            sold: self.sold.saturating_add(other.sold),
            sales: self.sales.saturating_add(other.sales),
        }
    }
}

/// The sales of an hour. Each price is for one item, in hundredths of a coin. The prices of an item are sorted.
#[derive(Debug, Serialize, Deserialize)]
struct SalesText {
    ids: Ids,
    clean: Vec<Vec<u64>>,
    others: Vec<Vec<u64>>,
    /// For an item that was sold in stacks: the sum of the prices in coins and the number of items, first for clean items, then for items
    /// that are not clean.
    stacks: Vec<Option<[(u64, u64); 2]>>,
}

#[derive(Serialize, Deserialize)]
struct SumsText {
    ids: Ids,
    sums: Vec<u64>,
    hours: Vec<u32>,
}

/// The closing prices of an item in several hours, added up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CloseSum {
    /// The sum of the prices, in hundredths of a coin.
    pub(super) sum: u64,
    /// The number of hours that have a closing price.
    pub(super) hours: u32,
}

impl CloseSum {
    pub(super) fn add(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.hours += other.hours;
    }

    pub(super) fn subtract(&mut self, other: Self) {
        self.sum = self.sum.saturating_sub(other.sum);
        self.hours = self.hours.saturating_sub(other.hours);
    }

    pub(super) const fn average(self) -> Coins {
        Coins::of_hundredths(divided(self.sum, self.hours as u64))
    }
}

/// Closing prices by item.
pub(super) type Sums = BTreeMap<AuctionItemId, CloseSum>;

/// The sales of an hour.
pub(super) struct HourSales {
    pub(super) covered: Duration,
    pub(super) items: BTreeMap<AuctionItemId, ItemSales>,
}

/// Returns the candles and the texts of the hour from `start` to `end`. `minutes` are the minutes of the hour, and the later minutes whose
/// lists of ended auctions can have sales of the hour.
pub(super) fn of_minutes(
    minutes: &[RecordedMinute],
    start: UnixSeconds,
    end: UnixSeconds,
) -> (BTreeMap<AuctionItemId, Candle>, HourTexts) {
    let mut candles = BTreeMap::new();
    let mut recorded = 0;
    for minute in minutes.iter().take_while(|minute| minute.slot < end) {
        recorded += 1;
        for (id, price) in &minute.prices {
            let listed = Listed::of(*price);
            let candle = candles.entry(id.clone()).or_insert(Candle { listed: None, sold: None });
            candle.listed = Some(candle.listed.map_or(listed, |earlier| earlier.followed_by(listed)));
        }
    }
    let sold = sales(minutes, start, end);
    for (id, sales) in by_id(&sold) {
        let candle = candles.entry(id.clone()).or_insert(Candle { listed: None, sold: None });
        candle.sold = Sold::of(&sales);
    }
    let covered = covered(minutes, start, end);
    let texts = HourTexts::of(&candles, &sold, HourTime { recorded, covered });
    (candles, texts)
}

/// Groups the sales by id. A sale counts under each of its ids.
fn by_id<'a>(sales: &[&'a Sale]) -> BTreeMap<&'a AuctionItemId, Vec<&'a Sale>> {
    let mut sold = BTreeMap::<_, Vec<_>>::new();
    for sale in sales {
        for id in &sale.items {
            sold.entry(id).or_default().push(*sale);
        }
    }
    sold
}

/// The recorded part of an hour.
#[derive(Debug, Clone, Copy)]
pub struct HourTime {
    /// The number of recorded minutes.
    pub recorded: i64,
    /// The time for which the sales are known.
    pub covered: Duration,
}

/// The texts of an hour.
#[derive(Debug)]
pub struct HourTexts {
    sales: SalesText,
    /// The text of each item's sales (`sold.rs`).
    sold: BTreeMap<AuctionItemId, String>,
    /// The closing price of each listed item, in hundredths of a coin.
    closes: Vec<(AuctionItemId, u64)>,
    time: HourTime,
}

impl HourTexts {
    /// Returns the texts of an hour with these candles and sales.
    #[must_use]
    pub fn of(candles: &BTreeMap<AuctionItemId, Candle>, sales: &[&Sale], time: HourTime) -> Self {
        let listed = candles.iter().filter_map(|(id, candle)| Some((id, candle.listed?)));
        let closes = listed.map(|(id, listed)| (id.clone(), listed.close.hundredths())).collect();
        let sold_by_id = by_id(sales);
        let sold = sold_by_id.iter().map(|(id, sales)| ((*id).clone(), sold::text_of(sales))).collect();
        Self { sales: sales_text(&sold_by_id), sold, closes, time }
    }

    /// Writes the texts of an hour. A stored text that was built from more minutes is kept. The sums build on the sums of the previous
    /// hour, so the hours of a day must be written in order.
    ///
    /// # Errors
    /// If a row was not written before the deadline. Repeating the call completes it.
    pub async fn write(mut self, table: Session<'_>, hour: Slot) -> Result<(), Error> {
        self.take_sold().write(table, hour.start).await?;
        self.write_totals(table, hour).await
    }

    /// Returns the rows of the items' sales in an hour without such rows. They must be stored before [`HourTexts::write_totals`].
    pub fn take_sold_rows(&mut self, hour: Slot) -> Vec<Attributes> {
        self.take_sold().rows(hour.start)
    }

    fn take_sold(&mut self) -> HourSold {
        HourSold { minutes: self.time.recorded, items: std::mem::take(&mut self.sold) }
    }

    /// Writes the texts of an hour whose sales are stored.
    ///
    /// # Errors
    /// As [`HourTexts::write`].
    pub async fn write_totals(self, table: Session<'_>, hour: Slot) -> Result<(), Error> {
        let HourTime { recorded, covered } = self.time;
        put(table, SALES, hour, recorded, &self.sales, [(COVERED, number(covered.as_millis()))]).await?;
        let (mut sums, earlier) = read_sums(table, hour.start.rounded_down(DAY), hour.start).await?;
        for (id, close) in self.closes {
            sums.entry(id).or_default().add(CloseSum { sum: close, hours: 1 });
        }
        let ids = Ids::of(sums.keys());
        let (sums, hours) = sums.values().map(|close| (close.sum, close.hours)).unzip();
        put(table, SUMS, hour, earlier + recorded, &SumsText { ids, sums, hours }, []).await?;
        let changed = table
            .update_item()
            .set_key(Some(item::key(AVERAGES, BUILT)))
            .update_expression("ADD #changes :one")
            .expression_attribute_names("#changes", CHANGES)
            .expression_attribute_values(":one", number(1));
        table.write("UpdateItem", changed.send()).await.map(drop)
    }
}

fn sales_text(sold: &BTreeMap<&AuctionItemId, Vec<&Sale>>) -> SalesText {
    let prices = |is_clean: bool| {
        let of_item = move |sales: &Vec<&Sale>| {
            let counted = sales.iter().filter(|sale| sale.clean == is_clean);
            let mut prices: Vec<_> = counted.map(|sale| sale.price_of_one().hundredths()).collect();
            prices.sort_unstable();
            prices
        };
        sold.values().map(of_item).collect()
    };
    let stacks = |sales: &Vec<&Sale>| {
        let total = |is_clean: bool| {
            sales.iter().filter(|sale| sale.clean == is_clean).fold((0_u64, 0), |(sum, sold), sale| {
                (sum.saturating_add(sale.price), sold + u64::from(sale.count.get()))
            })
        };
        sales.iter().any(|sale| sale.count.get() > 1).then(|| [true, false].map(total))
    };
    SalesText {
        ids: Ids::of(sold.keys().copied()),
        clean: prices(true),
        others: prices(false),
        stacks: sold.values().map(stacks).collect(),
    }
}

/// Writes a text unless the stored text was built from more minutes.
async fn put<T: Serialize, const MORE: usize>(
    table: Session<'_>,
    partition: &str,
    hour: Slot,
    minutes: i64,
    text: &T,
    more: [(&str, AttributeValue); MORE],
) -> Result<(), Error> {
    let compressed = pack(text).map_err(Error::unwritable)?;
    let mut row = item::key(partition, slot_key(hour.start));
    row.insert(CONTENT.to_owned(), binary(&compressed));
    row.insert(MINUTES.to_owned(), number(minutes));
    row.insert(TIME_TO_LIVE.to_owned(), number(hour.end().plus(KEPT).get()));
    row.extend(more.map(|(name, value)| (name.to_owned(), value)));
    let put = table
        .put_item()
        .set_item(Some(row))
        .condition_expression("NOT (#minutes > :minutes)")
        .expression_attribute_names("#minutes", MINUTES)
        .expression_attribute_values(":minutes", number(minutes));
    table.write("PutItem", put.send()).await.map(drop)
}

/// Returns the sums of the hours from the beginning of `day` to before `end`, and the number of minutes that they include.
pub(super) async fn read_sums(
    table: Session<'_>,
    day: UnixSeconds,
    end: UnixSeconds,
) -> Result<(Sums, i64), Error> {
    // DynamoDB refuses a range of keys that ends before it begins.
    if day >= end {
        return Ok((Sums::new(), 0));
    }
    let last = UnixSeconds::new(end.get() - 1);
    // The newest row has the sums of all hours. If it is corrupt, the newest readable row lacks only the latest hours.
    for limit in [1, usize::MAX] {
        let query = table.query_between(SUMS, slot_key(day), slot_key(last)).consistent_read(true);
        let rows = table.rows(query.scan_index_forward(false), limit).await?;
        let sums = readable(&rows, SUMS, |row| {
            let SumsText { ids, sums, hours } = content(row, HOUR_TEXT)?;
            let closes = sums.into_iter().zip(hours).map(|(sum, hours)| CloseSum { sum, hours });
            Ok(Some((zip(&ids, closes)?, integer(row, MINUTES)?)))
        });
        if let Some(sums) = sums.into_iter().next() {
            return Ok(sums);
        } else if rows.is_empty() {
            break;
        }
    }
    Ok((Sums::new(), 0))
}

/// Returns the hours from `first` to before `end` with their sales, newest first.
pub(super) async fn read_sales(
    table: Session<'_>,
    first: UnixSeconds,
    end: UnixSeconds,
) -> Result<Vec<(UnixSeconds, HourSales)>, Error> {
    // The last hour may have been written a moment ago, so its read is consistent.
    let settled = HOURS.slot(UnixSeconds::new(end.get() - 1)).max(first);
    let mut rows = Vec::new();
    for (first, end) in [(settled, end), (first, settled)].into_iter().filter(|(first, end)| first < end) {
        let last = UnixSeconds::new(end.get() - 1);
        let query = table.query_between(SALES, slot_key(first), slot_key(last)).scan_index_forward(false);
        rows.extend(table.rows(query.consistent_read(first == settled), usize::MAX).await?);
    }
    Ok(readable(&rows, SALES, |row| {
        let SalesText { ids, clean, others, stacks } = content(row, HOUR_TEXT)?;
        let columns = clean.into_iter().zip(others).zip(stacks);
        let items = columns.map(|((clean, others), stacks)| ItemSales::of(&clean, &others, stacks));
        let covered = Duration::from_millis(integer(row, COVERED)?.unsigned_abs());
        let hour = slot_of(&HOURS, row)?.start;
        Ok(Some((hour, HourSales { covered, items: zip(&ids, items)? })))
    }))
}

/// Pairs each id with its value. Fails unless there are as many values as ids.
fn zip<T>(ids: &Ids, values: impl Iterator<Item = T>) -> Result<BTreeMap<AuctionItemId, T>, Corrupt> {
    let known = ids.ids().ok_or(Corrupt::new(CONTENT, "a list of ids"))?;
    let number = known.len();
    let by_id: BTreeMap<_, _> = known.into_iter().zip(values).collect();
    if by_id.len() == number { Ok(by_id) } else { Err(Corrupt::new(CONTENT, "a value per id")) }
}
