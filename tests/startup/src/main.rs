//! `cargo startup`: measures the time of every released function from its spawn to its first request for work, relative to
//! the smallest possible function (`hello`), the sizes of the binaries, and the time of a first TLS handshake. It exits with
//! 1 if one of them is above its limit.
//!
//! A function and `hello` start alternately, and the result is the ratio of each pair, so that a change in the load of the
//! machine affects both.

mod handshake;
mod platform;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Parser, Subcommand};
use comfy_table::{ContentArrangement, Table, presets};

use self::platform::Platform;

/// Limits without a table and with one: the start-up time relative to `hello`, and the size of a binary.
const RATIO: (f64, f64) = (1.15, 1.5);
const MEGABYTES: (f64, f64) = (4.0, 7.0);
/// The function that embeds the pages, and the limit of its size. It has no table.
const PAGES: (&str, f64) = ("page", 9.0);

/// The limit of a first TLS handshake in a function with this share of a processor. Lambda gives 256 MB a share of 256/1769.
const HANDSHAKE: Duration = Duration::from_millis(30);
const SHARE: f64 = 0.145;
/// The number of processes that make one handshake each.
const HANDSHAKES: usize = 20;

/// Measure start-up and size of the released functions; exit code 1 if one misses its limit
#[derive(Parser)]
#[command(name = "startup", bin_name = "cargo startup", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Measured>,
    /// Number of starts to measure per function, each paired with a start of the smallest function
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Measure only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

#[derive(Subcommand)]
enum Measured {
    /// Print the microseconds of the first handshake of this process
    #[command(hide = true)]
    Handshake,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Some(Measured::Handshake) => handshake::client_time().map(|time| {
            print(&time.as_micros().to_string());
            true
        }),
        None => measure(&arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(sentence) => {
            let _ = writeln!(std::io::stderr(), "error: {sentence}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line. Ignores that standard output may be closed.
fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Returns whether everything is within its limits.
///
/// # Errors
/// A sentence about what cannot be measured.
fn measure(arguments: &Arguments) -> Result<bool, String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut functions = functions(&workspace)?;
    if let Some(unknown) = arguments.functions.iter().find(|name| !functions.contains(name)) {
        return Err(format!("there is no function {unknown}; there are {}", functions.join(", ")));
    }
    if !arguments.functions.is_empty() {
        functions.clone_from(&arguments.functions);
    }
    let release = build(&workspace, &functions)?;
    let platform = Platform::start().map_err(|error| format!("cannot listen: {error}"))?;
    let hello = release.join("hello");

    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["FUNCTION", "START P50", "BEST", "HELLO P50", "RATIO", "LIMIT", "MB", "LIMIT"]);
    let mut is_within_limits = true;
    for name in &functions {
        let program = release.join(name);
        let has_table = has_table(&workspace, name)?;
        let (ratio_limit, size_limit) = match has_table {
            true => (RATIO.1, MEGABYTES.1),
            false if name == PAGES.0 => (RATIO.0, PAGES.1),
            false => (RATIO.0, MEGABYTES.0),
        };
        let (mut own, mut of_hello, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..arguments.pairs {
            let time = platform.start_up(&program)?;
            let reference = platform.start_up(&hello)?;
            ratios.push(time.as_secs_f64() / reference.as_secs_f64());
            own.push(time);
            of_hello.push(reference);
        }
        let ratio = median(&mut ratios, f64::total_cmp).unwrap_or(f64::INFINITY);
        let megabytes = megabytes(&program)?;
        is_within_limits &= ratio <= ratio_limit && megabytes <= size_limit;
        table.add_row([
            name.clone(),
            milliseconds(median(&mut own, Duration::cmp)),
            milliseconds(own.first().copied()),
            milliseconds(median(&mut of_hello, Duration::cmp)),
            format!("{ratio:.2}"),
            format!("{ratio_limit}"),
            format!("{megabytes:.1}"),
            format!("{size_limit}"),
        ]);
    }
    print(&table.trim_fmt());
    let handshake = first_handshake()?;
    let at_share = handshake.div_f64(SHARE);
    is_within_limits &= at_share < HANDSHAKE;
    print(&format!(
        "a first TLS handshake takes {} ms of a processor, {} ms in a function with 256 MB (limit {})",
        milliseconds(Some(handshake)),
        milliseconds(Some(at_share)),
        HANDSHAKE.as_millis()
    ));
    Ok(is_within_limits)
}

/// The median of many handshakes, each the first of its process.
///
/// # Errors
/// When one of them fails.
fn first_handshake() -> Result<Duration, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
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

/// The names of the functions, which are the names of their folders.
///
/// # Errors
/// When the folder cannot be read.
fn functions(workspace: &Path) -> Result<Vec<String>, String> {
    let folder = workspace.join("functions");
    let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let folders = entries.iter().filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Whether the function has a table, and so links the AWS SDK.
///
/// # Errors
/// When its manifest cannot be read.
fn has_table(workspace: &Path, name: &str) -> Result<bool, String> {
    let manifest = workspace.join("functions").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest);
    let text = text.map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    Ok(text.lines().any(|line| line.starts_with("tables.")))
}

/// Builds the functions and `hello` for release, and returns the folder of the binaries.
///
/// # Errors
/// When they do not build. Cargo has printed why.
fn build(workspace: &Path, functions: &[String]) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace).args(["build", "--release", "--package", "hello"]);
    for name in functions {
        command.args(["--package", name]);
    }
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err("the functions do not build".to_owned());
    }
    // Cargo has built this program, too, so its folder is in the target folder.
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let target = program.parent().and_then(Path::parent).ok_or("this program is not in a target folder")?;
    Ok(target.join("release"))
}

fn megabytes(program: &Path) -> Result<f64, String> {
    let metadata = std::fs::metadata(program)
        .map_err(|error| format!("cannot look at {}: {error}", program.display()))?;
    #[expect(clippy::cast_precision_loss, reason = "a binary is smaller than 2^53 bytes")]
    Ok(metadata.len() as f64 / 1e6)
}

/// Sorts the values and returns the middle one.
fn median<T: Copy>(values: &mut [T], order: impl Fn(&T, &T) -> std::cmp::Ordering) -> Option<T> {
    values.sort_by(order);
    values.get(values.len() / 2).copied()
}

fn milliseconds(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| format!("{:.2}", time.as_secs_f64() * 1_000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        assert_eq!(median(&mut [3, 1, 2], i32::cmp), Some(2));
        assert_eq!(median(&mut [], i32::cmp), None);
    }

    #[test]
    fn a_handshake_completes() {
        assert!(handshake::client_time().unwrap() > Duration::ZERO);
    }

    #[test]
    fn a_program_that_never_requests_work_is_an_error() {
        let platform = Platform::start().unwrap();
        let error = platform.start_up(Path::new("/bin/true")).unwrap_err();
        assert!(error.contains("/bin/true"), "{error}");
    }
}
