//! Past mayors and fire sales, as their recorders would have recorded them.

use std::iter::successors;
use std::time::Duration;

use common::time::UnixSeconds;
use common::upstream::calendar::ElectionYear;
use serde::Deserialize;
use serde_json::{Value, from_str};
use simulator::election;
use tables::Table;
use tables::history::fire_sales::{self, Fields, Sighting};
use tables::history::mayors::{self, Mayor};

use super::past::TIMEOUT;
use super::progress::Progress;

/// The interval and the number of the ticks that record fire sales. Simulated fire sales last for days.
const FIRE_SALES_INTERVAL: Duration = Duration::from_hours(6);
const FIRE_SALES_TICKS: u32 = 90 * 4;
/// The number of past mayors: the maximum in a response.
const PAST_MAYORS: usize = 100;

/// Records past mayors and fire sales, the newest first.
pub(super) async fn record(table: &Table, seed: u64, now: UnixSeconds, progress: &Progress) {
    let years = successors(ElectionYear::sitting_at(now), |year| year.previous()).skip(1).take(PAST_MAYORS);
    for mayor in years.filter_map(|year| mayor(seed, year)) {
        let record = || mayors::record(table.with_timeout(TIMEOUT), &mayor);
        progress.retry(&mayor.name, record).await;
    }
    let newest = now.rounded_down(FIRE_SALES_INTERVAL);
    let ticks = (0..FIRE_SALES_TICKS).map(|number| newest.minus(FIRE_SALES_INTERVAL * number));
    for sighting in ticks.flat_map(|tick| sightings(seed, tick)) {
        let record = || fire_sales::record(table.with_timeout(TIMEOUT), &sighting);
        progress.retry(sighting.sale.item_id(), record).await;
    }
}

fn mayor(seed: u64, year: ElectionYear) -> Option<Mayor> {
    let body: Value = from_str(&election::body(seed, year.term_begins().get() * 1_000)).ok()?;
    let mayor = body.get("mayor")?;
    let text = |field: &str| Some(mayor.get(field)?.as_str()?.to_owned());
    let (perks, last_updated) =
        (Vec::deserialize(mayor.get("perks")?).ok()?, body.get("lastUpdated")?.as_i64());
    Some(Mayor { year, name: text("name")?, key: text("key")?, perks, last_updated })
}

/// Returns the fire sales as seen at the tick.
fn sightings(seed: u64, tick: UnixSeconds) -> Vec<Sighting> {
    let body: Value = from_str(&simulator::fire_sales::body(seed, tick.get() * 1_000)).unwrap_or_default();
    let sighting = |sale: &Value| {
        let item_id = sale.get("item_id")?.as_str()?.to_owned();
        let [start, end, amount, price] =
            ["start", "end", "amount", "price"].map(|field| sale.get(field)?.as_i64());
        let fields = Fields { item_id, start: start?, end: end?, amount: amount?, price: price? };
        Some(Sighting { sale: fields.try_into().ok()?, recorded_at: tick, seen_at: tick })
    };
    body.get("sales").and_then(Value::as_array).into_iter().flatten().filter_map(sighting).collect()
}
