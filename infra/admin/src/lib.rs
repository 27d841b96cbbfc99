//! The operator's command line. What users of the service never see is done here, by people, against the tables of a
//! deployment or of the local cloud, and a deployment is asked what its users would ask. Each group of commands has a module
//! of its own, and all of them talk to the operator in the same way.

mod access;
mod answer;
mod arguments;
mod check;
mod console;
mod error;
mod gateway;
mod history;
mod service;
mod stack;
mod standard_input;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use self::console::Console;
use self::error::Error;

/// The operator's command line of the Game Data Query Service
#[derive(Parser)]
#[command(name = "admin", bin_name = "cargo admin", display_name = "cargo admin", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say who pays, for what, and until when
    Account(access::account::Arguments),
    /// Issue, list, revoke and explain API keys
    Key(access::key::Arguments),
    /// Bring what is past into the table `History`, or take it out
    History(history::Arguments),
    /// Ask a deployment what its clients would ask, and say what is not as promised
    Check(check::Arguments),
}

/// Runs the command that this process was started with, and says how it ended: 0 when all was done, 1 when something was
/// not, 2 when the command line is wrong.
#[must_use]
pub fn run() -> ExitCode {
    let arguments: Arguments = match arguments::parse() {
        Ok(arguments) => arguments,
        Err(ended) => return ended,
    };
    let console = Console::new();
    console.show_warnings();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(cause) => {
            console.say(format_args!("error: cannot start: {cause}"));
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(async {
        match arguments.command {
            Command::Account(arguments) => access::account::run(arguments, &console).await,
            Command::Key(arguments) => access::key::run(arguments, &console).await,
            Command::History(arguments) => history::run(arguments, &console).await,
            Command::Check(arguments) => check::run(arguments, &console).await,
        }
    });
    // Whoever still waits for standard input, or for a reader of standard output, must not keep the process.
    runtime.shutdown_background();
    result.unwrap_or_else(|error| {
        console.say(format_args!("error: {error}"));
        error.code()
    })
}

/// What `work` brings, unless somebody asks this process to end before.
///
/// # Errors
/// Those of `work`, and [`Error::Interrupted`].
async fn unless_interrupted<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    tokio::select! {
        result = work => result,
        interrupted = tokio::signal::ctrl_c() => Err(interrupted.map_or_else(Error::Signals, |()| Error::Interrupted)),
        _ = terminate.recv() => Err(Error::Interrupted),
    }
}
