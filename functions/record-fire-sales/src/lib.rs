//! Every minute, records the fire sales that the provider shows, for `GET /v1/fire-sales/history`. The
//! provider shows a sale only while it is announced or running.

use std::error::Error;

use common::config::Config;
use common::excerpt::Excerpt;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::time::Tick;
use common::upstream::fire_sales::{self, FireSale, PATH};
use common::upstream::{Rows, Skipped, Upstream, UpstreamRequest};
use recorder::feed::{self, Feed};
use recorder::{Attempt, Recorder, repeat};
use serde::Serialize;
use tables::history::fire_sales::{self as history, Fields, Sighting};
use tables::{Session, Ticks};

/// The maximum length of the reason for an invalid sale in the log, in characters.
const LONGEST_REASON: usize = 256;

#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The number of sales that the provider shows.
    shown: usize,
    /// The number of rows that were created or changed.
    changed: usize,
}

#[derive(Debug)]
pub struct RecordFireSales(Upstream);

impl Recorder for RecordFireSales {
    const NAME: &'static str = "record-fire-sales";

    const FEED: &'static Feed = &feed::FIRE_SALES;

    type Outcome = Outcome;

    type Public = ();

    fn new(config: &Config) -> Result<Self, StartError> {
        Ok(Self(Upstream::provider(config, None)?))
    }

    async fn warm_up(&self) {
        self.0.warm_up().await;
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<Attempt<Outcome>, Box<dyn Error + Send + Sync>> {
        let fetch = |attempt: Invocation| async move {
            let response = self.0.get(&attempt, &UpstreamRequest::of(PATH)).await?;
            let tick = ticks.current().tick;
            let sales = fire_sales::parse(&response)?;
            let shown = sales.usable.len() + sales.skipped.names.len();
            Ok((tick, shown, sightings(sales, tick)))
        };
        let (tick, shown, (sightings, skipped)) = repeat(invocation, fetch).await?;
        let mut outcome = Outcome { shown, changed: 0 };
        if let Some(first) = &skipped.reason {
            let (some, first) = (skipped.first_names(), Excerpt::up_to(LONGEST_REASON, first).to_string());
            tracing::warn!(count = skipped.names.len(), some, first, "invalid fire sales are not recorded");
        }
        for sighting in sightings {
            outcome.changed += usize::from(history::record(table, &sighting).await?);
        }
        Ok(Attempt::of(tick, outcome))
    }
}

/// Returns the sales as seen at the tick, and the invalid sales, which must not stop the others from being
/// recorded.
fn sightings(sales: Rows<FireSale<'_>>, tick: Tick) -> (Vec<Sighting>, Skipped) {
    let Rows { usable, mut skipped } = sales;
    let mut sightings = Vec::with_capacity(usable.len());
    for FireSale { item_id, start, end, amount, price } in usable {
        let fields = Fields { item_id: item_id.decoded().into_owned(), start, end, amount, price };
        match fields.try_into() {
            Ok(sale) => sightings.push(Sighting { sale, recorded_at: tick.time(), seen_at: tick.time() }),
            Err(history::InvalidFireSale(reason)) => skipped.add(item_id.decoded().into_owned(), reason),
        }
    }
    (sightings, skipped)
}
