//! The cost of candles. `record-candles` builds one slot of each interval, of as many minutes or finer candles as there are on a
//! complete day. Pages are then read from copies of these slots, at the time at which a page reads the most.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use common::routes::BAZAAR_CANDLES;
use common::time::UnixSeconds;
use common::upstream::bazaar;
use local::Progress;
use serde::Deserialize;
use serde_json::{Value, json};
use tables::history::bazaar::TIERS;
use tables::history::candles::{INTERVALS, Interval, REACH};

use crate::error::Error;
use crate::figures::float;
use crate::history::{Place, Row};
use crate::measurement::{Measurement, unexpected};
use crate::report::{Additional, QueryCost, ReadCost, ReadSum, RowBytes, WriteCost};
use crate::snapshot::Snapshot;
use crate::targets::{CANDLES_TARGETS, MOST_CANDLES_TARGETS};

const FUNCTION: &str = "record-candles";
/// The end of the day: 2026-04-29T00:00:00Z.
const MIDNIGHT: UnixSeconds = UnixSeconds::new(1_777_420_800);
/// How long after the end of an interval the recorder runs.
const DELAY: Duration = Duration::from_mins(2);
/// The time after midnight at which a page reads the most: the whole day before may not be built yet.
const BUSIEST: Duration = Duration::from_secs(9 * 60 + 30);
/// The minutes that such a page reads.
const UNBUILT_MINUTES: u32 = 15;
/// As many finer candles as such a page reads at most: a day of hours.
const UNBUILT_CANDLES: u32 = 24;
/// The prices of the five minutes relative to the snapshot's, so that open, high, low and close differ.
const MOVES: [f64; 5] = [1.0, 1.004, 0.997, 1.002, 0.999];
/// The default number of candles of a page, and the largest.
const CANDLES: u32 = 288;
const MOST_CANDLES: u32 = 1_000;
/// The slots of an older page: one more than it has candles says whether there are older ones, and one is newer.
pub(super) const SLOTS: u32 = CANDLES + 2;
const MOST_SLOTS: u32 = MOST_CANDLES + 2;
/// The number of rows in the database, in memory, at a time.
const ROWS_AT_A_TIME: usize = 100_000;
const MINUTE: Duration = Duration::from_mins(1);

/// The part of `record-candles`' response that is needed here.
#[derive(Deserialize)]
struct Run {
    recorded: Outcome,
}

#[derive(Deserialize)]
struct Outcome {
    slots: Vec<BuiltSlot>,
}

#[derive(Deserialize)]
struct BuiltSlot {
    interval: String,
    rows: usize,
    write_units: f64,
}

/// Whether the row is one of this interval.
fn is_of(row: &Row, interval: &'static Interval) -> bool {
    [Place::Candles(interval), Place::CandlesMarker(interval)].contains(&row.place)
}

/// The slots of this length before `end`, from new to old.
fn slots_before(end: UnixSeconds, length: Duration, count: u32) -> Vec<UnixSeconds> {
    (1..=count).map(|back| end.minus(length * back)).collect()
}

/// The number of slots of the interval that this time has.
fn count(time: Duration, interval: Duration) -> u32 {
    u32::try_from(time.as_secs().div_ceil(interval.as_secs())).unwrap_or(u32::MAX)
}

