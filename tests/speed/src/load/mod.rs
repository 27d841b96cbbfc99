//! `cargo speed load`: a local cloud under many clients. First as fast as it responds, which is its highest rate, then at half
//! of that rate.

mod client;
mod processes;

use std::time::{Duration, Instant};

use clap::Args;
use nix::unistd::Pid;
use tokio::task::JoinSet;

use self::client::{Outcomes, Pace, Target};
use self::processes::Sample;
use crate::cloud::Cloud;
use crate::instance::processor_time;
use crate::print;
use crate::release::{self, Binaries};
use crate::statistics::percentile;

/// Small responses, so that the rate is that of requests and not that of bytes.
const PATHS: [&str; 4] =
    ["/v1/mayor", "/v1/fire-sales", "/v1/bazaar?mode=item&id=INK_SACK:3", "/v1/bazaar?mode=flips&limit=10"];
/// No usage plan and no limit of a route may refuse a request. Without schedules, the tables do not grow.
const OPTIONS: [&str; 11] = [
    "--no-schedules",
    "--history",
    "0",
    "--parameter",
    "ProRateLimit=1000000",
    "--parameter",
    "ProBurstLimit=1000000",
    "--parameter",
    "RouteRateLimit=1000000",
    "--parameter",
    "RouteBurstLimit=1000000",
];
/// The limit of the p99 of responses from memory, at half of the highest rate.
const REMEMBERED_MS: f64 = 5.0;
/// The number of samples of memory in a run; in ten minutes, one per minute.
const SAMPLES: u32 = 10;
/// Clients are only for this machine.
const HOST: &str = "127.0.0.1:";

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    binaries: Binaries,
    /// Minutes of load, half of them at half of the highest rate
    #[arg(long, default_value = "10", value_parser = minutes)]
    minutes: f64,
    /// Number of clients
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(1..))]
    clients: u16,
    /// Use the local cloud at this URL, without its limits, instead of starting one
    #[arg(long, value_name = "URL", requires_all = ["key", "pid"])]
    url: Option<String>,
    /// API key for it
    #[arg(long, requires = "url")]
    key: Option<String>,
    /// Its process id
    #[arg(long, requires = "url")]
    pid: Option<i32>,
}

/// A number of minutes, which may have a fraction.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.1..=1_000.0).contains(minutes));
    minutes.ok_or_else(|| "it must be a number from 0.1 to 1000".to_owned())
}

/// A phase of the load.
struct Phase {
    outcomes: Outcomes,
    elapsed: Duration,
    samples: Vec<Sample>,
    /// Processor time of the functions, of the cloud without them, and of the clients.
    processors: [Duration; 3],
}

/// Returns whether there was no error, no growth of memory, and no slow response.
///
/// # Errors
/// A sentence about what cannot be measured.
pub(crate) async fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut started = None;
    if arguments.url.is_none() {
        let folder = arguments.binaries.folder(&release::functions()?)?;
        started = Some(Cloud::start(&folder, &OPTIONS).await?);
    }
    let (url, key, pid) = match &started {
        Some(cloud) => (cloud.printed("ready")?, cloud.printed("key pro")?, cloud.pid),
        None => (
            arguments.url.as_deref().unwrap_or_default(),
            arguments.key.as_deref().unwrap_or_default(),
            Pid::from_raw(arguments.pid.unwrap_or_default()),
        ),
    };
    let authority = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    if !authority.starts_with(HOST) {
        return Err(format!("the load is for {HOST}PORT only, not for {authority}"));
    }
    let target = Target { authority, key: key.to_owned() };
    let half = Duration::from_secs(30).mul_f64(arguments.minutes);

    let highest = phase(&target, pid, arguments.clients, None, half).await?;
    report("as fast as it responds", &highest);
    let calm = phase(&target, pid, arguments.clients, Some(highest.half_rate()?), half).await?;
    report("at half of that rate", &calm);
    print_memory(&highest, &calm);
    Ok(verdict(&highest, &calm))
}

/// Prints what is not as it should be, and returns whether there is nothing.
fn verdict(highest: &Phase, calm: &Phase) -> bool {
    let mut faults = Vec::new();
    for phase in [highest, calm] {
        faults.extend(phase.outcomes.errors.iter().map(|(error, count)| format!("{count} × {error}")));
    }
    if let (Some(first), Some(last)) = (highest.samples.first(), calm.samples.last()) {
        let requests = highest.requests() + calm.requests();
        faults.extend(first.growth(last, |name| requests * share(name)));
    }
    let p99 = milliseconds(&calm.outcomes.remembered, 0.99);
    if p99 >= REMEMBERED_MS {
        faults.push(format!("the p99 from memory is {p99:.2} ms at half of the highest rate"));
    }
    for fault in &faults {
        print(&format!("fault: {fault}"));
    }
    faults.is_empty()
}

/// The share of requests that the function handles: each path has the same, and a function has the name of its route.
#[expect(clippy::cast_precision_loss, reason = "there are a few")]
fn share(function: &str) -> f64 {
    let route = format!("/v1/{function}");
    let is_handled = |path: &&&str| path.split('?').next() == Some(&route);
    PATHS.iter().filter(is_handled).count() as f64 / PATHS.len() as f64
}

