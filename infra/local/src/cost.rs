//! What history costs on AWS: `cargo local cost`. A bill comes a month late and a wrong shard count is for ever, so the
//! real recorders and the real route run here against the embedded `DynamoDB`, which says what it would have billed.
//!
//! One tick is recorded for real. The slots of a range are then filled with copies of it, straight into the database, and
//! one product of every shard is asked for: products of one shard cost the same.

mod history;
mod report;
mod snapshot;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use common::routes::BAZAAR_HISTORY;
use common::time::UnixSeconds;
use common::upstream::{bazaar, fire_sales};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use simulator::{Clock, Fault};
use tables::history::bazaar::{TIERS, Tier};

use self::history::{History, Place, Row};
pub use self::report::{
    Additional, MOST_PAGES, MOST_READ_UNITS, MOST_READ_UNITS_WORST, MOST_WRITE_UNITS, RangeCost, Report,
    RowBytes, TierCost,
};
use self::snapshot::Snapshot;
use crate::InvocationError;
use crate::backfill::{Progress, ProgressSink};
use crate::cloud::{self, Binaries, Cloud, Upstream};

/// How many products a snapshot must have: with fewer, the figures would flatter.
pub const FEWEST_PRODUCTS: usize = 1_900;

/// The tick that is recorded: 2026-04-28T15:00:00Z. At a full three hours all five tiers are due, as they are in operation
/// at the first tick of a slot. It is always the same one, so that the figures change only when something else does.
const TICK: UnixSeconds = UnixSeconds::new(1_777_388_400);
/// The simulated game that is recorded.
const SEED: u64 = 1;
/// How many rows are in the database at a time, in memory.
const ROWS_AT_A_TIME: usize = 30_000;

/// What to measure, and with what.
#[derive(Clone)]
pub struct Options {
    /// A body of the provider's bazaar; without one, the simulator's, made up to [`FEWEST_PRODUCTS`] with copies.
    pub snapshot: Option<PathBuf>,
    /// The functions.
    pub binaries: Binaries,
    /// How many ranges are measured, the shortest first. The longest hold nearly all rows and take nearly all the time.
    pub ranges: usize,
    /// Takes every step.
    pub progress: Option<ProgressSink>,
}

