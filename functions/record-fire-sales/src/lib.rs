//! Every minute, records the fire sales that the provider shows, for `GET /v1/fire-sales/history`. The provider shows a sale only
//! while it is announced or running.

use std::error::Error;

use common::excerpt::Excerpt;
use common::invocation::Invocation;
use common::time::Tick;
use common::upstream::fire_sales::{FireSale, PATH, RawFireSales};
use common::upstream::{Upstream, UpstreamRequest};
use serde::Serialize;
use serde_json::value::RawValue;
use tables::history::fire_sales::{self, Fields, Sighting};
use tables::{Recorder, Session, Ticks};

/// How many characters the log has for an invalid sale.
const LONGEST_REASON: usize = 256;

/// The outcome of one tick.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The number of sales that the provider shows.
    shown: usize,
    /// The number of sales whose row was created or changed.
    changed: usize,
}

/// The `record-fire-sales` recorder.
#[derive(Debug)]
pub struct RecordFireSales;

impl Recorder for RecordFireSales {
    const NAME: &'static str = "record-fire-sales";

    type Outcome = Outcome;

    async fn record(
        upstream: &Upstream,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome), Box<dyn Error + Send + Sync>> {
        let response = upstream.get(invocation, &UpstreamRequest::of(PATH)).await?;
        let tick = ticks.current();
        let RawFireSales { sales, .. } = response.parse()?;
        let mut outcome = Outcome { shown: sales.len(), changed: 0 };
        let (sightings, invalid) = sightings(&sales, tick);
        if let Some(first) = invalid.first() {
            tracing::warn!(count = invalid.len(), first, "invalid fire sales are not recorded");
        }
        for sighting in sightings {
            outcome.changed += usize::from(fire_sales::record(table, &sighting).await?);
        }
        Ok((tick, outcome))
    }
}

/// Returns the sales as seen at the tick, and what is wrong with the invalid ones, which must not prevent the others from being
/// recorded.
fn sightings(sales: &[&RawValue], tick: Tick) -> (Vec<Sighting>, Vec<String>) {
    let (mut sightings, mut invalid) = (Vec::new(), Vec::new());
    for text in sales {
        match sale(text) {
            Ok(sale) => sightings.push(Sighting { sale, recorded_at: tick.time(), seen_at: tick.time() }),
            Err(reason) => {
                invalid.push(Excerpt::up_to(LONGEST_REASON, &format!("{reason}: {text}")).to_string());
            }
        }
    }
    (sightings, invalid)
}

fn sale(text: &RawValue) -> Result<fire_sales::FireSale, String> {
    let sale: FireSale<'_> = serde_json::from_str(text.get()).map_err(|error| error.to_string())?;
    let FireSale { item_id, start, end, amount, price } = sale;
    let fields = Fields { item_id: item_id.decoded(), start, end, amount, price };
    fields.try_into().map_err(|fire_sales::InvalidFireSale(reason)| reason.to_owned())
}
