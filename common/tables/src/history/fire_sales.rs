//! Past fire sales: one row for each, under `pk` `fire-sales` and, as `sk`, its start in Unix milliseconds (13 digits) and
//! its item.
//!
//! A sale is seen many times, and the provider may correct it meanwhile. The row keeps when it was first seen and what was
//! seen last, by the time of the ticks and not by the order in which they come.

use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use common::time::UnixSeconds;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::item::{self, Corrupt, Item, integer, number, readable, string, text};
use crate::{Error, Table};

const PARTITION: &str = "fire-sales";
const ITEM: &str = "item_id";
const START: &str = "start";
const END: &str = "end";
const AMOUNT: &str = "amount";
const PRICE: &str = "price";
const RECORDED_AT: &str = "recorded_at";
const SEEN_AT: &str = "seen_at";

/// A fire sale with what it is known by: times that fit into its key, and an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct FireSale {
    item_id: String,
    start: i64,
    end: i64,
    amount: i64,
    price: i64,
}

/// A fire sale as it comes.
#[derive(Debug, Deserialize)]
pub struct Fields {
    /// The item that is sold.
    pub item_id: String,
    /// When it begins, in Unix milliseconds.
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    pub end: i64,
    /// How many are for sale.
    pub amount: i64,
    /// The price of one, in gems.
    pub price: i64,
}

/// Something that cannot be kept as a fire sale.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoFireSale(pub &'static str);

impl TryFrom<Fields> for FireSale {
    type Error = NoFireSale;

    fn try_from(fields: Fields) -> Result<Self, NoFireSale> {
        const THIRTEEN_DIGITS: std::ops::Range<i64> = 1_000_000_000_000..10_000_000_000_000;
        let Fields { item_id, start, end, amount, price } = fields;
        if !(1..=256).contains(&item_id.len()) {
            return Err(NoFireSale("item_id must have 1 to 256 bytes"));
        }
        if !THIRTEEN_DIGITS.contains(&start) {
            return Err(NoFireSale("start must be in Unix milliseconds, between the years 2001 and 2286"));
        }
        Ok(Self { item_id, start, end, amount, price })
    }
}

/// A fire sale and when it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    /// The sale, as it was seen last.
    #[serde(flatten)]
    pub sale: FireSale,
    /// When it was seen first.
    pub recorded_at: UnixSeconds,
    /// When it was seen last.
    pub seen_at: UnixSeconds,
}

impl FireSale {
    /// The item that is sold.
    #[must_use]
    pub fn item_id(&self) -> &str {
        &self.item_id
    }

    /// How many are for sale.
    #[must_use]
    pub const fn amount(&self) -> i64 {
        self.amount
    }

    /// The price of one, in gems.
    #[must_use]
    pub const fn price(&self) -> i64 {
        self.price
    }

    fn key(&self) -> Item {
        item::key(PARTITION, format!("{:013}#{}", self.start, self.item_id))
    }
}

/// Takes note of what was seen, and says whether that changed anything.
///
/// # Errors
/// If the table does not answer in time.
pub async fn record(table: &Table, sighting: &Sighting, deadline: Instant) -> Result<bool, Error> {
    let Sighting { sale, recorded_at, seen_at } = sighting;
    let update = || table.client().update_item().table_name(table.name()).set_key(Some(sale.key()));
    // `end` is a word of DynamoDB's own.
    let newer = update()
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
    let newer = table.unless_refused("UpdateItem", deadline, newer.send()).await?.is_some();
    let earlier = update()
        .update_expression("SET recorded_at = :recorded")
        .condition_expression("recorded_at > :recorded")
        .expression_attribute_values(":recorded", number(recorded_at.get()));
    // What is seen later than all before is not seen earlier than all before.
    if newer && recorded_at == seen_at {
        return Ok(true);
    }
    let earlier = table.unless_refused("UpdateItem", deadline, earlier.send()).await?.is_some();
    Ok(newer || earlier)
}

/// The sales by their start, newest first, at most `limit`.
///
/// # Errors
/// If the table does not answer in time.
pub async fn latest(table: &Table, limit: usize, deadline: Instant) -> Result<Vec<Sighting>, Error> {
    let query = every(table).scan_index_forward(false);
    Ok(readable(&table.rows(query, limit, deadline).await?, PARTITION, sighting))
}

/// Every sale, by its start, oldest first. Each page of them may take as long as `patience`.
///
/// # Errors
/// If the table does not answer in time.
pub fn all(table: &Table, patience: Duration) -> impl Stream<Item = Result<Sighting, Error>> {
    let pages = table.pages(every(table), patience);
    pages.map_ok(|rows| stream::iter(readable(&rows, PARTITION, sighting)).map(Ok)).try_flatten()
}

fn every(table: &Table) -> QueryFluentBuilder {
    table
        .query()
        .key_condition_expression("pk = :partition")
        .expression_attribute_values(":partition", string(PARTITION))
}

fn sighting(row: &Item) -> Result<Option<Sighting>, Corrupt> {
    let fields = Fields {
        item_id: text(row, ITEM)?,
        start: integer(row, START)?,
        end: integer(row, END)?,
        amount: integer(row, AMOUNT)?,
        price: integer(row, PRICE)?,
    };
    let sale = fields.try_into().map_err(|_| Corrupt::new(START, "that of a fire sale"))?;
    let moment = |attribute| integer(row, attribute).map(UnixSeconds::new);
    Ok(Some(Sighting { sale, recorded_at: moment(RECORDED_AT)?, seen_at: moment(SEEN_AT)? }))
}
