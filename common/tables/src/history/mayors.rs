//! Past mayors: one row for each election. `pk` is `mayors`, and `sk` is the year of the election in four
//! digits. The term is not stored, because it follows from the calendar.
//!
//! The provider can correct a mayor's data during the term, and can later return the uncorrected data again.
//! Each row therefore has the time of the provider's refresh in `last_updated`, and `Mayor::replaces` decides
//! which data is kept. Rows of version 0.1.0 lack `last_updated`.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::time::UnixSeconds;
use common::upstream::calendar::ElectionYear;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::item::{
    self, Attributes, Corrupt, SORT_KEY, each_readable, integer, number, readable, string, text,
};
use crate::session::{Session, if_unchanged};

const PARTITION: &str = "mayors";
const NAME: &str = "name";
const KEY: &str = "key";
const PERKS: &str = "perks";
const DESCRIPTION: &str = "description";
const LAST_UPDATED: &str = "last_updated";

/// A mayor and the election that they won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mayor {
    pub year: ElectionYear,
    pub name: String,
    /// The role, such as `mining`.
    pub key: String,
    pub perks: Vec<Perk>,
    /// When the provider refreshed these data, in Unix milliseconds; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Perk {
    pub name: String,
    /// The effect of the perk, with the game's `§` colour codes.
    pub description: String,
}

fn sort_key(year: ElectionYear) -> String {
    format!("{:04}", year.get())
}

impl Mayor {
    /// Whether this mayor replaces the stored mayor of the same year. The data with the later `last_updated`
    /// wins. If both are the same mayor, however, data with perks always wins over data without perks.
    fn replaces(&self, stored: &Self) -> bool {
        if self.name == stored.name && self.perks.is_empty() != stored.perks.is_empty() {
            return stored.perks.is_empty();
        }
        self.last_updated > stored.last_updated
    }

    fn row(&self) -> Attributes {
        let perks = self.perks.iter().map(|perk| {
            AttributeValue::M(Attributes::from([
                (NAME.to_owned(), string(&perk.name)),
                (DESCRIPTION.to_owned(), string(&perk.description)),
            ]))
        });
        let mut row = item::key(PARTITION, sort_key(self.year));
        row.insert(NAME.to_owned(), string(&self.name));
        row.insert(KEY.to_owned(), string(&self.key));
        row.insert(PERKS.to_owned(), AttributeValue::L(perks.collect()));
        row.extend(self.last_updated.map(|time| (LAST_UPDATED.to_owned(), number(time))));
        row
    }
}

/// Records the mayor if the year has no mayor yet, or if this mayor replaces the stored one. Returns whether
/// anything but `last_updated` changed.
pub async fn record(table: Session<'_>, mayor: &Mayor) -> Result<bool, Error> {
    let mut row = None;
    let mut stored = None::<Mayor>;
    loop {
        let request = table.put_item().set_item(Some(mayor.row()));
        let request = if_unchanged(request, row.as_ref(), &[LAST_UPDATED, PERKS]);
        if table.write("PutItem", request.send()).await?.is_some() {
            let of_the_time = |stored: Mayor| Mayor { last_updated: mayor.last_updated, ..stored };
            return Ok(stored.map(of_the_time).as_ref() != Some(mayor));
        }
        // The year already has a row, or another run or an import has replaced the row that was read.
        row = table.get(item::key(PARTITION, sort_key(mayor.year))).await?;
        stored = row.as_ref().and_then(of_row);
        if stored.as_ref().is_some_and(|stored| !mayor.replaces(stored)) {
            return Ok(false);
        }
    }
}

/// Returns the mayor who won the election of this year, if recorded.
pub async fn elected_in(table: Session<'_>, year: ElectionYear) -> Result<Option<Mayor>, Error> {
    Ok(table.get(item::key(PARTITION, sort_key(year))).await?.as_ref().and_then(of_row))
}

/// Returns the mayors whose terms have ended at the time `now` and began before the time `before`, newest
/// first, at most `limit`.
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
pub async fn recorded_since(table: Session<'_>) -> Result<Option<UnixSeconds>, Error> {
    let rows = table.rows(table.query_all(PARTITION), 1).await?;
    Ok(readable(&rows, PARTITION, mayor).first().map(|mayor| mayor.year.term_begins()))
}

/// Returns every recorded mayor, including the sitting one, oldest first; `None` for a corrupt row.
pub fn all(table: Session<'_>) -> impl Stream<Item = Result<Option<Mayor>, Error>> {
    let pages = table.pages(table.query_all(PARTITION));
    pages.map_ok(|rows| stream::iter(each_readable(&rows, PARTITION, mayor)).map(Ok)).try_flatten()
}

/// Returns the mayor in a row, unless the row is corrupt.
fn of_row(row: &Attributes) -> Option<Mayor> {
    readable(std::slice::from_ref(row), PARTITION, mayor).pop()
}

fn mayor(row: &Attributes) -> Result<Option<Mayor>, Corrupt> {
    let year = text(row, SORT_KEY)?.parse().ok().and_then(|number| ElectionYear::new(number).ok());
    let list = row.get(PERKS).and_then(|perks| perks.as_l().ok());
    let perks = list.and_then(|perks| perks.iter().map(perk).collect());
    Ok(Some(Mayor {
        year: year.ok_or(Corrupt::new(SORT_KEY, "the year of an election"))?,
        name: text(row, NAME)?,
        key: text(row, KEY)?,
        perks: perks.ok_or(Corrupt::new(PERKS, "a list of perks with names and descriptions"))?,
        last_updated: integer(row, LAST_UPDATED).ok(),
    }))
}

fn perk(value: &AttributeValue) -> Option<Perk> {
    let perk = value.as_m().ok()?;
    Some(Perk { name: text(perk, NAME).ok()?, description: text(perk, DESCRIPTION).ok()? })
}
