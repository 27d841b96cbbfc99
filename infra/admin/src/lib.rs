//! The operator's command line, `cargo admin`. It manages accounts, API keys and history in the tables of a
//! deployment or of the local cloud, and checks a deployment as a client sees it. The code of a command is in
//! a module with its name: `key issue` is in `key/issue.rs`, `history import` in the folder `history`.

mod access;
mod account;
mod arguments;
mod check;
mod console;
mod error;
mod history;
mod interrupt;
mod key;
mod key_input;
mod output;
mod row_file;
mod stack;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The operator's command line of the Game Data Query Service
#[derive(Parser)]
#[command(name = "admin", bin_name = "cargo admin", display_name = "cargo admin", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create, change, show and delete accounts
    Account(account::Arguments),
    /// Issue, list, revoke and explain API keys
    Key(key::Arguments),
    /// Import and export the table `History`
    History(history::Arguments),
    /// Check a deployment as its clients see it
    Check(check::Arguments),
}

/// Runs the command line of this process and returns its exit code: 0 if the command did everything, 1 if it
/// did not, and 2 if the command line is invalid.
#[must_use]
pub fn run() -> ExitCode {
    let arguments: Arguments = match arguments::parse() {
        Ok(arguments) => arguments,
        Err(exit_code) => return exit_code,
    };
    console::show_warnings();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(cause) => {
            console::print(format_args!("error: cannot start: {cause}"));
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(async {
        match arguments.command {
            Command::Account(arguments) => Box::pin(account::run(arguments)).await,
            Command::Key(arguments) => key::run(arguments).await,
            Command::History(arguments) => Box::pin(history::run(arguments)).await,
            Command::Check(arguments) => check::run(arguments).await,
        }
    });
    // Blocking reads of standard input and writes to standard output must not keep the process alive.
    runtime.shutdown_background();
    result.unwrap_or_else(|error| {
        console::print(format_args!("error: {error}"));
        error.exit_code()
    })
}
