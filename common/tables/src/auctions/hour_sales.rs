//! The sales of an hour, by item. `record-candles` writes them before the candles of the hour.
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#sold#SHARD` | the hour | `products`: the sales of each item; `known`: for how many milliseconds of the hour the sales are known |
//!
//! The sales of an item are texts ([`Sale`]) whose times count from the start of the hour, in order,
//! separated by semicolons. Sales with less known time never replace sales with more.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::auction_item_id::AuctionItemId;
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::list::SoldAuction;
use super::sale::Sale;
use crate::error::Error;
use crate::item::{
    Attributes, Corrupt, PARTITION_KEY, PRODUCTS, each_readable, integer, number, readable, string, text,
};
use crate::series::keys::{FIRST_SLOT, Interval, LAST_SLOT, slot_key, slot_of};
use crate::series::rows::{CONCURRENT_WRITES, by_shard, keys, products};
use crate::session::{Reads, Session};

/// The hours with sales.
///
/// The number of shards was chosen for 6,500 sales an hour: a row then has about a kilobyte. Reading 200 rows
/// takes about 30 read units, and writing wastes few write units. `tests/service/auction_prices/capacity.rs`
/// measures this.
const SOLD: Interval = Interval {
    series: "auctions",
    name: "sold",
    length: Duration::from_hours(1),
    kept: Some(Duration::from_hours(90 * 24)),
    shards: 199,
};

/// The attribute with the time of the hour for which the sales are known, in milliseconds.
pub(super) const KNOWN: &str = "known";

/// The maximum number of bytes of sales in a row. DynamoDB limits a row to 400 KiB.
const LARGEST_ROW: usize = 400_000;

/// The number of rows that a page reads first, and the number that it reads next if the first rows have too
/// few sales.
const READS: [usize; 2] = [24, 176];

/// Returns the text of an item's sales in an hour.
pub(super) fn text_of(hour: UnixSeconds, sales: &[Sale]) -> String {
    sales.iter().map(|sale| sale.to_text(hour.into())).collect::<Vec<_>>().join(";")
}

/// Parses the text of an item's sales in an hour; `None` if it is invalid, or if a sale is outside the hour.
pub(super) fn sales_of_text(hour: UnixSeconds, text: &str) -> Option<Vec<Sale>> {
    let [start, end] = [hour, SOLD.end(hour)].map(UnixMilliseconds::from);
    let sale = |text| Sale::of_text(start, text).filter(|sale| (start..end).contains(&sale.sold_at));
    text.split(';').map(sale).collect()
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HourSales {
    /// For how much of the hour the sales are known.
    pub known: Duration,
    /// The sales of each item, in order.
    pub items: BTreeMap<AuctionItemId, Vec<Sale>>,
}

/// The number of sales, and of clean ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) sales: u64,
    pub(super) clean: u64,
}

impl Counts {
    pub(super) const fn add(&mut self, other: Self) {
        self.sales += other.sales;
        self.clean += other.clean;
    }
}

#[derive(Debug, Default)]
pub struct StoredSales {
    pub sales: HourSales,
    /// The number of corrupt texts and rows, which `sales` lacks. The log has the reasons.
    pub corrupt: usize,
}

