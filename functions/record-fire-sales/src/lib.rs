//! Records the fire sales that the provider shows, every minute, for `GET /v1/fire-sales/history`. It shows them only
//! while they are announced or run.

use std::error::Error;

use common::invocation::Invocation;
use common::params::Echo;
use common::time::Tick;
use common::upstream::fire_sales::{FireSale, PATH, UnreadFireSales};
use common::upstream::{Question, Upstream};
use serde::Serialize;
use serde_json::value::RawValue;
use tables::history::fire_sales::{self, Fields, Sighting};
use tables::{Recordable, Table};

/// How much the log says of a sale that makes no sense.
const LONGEST_REASON: usize = 256;

/// What was recorded.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// How many sales the provider shows.
    shown: usize,
    /// How many of them were new, or seen at a tick that is newer or earlier than all before.
    changed: usize,
}

/// What this function records.
#[derive(Debug)]
pub struct RecordFireSales;

impl Recordable for RecordFireSales {
    const NAME: &'static str = "record-fire-sales";

    type Outcome = Outcome;

    async fn record(
        upstream: &Upstream,
        table: &Table,
        tick: Tick,
        invocation: &Invocation,
    ) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
        let reply = upstream.get(invocation, &Question::of(PATH)).await?;
        let UnreadFireSales { sales, .. } = reply.parse()?;
        let mut outcome = Outcome { shown: sales.len(), changed: 0 };
        let (sightings, refused) = sightings(&sales, tick);
        if let Some(first) = refused.first() {
            tracing::warn!(count = refused.len(), first, "fire sales that make no sense are not recorded");
        }
        for sighting in sightings {
            let record = fire_sales::record(table, &sighting, invocation.deadline());
            outcome.changed += usize::from(invocation.waiting_for(record).await?);
        }
        Ok(outcome)
    }
}

/// The sales as they are seen at the tick, and what is wrong with those that cannot be kept: they must not keep the others
/// from being recorded.
fn sightings(sales: &[&RawValue], tick: Tick) -> (Vec<Sighting>, Vec<String>) {
    let (mut sightings, mut refused) = (Vec::new(), Vec::new());
    for text in sales {
        match sale(text) {
            Ok(sale) => sightings.push(Sighting { sale, recorded_at: tick.time(), seen_at: tick.time() }),
            Err(reason) => {
                refused.push(Echo::up_to(LONGEST_REASON, &format!("{reason}: {text}")).to_string());
            }
        }
    }
    (sightings, refused)
}

fn sale(text: &RawValue) -> Result<fire_sales::FireSale, String> {
    let sale: FireSale<'_> = serde_json::from_str(text.get()).map_err(|error| error.to_string())?;
    let FireSale { item_id, start, end, amount, price } = sale;
    let fields = Fields { item_id: item_id.decoded(), start, end, amount, price };
    fields.try_into().map_err(|fire_sales::NoFireSale(reason)| reason.to_owned())
}
