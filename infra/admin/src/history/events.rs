//! Mayors and fire sales, one line per election or sale.

use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::calendar::ElectionYear;
use common::upstream::json::whole_number;
use futures_util::{StreamExt, TryStreamExt};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use tables::history::fire_sales::{self, Fields, InvalidFireSale, Sighting};
use tables::history::mayors::{self, Mayor, Perk};
use tables::{Error, Session, Table};

use super::kind::{Kind, OPERATION_TIMEOUT, Rows, Stored, Tally, patiently};
use super::line::{self, BadLine, not_empty, past};

/// The longest line of a mayor, in bytes. A row of DynamoDB has at most 400 kB, and is not larger than its line.
const MAX_MAYOR: usize = 300_000;

/// The table's mayors and fire sales.
pub(super) struct Events(pub(super) Table);

/// The content of a line.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Event {
    Mayor(Mayor),
    FireSale(Sighting),
}

/// The fields that only one of the two has.
#[derive(Deserialize)]
struct Distinction {
    year: Option<IgnoredAny>,
    item_id: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MayorLine {
    #[serde(deserialize_with = "election_year")]
    year: ElectionYear,
    #[serde(deserialize_with = "not_empty")]
    name: String,
    #[serde(deserialize_with = "not_empty")]
    key: String,
    perks: Vec<PerkLine>,
    last_updated: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a perk: {\"name\":…,\"description\":…}")]
struct PerkLine {
    name: String,
    description: String,
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

fn election_year<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ElectionYear, D::Error> {
    let number = whole_number(deserializer)?;
    let year = u32::try_from(number).ok().and_then(|number| ElectionYear::new(number).ok());
    year.ok_or_else(|| {
        let last = ElectionYear::LAST;
        D::Error::custom(format_args!(
            "{number} is out of range: the year of an election is from 1 to {last}"
        ))
    })
}

fn mayor(line: &str, now: UnixSeconds) -> Result<Mayor, BadLine> {
    if line.len() > MAX_MAYOR {
        return Err(BadLine::new(format!("a mayor's line may have at most {MAX_MAYOR} bytes")));
    }
    let MayorLine { year, name, key, perks, last_updated } = line::parse(line)?;
    // The row of a future election would keep the recorder from recording the real winner.
    let sitting = ElectionYear::sitting_at(now);
    if sitting.is_some_and(|sitting| year > sitting) {
        return Err(BadLine::new(format!(
            "year: election {} closes at {}, which is in the future",
            year.get(),
            year.term_begins()
        )));
    }
    let perks = perks.into_iter().map(|PerkLine { name, description }| Perk { name, description });
    if let Some(last_updated) = last_updated {
        // No later row would replace it.
        past("last_updated", UnixMilliseconds::new(last_updated).into(), now)?;
    }
    Ok(Mayor { year, name, key, perks: perks.collect(), last_updated })
}

fn fire_sale(line: &str, now: UnixSeconds) -> Result<Sighting, BadLine> {
    let FireSaleLine { item_id, start, end, amount, price, recorded_at, seen_at } = line::parse(line)?;
    let sale = Fields { item_id, start, end, amount, price };
    let sale = sale.try_into().map_err(|InvalidFireSale(reason)| BadLine::new(reason))?;
    let recorded_at = past("recorded_at", recorded_at, now)?;
    let seen_at = past("seen_at", seen_at.unwrap_or(recorded_at), now)?;
    if seen_at < recorded_at {
        return Err(BadLine::new(format!(
            "seen_at: {seen_at} is before recorded_at, {recorded_at}; it must be the last time the sale was seen"
        )));
    }
    Ok(Sighting { sale, recorded_at, seen_at })
}

impl Events {
    fn session(&self) -> Session<'_> {
        self.0.with_timeout(OPERATION_TIMEOUT)
    }
}

impl Kind for Events {
    type Row = Event;

    fn parse(line: &str, now: UnixSeconds) -> Result<Event, BadLine> {
        match line::parse(line)? {
            Distinction { year: Some(_), .. } => mayor(line, now).map(Event::Mayor),
            Distinction { item_id: Some(_), .. } => fire_sale(line, now).map(Event::FireSale),
            Distinction { .. } => {
                Err(BadLine::new("missing field: a mayor must have `year`, and a fire sale `item_id`"))
            }
        }
    }

    async fn store(&mut self, event: Event, tally: &mut Tally) -> Result<(), Error> {
        let is_new = match &event {
            Event::Mayor(mayor) => patiently(async || mayors::record(self.session(), mayor).await).await?,
            Event::FireSale(sale) => {
                patiently(async || fire_sales::record(self.session(), sale).await).await?
            }
        };
        tally.count(1, is_new);
        Ok(())
    }

    async fn finish(&mut self, _: &mut Tally) -> Result<(), Error> {
        Ok(())
    }

    async fn rows(&self) -> Result<Rows<'_, Event>, Error> {
        let mayors = mayors::all(self.session()).map_ok(|mayor| Stored::of(mayor.map(Event::Mayor)));
        let fire_sales = fire_sales::all(self.session());
        let fire_sales = fire_sales.map_ok(|sale| Stored::of(sale.map(Event::FireSale)));
        Ok((None, mayors.chain(fire_sales).boxed_local()))
    }
}
