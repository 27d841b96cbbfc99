//! `cargo startup`: how long every deployed function takes from being spawned to its first question for work, beside the
//! smallest function that there can be, how large the binaries are, and what a first TLS handshake takes. It exits with 1
//! when something is slower or larger than it may be.
//!
//! A machine is noisy, and comparing two runs compares two moments: so a function and `hello` take turns, and what counts
//! is the ratio of each pair.

mod handshake;
mod platform;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Parser, Subcommand};
use comfy_table::{ContentArrangement, Table, presets};

use self::platform::Platform;

/// What start-up may take, as a multiple of `hello`'s, and how large a binary may be: without a table and with one.
const RATIO: (f64, f64) = (1.15, 1.5);
const MEGABYTES: (f64, f64) = (4.0, 7.0);

/// What a first TLS handshake may take where a function has this share of a processor: Lambda gives 256 MB 256/1769.
const HANDSHAKE: Duration = Duration::from_millis(30);
const SHARE: f64 = 0.145;
/// How many fresh processes make a handshake.
const HANDSHAKES: usize = 20;

/// Measure start-up and size of the deployed functions
#[derive(Parser)]
#[command(name = "startup", bin_name = "cargo startup", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Measured>,
    /// How many pairs of starts are compared for each function
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Only these functions
    #[arg(value_name = "FUNCTION")]
    functions: Vec<String>,
}

#[derive(Subcommand)]
enum Measured {
    /// Print the microseconds of one handshake, the first of this process
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

/// Whoever has closed our output does not want to read it.
fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Whether everything is as fast and as small as it has to be.
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
    table.set_header(["FUNCTION", "START P50", "BEST", "HELLO P50", "RATIO", "BOUND", "MB", "BOUND"]);
    let mut is_good = true;
    for name in &functions {
        let program = release.join(name);
        let has_table = has_table(&workspace, name)?;
        let (ratio_bound, size_bound) =
            if has_table { (RATIO.1, MEGABYTES.1) } else { (RATIO.0, MEGABYTES.0) };
        let (mut own, mut of_hello, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..arguments.pairs {
            let time = platform.start_up(&program)?;
            let floor = platform.start_up(&hello)?;
            ratios.push(time.as_secs_f64() / floor.as_secs_f64());
            own.push(time);
            of_hello.push(floor);
        }
        let ratio = median(&mut ratios, f64::total_cmp).unwrap_or(f64::INFINITY);
        let megabytes = megabytes(&program)?;
        is_good &= ratio <= ratio_bound && megabytes <= size_bound;
        table.add_row([
            name.clone(),
            milliseconds(median(&mut own, Duration::cmp)),
            milliseconds(own.first().copied()),
            milliseconds(median(&mut of_hello, Duration::cmp)),
            format!("{ratio:.2}"),
            format!("{ratio_bound}"),
            format!("{megabytes:.1}"),
            format!("{size_bound}"),
        ]);
    }
    print(&table.trim_fmt());
    let handshake = first_handshake()?;
    let at_share = handshake.div_f64(SHARE);
    is_good &= at_share < HANDSHAKE;
    print(&format!(
        "a first TLS handshake takes {} ms of a processor, {} ms of a function with 256 MB (bound {})",
        milliseconds(Some(handshake)),
        milliseconds(Some(at_share)),
        HANDSHAKE.as_millis()
    ));
    Ok(is_good)
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

/// The names of the functions, which are those of their folders.
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

/// Whether the function has a table, and with it the AWS SDK.
///
/// # Errors
/// When its manifest cannot be read.
fn has_table(workspace: &Path, name: &str) -> Result<bool, String> {
    let manifest = workspace.join("functions").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest);
    let text = text.map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    Ok(text.lines().any(|line| line.starts_with("tables.")))
}

/// Where cargo has put the functions and `hello`, all built with one profile.
///
/// # Errors
/// When they do not build; cargo has said why.
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
    // This program was built by cargo, too: beside it is where it puts things.
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let target = program.parent().and_then(Path::parent).ok_or("this program is nowhere")?;
    Ok(target.join("release"))
}

fn megabytes(program: &Path) -> Result<f64, String> {
    let metadata = std::fs::metadata(program)
        .map_err(|error| format!("cannot look at {}: {error}", program.display()))?;
    #[expect(clippy::cast_precision_loss, reason = "a binary is smaller than 2^53 bytes")]
    Ok(metadata.len() as f64 / 1e6)
}

/// Sorts, and takes the one in the middle.
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
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(&mut [3, 1, 2], i32::cmp), Some(2));
        assert_eq!(median(&mut [], i32::cmp), None);
    }

    #[test]
    fn a_handshake_comes_to_its_end() {
        assert!(handshake::client_time().unwrap() > Duration::ZERO);
    }

    #[test]
    fn a_program_that_never_asks_for_work_is_an_error() {
        let platform = Platform::start().unwrap();
        let said = platform.start_up(Path::new("/bin/true")).unwrap_err();
        assert!(said.contains("/bin/true"), "{said}");
    }
}
