//! `cargo speed memory`: the latency and the price of each function at the sizes that it can have. A function runs with the
//! processor share of its size, on a core of its own; the provider, the database and this program have the others.

mod choice;
mod quota;
mod scenario;
mod table;
mod template;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use nix::unistd::Pid;

use self::choice::{Latency, Measurement};
pub(crate) use self::quota::MB_PER_CORE;
use self::quota::Quota;
use self::scenario::{Input, Kind, NOW, SCENARIOS, Scenario, tick};
use crate::cloud::Cloud;
use crate::confinement::Confinement;
use crate::instance::{Instance, Program};
use crate::release::{self, Binaries, this_program};
use crate::statistics::{milliseconds, percentile};
use crate::upstream::Upstream;
use crate::{print, workspace};

/// The sizes in MB: from the smallest that Lambda has to the one with a whole core.
const SIZES: [u32; 8] = [128, 192, 256, 384, 512, 768, 1024, 1769];
/// First requests per size, each of a fresh process.
const FIRSTS: usize = 5;
/// Runs of a recorder per size.
const RUNS: usize = 10;
const WARM_UP: usize = 3;
const HANDSHAKES: usize = 15;
/// The pause between two requests, in periods of the quota: at least one, so that a request finds the whole share, as after a
/// pause on Lambda.
const PAUSE_PERIODS: std::ops::Range<f64> = 1.0..2.0;
/// The recorded history: a day in steps of five minutes.
const SEED_STEP: i64 = 300;
const SEED_TICKS: i64 = 288;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    binaries: Binaries,
    /// Number of requests of each kind per size
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u16).range(1..))]
    requests: u16,
    /// Write the measurements, and the table in infra/README.md
    #[arg(long)]
    write: bool,
    /// Measure only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

/// Everything that functions need.
struct World {
    folder: PathBuf,
    upstream: Upstream,
    cloud: Cloud,
    quota: Quota,
    confinement: Confinement,
    requests: usize,
}

/// Returns `true`; the test of this crate compares the template with what was written.
///
/// # Errors
/// A sentence about what cannot be measured.
pub(crate) async fn run(arguments: &Arguments) -> Result<bool, String> {
    let chosen = release::choose(&arguments.functions)?;
    // Without these there is nothing to measure, so they are before the build, which takes minutes.
    let quota = Quota::create()?;
    let upstream = Upstream::start().await?;
    let folder = arguments.binaries.folder(&release::functions()?)?;
    let core = quota::leave_a_core()?;
    let confinement = Confinement { processes: quota.processes(), core };
    let cloud = Cloud::start(&folder, &["--no-schedules", "--history", "0"]).await?;
    let requests = usize::from(arguments.requests);
    let world = World { folder, upstream, cloud, quota, confinement, requests };
    world.seed(&chosen).await?;
    let handshakes = world.handshakes().await?;
    let mut measurements = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| chosen.iter().any(|name| name == scenario.function)) {
        let sizes = world.measure(scenario, &handshakes).await?;
        print(&table::report(&sizes)?);
        measurements.extend(sizes);
    }
    if arguments.write {
        let all = choice::write(measurements)?;
        markdown::write(&workspace().join("infra/README.md"), "memory", &table::summary(&all)?)?;
    }
    Ok(true)
}

impl World {
    fn program(&self, function: &str) -> Result<Program, String> {
        let program = Program::new(self.folder.join(function)).with_upstream(&self.upstream.url());
        Ok(program.with_database(self.cloud.printed("dynamodb")?))
    }

    /// Records history for those functions that read it.
    async fn seed(&self, functions: &[String]) -> Result<(), String> {
        let reads = |name: &String| name.starts_with("bazaar-") || name == "status";
        if functions.iter().any(reads) {
            let ticks = (0..SEED_TICKS).rev().map(|tick| NOW - tick * SEED_STEP);
            self.record("record-bazaar", ticks).await?;
        }
        for recorder in ["record-candles", "record-mayor", "record-fire-sales"] {
            self.record(recorder, [NOW]).await?;
        }
        Ok(())
    }

    /// Lets a recorder run at these times, unconfined.
    async fn record(&self, recorder: &str, times: impl IntoIterator<Item = i64>) -> Result<(), String> {
        let mut instance = Instance::start(&self.program(recorder)?).await?;
        for time in times {
            instance.invoke(tick(time)).await?;
        }
        Ok(())
    }

    async fn measure(&self, scenario: &Scenario, handshakes: &[f64]) -> Result<Vec<Measurement>, String> {
        let key = self.cloud.printed("key pro")?;
        let mut measurements = Vec::new();
        for (day, (memory_mb, handshake)) in (0..).zip(SIZES.into_iter().zip(handshakes)) {
            self.quota.set(memory_mb)?;
            let mut input = scenario.input(key, day)?;
            let mut measured = self.measure_size(scenario, memory_mb, &mut input).await?;
            measured.handshake = scenario.fetches().then_some(*handshake);
            measurements.push(measured);
        }
        Ok(measurements)
    }