impl Default for Options {
    /// All of it, with the simulator's snapshot and functions of the development build.
    fn default() -> Self {
        Self {
            snapshot: None,
            binaries: Binaries::Build { release: false },
            ranges: TIERS.len(),
            progress: None,
        }
    }
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file of the snapshot cannot be read.
    #[error("cannot read the snapshot {}: {cause}", path.display())]
    ReadSnapshot {
        /// Where it was looked for.
        path: PathBuf,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The snapshot is something else.
    #[error("the snapshot is no body of the provider's bazaar: {0}")]
    NoSnapshot(String),
    /// The snapshot is not representative.
    #[error("the snapshot has {0} products, and it takes {FEWEST_PRODUCTS} to say what history costs")]
    FewProducts(usize),
    /// The cloud does not start.
    #[error(transparent)]
    Cloud(#[from] crate::Error),
    /// A function does not answer.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
    /// A function answers something else than it should.
    #[error("{function} answered otherwise than expected: {reason}")]
    Answer {
        /// The function's binary.
        function: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The embedded database fails.
    #[error("the embedded DynamoDB fails: {0}")]
    DynamoDb(String),
}

/// What history costs, as measured here and now. It takes about two minutes, with two ranges some seconds.
///
/// # Errors
/// Whatever [`Error`] lists; a snapshot that is none or too small before anything starts.
pub async fn measure(options: Options) -> Result<Report, Error> {
    let now_ms = TICK.get() * 1_000;
    let snapshot = match &options.snapshot {
        Some(path) => Snapshot::read(path).await?,
        None => Snapshot::of_simulator(&simulator::bazaar::body(SEED, now_ms))?,
    };
    let clock = Clock::system();
    clock.set(now_ms);
    let cloud = Cloud::start(cloud::Options {
        upstream: Upstream::Simulator { seed: SEED },
        binaries: options.binaries.clone(),
        // One after the other, so that what is consumed between two moments is one request's.
        concurrency: NonZeroU16::MIN,
        clock,
        ..cloud::Options::for_tests()
    })
    .await?;
    let history = History::of(&cloud)?;
    let report = Measurement { cloud: &cloud, history, options: &options }.report(&snapshot).await;
    cloud.shutdown().await;
    report
}

/// What `record-bazaar` answers, as far as it matters here.
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

/// What `bazaar-history` answers, as far as it matters here.
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

/// One product of a shard, asked for.
struct Query {
    read_units: f64,
    pages: u64,
    answer_bytes: usize,
}

struct Measurement<'a> {
    cloud: &'a Cloud,
    history: History,
    options: &'a Options,
}

impl Measurement<'_> {
    async fn report(&self, snapshot: &Snapshot) -> Result<Report, Error> {
        // Of products without a price nothing is recorded, and nobody knows how many have none tomorrow.
        let (_, all_priced) = self.tiers(snapshot.all_priced()?).await?;
        self.history.clear().await?;
        let (priced, tiers) = self.tiers(snapshot.body()).await?;
        let rows = self.history.rows().await?;
        // Mostly none is shown, which costs nothing.
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

    /// Records the tick on an empty table: how many products it has, and what each tier takes.
    async fn tiers(&self, body: String) -> Result<(usize, Vec<TierCost>), Error> {
        const FUNCTION: &str = "record-bazaar";
        self.serve(bazaar::PATH, body);
        let RecordedTick { recorded } = self.ask(FUNCTION, &json!({"time": TICK.to_string()})).await?;
        let rows = self.history.rows().await?;
        let mut tiers = Vec::with_capacity(TIERS.len());
        for tier in &TIERS {
            let slot = recorded.slots.iter().find(|slot| slot.tier == tier.name);
            let marker = rows.iter().find(|row| row.place == Place::Marker(tier));
            let of_tier: Vec<_> = rows.iter().filter(|row| row.is_of(tier)).collect();
            let (Some(slot), Some(marker)) = (slot, marker) else {
                return Err(unexpected(
                    FUNCTION,
                    format!("it did not fill a slot of the tier {}", tier.name),
                ));
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

    /// What the recorder of prices reads before it writes. It does not ask what that consumes, so the same is read here.
    async fn marker_lookup(&self, rows: &[Row]) -> Result<Additional, Error> {
        let markers = rows.iter().filter(|row| matches!(row.place, Place::Marker(_)));
        Ok(Additional {
            what: "record-bazaar: which slots are complete",
            minutes: 1,
            read_units: self.history.read_units(markers).await?,
            write_units: 0.0,
        })
    }

    /// What another recorder writes every time. Mostly it changes nothing, but a write that is refused by its condition
    /// costs what it would have written, and `DynamoDB` does not say so: its requests are counted, and each is taken at
    /// the largest of the rows.
    async fn other_recorder(
        &self,
        function: &'static str,
        what: &'static str,
        minutes: u32,
        operation: &str,
    ) -> Result<Additional, Error> {
        // The first time is another matter.
        let _: Value = self.ask(function, &json!({"time": TICK.to_string()})).await?;
        let mut write_units = 0.0_f64;
        for row in self.history.rows().await?.iter().filter(|row| row.place == Place::Elsewhere(function)) {
            write_units = write_units.max(self.history.write_units(row).await?);
        }
        let before = self.cloud.dynamodb().requests(operation);
        let next = TICK.plus(Duration::from_mins(minutes.into()));
        let _: Value = self.ask(function, &json!({"time": next.to_string()})).await?;
        let requests = self.cloud.dynamodb().requests(operation) - before;
        Ok(Additional { what, minutes, read_units: 0.0, write_units: write_units * report::float(requests) })
    }

    async fn ranges(&self, rows: &[Row]) -> Result<Vec<RangeCost>, Error> {
        let tiers = TIERS.iter().take(self.options.ranges);
        let shards: Vec<_> =
            tiers.map(|tier| (tier, rows.iter().filter(|row| row.is_of(tier)).collect::<Vec<_>>())).collect();
        let total = shards.iter().map(|(tier, rows)| u64::from(tier.slots) * rows.len() as u64).sum();
        let mut progress = Progress { done: 0, total, news: None };
        let mut ranges = Vec::with_capacity(shards.len());
        for (tier, rows) in shards {
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
        let mut cost = report::RangeSum::default();
        for rows in rows.chunks((ROWS_AT_A_TIME / tier.slots as usize).max(1)) {
            self.history.clear().await?;
            self.history.fill(tier, rows).await?;
            for row in rows {
                let Some(product) = row.products().into_iter().min() else { continue };
                let query = self.query(tier, product).await?;
                cost.add(tier, row, product, &query);
                progress.done += u64::from(tier.slots);
                if let Some(sink) = &self.options.progress {
                    sink(progress);
                }
            }
        }
        Ok(cost.of_range(tier))
    }

    /// Asks for the chart of a product.
    async fn query(&self, tier: &'static Tier, product: &str) -> Result<Query, Error> {
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
        let response: ProxyResponse = self.ask(function, &event).await?;
        let read_units = database.consumed().read_units - units_before;
        let pages = database.requests("Query") - pages_before;
        if response.status_code != 200 {
            return Err(unexpected(function, format!("status {} for {product}", response.status_code)));
        }
        let Envelope { data } =
            serde_json::from_str(&response.body).map_err(|error| unexpected(function, error.to_string()))?;
        // A chart with holes would cost less.
        if data.data_points != tier.slots as usize {
            let reason = format!("{} points of {product}, not {}", data.data_points, tier.slots);
            return Err(unexpected(function, reason));
        }
        Ok(Query { read_units, pages, answer_bytes: response.body.len() })
    }

    /// From now on the provider's answer at this path is this body.
    fn serve(&self, path: &str, body: String) {
        if let Some(simulator) = self.cloud.simulator() {
            simulator.set_fault(path, Fault::default().with_body(body));
        }
    }

    async fn ask<T: DeserializeOwned>(&self, function: &'static str, event: &Value) -> Result<T, Error> {
        let answer = self.cloud.invoke(function, event.to_string()).await?;
        serde_json::from_slice(&answer).map_err(|error| unexpected(function, error.to_string()))
    }
}

/// The provider's answer while one fire sale is shown.
fn one_fire_sale() -> String {
    let start = TICK.plus(Duration::from_hours(1)).get() * 1_000;
    let end = TICK.plus(Duration::from_hours(25)).get() * 1_000;
    let sale = json!({"item_id": "PET_SKIN_BLACK_CAT_IVORY", "start": start, "end": end, "amount": 3_000, "price": 500});
    json!({"success": true, "sales": [sale]}).to_string()
}

fn unexpected(function: &'static str, reason: String) -> Error {
    Error::Answer { function, reason }
}
