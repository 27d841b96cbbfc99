//! The individual sales of each item. `record-candles` writes them with the candles of their hour.
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#sold#SHARD` | the hour | `products`: the text of each item's sales; `minutes` |
//!
//! A text lists the sales by time, separated by semicolons. A sale has the milliseconds since the hour began, the price of the stack in
//! coins, a digit (1 if buy-it-now, 2 if clean, 3 if both), and the number of items unless it is 1.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::auction_item_id::AuctionItemId;
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use super::coins::Coins;
use super::minute::Sale;
use crate::error::Error;
use crate::item::{Attributes, Corrupt, PRODUCTS, integer, number, readable, string};
use crate::series::keys::{FIRST_SLOT, Interval, LAST_SLOT, slot_key, slot_of};
use crate::series::rows::{CONCURRENT_WRITES, by_shard, keys, products};
use crate::session::{Reads, Session};

/// The hours with sales.
///
/// The number of shards was chosen for 6,500 sales an hour: a row then has about a kilobyte. Reading 200 rows takes about 30 read units,
/// and writing wastes few write units. `tests/service/auction_prices/capacity.rs` measures this.
const SOLD: Interval = Interval {
    series: "auctions",
    name: "sold",
    length: Duration::from_hours(1),
    kept: Some(Duration::from_hours(90 * 24)),
    shards: 199,
};

/// The attribute with the number of minutes that a row was built from.
pub(super) const MINUTES: &str = "minutes";

/// The number of rows that a page reads first, and the number that it reads next if the first rows have too few sales.
const READS: [usize; 2] = [24, 176];

const MILLISECONDS_OF_HOUR: i64 = 3_600_000;

/// A sale of an item. Sales are ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SoldItem {
    pub sold_at: UnixMilliseconds,
    /// The price of the stack, in coins.
    stack_price: u64,
    /// The number of items in the stack.
    pub amount: NonZeroU32,
    /// Whether it was a buy-it-now auction.
    pub bin: bool,
    /// Whether the item was clean: nothing had been added to it.
    pub clean: bool,
}

impl SoldItem {
    /// Returns the price of one item.
    #[must_use]
    pub const fn price_of_one(&self) -> Coins {
        Coins::of_one(self.stack_price, self.amount)
    }

    fn to_text(self) -> String {
        let offset = self.sold_at.get().rem_euclid(MILLISECONDS_OF_HOUR);
        let flags = u8::from(self.bin) + 2 * u8::from(self.clean);
        let text = format!("{offset},{},{flags}", self.stack_price);
        if self.amount == NonZeroU32::MIN { text } else { format!("{text},{}", self.amount) }
    }

    fn of_text(hour: UnixSeconds, text: &str) -> Option<Self> {
        let mut fields = text.split(',');
        let offset: i64 = fields.next()?.parse().ok()?;
        let stack_price = fields.next()?.parse().ok()?;
        let flags: u8 = fields.next()?.parse().ok()?;
        let amount = fields.next().map_or(Some(NonZeroU32::MIN), |amount| amount.parse().ok())?;
        let is_sale = (0..MILLISECONDS_OF_HOUR).contains(&offset) && flags < 4 && fields.next().is_none();
        is_sale.then_some(Self {
            sold_at: UnixMilliseconds::new(UnixMilliseconds::from(hour).get() + offset),
            stack_price,
            amount,
            bin: flags % 2 == 1,
            clean: flags >= 2,
        })
    }
}

impl From<&Sale> for SoldItem {
    fn from(Sale { count, price, time, bin, clean, .. }: &Sale) -> Self {
        Self { sold_at: *time, stack_price: *price, amount: *count, bin: *bin, clean: *clean }
    }
}

/// Returns the text of an item's sales in an hour.
pub(super) fn text_of(sales: &[&Sale]) -> String {
    let mut sold: Vec<_> = sales.iter().map(|sale| SoldItem::from(*sale)).collect();
    sold.sort_unstable();
    sold.into_iter().map(SoldItem::to_text).collect::<Vec<_>>().join(";")
}

/// Parses the text of an item's sales in an hour; `None` if it is invalid.
#[must_use]
pub fn sold_of_text(hour: UnixSeconds, text: &str) -> Option<Vec<SoldItem>> {
    text.split(';').map(|sale| SoldItem::of_text(hour, sale)).collect()
}

/// The sales of an hour: one text per item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HourSold {
    /// The number of minutes that the sales were read from.
    pub minutes: i64,
    pub items: BTreeMap<AuctionItemId, String>,
}

impl HourSold {
    /// Writes the texts. A stored row that was built from more minutes is kept.
    pub(super) async fn write(&self, table: Session<'_>, hour: UnixSeconds) -> Result<(), Error> {
        self.put(table, hour, "NOT (#minutes > :minutes)").await.map(drop)
    }

    /// Writes the texts and returns the number of changed rows. A stored row that was built from at least as many minutes is kept.
    ///
    /// # Errors
    /// If a row was not written before the deadline. Repeating the call completes it.
    pub async fn import(&self, table: Session<'_>, hour: UnixSeconds) -> Result<usize, Error> {
        self.put(table, hour, "NOT (#minutes >= :minutes)").await
    }

