//! `cargo speed` and `cargo startup`: measure the released functions through the Lambda Runtime API.
//!
//! - `startup`: the time from spawn to first request for work, compared with the smallest function, and the sizes of the binaries
//! - `ratios`: the processor time of a request, compared with a lower bound

mod copy;
mod database;
mod event;
mod handshake;
mod instance;
mod pipeline;
mod ratios;
mod release;
mod server;
mod startup;
mod statistics;
mod upstream;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measure the released functions
#[derive(Parser)]
#[command(name = "speed", bin_name = "cargo speed")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure start-up and size; exit code 1 if a function misses its limit
    Startup(startup::Arguments),
    /// Compare the processor time of requests with a lower bound; exit code 1 if a target is missed
    Ratios(ratios::Arguments),
    /// Print the microseconds of the first handshake of this process
    #[command(hide = true)]
    Handshake,
    /// Make a response with the plain pipeline, as often as each line of standard input says
    #[command(hide = true)]
    Pipeline { base_url: String, pipeline: pipeline::Pipeline },
    /// Be a function that posts the response in a file
    #[command(hide = true)]
    Copy { file: PathBuf },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Startup(arguments) => startup::run(&arguments).await,
        Command::Ratios(arguments) => ratios::run(&arguments).await,
        Command::Handshake => handshake::client_time().map(|time| {
            print(&time.as_micros().to_string());
            true
        }),
        Command::Pipeline { base_url, pipeline } => pipeline::run(&base_url, pipeline).await.map(|()| true),
        Command::Copy { file } => copy::run(&file).await.map(|()| true),
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

/// The root of the repository.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
