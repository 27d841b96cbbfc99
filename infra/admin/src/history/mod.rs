//! `history import` and `history export`: operators import the past into a new deployment, move it from one deployment to
//! another, and back it up. The files have one JSON object per line, so that other tools can read and write them.

mod auctions;
mod bazaar;
mod events;
mod export;
pub(crate) mod export_file;
mod import;
pub(crate) mod import_file;
mod kind;
pub(crate) mod line;
mod prices;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use common::lambda::config::Config;
use tables::Table;

use self::auctions::Auctions;
use self::bazaar::Bazaar;
use self::events::Events;
use self::kind::Kind;
use crate::console::Console;
use crate::error::Error;
use crate::interrupt::unless_interrupted;
use crate::stack::Stack;

/// The arguments of `history`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The table; the default is the environment variable `HISTORY_TABLE`, then `History`
    #[arg(long, value_name = "NAME", global = true)]
    table: Option<String>,
    /// Use the table of this CloudFormation stack
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "table")]
    stack: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Import FILE into the table; importing it again changes nothing
    Import {
        kind: KindName,
        /// A file with one JSON object per line (see infra/admin/README.md); - reads standard input
        file: PathBuf,
    },
    /// Export the table to FILE
    Export {
        kind: KindName,
        /// The file to create; - writes to standard output
        file: PathBuf,
        /// Replace FILE if it exists
        #[arg(long)]
        force: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum KindName {
    /// Prices of the bazaar, one line per minute or interval of candles
    Bazaar,
    /// Candles of auctions, one line per hour or day
    Auctions,
    /// Mayors and fire sales, one line per election or sale
    Events,
}

/// Runs the command.
///
/// # Errors
/// If the command fails.
pub(crate) async fn run(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    let Arguments { command, table, stack } = arguments;
    let table = match stack {
        Some(stack) => table_of_stack(&stack).await?,
        None => table_by_name(table).await?,
    };
    let (Command::Import { kind, .. } | Command::Export { kind, .. }) = command;
    match kind {
        KindName::Bazaar => Box::pin(run_with_kind(command, &mut Bazaar::of(table), console)).await,
        KindName::Auctions => Box::pin(run_with_kind(command, &mut Auctions(table), console)).await,
        KindName::Events => run_with_kind(command, &mut Events(table), console).await,
    }
}

async fn run_with_kind(command: Command, kind: &mut impl Kind, console: &Console) -> Result<ExitCode, Error> {
    match command {
        Command::Import { file, .. } => import::run(kind, &file, console).await,
        Command::Export { file, force, .. } => export::run(kind, &file, force, console).await,
    }
}

/// The table with this name, or with the name in the environment.
async fn table_by_name(name: Option<String>) -> Result<Table, Error> {
    let variable =
        |variable: &str| (variable == "HISTORY_TABLE").then(|| std::env::var(variable).ok()).flatten();
    let name = name.map_or_else(|| Config::from_lookup(variable).map(|config| config.history_table), Ok)?;
    Ok(Table::of_sdk(&tables::from_profile().await?, &name))
}

/// The table of the stack.
async fn table_of_stack(name: &str) -> Result<Table, Error> {
    let sdk = Box::pin(tables::from_profile()).await?;
    let stack = unless_interrupted(Stack::find(&sdk, name)).await?;
    Ok(Table::of_sdk(&sdk, stack.output("HistoryTable")?))
}
