//! The `cargo cost` command.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use cost::{Options, measure};
use indicatif::ProgressBar;
use local::{Binaries, terminal};

/// Measure what history costs on AWS; exit code 1 if it costs more than its targets
#[derive(Parser)]
#[command(name = "cost", bin_name = "cargo cost", display_name = "cargo cost", version)]
struct Arguments {
    /// A file with a response body of the provider's bazaar, which is recorded instead of the simulator's
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Build the functions with optimisations, as they are deployed
    #[arg(long)]
    release: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    terminal::exit_code(run(Arguments::parse()).await)
}

/// # Errors
/// A sentence, also when a target is missed.
async fn run(arguments: Arguments) -> Result<(), String> {
    let options = Options {
        snapshot: arguments.snapshot,
        binaries: Binaries::Build { release: arguments.release },
        progress: Some(terminal::progress_on(ProgressBar::hidden())),
        ..Options::default()
    };
    let report = tokio::select! {
        measured = measure(options) => measured.map_err(|error| error.to_string())?,
        interrupted = terminal::interrupted() => {
            return interrupted.and(Err("interrupted before the measurement was complete".to_owned()));
        }
    };
    terminal::print(&report.to_string());
    match report.missed().len() {
        0 => Ok(()),
        missed => Err(format!("history costs more than its targets allow; missed targets: {missed}")),
    }
}
