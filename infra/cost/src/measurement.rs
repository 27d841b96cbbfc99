//! Runs the functions and collects what they consume.
//!
//! One tick is recorded for real. The slots of a range are then filled with copies of it, straight into the database, and
//! one product of each shard is queried: all products of a shard cost the same. [`candles`](super::candles) does the same
//! with candles.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use common::routes::{BAZAAR_HISTORY, Route};
use common::time::UnixSeconds;
use common::upstream::{bazaar, fire_sales};
use local::{Binaries, Cloud, Progress, ProgressSink, Upstream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use simulator::{Clock, Fault};
use tables::history::bazaar::{TIERS, Tier};
use tables::history::candles::INTERVALS;

use crate::candles;
use crate::error::Error;
use crate::figures::float;
use crate::history::{History, Place, Row};
use crate::report::{Additional, QueryCost, ReadCost, ReadSum, Report, RowBytes, WriteCost, Writing};
use crate::snapshot::Snapshot;
use crate::targets::RANGE_TARGETS;

/// The recorded tick: 2026-04-28T15:00:00Z. On a full three hours, all five tiers are due. The tick is fixed, so that the
/// figures change only when the service does.
const TICK: UnixSeconds = UnixSeconds::new(1_777_388_400);
/// The seed of the simulated game.
const SEED: u64 = 1;
/// The number of rows in the database, in memory, at a time.
pub(super) const ROWS_AT_A_TIME: usize = 30_000;

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
    /// The number of shards to query per range and per interval of candles; without it, all of them.
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

/// What history costs, measured now. The whole measurement takes a few minutes.
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

/// The part of a response of `bazaar-history` and `bazaar-candles` that is needed here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProxyResponse {
    status_code: u16,
    body: String,
}

#[derive(Deserialize)]
struct Envelope {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    /// The number of points of a chart.
    #[serde(rename = "dataPoints")]
    data_points: Option<u32>,
    /// The number of candles of a page.
    count: Option<u32>,
}

pub(super) struct Measurement<'a> {
    pub(super) cloud: &'a Cloud,
    pub(super) history: History,
    pub(super) options: &'a Options,
}

