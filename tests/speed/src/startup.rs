//! `cargo startup`: measures the time of every released function from its spawn to its first request for work, relative to
//! the smallest possible function (`hello`, or `hello-table` for a function with a table), the sizes of the binaries, and the time
//! of a first TLS handshake. It exits with 1 if one of them is above its limit.
//!
//! A function and its floor start alternately, and the result is the ratio of each pair, so that a change in the load of the
//! machine affects both.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};

use crate::instance::{Instance, Program};
use crate::print;
use crate::release::{self, Binaries};
use crate::statistics::{median, milliseconds};

/// The limit of the start-up time, relative to the floor.
pub(crate) const RATIO: f64 = 1.15;

/// The limit of a first TLS handshake in a function with the smallest memory that the template has, in MB.
const HANDSHAKE: Duration = Duration::from_millis(30);
const SMALLEST_MB: u32 = 128;
/// The memory, in MB, with which a function has a whole core.
const MB_PER_CORE: u32 = 1769;
/// The number of processes that make one handshake each.
const HANDSHAKES: usize = 20;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    binaries: Binaries,
    /// Number of starts to measure per function, each paired with a start of the smallest function
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Measure only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

/// The smallest possible function of the same kind. The one with a table takes about 1.25 times as long as the one without: whenever a client
/// is built, the SDK parses its list of AWS's partitions.
///
/// # Errors
/// When the function's manifest cannot be read.
pub(crate) fn floor(name: &str) -> Result<&'static str, String> {
    Ok(if release::depends_on(name, "tables")? { "hello-table" } else { "hello" })
}

/// The start-up times of the function and of its floor, in alternation.
///
/// # Errors
/// A sentence, when one does not start.
pub(crate) async fn pairs(
    folder: &Path,
    name: &str,
    floor: &str,
    count: u16,
) -> Result<Vec<(Duration, Duration)>, String> {
    let (own, floor) = (Program::new(folder.join(name)), Program::new(folder.join(floor)));
    let mut pairs = Vec::new();
    for _ in 0..count {
        pairs.push((start_up(&own).await?, start_up(&floor).await?));
    }
    Ok(pairs)
}

/// The time of one start. The process has ended afterwards, so that it does not slow the next start.
async fn start_up(program: &Program) -> Result<Duration, String> {
    let instance = Instance::start(program).await?;
    let time = instance.started_in;
    instance.stop().await;
    Ok(time)
}

/// Returns whether everything is within its limits.
///
/// # Errors
/// A sentence about what cannot be measured.
pub(crate) async fn run(arguments: &Arguments) -> Result<bool, String> {
    let functions = release::choose(&arguments.functions)?;
    let folder = arguments.binaries.folder(&functions)?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["FUNCTION", "START P50", "BEST", "FLOOR", "P50", "RATIO", "LIMIT", "MB", "LIMIT"]);
    let mut is_within_limits = true;
    for name in &functions {
        let (floor, size_limit) = (floor(name)?, size_limit(name)?);
        let (mut own, mut of_floor): (Vec<_>, Vec<_>) =
            pairs(&folder, name, floor, arguments.pairs).await?.into_iter().unzip();
        let ratios = own.iter().zip(&of_floor).map(|(own, floor)| own.as_secs_f64() / floor.as_secs_f64());
        let ratio = median(&mut ratios.collect::<Vec<_>>(), f64::total_cmp).unwrap_or(f64::INFINITY);
        let megabytes = megabytes(&folder.join(name))?;
        is_within_limits &= ratio <= RATIO && megabytes <= size_limit;
        table.add_row([
            name.clone(),
            shown(median(&mut own, Duration::cmp)),
            shown(own.first().copied()),
            floor.to_owned(),
            shown(median(&mut of_floor, Duration::cmp)),
            format!("{ratio:.2}"),
            format!("{RATIO}"),
            format!("{megabytes:.1}"),
            format!("{size_limit}"),
        ]);
    }
    print(&table.trim_fmt());
    let handshake = first_handshake()?;
    let at_share = handshake.mul_f64(f64::from(MB_PER_CORE) / f64::from(SMALLEST_MB));
    is_within_limits &= at_share < HANDSHAKE;
    print(&format!(
        "a first TLS handshake takes {} ms of a processor, {} ms in a function with {SMALLEST_MB} MB (limit {})",
        shown(Some(handshake)),
        shown(Some(at_share)),
        HANDSHAKE.as_millis()
    ));
    Ok(is_within_limits)
}

/// The limit of the function's size, in MB. `page` embeds the pages; public files need a client for S3.
///
/// # Errors
/// When its manifest cannot be read.
fn size_limit(name: &str) -> Result<f64, String> {
    Ok(if name == "page" || release::depends_on(name, "files")? {
        9.0
    } else if release::depends_on(name, "tables")? {
        7.0
    } else {
        4.0
    })
}

/// The median of many handshakes, each the first of its process.
///
/// # Errors
/// When one of them fails.
fn first_handshake() -> Result<Duration, String> {
    let program = release::this_program()?;
    let mut times = Vec::new();
    for _ in 0..HANDSHAKES {
        let output = Command::new(&program).arg("handshake").output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let microseconds = text.trim().parse().map_err(|_| "a handshake failed".to_owned())?;
        times.push(Duration::from_micros(microseconds));
    }
    median(&mut times, Duration::cmp).ok_or_else(|| "no handshake was made".to_owned())
}

fn megabytes(program: &Path) -> Result<f64, String> {
    let metadata = std::fs::metadata(program)
        .map_err(|error| format!("cannot look at {}: {error}", program.display()))?;
    #[expect(clippy::cast_precision_loss, reason = "a binary is smaller than 2^53 bytes")]
    Ok(metadata.len() as f64 / 1e6)
}

fn shown(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| format!("{:.2}", milliseconds(time)))
}
