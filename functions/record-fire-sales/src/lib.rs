//! Records the fire sales that the provider shows, every minute, for `GET /v1/fire-sales/history`. It shows them only
//! while they are announced or run.

use std::error::Error;

use common::invocation::Invocation;
use common::params::Echo;
use common::time::Tick;
use common::upstream::fire_sales::{FireSale, FireSales, PATH};
use common::upstream::{Question, Upstream};
use serde::Serialize;
use tables::history::fire_sales::{self, Fields, Sighting};
use tables::{Recordable, Table};

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
        let FireSales { sales, .. } = reply.parse()?;
        let mut outcome = Outcome { shown: sales.len(), changed: 0 };
        for sale in sales {
            let Some(sighting) = sighting(&sale, tick) else { continue };
            let record = fire_sales::record(table, &sighting, invocation.deadline());
            outcome.changed += usize::from(invocation.waiting_for(record).await?);
        }
        Ok(outcome)
    }
}

/// The sale as it is seen at the tick. One that cannot be kept is left out with a warning: it must not keep the others from
/// being recorded.
fn sighting(sale: &FireSale<'_>, tick: Tick) -> Option<Sighting> {
    let fields = Fields {
        item_id: sale.item_id.decoded(),
        start: sale.start,
        end: sale.end,
        amount: sale.amount,
        price: sale.price,
    };
    match fields.try_into() {
        Ok(sale) => Some(Sighting { sale, recorded_at: tick.time(), seen_at: tick.time() }),
        Err(fire_sales::NoFireSale(reason)) => {
            let item_id = Echo::of(sale.item_id.get()).to_string();
            tracing::warn!(item_id, reason, "a fire sale is not recorded");
            None
        }
    }
}