    /// Returns the rows of the texts.
    pub(super) fn rows(&self, hour: UnixSeconds) -> Vec<Attributes> {
        let values = self.items.iter().map(|(id, text)| (id, string(text)));
        let mut rows = by_shard(SOLD.at(hour), values);
        for row in &mut rows {
            row.insert(MINUTES.to_owned(), number(self.minutes));
        }
        rows
    }

    async fn put(&self, table: Session<'_>, hour: UnixSeconds, condition: &str) -> Result<usize, Error> {
        let put_row = async |row: Attributes| {
            let request = table
                .put_item()
                .set_item(Some(row))
                .condition_expression(condition)
                .expression_attribute_names("#minutes", MINUTES)
                .expression_attribute_values(":minutes", number(self.minutes));
            table.write("PutItem", request.send()).await
        };
        let writes: Vec<_> = self.rows(hour).into_iter().map(put_row).collect();
        let add = async |changed, written: Option<_>| Ok(changed + usize::from(written.is_some()));
        stream::iter(writes).buffer_unordered(CONCURRENT_WRITES).try_fold(0, add).await
    }

    /// Reads the sales of an hour. Corrupt rows are skipped.
    ///
    /// # Errors
    /// If the table does not answer in time.
    pub async fn read(table: Session<'_>, hour: UnixSeconds) -> Result<Self, Error> {
        let rows = table.get_all(keys(SOLD.at(hour)), Reads::Consistent).await?;
        let text = |(id, value): (&String, &AttributeValue)| {
            let text = value.as_s().ok().filter(|text| sold_of_text(hour, text).is_some())?;
            Some((id.parse().ok()?, text.clone()))
        };
        let hours = readable(&rows, &SOLD.markers(), |row| {
            let items = products(row)?.iter().filter_map(text).collect();
            Ok(Some(Self { minutes: integer(row, MINUTES)?, items }))
        });
        Ok(hours.into_iter().fold(Self::default(), |mut sold, row| {
            sold.items.extend(row.items);
            Self { minutes: sold.minutes.max(row.minutes), items: sold.items }
        }))
    }
}

/// A page of an item's sales.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoldPage {
    /// The sales, newest first.
    pub sales: Vec<SoldItem>,
    /// The `before` of the next page, which is older and can be empty; `None` if there are no older sales.
    pub next_before: Option<UnixMilliseconds>,
}

/// Returns the item's newest sales before a time: at most `limit`, plus any other sales in the same millisecond as the last one. Reads at
/// most 200 rows.
///
/// # Errors
/// If the table does not answer in time.
pub async fn sold_before(
    table: Session<'_>,
    id: &AuctionItemId,
    before: UnixMilliseconds,
    limit: usize,
    now: UnixSeconds,
) -> Result<SoldPage, Error> {
    let partition = SOLD.partition(SOLD.shard(id.as_str()));
    let oldest = SOLD.oldest_slot(now).unwrap_or(FIRST_SLOT).max(FIRST_SLOT);
    let last = SOLD.slot(before.minus(Duration::from_millis(1)).into()).min(SOLD.slot(LAST_SLOT));
    let mut unread = Some(last);
    let mut sales = Vec::new();
    for most in READS {
        // Reads on until there is one sale more than `limit`, which shows that there is another page. DynamoDB refuses a range of keys that
        // ends before it begins.
        let Some(newest) = unread.filter(|newest| *newest >= oldest && sales.len() <= limit) else { break };
        let query = table.query_between(&partition, slot_key(oldest), slot_key(newest));
        let rows = table.rows(query.scan_index_forward(false), most).await?;
        let sold = readable(&rows, &partition, |row| sold_in(row, id).map(Some));
        sales.extend(sold.into_iter().flatten().filter(|sale| sale.sold_at < before));
        let read = rows.iter().rev().find_map(|row| slot_of(&SOLD, row).ok());
        unread = read.filter(|_| rows.len() == most).map(|slot| slot.start.minus(SOLD.length));
    }
    unread = unread.filter(|newest| *newest >= oldest);
    sales.sort_unstable_by(|one, other| other.cmp(one));
    let mut next_before = unread.map(|slot| SOLD.end(slot).into());
    if let Some(last) = sales.get(limit.saturating_sub(1)).map(|sale: &SoldItem| sale.sold_at) {
        let count = sales.partition_point(|sale| sale.sold_at >= last);
        if count < sales.len() || unread.is_some() {
            next_before = Some(last);
        }
        sales.truncate(count);
    }
    Ok(SoldPage { sales, next_before })
}

/// Returns the item's sales in a row.
fn sold_in(row: &Attributes, id: &AuctionItemId) -> Result<Vec<SoldItem>, Corrupt> {
    let hour = slot_of(&SOLD, row)?.start;
    let Some(value) = products(row)?.get(id.as_str()) else { return Ok(Vec::new()) };
    let sold = value.as_s().ok().and_then(|text| sold_of_text(hour, text));
    sold.ok_or(Corrupt::new(PRODUCTS, "a map of sales"))
}