impl Measurement<'_> {
    /// Builds one slot of each interval. Returns their cost and all rows: of the candles, and of the first minute.
    pub(super) async fn candles(&self, snapshot: &Snapshot) -> Result<(Vec<WriteCost>, Vec<Row>), Error> {
        self.history.clear().await?;
        let ([minutes, ..], [finest, ..]) = (&TIERS, &INTERVALS);
        let first = MIDNIGHT.minus(finest.length * 2);
        for (minute, factor) in (0..).zip(MOVES) {
            self.serve(bazaar::PATH, snapshot.moved(factor).body());
            let time = first.plus(MINUTE * minute);
            let event = json!({"time": time.to_string(), "backfill": true});
            let _: Value = self.invoke("record-bazaar", &event).await?;
        }
        let mut rows = self.history.rows().await?;
        rows.retain(|row| {
            let is_of_minutes = [Place::Shard(minutes), Place::Marker(minutes)].contains(&row.place);
            is_of_minutes && row.slot() == Some(first)
        });
        let mut costs = Vec::new();
        let mut finer = None::<&'static Interval>;
        for interval in &INTERVALS {
            // No coarser interval but the days ends with this one, and for those there are no sources.
            let end = MIDNIGHT.minus(interval.length);
            if let Some(finer) = finer {
                let parts = slots_before(end, finer.length, count(interval.length, finer.length));
                self.history.clear().await?;
                self.history.fill(rows.iter().filter(|row| is_of(row, finer)), &parts).await?;
            }
            let built = self.build(interval, end.plus(DELAY)).await?;
            rows.extend(self.history.rows().await?.into_iter().filter(|row| is_of(row, interval)));
            costs.push(self.cost(interval, &built, &rows).await?);
            finer = Some(interval);
        }
        Ok((costs, rows))
    }

    /// Runs the recorder at a time at which there is one slot to build, which must be of this interval.
    async fn build(&self, interval: &'static Interval, now: UnixSeconds) -> Result<Built, Error> {
        let (Outcome { slots }, read_units) = self.run(now).await?;
        let (again, read_units_again) = self.run(now).await?;
        match slots.as_slice() {
            [slot] if slot.interval == interval.name && again.slots.is_empty() => Ok(Built {
                rows: slot.rows,
                write_units: slot.write_units,
                // The second run only finds out that there is nothing to do.
                read_units: read_units - read_units_again,
            }),
            _ => {
                let reason = format!("it did not build one slot of {} once", interval.name);
                Err(unexpected(FUNCTION, reason))
            }
        }
    }

    /// Runs the recorder. Returns what it built, and the read units that it took.
    async fn run(&self, now: UnixSeconds) -> Result<(Outcome, f64), Error> {
        let database = self.cloud.dynamodb();
        // It reads the marker of a slot and the heartbeat without asking for the consumed capacity, which is a unit for each.
        let units = || database.consumed().read_units + float(database.requests("GetItem"));
        let before = units();
        let Run { recorded } =
            self.invoke(FUNCTION, &json!({"time": now.to_string(), "backfill": true})).await?;
        Ok((recorded, units() - before))
    }

    async fn cost(
        &self,
        interval: &'static Interval,
        built: &Built,
        rows: &[Row],
    ) -> Result<WriteCost, Error> {
        let of_interval: Vec<_> = rows.iter().filter(|row| row.place == Place::Candles(interval)).collect();
        let marker = rows.iter().find(|row| row.place == Place::CandlesMarker(interval));
        let marker = marker.ok_or_else(|| unexpected(FUNCTION, format!("no marker of {}", interval.name)))?;
        if built.rows != of_interval.len() {
            let reason = format!("{} rows of {}, not {}", built.rows, interval.name, of_interval.len());
            return Err(unexpected(FUNCTION, reason));
        }
        Ok(WriteCost {
            name: interval.name,
            interval: interval.length,
            shards: interval.shards().end,
            rows: built.rows,
            row_bytes: RowBytes::of(of_interval.iter().map(|row| row.bytes())),
            write_units_per_slot: built.write_units + self.history.write_units(marker).await?,
            read_units_per_slot: built.read_units,
            marker_bytes: marker.bytes(),
            slots_kept: marker.slots_kept(interval.length),
        })
    }

    /// The cost of the markers that the recorder reads at each run: those of the minutes that are not about to expire, and of the
    /// slots with them.
    pub(super) async fn built_lookup(&self, rows: &[Row]) -> Result<Additional, Error> {
        self.history.clear().await?;
        let [minutes, ..] = &TIERS;
        let markers = |place| rows.iter().filter(move |row| row.place == place);
        let slots = slots_before(MIDNIGHT, minutes.interval, count(REACH, minutes.interval));
        self.history.fill(markers(Place::Marker(minutes)), &slots).await?;
        for interval in &INTERVALS {
            // Without a version, whatever the slot was built from is right.
            let markers: Vec<_> =
                markers(Place::CandlesMarker(interval)).map(|row| row.clone().without("version")).collect();
            let slots = slots_before(MIDNIGHT, interval.length, count(REACH, interval.length) + 1);
            self.history.fill(&markers, &slots).await?;
        }
        let (Outcome { slots }, read_units) = self.run(MIDNIGHT.plus(DELAY)).await?;
        if !slots.is_empty() {
            return Err(unexpected(FUNCTION, "it built slots that are there".to_owned()));
        }
        let what = "record-candles: which slots are built";
        Ok(Additional { what, minutes: 5, read_units, write_units: 0.0 })
    }

    /// The cost of pages of candles: of the newest and of older ones, and of the largest page of the largest shard.
    pub(super) async fn pages(&self, rows: &[Row], progress: &mut Progress) -> Result<Vec<ReadCost>, Error> {
        let [minutes, ..] = &TIERS;
        let rows_of_minutes = rows.iter().filter(|row| row.place == Place::Shard(minutes));
        // Products of one shard are in different shards of the minutes.
        let bytes_of_minutes: HashMap<_, _> = rows_of_minutes
            .flat_map(|row| row.products().into_iter().map(|product| (product, row.bytes())))
            .collect();
        let costliest = |row: &Row| {
            let products = row.products().into_iter();
            let costliest = products.max_by_key(|product| (bytes_of_minutes.get(product), Reverse(*product)));
            costliest.map(str::to_owned)
        };
        let mut costs = Vec::new();
        for interval in &INTERVALS {
            let measured = self.measured(rows, Place::Candles(interval));
            let (mut newest, mut older) = (ReadSum::default(), ReadSum::default());
            for chunk in measured.chunks(ROWS_AT_A_TIME / SLOTS as usize) {
                self.history.clear().await?;
                self.fill_unbuilt(rows).await?;
                let slots = slots_before(MIDNIGHT, interval.length, SLOTS);
                self.history.fill(chunk.iter().copied(), &slots).await?;
                for row in chunk {
                    let Some(product) = costliest(row) else { continue };
                    let query = self.query_page(interval, &product, CANDLES, false).await?;
                    newest.add(row, CANDLES + 1, &product, &query);
                    let query = self.query_page(interval, &product, CANDLES, true).await?;
                    older.add(row, CANDLES + 1, &product, &query);
                    self.advance(progress, SLOTS);
                }
            }
            let name = interval.name;
            costs.push(newest.of(format!("candles {name}, newest"), CANDLES, &CANDLES_TARGETS));
            costs.push(older.of(format!("candles {name}, older"), CANDLES, &CANDLES_TARGETS));
            let mut largest_page = ReadSum::default();
            let largest = measured.iter().copied().max_by_key(|row| row.bytes());
            if let Some((row, product)) = largest.and_then(|row| Some((row, costliest(row)?))) {
                self.history.clear().await?;
                self.history.fill([row], &slots_before(MIDNIGHT, interval.length, MOST_SLOTS)).await?;
                let query = self.query_page(interval, &product, MOST_CANDLES, true).await?;
                largest_page.add(row, MOST_CANDLES + 1, &product, &query);
            }
            let name = format!("candles {name}, largest shard");
            costs.push(largest_page.of(name, MOST_CANDLES, &MOST_CANDLES_TARGETS));
        }
        Ok(costs)
    }

    /// Fills everything that a newest page may read besides its own candles: finer ones, back to the start of the interval under way
    /// ten minutes ago, and minutes.
    async fn fill_unbuilt(&self, rows: &[Row]) -> Result<(), Error> {
        let [minutes, ..] = &TIERS;
        let end = MIDNIGHT.plus(MINUTE * (UNBUILT_MINUTES - 5));
        let slots = slots_before(end, minutes.interval, UNBUILT_MINUTES);
        self.history.fill(rows.iter().filter(|row| row.place == Place::Shard(minutes)), &slots).await?;
        for finer in &INTERVALS {
            let slots = slots_before(MIDNIGHT, finer.length, UNBUILT_CANDLES);
            self.history.fill(rows.iter().filter(|row| row.place == Place::Candles(finer)), &slots).await?;
        }
        Ok(())
    }

    async fn query_page(
        &self,
        interval: &'static Interval,
        product: &str,
        candles: u32,
        is_older: bool,
    ) -> Result<QueryCost, Error> {
        let limit = candles.to_string();
        let before = MIDNIGHT.minus(interval.length).to_string();
        let mut parameters = vec![("item_id", product), ("interval", interval.name), ("limit", &limit)];
        if is_older {
            parameters.push(("before", &before));
        }
        self.query(&BAZAAR_CANDLES, &parameters, MIDNIGHT.plus(BUSIEST), candles).await
    }
}

/// A slot that was built.
struct Built {
    rows: usize,
    write_units: f64,
    read_units: f64,
}