/// Loads the cloud, at `rate` requests a second if there is one.
async fn phase(
    target: &Target,
    pid: Pid,
    clients: u16,
    rate: Option<f64>,
    duration: Duration,
) -> Result<Phase, String> {
    let before = processors(pid)?;
    let start = Instant::now();
    let end = start + duration;
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let pace = rate.map_or(Pace::Closed, |rate| {
            let interval = Duration::from_secs_f64(f64::from(clients) / rate);
            Pace::Open { first: start + interval.mul_f64(f64::from(client) / f64::from(clients)), interval }
        });
        tasks.spawn(client::run(target.clone(), &PATHS, usize::from(client) % PATHS.len(), pace, end));
    }
    let mut samples = Vec::new();
    for _ in 0..SAMPLES / 2 {
        tokio::time::sleep(duration / (SAMPLES / 2)).await;
        samples.push(Sample::of(pid));
    }
    let mut outcomes = Outcomes::default();
    while let Some(finished) = tasks.join_next().await {
        outcomes.merge(finished.map_err(|error| format!("a client has failed: {error}"))?);
    }
    outcomes.remembered.sort_unstable();
    outcomes.fetched.sort_unstable();
    let elapsed = start.elapsed();
    let after = processors(pid)?;
    let spent = |index: usize| after.get(index).zip(before.get(index));
    let processors = [0, 1, 2]
        .map(|index| spent(index).map_or(Duration::ZERO, |(after, before)| after.saturating_sub(*before)));
    Ok(Phase { outcomes, elapsed, samples, processors })
}

fn processors(pid: Pid) -> Result<[Duration; 3], String> {
    let (functions, cloud) = Sample::of(pid).processor_times(pid);
    Ok([functions, cloud, processor_time(Pid::this())?])
}

impl Phase {
    /// The number of good responses.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^53")]
    fn requests(&self) -> f64 {
        self.outcomes.successes() as f64
    }

    /// Good responses a second.
    fn rate(&self) -> f64 {
        self.requests() / self.elapsed.as_secs_f64()
    }

    /// Returns half of the rate, which is above 0.
    ///
    /// # Errors
    /// If there was no good response.
    fn half_rate(&self) -> Result<f64, String> {
        if self.outcomes.successes() == 0 {
            let errors: Vec<_> = self.outcomes.errors.keys().map(String::as_str).collect();
            return Err(format!("no request succeeds: {}", errors.join("; ")));
        }
        Ok(self.rate() / 2.0)
    }
}

fn report(title: &str, phase: &Phase) {
    let [functions, cloud, clients] = phase.processors.map(|time| time.div_duration_f64(phase.elapsed));
    print(&format!(
        "{title}: {:.0} requests a second; cores: functions {functions:.2}, cloud {cloud:.2}, clients {clients:.2}",
        phase.rate()
    ));
    for (name, times) in [("from memory", &phase.outcomes.remembered), ("fetched", &phase.outcomes.fetched)] {
        print(&format!(
            "  {name}: {} responses, p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms",
            times.len(),
            milliseconds(times, 0.5),
            milliseconds(times, 0.99),
            milliseconds(times, 1.0)
        ));
    }
}

/// The memory of each program at each sample, in MB.
fn print_memory(highest: &Phase, calm: &Phase) {
    let samples: Vec<_> = highest.samples.iter().chain(&calm.samples).map(Sample::megabytes).collect();
    let Some(last) = samples.last() else { return };
    let row = |name: &str| {
        let cell = |sample: &std::collections::BTreeMap<&str, f64>| {
            sample.get(name).map_or_else(String::new, |megabytes| format!("{megabytes:.1}"))
        };
        std::iter::once(name.to_owned()).chain(samples.iter().map(cell)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = last.keys().map(|name| row(name)).collect();
    let numbers: Vec<_> = (1..=samples.len()).map(|number| number.to_string()).collect();
    let header: Vec<_> = std::iter::once("MB at sample").chain(numbers.iter().map(String::as_str)).collect();
    print(&markdown::table(&header, &rows));
}

fn milliseconds(sorted_micros: &[u32], share: f64) -> f64 {
    percentile(sorted_micros, share).map_or(0.0, |micros| f64::from(micros) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(outcomes: Outcomes) -> Phase {
        Phase {
            outcomes,
            elapsed: Duration::from_secs(1),
            samples: Vec::new(),
            processors: Default::default(),
        }
    }

    #[test]
    fn a_function_handles_the_requests_to_its_route() {
        let shares = ["mayor", "fire-sales", "bazaar", "local"].map(|name| format!("{:.2}", share(name)));
        assert_eq!(shares, ["0.25", "0.25", "0.50", "0.00"]);
    }

    #[test]
    fn an_error_and_a_slow_p99_are_faults() {
        let quick = || phase(Outcomes { remembered: vec![100], ..Outcomes::default() });
        assert!(verdict(&quick(), &quick()));
        let slow = phase(Outcomes { remembered: vec![5_000], ..Outcomes::default() });
        assert!(!verdict(&quick(), &slow));
        assert!(verdict(&slow, &quick()));
        let failed = Outcomes { errors: [("500".to_owned(), 1)].into(), ..Outcomes::default() };
        assert!(!verdict(&phase(failed), &quick()));
    }

    #[test]
    fn a_load_without_a_good_response_is_an_error() {
        let good = Outcomes { remembered: vec![100, 100], ..Outcomes::default() };
        assert_eq!(phase(good).half_rate(), Ok(1.0));
        let failed = Outcomes { errors: [("500".to_owned(), 7)].into(), ..Outcomes::default() };
        assert_eq!(phase(failed).half_rate(), Err("no request succeeds: 500".to_owned()));
    }
}
