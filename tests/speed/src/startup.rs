//! `cargo startup` measures the sizes of the released functions, and their start-up times: from the spawn to
//! the first request for work, relative to the smallest function (`hello`, or `hello-table` for a function
//! with a table). It exits with 1 if a size or a time exceeds its limit.

use std::path::Path;
use std::time::Duration;

use clap::Args;

use crate::comparison::{Comparison, print};
use crate::instance::{Instance, NO_SERVER};
use crate::release;

/// The limit of the start-up time relative to the floor, the smallest function of the same kind.
const RATIO: f64 = 1.15;
/// The number of starts of each function, each paired with a start of its floor.
const STARTS: usize = 100;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

/// Measures the functions, prints the results, and returns whether all are within their limits.
pub(crate) async fn run(arguments: &Arguments) -> Result<bool, String> {
    let functions = release::choose(&arguments.functions)?;
    let folder = release::build(&functions)?;
    let mut rows = Vec::new();
    let mut is_within_limits = true;
    for name in functions {
        let floor = floor_of(&name)?;
        let size_limit = size_limit(&name)?;
        let program = folder.join(&name);
        let floor_program = folder.join(floor);
        let mut pairs = Vec::new();
        for _ in 0..STARTS {
            pairs.push((start_up(&program).await?, start_up(&floor_program).await?));
        }
        let comparison = Comparison::new(&pairs);
        let megabytes = megabytes(&program)?;
        is_within_limits &= !comparison.exceeds(RATIO) && megabytes <= size_limit;
        rows.push(vec![
            name,
            format!("{:.2}", comparison.own_ms),
            floor.to_owned(),
            format!("{:.2}", comparison.floor_ms),
            format!("{:.2}", comparison.ratio),
            format!("{RATIO}"),
            format!("{megabytes:.1}"),
            format!("{size_limit}"),
        ]);
    }
    let header = ["start-up", "ms", "floor", "ms", "ratio", "limit", "MB", "limit"];
    print(&markdown::table(&header, &rows));
    Ok(is_within_limits)
}

/// Measures one start. Waits until the process has ended, so that it does not slow the next start.
async fn start_up(program: &Path) -> Result<Duration, String> {
    let instance = Instance::start(program, NO_SERVER).await?;
    let time = instance.started_in;
    instance.stop().await;
    Ok(time)
}

/// The function's floor: the smallest function of the same kind. `hello-table` takes about 1.25 times as long
/// as `hello`, because the SDK parses its list of AWS's partitions whenever it builds a client.
fn floor_of(name: &str) -> Result<&'static str, String> {
    Ok(if release::depends_on(name, "tables")? { "hello-table" } else { "hello" })
}

/// The limit of the function's size in MB. `page` embeds the pages, and functions with files have a client
/// for S3.
fn size_limit(name: &str) -> Result<f64, String> {
    Ok(if name == "page" || release::depends_on(name, "files")? {
        9.0
    } else if release::depends_on(name, "tables")? {
        7.0
    } else {
        4.0
    })
}

fn megabytes(program: &Path) -> Result<f64, String> {
    let metadata = std::fs::metadata(program)
        .map_err(|error| format!("cannot read the size of {}: {error}", program.display()))?;
    #[expect(clippy::cast_precision_loss, reason = "a binary is smaller than 2^53 bytes")]
    Ok(metadata.len() as f64 / 1e6)
}
