//! `cargo speed` and `cargo startup`: measure the released functions through the Lambda Runtime API.
//!
//! - `startup`: the time from spawn to first request for work, compared with the smallest function, and the
//!   sizes of the binaries
//! - `ratios`: the processor time of a request, compared with the smallest function that fetches the same
//!   bodies

mod comparison;
mod event;
mod instance;
mod ratios;
mod release;
mod server;
mod startup;
mod upstream;

use std::io::Write as _;
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
    /// Measure start-up and size; exit code 1 if a function exceeds a limit
    Startup(startup::Arguments),
    /// Compare the processor time of requests with the smallest function's; exit code 1 if one exceeds its
    /// limit
    Ratios(ratios::Arguments),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Startup(arguments) => startup::run(&arguments).await,
        Command::Ratios(arguments) => ratios::run(&arguments).await,
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