    async fn measure_size(
        &self,
        scenario: &Scenario,
        memory_mb: u32,
        input: &mut Input,
    ) -> Result<Measurement, String> {
        let mut program = self.program(scenario.function)?;
        program.confinement = Some(self.confinement.clone());
        program.memory_mb = memory_mb;
        let is_recorder = matches!(scenario.kind, Kind::Recorder { .. });
        let requests = if is_recorder { RUNS } else { self.requests };
        self.prepare(scenario, input, FIRSTS + WARM_UP + requests).await?;

        let mut firsts = Vec::new();
        for _ in 0..FIRSTS {
            let mut instance = Instance::start(&program).await?;
            pause().await;
            let response = instance.invoke(input.later()).await?;
            check(&response.payload, false, scenario)?;
            firsts.push(instance.started_in + response.latency);
            instance.stop().await;
        }
        let mut instance = Instance::start(&program).await?;
        for _ in 0..WARM_UP {
            instance.invoke(input.later()).await?;
        }
        let mut fetched = None;
        if scenario.fetches() {
            let next = || (input.later(), false);
            fetched = Some(latencies(&mut instance, requests, scenario, next).await?);
        }
        let mut remembered = None;
        if scenario.remembers() {
            let next = || (input.again(), true);
            remembered = Some(latencies(&mut instance, requests, scenario, next).await?);
        }
        #[expect(clippy::cast_precision_loss, reason = "memory is smaller than 2^53 bytes")]
        let peak_mb = (instance.peak_memory()? as f64 / (1024.0 * 1024.0)).ceil();
        instance.stop().await;
        let function = scenario.function.to_owned();
        let first = Latency::of(firsts);
        Ok(Measurement { function, memory_mb, first, fetched, remembered, handshake: None, peak_mb })
    }

    /// Records a minute of each slot that runs of `record-candles` build candles of.
    async fn prepare(&self, scenario: &Scenario, input: &Input, runs: usize) -> Result<(), String> {
        let Input::Ticks { last, interval } = *input else { return Ok(()) };
        if scenario.function != "record-candles" {
            return Ok(());
        }
        let runs = i64::try_from(runs).unwrap_or_default();
        self.record("record-bazaar", (0..runs).map(|run| last + run * interval)).await
    }

    /// The median time of a TLS handshake at each size, in milliseconds.
    async fn handshakes(&self) -> Result<Vec<f64>, String> {
        let mut medians = Vec::new();
        for memory_mb in SIZES {
            self.quota.set(memory_mb)?;
            let mut times = Vec::new();
            for _ in 0..HANDSHAKES {
                times.push(self.handshake().await?);
            }
            medians.push(Latency::of(times).p50);
        }
        Ok(medians)
    }

    async fn handshake(&self) -> Result<Duration, String> {
        let mut command = Confinement::command(&this_program()?);
        command.arg("handshake").stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("cannot start a handshake: {error}"))?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let pid = pid.ok_or("a handshake has ended")?;
        self.confinement.release(&mut child, pid).await?;
        let output = child.wait_with_output().await.map_err(|error| error.to_string())?;
        let microseconds = String::from_utf8_lossy(&output.stdout).trim().parse();
        Ok(Duration::from_micros(microseconds.map_err(|_| "a handshake failed".to_owned())?))
    }
}

/// The latencies of events, each with whether the response is one from memory.
async fn latencies(
    instance: &mut Instance,
    count: usize,
    scenario: &Scenario,
    mut next: impl FnMut() -> (Bytes, bool),
) -> Result<Latency, String> {
    let mut latencies = Vec::new();
    for _ in 0..count {
        pause().await;
        let (event, is_remembered) = next();
        let response = instance.invoke(event).await?;
        check(&response.payload, is_remembered, scenario)?;
        latencies.push(response.latency);
    }
    Ok(Latency::of(latencies))
}

async fn pause() {
    let periods = PAUSE_PERIODS.start + fastrand::f64() * (PAUSE_PERIODS.end - PAUSE_PERIODS.start);
    tokio::time::sleep(Duration::from_micros(quota::PERIOD_US.into()).mul_f64(periods)).await;
}

/// # Errors
/// A sentence, when the response of a route is an error or not of the origin that is measured.
fn check(payload: &[u8], is_remembered: bool, scenario: &Scenario) -> Result<(), String> {
    let mark = format!(r#"\"cached\":{is_remembered}"#);
    let is_route = matches!(scenario.kind, Kind::Route { .. });
    // It is at the end of a large response.
    let end = payload.get(payload.len().saturating_sub(200)..).unwrap_or_default();
    if is_route && !String::from_utf8_lossy(end).contains(&mark) {
        return Err(format!("{} responds without {mark}", scenario.function));
    }
    Ok(())
}

impl Latency {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        // In microseconds, which is finer than what is measured.
        let at = |share| (milliseconds(percentile(&times, share).unwrap_or_default()) * 1e3).round() / 1e3;
        Self { p50: at(0.5), p99: at(0.99) }
    }
}

/// The measurements beside this crate.
fn file() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/memory.jsonl"))
}
