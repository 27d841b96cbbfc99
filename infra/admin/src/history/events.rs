//! Mayors and fire sales, one line per election or sale.

use std::pin::pin;

use common::json::whole_number;
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tables::history::fire_sales::{self, Fields, InvalidFireSale, Sighting};
use tables::history::mayors::{self, Mayor};
use tables::{Session, Table};

use super::patience::{OPERATION_TIMEOUT, patiently};
use crate::error::Error;
use crate::row_file::line::{BadLine, parse, past};
use crate::row_file::writer::Writer;
use crate::row_file::{Kind, Tally};

/// The longest line of a mayor, in bytes. A row of DynamoDB has at most 400 kB, and a mayor's row is not
/// larger than its line.
const MAX_MAYOR: usize = 300_000;

pub(super) struct Events {
    table: Table,
    tally: Tally,
}

/// The content of a line.
pub(super) enum Event {
    Mayor(Mayor),
    FireSale(Sighting),
}

/// The fields that tell a mayor from a fire sale.
#[derive(Deserialize)]
struct Distinction {
    year: Option<IgnoredAny>,
    item_id: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FireSaleLine {
    item_id: String,
    #[serde(deserialize_with = "whole_number")]
    start: i64,
    #[serde(deserialize_with = "whole_number")]
    end: i64,
    #[serde(deserialize_with = "whole_number")]
    amount: i64,
    #[serde(deserialize_with = "whole_number")]
    price: i64,
    recorded_at: UnixSeconds,
    seen_at: Option<UnixSeconds>,
}

fn mayor(line: &str, now: UnixSeconds) -> Result<Mayor, BadLine> {
    if line.len() > MAX_MAYOR {
        return Err(BadLine::new(format!("a mayor's line may have at most {MAX_MAYOR} bytes")));
    }
    let mayor: Mayor = parse(line)?;
    if mayor.name.is_empty() || mayor.key.is_empty() {
        return Err(BadLine::new("name and key must not be empty"));
    }
    // The row of a future election would keep `record-mayor` from recording the real winner.
    past("year: the end of its election", mayor.year.term_begins(), now)?;
    if let Some(last_updated) = mayor.last_updated {
        if last_updated < 0 {
            return Err(BadLine::new("last_updated: it must not be negative"));
        }
        // No row could replace a row whose `last_updated` is in the future, until that time is reached.
        past("last_updated", UnixMilliseconds::new(last_updated).into(), now)?;
    }
    Ok(mayor)
}

fn fire_sale(line: &str, now: UnixSeconds) -> Result<Sighting, BadLine> {
    let FireSaleLine { item_id, start, end, amount, price, recorded_at, seen_at } = parse(line)?;
    if amount < 0 || price < 0 {
        return Err(BadLine::new(format!("amount ({amount}) and price ({price}) must not be negative")));
    }
    if end < start {
        return Err(BadLine::new(format!("end: {end} is before start ({start})")));
    }
    let fields = Fields { item_id, start, end, amount, price };
    let sale = fields.try_into().map_err(|InvalidFireSale(reason)| BadLine::new(reason))?;
    let recorded_at = past("recorded_at", recorded_at, now)?;
    let seen_at = past("seen_at", seen_at.unwrap_or(recorded_at), now)?;
    if seen_at < recorded_at {
        return Err(BadLine::new(format!("seen_at: {seen_at} is before recorded_at ({recorded_at})")));
    }
    Ok(Sighting { sale, recorded_at, seen_at })
}

impl Events {
    pub(super) fn of(table: Table) -> Self {
        Self { table, tally: Tally::default() }
    }

    const fn session(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }
}

impl Kind for Events {
    type Record = Event;

    fn parse(line: &str, now: UnixSeconds) -> Result<Event, BadLine> {
        match parse(line)? {
            Distinction { year: Some(_), .. } => mayor(line, now).map(Event::Mayor),
            Distinction { item_id: Some(_), .. } => fire_sale(line, now).map(Event::FireSale),
            Distinction { .. } => {
                Err(BadLine::new("missing field: a mayor must have `year`, and a fire sale `item_id`"))
            }
        }
    }

    async fn store(&mut self, event: Event) -> Result<Option<String>, Error> {
        let is_new = match &event {
            Event::Mayor(mayor) => patiently(async || mayors::record(self.session(), mayor).await).await?,
            Event::FireSale(sale) => {
                patiently(async || fire_sales::record(self.session(), sale).await).await?
            }
        };
        self.tally.count(1, is_new);
        Ok(None)
    }

    fn summary(&self) -> String {
        format!("{}, ", self.tally.text("too old"))
    }

    async fn export(&mut self, writer: &mut Writer) -> Result<(), Error> {
        let mut mayors = pin!(mayors::all(self.session()));
        while let Some(mayor) = mayors.try_next().await? {
            writer.write(mayor).await?;
        }
        let mut fire_sales = pin!(fire_sales::all(self.session()));
        while let Some(sale) = fire_sales.try_next().await? {
            writer.write(sale).await?;
        }
        Ok(())
    }
}
