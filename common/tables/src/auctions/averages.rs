//! Averages over the last days. `record-candles` combines the hourly texts (`hour.rs`) of each window into
//! one text, so a request reads a single row.
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#averages` | the window, such as `7d` | `content`; `until`: the end of the window's last hour; `minutes`: how many minutes have known sales |
//! | `auctions#averages` | `built` | `changes`: how often an hourly text was written; `seen`: the value of `changes` when the windows were last built; `until`: the end of those windows |

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixSeconds;
use futures_util::future::{try_join, try_join_all};
use serde::{Deserialize, Serialize};

use super::candle::{Sold, together};
use super::hour::{AVERAGES, BUILT, CHANGES, SalesRows};
use super::hour_sales::Counts;
use super::hour_text::{DAY, by_id};
use super::intervals::HOURS;
use super::packed::{CONTENT, Ids, content, pack};
use super::sale::Sale;
use super::sums::{CloseSum, MINUTES, Sums};
use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, binary, integer, number, readable};
use crate::session::{Reads, Session};
use common::coins::Coins;

const SEEN: &str = "seen";
const UNTIL: &str = "until";

#[derive(Debug, PartialEq, Eq)]
pub struct Window {
    pub name: &'static str,
    pub length: Duration,
}

/// The windows, from short to long.
pub const WINDOWS: [Window; 3] = [
    Window { name: "1d", length: DAY },
    Window { name: "3d", length: DAY.saturating_mul(3) },
    Window { name: "7d", length: LONGEST },
];

const LONGEST: Duration = DAY.saturating_mul(7);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Averages {
    /// The end of the last hour in the window.
    pub until: UnixSeconds,
    /// How many minutes of the window have known sales.
    pub minutes: u32,
    /// The items that were listed or sold, sorted by id.
    pub items: Vec<(AuctionItemId, Average)>,
}

/// The averages of an item. Prices are for one item, not for a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Average {
    /// The average of the closing prices of the hours. Ignores hours in which the item was not listed; `None`
    /// if it was never listed.
    pub lowest: Option<Coins>,
    /// The sales; `None` if there were none.
    pub sold: Option<Sold>,
    /// The sales of clean items; `None` if there were none.
    pub clean: Option<Sold>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    ids: Ids,
    lowest: Vec<Option<Coins>>,
    /// The numbers of each item's sales, as in a candle; empty without sales.
    sold: Vec<Vec<u64>>,
    /// The same for clean items.
    clean: Vec<Vec<u64>>,
}

/// The state of the stored windows.
#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    changes: Option<i64>,
    seen: Option<i64>,
    until: Option<i64>,
}

impl State {
    fn of_row(row: &Attributes) -> Result<Self, Corrupt> {
        let optional = |name| row.contains_key(name).then(|| integer(row, name)).transpose();
        // If `seen` or `until` is corrupt, the windows are built again.
        Ok(Self {
            changes: optional(CHANGES)?,
            seen: optional(SEEN).unwrap_or_default(),
            until: optional(UNTIL).unwrap_or_default(),
        })
    }
}

/// Rebuilds the averages of all windows if an hour has ended or changed since they were built. Every hour
/// that ends by `time` must be built already. Returns whether the averages were rebuilt.
///
/// # Errors
/// If a row was not read or written before the deadline. The next call completes the work.
pub async fn build_averages(table: Session<'_>, time: UnixSeconds) -> Result<bool, Error> {
    let until = HOURS.slot(time);
    let row = table.get(item::key(AVERAGES, BUILT)).await?;
    let states = readable(row.as_slice(), AVERAGES, |row| State::of_row(row).map(Some));
    let State { changes, seen, until: before } = states.into_iter().next().unwrap_or_default();
    let Some(changes) = changes.filter(|changes| (seen, before) != (Some(*changes), Some(until.get())))
    else {
        return Ok(false);
    };
    let sources = Sources::read(table, until).await?;
    let (windows, counts) = sources.averages();
    for (window, averages) in WINDOWS.iter().zip(windows) {
        write(table, window, &averages).await?;
    }
    if before != Some(until.get()) {
        counts.warn_of_few_clean_sales();
    }
    let noted = table
        .update_item()
        .set_key(Some(item::key(AVERAGES, BUILT)))
        .update_expression("SET #seen = :seen, #until = :until")
        .expression_attribute_names("#seen", SEEN)
        .expression_attribute_names("#until", UNTIL)
        .expression_attribute_values(":seen", number(changes))
        .expression_attribute_values(":until", number(until.get()));
    table.write("UpdateItem", noted.send()).await?;
    Ok(true)
}

