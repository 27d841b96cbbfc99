//! The progress of building the candles of a series. There is one row: `pk` is the series, and `sk` is
//! `built`.
//!
//! | attribute | value |
//! |---|---|
//! | `until` | the frontier: every candle that ends by this time is built, if there was data |
//! | `added` | the start of data that was added later and that no run has looked at |
//! | `again` | a run is rebuilding candles, and has finished the candles that end by this time |
//!
//! A run turns `added` into `again` before it reads the data. Data that is added in the meantime sets `added`
//! again, so no data is overlooked.

use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use common::time::UnixSeconds;

use super::candle::Series;
use crate::error::Error;
use crate::filing::Ticks;
use crate::item::{self, Attributes, Corrupt, integer, number, readable};
use crate::session::Session;

const BUILT: &str = "built";
const UNTIL: &str = "until";
const ADDED: &str = "added";
const AGAIN: &str = "again";

/// The progress of building the candles of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) until: Option<UnixSeconds>,
    pub(super) added: Option<UnixSeconds>,
    pub(super) again: Option<UnixSeconds>,
}

impl Progress {
    fn of_row(row: &Attributes) -> Result<Self, Corrupt> {
        let time = |attribute| {
            let time = row.contains_key(attribute).then(|| integer(row, attribute)).transpose()?;
            Ok(time.map(UnixSeconds::new))
        };
        Ok(Self { until: time(UNTIL)?, added: time(ADDED)?, again: time(AGAIN)? })
    }

    /// Reads the latest progress. A corrupt row is reset, so that all candles with data are built again.
    pub(super) async fn read(table: Session<'_>, series: &Series) -> Result<Self, Error> {
        let Some(row) = table.get(item::key(series.name, BUILT)).await? else { return Ok(Self::default()) };
        let progress = readable(std::slice::from_ref(&row), series.name, |row| Self::of_row(row).map(Some));
        if progress.is_empty() {
            let request = table.put_item().set_item(Some(item::key(series.name, BUILT)));
            table.write("PutItem", request.send()).await?;
        }
        Ok(progress.first().copied().unwrap_or_default())
    }

    /// Returns the frontier, for functions that may only query. `None` if the row is missing or corrupt.
    pub(super) async fn query(table: Session<'_>, series: &Series) -> Result<Option<UnixSeconds>, Error> {
        let rows = table.rows(table.query_between(series.name, BUILT, BUILT), 1).await?;
        let progress = readable(&rows, series.name, |row| Self::of_row(row).map(Some));
        Ok(progress.first().and_then(|progress| progress.until))
    }

    /// Writes `after` in place of `self`. Returns `false` if another run has changed the row since `self` was
    /// read.
    pub(super) async fn advance(
        self,
        table: Session<'_>,
        series: &Series,
        after: Self,
    ) -> Result<bool, Error> {
        let mut request = update(table, series);
        let mut sets = Vec::new();
        let mut removes = Vec::new();
        let mut conditions = Vec::new();
        let times = [
            (UNTIL, self.until, after.until),
            (ADDED, self.added, after.added),
            (AGAIN, self.again, after.again),
        ];
        for (attribute, before, after) in times.into_iter().filter(|(_, before, after)| before != after) {
            let name = format!("#{attribute}");
            request = request.expression_attribute_names(&name, attribute);
            conditions.push(match before {
                None => format!("attribute_not_exists({name})"),
                Some(_) => format!("{name} = :{attribute}_before"),
            });
            if let Some(before) = before {
                request =
                    request.expression_attribute_values(format!(":{attribute}_before"), number(before.get()));
            }
            match after {
                None => removes.push(name),
                Some(after) => {
                    sets.push(format!("{name} = :{attribute}"));
                    request =
                        request.expression_attribute_values(format!(":{attribute}"), number(after.get()));
                }
            }
        }
        let clause = |word: &str, parts: &[String]| {
            if parts.is_empty() { String::new() } else { format!("{word} {} ", parts.join(", ")) }
        };
        let expression = clause("SET", &sets) + &clause("REMOVE", &removes);
        let update = request.update_expression(expression).condition_expression(conditions.join(" AND "));
        Ok(table.write("UpdateItem", update.send()).await?.is_some())
    }
}

fn update(table: Session<'_>, series: &Series) -> UpdateItemFluentBuilder {
    table.update_item().set_key(Some(item::key(series.name, BUILT)))
}

/// Notes that data was added from the time `from` on. The next runs rebuild the candles with this data.
pub async fn build_again(table: Session<'_>, series: &Series, from: UnixSeconds) -> Result<(), Error> {
    let request = update(table, series)
        .update_expression("SET added = :from")
        .condition_expression("attribute_not_exists(added) OR added > :from")
        .expression_attribute_values(":from", number(from.get()));
    table.write("UpdateItem", request.send()).await.map(drop)
}

/// In a backfill, notes that the candles of the event's minute may have been built without that minute.
pub async fn note_late(table: Session<'_>, series: &Series, ticks: Ticks) -> Result<(), Error> {
    match ticks {
        Ticks::OfClock(_) => Ok(()),
        Ticks::OfEvent(tick) => build_again(table, series, tick.time().minus(series.reach)).await,
    }
}

/// Sets the frontier if it is not set. Candles that end by the frontier are not built from minutes.
pub async fn begin_at(table: Session<'_>, series: &Series, time: UnixSeconds) -> Result<(), Error> {
    let before = Progress::default();
    before.advance(table, series, Progress { until: Some(time), ..before }).await.map(drop)
}