impl HourSales {
    /// Returns the sales of an hour with these auctions. A sale counts under each id of its item.
    #[must_use]
    pub fn of<'a>(auctions: impl Iterator<Item = &'a SoldAuction>, known: Duration) -> Self {
        let mut items = BTreeMap::<_, Vec<_>>::new();
        for SoldAuction { items: ids, sale, .. } in auctions {
            for id in ids {
                items.entry(id.clone()).or_default().push(*sale);
            }
        }
        for sales in items.values_mut() {
            sales.sort_unstable();
        }
        Self { known, items }
    }

    /// Counts the sales. A sale that counts under two ids is one sale.
    pub(super) fn counts(&self) -> Counts {
        let mut sales: Vec<_> = self.items.values().flatten().collect();
        sales.sort_unstable();
        sales.dedup();
        let clean = sales.iter().filter(|sale| sale.clean).count();
        Counts { sales: sales.len() as u64, clean: clean as u64 }
    }

    /// Parses the text of each item's sales in an hour.
    ///
    /// # Errors
    /// The first item whose text is invalid.
    pub fn of_texts(
        hour: UnixSeconds,
        known: Duration,
        texts: BTreeMap<AuctionItemId, String>,
    ) -> Result<Self, AuctionItemId> {
        let sales = |(id, text): (AuctionItemId, String)| match sales_of_text(hour, &text) {
            Some(sales) => Ok((id, sales)),
            None => Err(id),
        };
        Ok(Self { known, items: texts.into_iter().map(sales).collect::<Result<_, _>>()? })
    }

    #[must_use]
    pub fn texts(&self, hour: UnixSeconds) -> BTreeMap<AuctionItemId, String> {
        self.items.iter().map(|(id, sales)| (id.clone(), text_of(hour, sales))).collect()
    }

    /// Whether each shard has few enough sales for a row.
    #[must_use]
    pub fn fit_into_rows(&self, hour: UnixSeconds) -> bool {
        let mut bytes = HashMap::<_, usize>::new();
        self.items.iter().all(|(id, sales)| {
            let bytes = bytes.entry(SOLD.shard(id.as_str())).or_default();
            *bytes += id.as_str().len() + text_of(hour, sales).len();
            *bytes <= LARGEST_ROW
        })
    }

    #[must_use]
    pub fn rows(&self, hour: UnixSeconds) -> Vec<Attributes> {
        let values = self.items.iter().map(|(id, sales)| (id, string(text_of(hour, sales))));
        let mut rows = by_shard(SOLD.at(hour), values);
        for row in &mut rows {
            row.insert(KNOWN.to_owned(), number(self.known.as_millis()));
        }
        rows
    }

    /// Writes the rows for which `condition` holds, and returns for each row whether it was written.
    async fn put(&self, table: Session<'_>, hour: UnixSeconds, condition: &str) -> Result<Vec<bool>, Error> {
        let put_row = async |row: Attributes| {
            let request = table
                .put_item()
                .set_item(Some(row))
                .condition_expression(condition)
                .expression_attribute_names("#known", KNOWN)
                .expression_attribute_values(":known", number(self.known.as_millis()));
            table.write("PutItem", request.send()).await.map(|written| written.is_some())
        };
        let writes: Vec<_> = self.rows(hour).into_iter().map(put_row).collect();
        stream::iter(writes).buffer_unordered(CONCURRENT_WRITES).try_collect().await
    }

    /// Writes the sales, and returns the sales that are stored then. A stored row with more known time is
    /// kept.
    ///
    /// # Errors
    /// If a row was not written before the deadline. Repeating the call completes it.
    pub async fn store(self, table: Session<'_>, hour: UnixSeconds) -> Result<Self, Error> {
        let written = self.put(table, hour, "NOT (#known > :known)").await?;
        if written.contains(&false) { Ok(Self::read(table, hour).await?.sales) } else { Ok(self) }
    }

    /// Writes the sales, and returns the number of changed rows, and the sales that are stored then. A stored
    /// row with at least as much known time is kept.
    ///
    /// # Errors
    /// If a row was not written before the deadline. Repeating the call completes it.
    pub async fn import(&self, table: Session<'_>, hour: UnixSeconds) -> Result<(usize, Self), Error> {
        let written = self.put(table, hour, "NOT (#known >= :known)").await?;
        let changed = written.into_iter().filter(|is_written| *is_written).count();
        Ok((changed, Self::read(table, hour).await?.sales))
    }

    /// Reads the sales of an hour. Corrupt rows and texts are counted and skipped.
    pub async fn read(table: Session<'_>, hour: UnixSeconds) -> Result<StoredSales, Error> {
        let rows = table.get_all(keys(SOLD.at(hour)), Reads::Consistent).await?;
        let sales = |(id, value): (&String, &AttributeValue)| {
            Some((id.parse().ok()?, sales_of_text(hour, value.as_s().ok()?)?))
        };
        let shards = each_readable(&rows, &SOLD.markers(), |row| {
            let known = Duration::from_millis(integer(row, KNOWN)?.unsigned_abs());
            let products = products(row)?;
            let items: Vec<_> = products.iter().filter_map(sales).collect();
            let corrupt = products.len() - items.len();
            if corrupt > 0 {
                let partition_key = text(row, PARTITION_KEY)?;
                let sort_key = slot_key(hour);
                tracing::warn!(
                    partition_key,
                    sort_key,
                    products = corrupt,
                    "corrupt sales of a row are skipped"
                );
            }
            Ok(Some((known, items, corrupt)))
        });
        let mut stored = StoredSales::default();
        for shard in shards {
            let (known, items, corrupt) = shard.unwrap_or_else(|| (Duration::ZERO, Vec::new(), 1));
            stored.sales.known = stored.sales.known.max(known);
            stored.sales.items.extend(items);
            stored.corrupt += corrupt;
        }
        Ok(stored)
    }
}

