//! Past fire sales. Each sale has one row. The `pk` of the row is `fire-sales`, and its `sk` is the start in
//! Unix milliseconds (13 digits), `#`, and the id of the item.
//!
//! The recorder sees a sale many times, and the provider may correct the sale in the meantime. The row has
//! the time at which the sale was first seen, and the state in which it was last seen. First and last are
//! decided by the times of the ticks, not by the order of the writes.

use common::time::UnixSeconds;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, each_readable, integer, number, readable, string, text};
use crate::session::Session;

const PARTITION: &str = "fire-sales";
const ITEM: &str = "item_id";
const START: &str = "start";
const END: &str = "end";
const AMOUNT: &str = "amount";
const PRICE: &str = "price";
const RECORDED_AT: &str = "recorded_at";
const SEEN_AT: &str = "seen_at";

/// A fire sale whose start and item fit into a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FireSale {
    item_id: String,
    start: i64,
    end: i64,
    amount: i64,
    price: i64,
}

/// The fields of a fire sale, not yet checked.
#[derive(Debug)]
pub struct Fields {
    pub item_id: String,
    /// When it starts, in Unix milliseconds.
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    pub end: i64,
    /// The number of items for sale.
    pub amount: i64,
    /// The price of one item, in gems.
    pub price: i64,
}

/// A fire sale that cannot be stored.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidFireSale(pub &'static str);

impl TryFrom<Fields> for FireSale {
    type Error = InvalidFireSale;

    fn try_from(fields: Fields) -> Result<Self, InvalidFireSale> {
        const THIRTEEN_DIGITS: std::ops::Range<i64> = 1_000_000_000_000..10_000_000_000_000;
        let Fields { item_id, start, end, amount, price } = fields;
        if !(1..=256).contains(&item_id.len()) {
            return Err(InvalidFireSale("item_id must have 1 to 256 bytes"));
        }
        if !THIRTEEN_DIGITS.contains(&start) {
            return Err(InvalidFireSale(
                "start must be in Unix milliseconds, between the years 2001 and 2286",
            ));
        }
        Ok(Self { item_id, start, end, amount, price })
    }
}

/// A fire sale and when it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sighting {
    /// The sale as it was last seen.
    #[serde(flatten)]
    pub sale: FireSale,
    /// When it was first seen.
    pub recorded_at: UnixSeconds,
    /// When it was last seen.
    pub seen_at: UnixSeconds,
}

impl FireSale {
    #[must_use]
    pub fn item_id(&self) -> &str {
        &self.item_id
    }

    /// The number of items for sale.
    #[must_use]
    pub const fn amount(&self) -> i64 {
        self.amount
    }

    /// The price of one item, in gems.
    #[must_use]
    pub const fn price(&self) -> i64 {
        self.price
    }

    fn key(&self) -> Attributes {
        item::key(PARTITION, format!("{:013}#{}", self.start, self.item_id))
    }
}

/// Records the sighting, and returns whether the row changed.
pub async fn record(table: Session<'_>, sighting: &Sighting) -> Result<bool, Error> {
    let Sighting { sale, recorded_at, seen_at } = sighting;
    let update = || table.update_item().set_key(Some(sale.key()));
    // `start` and `end` are reserved words.
    let newest = update()
        .update_expression(
            "SET item_id = :item, #start = :start, #end = :end, amount = :amount, price = :price, \
             seen_at = :seen, recorded_at = if_not_exists(recorded_at, :recorded)",
        )
        .condition_expression("attribute_not_exists(seen_at) OR seen_at < :seen")
        .expression_attribute_names("#start", START)
        .expression_attribute_names("#end", END)
        .expression_attribute_values(":item", string(&sale.item_id))
        .expression_attribute_values(":start", number(sale.start))
        .expression_attribute_values(":end", number(sale.end))
        .expression_attribute_values(":amount", number(sale.amount))
        .expression_attribute_values(":price", number(sale.price))
        .expression_attribute_values(":seen", number(seen_at.get()))
        .expression_attribute_values(":recorded", number(recorded_at.get()));
    let is_newest = table.write("UpdateItem", newest.send()).await?.is_some();
    // If the sighting is the newest and is of a single tick, the stored `recorded_at` is not later than that
    // tick.
    if is_newest && recorded_at == seen_at {
        return Ok(true);
    }
    let earliest = update()
        .update_expression("SET recorded_at = :recorded")
        .condition_expression("recorded_at > :recorded")
        .expression_attribute_values(":recorded", number(recorded_at.get()));
    let is_earliest = table.write("UpdateItem", earliest.send()).await?.is_some();
    Ok(is_newest || is_earliest)
}

/// Returns the sales with the latest starts, latest first, at most `limit`.
pub async fn latest(table: Session<'_>, limit: usize) -> Result<Vec<Sighting>, Error> {
    let query = table.query_all(PARTITION).scan_index_forward(false);
    Ok(readable(&table.rows(query, limit).await?, PARTITION, sighting))
}

/// Returns the sales that were first seen before the time `before`, latest first: at most `limit`, plus any
/// other sales that were first seen at the same time as the last one, so that a next page can begin before
/// that time. Sales are sorted by their start, not by when they were first seen, so all sales are read, about
/// a hundred bytes each.
pub async fn seen_before(
    table: Session<'_>,
    before: UnixSeconds,
    limit: usize,
) -> Result<Vec<Sighting>, Error> {
    let mut sales = readable(&table.rows(table.query_all(PARTITION), usize::MAX).await?, PARTITION, sighting);
    sales.retain(|sale| sale.recorded_at < before);
    sales.sort_by_key(|sale| sale.recorded_at);
    sales.reverse();
    let last = limit.checked_sub(1).and_then(|last| sales.get(last)).map(|last| last.recorded_at);
    if let Some(last) = last {
        sales.truncate(sales.partition_point(|sale| sale.recorded_at >= last));
    }
    Ok(sales)
}

/// Returns when the sale that started first was first seen; `None` if there is no sale. Reads one row.
pub async fn recorded_since(table: Session<'_>) -> Result<Option<UnixSeconds>, Error> {
    let rows = table.rows(table.query_all(PARTITION), 1).await?;
    Ok(readable(&rows, PARTITION, sighting).first().map(|sighting| sighting.recorded_at))
}

/// Returns every sale, in the order of the starts; `None` for a corrupt row.
pub fn all(table: Session<'_>) -> impl Stream<Item = Result<Option<Sighting>, Error>> {
    let pages = table.pages(table.query_all(PARTITION));
    pages.map_ok(|rows| stream::iter(each_readable(&rows, PARTITION, sighting)).map(Ok)).try_flatten()
}

fn sighting(row: &Attributes) -> Result<Option<Sighting>, Corrupt> {
    let fields = Fields {
        item_id: text(row, ITEM)?,
        start: integer(row, START)?,
        end: integer(row, END)?,
        amount: integer(row, AMOUNT)?,
        price: integer(row, PRICE)?,
    };
    let sale = fields.try_into().map_err(|_| Corrupt::new(START, "the start of a fire sale"))?;
    let time = |attribute| integer(row, attribute).map(UnixSeconds::new);
    Ok(Some(Sighting { sale, recorded_at: time(RECORDED_AT)?, seen_at: time(SEEN_AT)? }))
}
