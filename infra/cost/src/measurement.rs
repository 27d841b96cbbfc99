//! Runs the functions and collects what they consume.
//!
//! One tick is recorded for real. The slots of a range are then filled with copies of it, straight into the database, and
//! one product of each shard is queried: all products of a shard cost the same.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use common::routes::BAZAAR_HISTORY;
use common::time::UnixSeconds;
use common::upstream::{bazaar, fire_sales};
use local::{Binaries, Cloud, Progress, ProgressSink, Upstream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use simulator::{Clock, Fault};
use tables::history::bazaar::{TIERS, Tier};

use crate::error::Error;
use crate::figures::float;
use crate::history::{History, Place, Row};
use crate::report::{Additional, QueryCost, RangeCost, RangeSum, Report, RowBytes, TierCost};
use crate::snapshot::Snapshot;

/// The recorded tick: 2026-04-28T15:00:00Z. On a full three hours, all five tiers are due. The tick is fixed, so that the
/// figures change only when the service does.
const TICK: UnixSeconds = UnixSeconds::new(1_777_388_400);
/// The seed of the simulated game.
const SEED: u64 = 1;
/// The number of rows in the database, in memory, at a time.
const ROWS_AT_A_TIME: usize = 30_000;

/// What to measure.
#[derive(Clone)]
pub struct Options {
    /// A body of the provider's bazaar. Without one, the simulator's is used, with copies up to
    /// [`MIN_PRODUCTS`](crate::MIN_PRODUCTS).
    pub snapshot: Option<PathBuf>,
    /// Where the functions' binaries come from.
    pub binaries: Binaries,
    /// The number of ranges to measure, the shortest first.
    pub ranges: usize,
    /// The number of shards to query per range; without it, all of them.
    pub shards: Option<usize>,
    /// Is called after each step.
    pub progress: Option<ProgressSink>,
}

impl Default for Options {
    /// The whole measurement, with the simulator's snapshot and a development build of the functions.
    fn default() -> Self {
        Self {
            snapshot: None,
            binaries: Binaries::Build { release: false },
            ranges: TIERS.len(),
            shards: None,
            progress: None,
        }
    }
}

/// What history costs, measured now. The whole measurement takes about two minutes.
///
/// # Errors
/// Whatever [`Error`] lists. An invalid or too small snapshot fails before anything starts.
pub async fn measure(options: Options) -> Result<Report, Error> {
    let now_ms = TICK.get() * 1_000;
    let snapshot = match &options.snapshot {
        Some(path) => Snapshot::read(path).await?,
        None => Snapshot::of_simulator(&simulator::bazaar::body(SEED, now_ms))?,
    };
    let clock = Clock::system();
    clock.set(now_ms);
    let cloud = Cloud::start(local::Options {
        upstream: Upstream::Simulator { seed: SEED },
        binaries: options.binaries.clone(),
        // Requests run one after the other, so that capacity can be attributed to one request.
        concurrency: NonZeroU16::MIN,
        clock,
        ..local::Options::for_tests()
    })
    .await?;
    let history = History::of(&cloud)?;
    let report = Measurement { cloud: &cloud, history, options: &options }.report(&snapshot).await;
    cloud.shutdown().await;
    report
}

/// The part of `record-bazaar`'s response that is needed here.
#[derive(Deserialize)]
struct RecordedTick {
    recorded: RecordedPrices,
}

#[derive(Deserialize)]
struct RecordedPrices {
    products: usize,
    slots: Vec<RecordedSlot>,
}

#[derive(Deserialize)]
struct RecordedSlot {
    tier: String,
    rows: usize,
    write_units: f64,
}

/// The part of `bazaar-history`'s response that is needed here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProxyResponse {
    status_code: u16,
    body: String,
}

#[derive(Deserialize)]
struct Envelope {
    data: Chart,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chart {
    data_points: usize,
}

struct Measurement<'a> {
    cloud: &'a Cloud,
    history: History,
    options: &'a Options,
}