/// The stored data from which the averages of all windows are computed.
struct Sources {
    until: UnixSeconds,
    /// The days of the longest window, each with the sums of its hours.
    days: Vec<(UnixSeconds, Sums)>,
    /// For each window, the sums of the hours before it, in the day in which it begins.
    before: Vec<Sums>,
    sales: SalesRows,
}

impl Sources {
    /// Reads the data of the windows that end at `until`.
    async fn read(table: Session<'_>, until: UnixSeconds) -> Result<Self, Error> {
        let oldest = until.minus(LONGEST);
        let days: Vec<_> = successors(Some(oldest.rounded_down(DAY)), |day| Some(day.plus(DAY)))
            .take_while(|day| *day < until)
            .collect();
        let of_days = days.iter().map(|day| {
            // The last day may have been written a moment ago.
            let reads = if day.plus(DAY) < until { Reads::Eventual } else { Reads::Consistent };
            Sums::read(table, *day, until.min(day.plus(DAY)), reads)
        });
        let before = WINDOWS.iter().map(|window| {
            let start = until.minus(window.length);
            Sums::read(table, start.rounded_down(DAY), start, Reads::Eventual)
        });
        let (of_days, before) = try_join(try_join_all(of_days), try_join_all(before)).await?;
        let sales = SalesRows::read(table, oldest, until).await?;
        Ok(Self { until, days: days.into_iter().zip(of_days).collect(), before, sales })
    }

    /// Returns the sums of closing prices in a window, by item.
    fn closes<'a>(&'a self, start: UnixSeconds, before: &'a Sums) -> BTreeMap<&'a AuctionItemId, CloseSum> {
        let mut closes = BTreeMap::<_, CloseSum>::new();
        for (_, day) in self.days.iter().filter(|(day, _)| day.plus(DAY) > start) {
            for (id, close) in &day.items {
                closes.entry(id).or_default().add(*close);
            }
        }
        for (id, close) in &before.items {
            closes.entry(id).or_default().subtract(*close);
        }
        closes.retain(|_, close| close.hours > 0);
        closes
    }

    /// Returns the averages of each window, and the counts of the longest one.
    fn averages(&self) -> (Vec<Averages>, CleanCounts) {
        let mut hours = self.sales.hours().peekable();
        let mut sales = BTreeMap::<AuctionItemId, ItemSales>::new();
        let mut counts = CleanCounts::default();
        let mut known = Duration::ZERO;
        let mut windows = Vec::new();
        for (window, before) in WINDOWS.iter().zip(&self.before) {
            let start = self.until.minus(window.length);
            let closes = self.closes(start, before);
            while let Some((hour, sold)) = hours.next_if(|(hour, _)| *hour >= start) {
                known += sold.known;
                let is_newest = HOURS.end(hour) == self.until;
                let counted = if is_newest { &mut counts.newest } else { &mut counts.before };
                counted.add(sold.counts());
                for (id, earlier) in sold.items {
                    sales.entry(id).or_default().add(&earlier);
                }
            }
            let ids: BTreeSet<_> = closes.keys().copied().chain(sales.keys()).collect();
            let average = |id: &AuctionItemId| {
                let lowest = closes.get(id).copied().map(CloseSum::average);
                let item = sales.get(id);
                let sold = item.and_then(|item| item.all.as_ref()).map(Sold::condensed);
                let clean = item.and_then(|item| item.clean.as_ref()).map(Sold::condensed);
                (id.clone(), Average { lowest, sold, clean })
            };
            let minutes = u32::try_from(known.as_secs() / 60).unwrap_or(u32::MAX);
            let items = ids.into_iter().map(average).collect();
            windows.push(Averages { until: self.until, minutes, items });
        }
        (windows, counts)
    }
}

