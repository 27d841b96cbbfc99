//! Past mayors: one row for each election. `pk` is `mayors`, and `sk` the year of the election in four digits. The term is not
//! stored, because it follows from the calendar.

use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue;
use common::time::UnixSeconds;
use common::upstream::calendar::ElectionYear;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::error::Error;
use crate::item::{self, Corrupt, Item, SORT_KEY, readable, string, text};
use crate::session::Session;

const PARTITION: &str = "mayors";
const NAME: &str = "name";
const KEY: &str = "key";
const PERKS: &str = "perks";
const DESCRIPTION: &str = "description";

/// A mayor and the election that they won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mayor {
    /// The year of the election.
    pub year: ElectionYear,
    /// The display name.
    pub name: String,
    /// The role, such as `mining`.
    pub key: String,
    /// The perks of the term.
    pub perks: Vec<Perk>,
}

/// A perk of a mayor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Perk {
    /// The display name.
    pub name: String,
    /// Its effect, with the game's `§` colour codes.
    pub description: String,
}

fn sort_key(year: ElectionYear) -> String {
    format!("{:04}", year.get())
}

/// Writes the mayor unless the year has one, and returns whether it did.
///
/// # Errors
/// If the table does not answer in time.
pub async fn record(table: Session<'_>, mayor: &Mayor) -> Result<bool, Error> {
    let perks = mayor.perks.iter().map(|perk| {
        AttributeValue::M(Item::from([
            (NAME.to_owned(), string(&perk.name)),
            (DESCRIPTION.to_owned(), string(&perk.description)),
        ]))
    });
    let request = table
        .put_item()
        .set_item(Some(item::key(PARTITION, sort_key(mayor.year))))
        .item(NAME, string(&mayor.name))
        .item(KEY, string(&mayor.key))
        .item(PERKS, AttributeValue::L(perks.collect()))
        .condition_expression("attribute_not_exists(pk)");
    table.write("PutItem", request.send()).await.map(|written| written.is_some())
}

/// Returns the mayors whose terms have ended at the time `now` and began before the time `before`, newest first, at most `limit`.
///
/// # Errors
/// If the table does not answer in time.
pub async fn ended(
    table: Session<'_>,
    now: UnixSeconds,
    before: Option<UnixSeconds>,
    limit: usize,
) -> Result<Vec<Mayor>, Error> {
    let Some(mut last) = ElectionYear::sitting_at(now).and_then(ElectionYear::previous) else {
        return Ok(Vec::new());
    };
    if let Some(before) = before.filter(|before| *before <= last.term_begins()) {
        let Some(begun) = ElectionYear::sitting_at(before.minus(Duration::from_secs(1))) else {
            return Ok(Vec::new());
        };
        last = begun;
    }
    let query = table
        .query()
        .key_condition_expression("pk = :partition AND sk <= :last")
        .expression_attribute_values(":partition", string(PARTITION))
        .expression_attribute_values(":last", string(sort_key(last)))
        .scan_index_forward(false);
    Ok(readable(&table.rows(query, limit).await?, PARTITION, mayor))
}

/// Returns when the term of the oldest recorded mayor began; `None` if there is no mayor. Reads one row.
///
/// # Errors
/// If the table does not answer in time.
pub async fn recorded_since(table: Session<'_>) -> Result<Option<UnixSeconds>, Error> {
    let rows = table.rows(every(table), 1).await?;
    Ok(readable(&rows, PARTITION, mayor).first().map(|mayor| mayor.year.term_begins()))
}

/// Returns every recorded mayor, the sitting one included, oldest first.
///
/// # Errors
/// If the table does not answer in time.
pub fn all(table: Session<'_>) -> impl Stream<Item = Result<Mayor, Error>> {
    let pages = table.pages(every(table));
    pages.map_ok(|rows| stream::iter(readable(&rows, PARTITION, mayor)).map(Ok)).try_flatten()
}

fn every(table: Session<'_>) -> QueryFluentBuilder {
    table
        .query()
        .key_condition_expression("pk = :partition")
        .expression_attribute_values(":partition", string(PARTITION))
}

fn mayor(row: &Item) -> Result<Option<Mayor>, Corrupt> {
    let year = text(row, SORT_KEY)?.parse().ok().and_then(|number| ElectionYear::new(number).ok());
    let year = year.ok_or(Corrupt::new(SORT_KEY, "the year of an election"))?;
    let perks = row.get(PERKS).and_then(|perks| perks.as_l().ok());
    let perks = perks.and_then(|perks| perks.iter().map(perk).collect());
    let perks = perks.ok_or(Corrupt::new(PERKS, "a list of perks with names and descriptions"))?;
    Ok(Some(Mayor { year, name: text(row, NAME)?, key: text(row, KEY)?, perks }))
}

fn perk(value: &AttributeValue) -> Option<Perk> {
    let perk = value.as_m().ok()?;
    Some(Perk { name: text(perk, NAME).ok()?, description: text(perk, DESCRIPTION).ok()? })
}
