//! Averages over the last days. `record-candles` combines the hourly texts (`hour.rs`) of each window into one text, so a request reads a
//! single row.
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#averages` | the window, such as `7d` | `content`; `until`: the end of the window's last hour; `minutes`: how many minutes have known sales |
//! | `auctions#averages` | `built` | `changes`: how often an hourly text was written; `seen`: the value of `changes` when the windows were last built; `until`: the end of those windows |

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixSeconds;
use futures_util::future::{try_join, try_join_all};
use serde::{Deserialize, Serialize};

use super::candle::{divided, median};
use super::coins::Coins;
use super::hour::{AVERAGES, BUILT, CHANGES, CloseSum, DAY, ItemSales, Sums, read_sales, read_sums};
use super::intervals::HOURS;
use super::packed::{CONTENT, Ids, content, pack};
use super::sold::MINUTES;
use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, binary, integer, number, readable};
use crate::session::Session;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Average {
    /// The average of the closing prices of the hours. Ignores hours in which the item was not listed; `None` if it was never listed.
    pub lowest: Option<Coins>,
    /// The sales; `None` if there were none.
    pub sold: Option<AverageSales>,
}

/// The sales of an item in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AverageSales {
    /// The sum of the prices divided by the number of items that were sold.
    pub average: Coins,
    /// The median price of one item.
    pub median: Coins,
    /// The number of sales.
    pub sales: u32,
    /// The number of items that were sold.
    pub sold: u64,
    /// The average price of clean items; `None` if no clean item was sold.
    pub clean_average: Option<Coins>,
    /// The number of sales of clean items.
    pub clean_sales: u32,
}

#[derive(Serialize, Deserialize)]
struct Content {
    ids: Ids,
    lowest: Vec<Option<Coins>>,
    sold: Vec<Option<AverageSales>>,
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

/// Rebuilds the averages of all windows if an hour has ended or changed since they were built. Every hour that ends by `time` must be built
/// already. Returns whether the averages were rebuilt.
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
    for (window, averages) in WINDOWS.iter().zip(averages(table, until).await?) {
        write(table, window, &averages).await?;
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

/// Returns the averages of all windows that end at `until`.
async fn averages(table: Session<'_>, until: UnixSeconds) -> Result<Vec<Averages>, Error> {
    let oldest = until.minus(LONGEST);
    let days: Vec<_> = std::iter::successors(Some(oldest.rounded_down(DAY)), |day| Some(day.plus(DAY)))
        .take_while(|day| *day < until)
        .collect();
    let starts = WINDOWS.map(|window| until.minus(window.length));
    let of_days = days.iter().map(|day| read_sums(table, *day, until.min(day.plus(DAY))));
    let before_starts = starts.iter().map(|start| read_sums(table, start.rounded_down(DAY), *start));
    let (of_days, before_starts) = try_join(try_join_all(of_days), try_join_all(before_starts)).await?;
    let mut hours = read_sales(table, oldest, until).await?.into_iter().peekable();
    let mut sales = BTreeMap::<_, ItemSales>::new();
    let mut covered = Duration::ZERO;
    let mut windows = Vec::new();
    for (start, (before, _)) in starts.into_iter().zip(before_starts) {
        let mut sums = Sums::new();
        for (_, (day, _)) in days.iter().zip(&of_days).filter(|(day, _)| day.plus(DAY) > start) {
            for (id, close) in day {
                sums.entry(id.clone()).or_default().add(*close);
            }
        }
        for (id, close) in before {
            sums.entry(id).or_default().subtract(close);
        }
        sums.retain(|_, close| close.hours > 0);
        while let Some((_, hour)) = hours.next_if(|(hour, _)| *hour >= start) {
            covered += hour.covered;
            for (id, item) in hour.items {
                let total = sales.entry(id).or_default();
                total.all = total.all.plus(item.all);
                total.clean = total.clean.plus(item.clean);
                total.prices.extend(item.prices);
            }
        }
        let ids: BTreeSet<_> = sums.keys().chain(sales.keys()).cloned().collect();
        let average = |id: AuctionItemId| {
            let lowest = sums.get(&id).copied().map(CloseSum::average);
            let sold = sales.get_mut(&id).and_then(average_sales);
            (id, Average { lowest, sold })
        };
        let minutes = u32::try_from(covered.as_secs() / 60).unwrap_or(u32::MAX);
        windows.push(Averages { until, minutes, items: ids.into_iter().map(average).collect() });
    }
    Ok(windows)
}

fn average_sales(ItemSales { all, clean, prices }: &mut ItemSales) -> Option<AverageSales> {
    let average = |sum: u64, sold| Coins::of_hundredths(divided(sum.saturating_mul(100), sold));
    Some(AverageSales {
        average: average(all.sum, all.sold),
        median: median(prices)?,
        sales: all.sales,
        sold: all.sold,
        clean_average: (clean.sales > 0).then(|| average(clean.sum, clean.sold)),
        clean_sales: clean.sales,
    })
}

async fn write(table: Session<'_>, window: &Window, averages: &Averages) -> Result<(), Error> {
    let Averages { until, minutes, items } = averages;
    let content = Content {
        ids: Ids::of(items.iter().map(|(id, _)| id)),
        lowest: items.iter().map(|(_, average)| average.lowest).collect(),
        sold: items.iter().map(|(_, average)| average.sold).collect(),
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

/// Returns the averages of the window; `None` before they are first built. A `consistent` read costs twice as much and always returns the
/// latest write. Requires only the permission `dynamodb:Query`.
///
/// # Errors
/// If the table does not answer in time, or if the averages are corrupt. The next build replaces corrupt averages.
pub async fn averages_of(
    table: Session<'_>,
    window: &Window,
    consistent: bool,
) -> Result<Option<Averages>, Error> {
    let query = table.query_between(AVERAGES, window.name, window.name).consistent_read(consistent);
    let rows = table.rows(query, 1).await?;
    let read = |row: &Attributes| {
        const EXPECTED: &str = "the averages of a window";
        let Content { ids, lowest, sold } = content(row, EXPECTED)?;
        let known = ids.ids().filter(|known| [lowest.len(), sold.len()] == [known.len(); 2]);
        let averages = lowest.into_iter().zip(sold).map(|(lowest, sold)| Average { lowest, sold });
        let items = known.ok_or(Corrupt::new(CONTENT, EXPECTED))?.into_iter().zip(averages).collect();
        let minutes = u32::try_from(integer(row, MINUTES)?).map_err(|_| Corrupt::new(MINUTES, "a count"))?;
        Ok(Averages { until: UnixSeconds::new(integer(row, UNTIL)?), minutes, items })
    };
    rows.first().map(read).transpose().map_err(|corrupt: Corrupt| Error::Corrupt {
        table: table.table_name().to_owned(),
        key: AVERAGES.to_owned(),
        cause: corrupt.to_string(),
    })
}