/// The sales of an item in a window.
#[derive(Default)]
struct ItemSales {
    all: Option<Sold>,
    clean: Option<Sold>,
}

impl ItemSales {
    fn add(&mut self, sales: &[Sale]) {
        let add = |sold: &mut Option<Sold>, more| *sold = together(sold.take(), more, Sold::followed_by);
        add(&mut self.all, Sold::of(sales));
        add(&mut self.clean, Sold::of(sales.iter().filter(|sale| sale.clean)));
    }
}

/// The sales of the newest hour have few clean ones if their share is less than this part of the share
/// before.
const FEW: u64 = 2;
/// Smaller hours are not judged.
const LEAST_SALES: u64 = 500;

/// Counts of sales, to notice that few are clean.
#[derive(Default)]
struct CleanCounts {
    /// The counts of the newest hour.
    newest: Counts,
    /// The counts of all earlier hours.
    before: Counts,
}

impl CleanCounts {
    /// Logs a warning if the newest hour has many sales and less than half of the earlier share of clean
    /// ones. The game has then probably added an attribute to all items.
    fn warn_of_few_clean_sales(&self) {
        let Self { newest, before } = self;
        let is_large = newest.sales >= LEAST_SALES;
        if is_large && newest.clean * before.sales * FEW < before.clean * newest.sales {
            tracing::warn!(
                sales = newest.sales,
                clean_sales = newest.clean,
                sales_before = before.sales,
                clean_sales_before = before.clean,
                "few clean sales"
            );
        }
    }
}

async fn write(table: Session<'_>, window: &Window, averages: &Averages) -> Result<(), Error> {
    let Averages { until, minutes, items } = averages;
    let numbers = |sold: &Option<Sold>| sold.as_ref().map(Sold::numbers).unwrap_or_default();
    let content = Content {
        ids: Ids::of(items.iter().map(|(id, _)| id)),
        lowest: items.iter().map(|(_, average)| average.lowest).collect(),
        sold: items.iter().map(|(_, average)| numbers(&average.sold)).collect(),
        clean: items.iter().map(|(_, average)| numbers(&average.clean)).collect(),
    };
    let compressed = pack(&content).map_err(Error::unwritable)?;
    let put = table
        .put_item()
        .set_item(Some(item::key(AVERAGES, window.name)))
        .item(CONTENT, binary(&compressed))
        .item(UNTIL, number(until.get()))
        .item(MINUTES, number(*minutes))
        .condition_expression("NOT (#until > :until)")
        .expression_attribute_names("#until", UNTIL)
        .expression_attribute_values(":until", number(until.get()));
    table.write("PutItem", put.send()).await.map(drop)
}

/// Returns the averages of the window; `None` before they are first built. A `consistent` read costs twice as
/// much and always returns the latest write. Requires only the permission `dynamodb:Query`.
///
/// # Errors
/// If the table does not answer in time, or if the averages are corrupt. The next build replaces corrupt
/// averages.
pub async fn averages_of(
    table: Session<'_>,
    window: &Window,
    consistent: bool,
) -> Result<Option<Averages>, Error> {
    let query = table.query_between(AVERAGES, window.name, window.name).consistent_read(consistent);
    let rows = table.rows(query, 1).await?;
    let read = |row: &Attributes| {
        const EXPECTED: &str = "the averages of a window";
        let Content { ids, lowest, sold, clean } = content(row, EXPECTED)?;
        let columns = lowest.into_iter().zip(sold.iter().zip(&clean));
        let averages = columns.map(|(lowest, (sold, clean))| Average {
            lowest,
            sold: Sold::of_numbers(sold),
            clean: Sold::of_numbers(clean),
        });
        let items = by_id(&ids, averages)?.into_iter().collect();
        let minutes = u32::try_from(integer(row, MINUTES)?).map_err(|_| Corrupt::new(MINUTES, "a count"))?;
        Ok(Averages { until: UnixSeconds::new(integer(row, UNTIL)?), minutes, items })
    };
    rows.first().map(read).transpose().map_err(|corrupt: Corrupt| Error::Corrupt {
        table: table.table_name().to_owned(),
        key: AVERAGES.to_owned(),
        cause: corrupt.to_string(),
    })
}