/// A page of an item's sales.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalesPage {
    /// The sales, newest first.
    pub sales: Vec<Sale>,
    /// The `before` of the next page, which is older and can be empty; `None` if there are no older sales.
    pub next_before: Option<UnixMilliseconds>,
}
/// Returns the item's newest sales before a time: at most `limit`, plus any other sales in the same
/// millisecond as the last one. Reads at most 200 rows.
pub async fn sales_before(
    table: Session<'_>,
    id: &AuctionItemId,
    before: UnixMilliseconds,
    limit: usize,
    now: UnixSeconds,
) -> Result<SalesPage, Error> {
    let partition = SOLD.partition(SOLD.shard(id.as_str()));
    let oldest = SOLD.oldest_slot(now).unwrap_or(FIRST_SLOT).max(FIRST_SLOT);
    let last = SOLD.slot(before.minus(Duration::from_millis(1)).into()).min(SOLD.slot(LAST_SLOT));
    let mut unread = Some(last);
    let mut sales = Vec::new();
    for most in READS {
        // Reads on until there is one sale more than `limit`, which shows that there is another page.
        // DynamoDB refuses a range of keys that ends before it begins.
        let Some(newest) = unread.filter(|newest| *newest >= oldest && sales.len() <= limit) else { break };
        let query = table.query_between(&partition, slot_key(oldest), slot_key(newest));
        let rows = table.rows(query.scan_index_forward(false), most).await?;
        let sold = readable(&rows, &partition, |row| sold_in(row, id).map(Some));
        sales.extend(sold.into_iter().flatten().filter(|sale| sale.sold_at < before));
        let last = rows.iter().rev().find_map(|row| slot_of(&SOLD, row).ok());
        let has_more = rows.len() == most;
        unread = if has_more { last.map(|slot| slot.start.minus(SOLD.length)) } else { None };
    }
    unread = unread.filter(|newest| *newest >= oldest);
    sales.sort_unstable_by(|one, other| other.cmp(one));
    let mut next_before = unread.map(|slot| SOLD.end(slot).into());
    if let Some(last) = sales.get(limit.saturating_sub(1)).map(|sale: &Sale| sale.sold_at) {
        let count = sales.partition_point(|sale| sale.sold_at >= last);
        if count < sales.len() || unread.is_some() {
            next_before = Some(last);
        }
        sales.truncate(count);
    }
    Ok(SalesPage { sales, next_before })
}

/// Returns the item's sales in a row.
fn sold_in(row: &Attributes, id: &AuctionItemId) -> Result<Vec<Sale>, Corrupt> {
    let hour = slot_of(&SOLD, row)?.start;
    let Some(value) = products(row)?.get(id.as_str()) else { return Ok(Vec::new()) };
    let sold = value.as_s().ok().and_then(|text| sales_of_text(hour, text));
    sold.ok_or(Corrupt::new(PRODUCTS, "a map of sales"))
}