impl Measurement<'_> {
    async fn report(&self, snapshot: &Snapshot) -> Result<Report, Error> {
        // Products without a price are not recorded today, but may have one tomorrow.
        let all_priced = snapshot.all_priced()?;
        let (_, tiers) = self.tiers(all_priced.body()).await?;
        let (candles, _) = self.candles(&all_priced).await?;
        let all_priced = Writing { tiers, candles };
        let (candles, rows_of_candles) = self.candles(snapshot).await?;
        self.history.clear().await?;
        let (priced, tiers) = self.tiers(snapshot.body()).await?;
        let writing = Writing { tiers, candles };
        let rows = self.history.rows().await?;
        // Usually there is no fire sale, which costs nothing.
        self.serve(fire_sales::PATH, one_fire_sale());
        let mut additional = vec![
            self.marker_lookup(&rows).await?,
            self.other_recorder(
                "record-fire-sales",
                "record-fire-sales, for each sale shown",
                1,
                "UpdateItem",
            )
            .await?,
            self.other_recorder("record-mayor", "record-mayor", 5, "PutItem").await?,
            self.heartbeats(&rows).await?,
        ];
        additional.push(self.built_lookup(&rows_of_candles).await?);
        let mut progress = Progress { done: 0, total: self.steps(&rows, &rows_of_candles), message: None };
        let ranges = self.ranges(&rows, &mut progress).await?;
        let pages = self.pages(&rows_of_candles, &mut progress).await?;
        let (products, copies) = (snapshot.products(), snapshot.copies());
        Ok(Report { products, copies, priced, writing, all_priced, ranges, pages, additional })
    }

    /// Records the tick on an empty table. Returns the number of products with a price, and the cost of each tier.
    async fn tiers(&self, body: String) -> Result<(usize, Vec<WriteCost>), Error> {
        const FUNCTION: &str = "record-bazaar";
        self.serve(bazaar::PATH, body);
        let RecordedTick { recorded } =
            self.invoke(FUNCTION, &json!({"time": TICK.to_string(), "backfill": true})).await?;
        let rows = self.history.rows().await?;
        let mut tiers = Vec::with_capacity(TIERS.len());
        for tier in &TIERS {
            let slot = recorded.slots.iter().find(|slot| slot.tier == tier.name);
            let marker = rows.iter().find(|row| row.place == Place::Marker(tier));
            let of_tier: Vec<_> = rows.iter().filter(|row| row.place == Place::Shard(tier)).collect();
            let (Some(slot), Some(marker)) = (slot, marker) else {
                let reason = format!("it did not fill a slot of the tier {}", tier.name);
                return Err(unexpected(FUNCTION, reason));
            };
            if slot.rows != of_tier.len() {
                let reason = format!("{} rows of the tier {}, not {}", slot.rows, tier.name, of_tier.len());
                return Err(unexpected(FUNCTION, reason));
            }
            tiers.push(WriteCost {
                name: tier.name,
                interval: tier.interval,
                shards: tier.shards,
                rows: slot.rows,
                row_bytes: RowBytes::of(of_tier.iter().map(|row| row.bytes())),
                write_units_per_slot: slot.write_units + self.history.write_units(marker).await?,
                read_units_per_slot: 0.0,
                marker_bytes: marker.bytes(),
                slots_kept: of_tier.iter().map(|row| row.slots_kept(tier.interval)).max().flatten(),
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

    /// The cost of the heartbeats of five minutes. Each run of a recorder reads and writes the row of its feed.
    async fn heartbeats(&self, rows: &[Row]) -> Result<Additional, Error> {
        const RUNS: [(&str, f64); 4] = [
            ("record-bazaar", 5.0),
            ("record-fire-sales", 5.0),
            ("record-mayor", 1.0),
            ("record-candles", 1.0),
        ];
        let runs: f64 = RUNS.iter().map(|(_, runs)| runs).sum();
        let row = rows.iter().find(|row| row.place == Place::Heartbeat);
        let row = row.ok_or_else(|| unexpected("record-bazaar", "it wrote no heartbeat".to_owned()))?;
        Ok(Additional {
            what: "heartbeats of all recorders",
            minutes: 5,
            read_units: runs * self.history.read_units(std::iter::once(row)).await?,
            write_units: runs * self.history.write_units(row).await?,
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
        // A run also writes its heartbeat, which is counted apart.
        let heartbeats = u64::from(operation == "PutItem");
        let requests = (self.cloud.dynamodb().requests(operation) - before).saturating_sub(heartbeats);
        Ok(Additional { what, minutes, read_units: 0.0, write_units: write_units * float(requests) })
    }

    /// The rows of a range or interval that are to be measured.
    pub(super) fn measured<'row>(&self, rows: &'row [Row], place: Place) -> Vec<&'row Row> {
        let shards = self.options.shards.unwrap_or(usize::MAX);
        rows.iter().filter(|row| row.place == place).take(shards).collect()
    }

    /// The number of rows that all queries read.
    fn steps(&self, rows: &[Row], rows_of_candles: &[Row]) -> u64 {
        let of_range = |tier| self.measured(rows, Place::Shard(tier)).len() as u64 * u64::from(tier.slots);
        let of_interval = |interval| self.measured(rows_of_candles, Place::Candles(interval)).len() as u64;
        TIERS.iter().take(self.options.ranges).map(of_range).sum::<u64>()
            + INTERVALS.iter().map(of_interval).sum::<u64>() * u64::from(candles::SLOTS)
    }

    async fn ranges(&self, rows: &[Row], progress: &mut Progress) -> Result<Vec<ReadCost>, Error> {
        let mut ranges = Vec::new();
        for tier in TIERS.iter().take(self.options.ranges) {
            ranges.push(self.range(tier, &self.measured(rows, Place::Shard(tier)), progress).await?);
        }
        Ok(ranges)
    }

    async fn range(
        &self,
        tier: &'static Tier,
        rows: &[&Row],
        progress: &mut Progress,
    ) -> Result<ReadCost, Error> {
        let mut sum = ReadSum::default();
        let slots: Vec<_> = (0..tier.slots).map(|back| TICK.minus(tier.interval * back)).collect();
        for rows in rows.chunks((ROWS_AT_A_TIME / tier.slots as usize).max(1)) {
            self.history.clear().await?;
            self.history.fill(rows.iter().copied(), &slots).await?;
            for row in rows {
                let Some(product) = row.products().into_iter().min() else { continue };
                let query = self.query_range(tier, product).await?;
                sum.add(row, tier.slots, product, &query);
                self.advance(progress, tier.slots);
            }
        }
        Ok(sum.of(tier.range.to_owned(), tier.slots, &RANGE_TARGETS))
    }

    pub(super) fn advance(&self, progress: &mut Progress, rows: u32) {
        progress.done += u64::from(rows);
        if let Some(sink) = &self.options.progress {
            sink(progress);
        }
    }

    /// Queries the chart of a product.
    async fn query_range(&self, tier: &'static Tier, product: &str) -> Result<QueryCost, Error> {
        let parameters = [("item_id", product), ("range", tier.range)];
        // A chart with gaps would cost less.
        self.query(&BAZAAR_HISTORY, &parameters, TICK, tier.slots).await
    }

    /// Sends a request to a route at this time. The response must have this number of points or candles.
    pub(super) async fn query(
        &self,
        route: &'static Route,
        parameters: &[(&str, &str)],
        now: UnixSeconds,
        points: u32,
    ) -> Result<QueryCost, Error> {
        let function = route.function;
        let event = json!({
            "resource": route.path,
            "path": route.path,
            "httpMethod": "GET",
            "queryStringParameters": parameters.iter().copied().collect::<BTreeMap<_, _>>(),
            "requestContext": {"requestTimeEpoch": now.get() * 1_000},
        });
        let database = self.cloud.dynamodb();
        let (units_before, pages_before) = (database.consumed().read_units, database.requests("Query"));
        let response: ProxyResponse = self.invoke(function, &event).await?;
        let read_units = database.consumed().read_units - units_before;
        let pages = database.requests("Query") - pages_before;
        if response.status_code != 200 {
            return Err(unexpected(function, format!("status {} for {parameters:?}", response.status_code)));
        }
        let Envelope { data } =
            serde_json::from_str(&response.body).map_err(|error| unexpected(function, error.to_string()))?;
        let (Data { data_points: Some(count), .. } | Data { count: Some(count), .. }) = data else {
            return Err(unexpected(function, "it has no number of points".to_owned()));
        };
        if count != points {
            return Err(unexpected(function, format!("{count} points for {parameters:?}, not {points}")));
        }
        Ok(QueryCost { read_units, pages, response_bytes: response.body.len() })
    }

    /// From now on, the simulated provider responds to this path with this body.
    pub(super) fn serve(&self, path: &str, body: String) {
        if let Some(simulator) = self.cloud.simulator() {
            simulator.set_fault(path, Fault::default().with_body(body));
        }
    }

    pub(super) async fn invoke<T: DeserializeOwned>(
        &self,
        function: &'static str,
        event: &Value,
    ) -> Result<T, Error> {
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

pub(super) fn unexpected(function: &'static str, reason: String) -> Error {
    Error::Response { function, reason }
}