impl Measurement<'_> {
    async fn report(&self, snapshot: &Snapshot) -> Result<Report, Error> {
        // Products without a price are not recorded today, but may have one tomorrow.
        let (_, all_priced) = self.tiers(snapshot.all_priced()?).await?;
        self.history.clear().await?;
        let (priced, tiers) = self.tiers(snapshot.body()).await?;
        let rows = self.history.rows().await?;
        // Usually there is no fire sale, which costs nothing.
        self.serve(fire_sales::PATH, one_fire_sale());
        let additional = vec![
            self.marker_lookup(&rows).await?,
            self.other_recorder(
                "record-fire-sales",
                "record-fire-sales, for each sale shown",
                1,
                "UpdateItem",
            )
            .await?,
            self.other_recorder("record-mayor", "record-mayor", 5, "PutItem").await?,
        ];
        let ranges = self.ranges(&rows).await?;
        let (products, copies) = (snapshot.products(), snapshot.copies());
        Ok(Report { products, copies, priced, tiers, all_priced, ranges, additional })
    }

    /// Records the tick on an empty table. Returns the number of products with a price, and the cost of each tier.
    async fn tiers(&self, body: String) -> Result<(usize, Vec<TierCost>), Error> {
        const FUNCTION: &str = "record-bazaar";
        self.serve(bazaar::PATH, body);
        let RecordedTick { recorded } =
            self.invoke(FUNCTION, &json!({"time": TICK.to_string(), "backfill": true})).await?;
        let rows = self.history.rows().await?;
        let mut tiers = Vec::with_capacity(TIERS.len());
        for tier in &TIERS {
            let slot = recorded.slots.iter().find(|slot| slot.tier == tier.name);
            let marker = rows.iter().find(|row| row.place == Place::Marker(tier));
            let of_tier: Vec<_> = rows.iter().filter(|row| row.is_of(tier)).collect();
            let (Some(slot), Some(marker)) = (slot, marker) else {
                let reason = format!("it did not fill a slot of the tier {}", tier.name);
                return Err(unexpected(FUNCTION, reason));
            };
            if slot.rows != of_tier.len() {
                let reason = format!("{} rows of the tier {}, not {}", slot.rows, tier.name, of_tier.len());
                return Err(unexpected(FUNCTION, reason));
            }
            tiers.push(TierCost {
                tier,
                rows: slot.rows,
                row_bytes: RowBytes::of(of_tier.iter().map(|row| row.bytes())),
                write_units_per_tick: slot.write_units + self.history.write_units(marker).await?,
                marker_bytes: marker.bytes(),
                slots_kept: of_tier.iter().map(|row| row.slots_kept(tier)).max().unwrap_or_default(),
            });
        }
        Ok((recorded.products, tiers))
    }

    /// The cost of the markers that `record-bazaar` reads before it writes. It does not request its consumed capacity, so
    /// the same rows are read here.
    async fn marker_lookup(&self, rows: &[Row]) -> Result<Additional, Error> {
        let markers = rows.iter().filter(|row| matches!(row.place, Place::Marker(_)));
        Ok(Additional {
            what: "record-bazaar: which slots are complete",
            minutes: 1,
            read_units: self.history.read_units(markers).await?,
            write_units: 0.0,
        })
    }

    /// The cost of one run of another recorder. A write that fails its condition costs as much as one that succeeds, but
    /// `DynamoDB` does not report it. So the requests are counted, each at the cost of the largest row.
    async fn other_recorder(
        &self,
        function: &'static str,
        what: &'static str,
        minutes: u32,
        operation: &str,
    ) -> Result<Additional, Error> {
        // The first run creates rows; later runs usually change nothing.
        let _: Value = self.invoke(function, &json!({"time": TICK.to_string(), "backfill": true})).await?;
        let mut write_units = 0.0_f64;
        for row in self.history.rows().await?.iter().filter(|row| row.place == Place::Other(function)) {
            write_units = write_units.max(self.history.write_units(row).await?);
        }
        let before = self.cloud.dynamodb().requests(operation);
        let next = TICK.plus(Duration::from_mins(minutes.into()));
        let _: Value = self.invoke(function, &json!({"time": next.to_string(), "backfill": true})).await?;
        let requests = self.cloud.dynamodb().requests(operation) - before;
        Ok(Additional { what, minutes, read_units: 0.0, write_units: write_units * float(requests) })
    }

    async fn ranges(&self, rows: &[Row]) -> Result<Vec<RangeCost>, Error> {
        let shards = self.options.shards.unwrap_or(usize::MAX);
        let rows_of = |tier| rows.iter().filter(|row| row.is_of(tier)).take(shards).collect::<Vec<_>>();
        let tiers: Vec<_> =
            TIERS.iter().take(self.options.ranges).map(|tier| (tier, rows_of(tier))).collect();
        let total = tiers.iter().map(|(tier, rows)| u64::from(tier.slots) * rows.len() as u64).sum();
        let mut progress = Progress { done: 0, total, message: None };
        let mut ranges = Vec::with_capacity(tiers.len());
        for (tier, rows) in tiers {
            ranges.push(self.range(tier, &rows, &mut progress).await?);
        }
        Ok(ranges)
    }

    async fn range(
        &self,
        tier: &'static Tier,
        rows: &[&Row],
        progress: &mut Progress,
    ) -> Result<RangeCost, Error> {
        let mut sum = RangeSum::default();
        for rows in rows.chunks((ROWS_AT_A_TIME / tier.slots as usize).max(1)) {
            self.history.clear().await?;
            self.history.fill(tier, rows).await?;
            for row in rows {
                let Some(product) = row.products().into_iter().min() else { continue };
                let query = self.query(tier, product).await?;
                sum.add(tier, row, product, &query);
                progress.done += u64::from(tier.slots);
                if let Some(sink) = &self.options.progress {
                    sink(progress);
                }
            }
        }
        Ok(sum.of_range(tier))
    }

    /// Queries the chart of a product.
    async fn query(&self, tier: &'static Tier, product: &str) -> Result<QueryCost, Error> {
        let function = BAZAAR_HISTORY.function;
        let parameters = BTreeMap::from([("item_id", product), ("range", tier.range)]);
        let event = json!({
            "resource": BAZAAR_HISTORY.path,
            "path": BAZAAR_HISTORY.path,
            "httpMethod": "GET",
            "queryStringParameters": parameters,
            "requestContext": {"requestTimeEpoch": TICK.get() * 1_000},
        });
        let database = self.cloud.dynamodb();
        let (units_before, pages_before) = (database.consumed().read_units, database.requests("Query"));
        let response: ProxyResponse = self.invoke(function, &event).await?;
        let read_units = database.consumed().read_units - units_before;
        let pages = database.requests("Query") - pages_before;
        if response.status_code != 200 {
            return Err(unexpected(function, format!("status {} for {product}", response.status_code)));
        }
        let Envelope { data } =
            serde_json::from_str(&response.body).map_err(|error| unexpected(function, error.to_string()))?;
        // A chart with gaps would cost less.
        if data.data_points != tier.slots as usize {
            let reason = format!("{} points of {product}, not {}", data.data_points, tier.slots);
            return Err(unexpected(function, reason));
        }
        Ok(QueryCost { read_units, pages, response_bytes: response.body.len() })
    }

    /// From now on, the simulated provider responds to this path with this body.
    fn serve(&self, path: &str, body: String) {
        if let Some(simulator) = self.cloud.simulator() {
            simulator.set_fault(path, Fault::default().with_body(body));
        }
    }

    async fn invoke<T: DeserializeOwned>(&self, function: &'static str, event: &Value) -> Result<T, Error> {
        let response = self.cloud.invoke(function, event.to_string()).await?;
        serde_json::from_slice(&response).map_err(|error| unexpected(function, error.to_string()))
    }
}

/// The provider's body while one fire sale is shown.
fn one_fire_sale() -> String {
    let start = TICK.plus(Duration::from_hours(1)).get() * 1_000;
    let end = TICK.plus(Duration::from_hours(25)).get() * 1_000;
    let sale = json!({"item_id": "PET_SKIN_BLACK_CAT_IVORY", "start": start, "end": end, "amount": 3_000, "price": 500});
    json!({"success": true, "sales": [sale]}).to_string()
}

fn unexpected(function: &'static str, reason: String) -> Error {
    Error::Response { function, reason }
}
