//! `history import` and `history export`: operators import history into a new deployment, move history from
//! one deployment to another, and back it up.

mod auctions;
mod bazaar;
mod events;
mod patience;
mod slice;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use common::config::Config;
use tables::Table;

use self::events::Events;
use self::slice::Slices;
use crate::arguments::resource_name;
use crate::console;
use crate::error::Error;
use crate::interrupt::unless_interrupted;
use crate::row_file::writer::Exported;
use crate::row_file::{self, Kind};
use crate::stack::Stack;

/// The arguments of `history`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The table; the default is the environment variable `HISTORY_TABLE`, then `History`
    #[arg(long, value_name = "NAME", global = true, value_parser = resource_name)]
    table: Option<String>,
    /// Use the table of this CloudFormation stack
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "table", value_parser = resource_name)]
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

pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let Arguments { command, table, stack } = arguments;
    let table = open(table, stack.as_deref()).await?;
    let (Command::Import { kind, .. } | Command::Export { kind, .. }) = command;
    match kind {
        KindName::Bazaar => {
            let kind = Slices::<tables::bazaar::Candle>::of(table);
            Box::pin(run_with_kind(command, kind)).await
        }
        KindName::Auctions => {
            let kind = Slices::<tables::auctions::Candle>::of(table);
            Box::pin(run_with_kind(command, kind)).await
        }
        KindName::Events => run_with_kind(command, Events::of(table)).await,
    }
}

async fn run_with_kind(command: Command, mut kind: impl Kind) -> Result<ExitCode, Error> {
    let left_out = match command {
        Command::Import { file, .. } => row_file::import(&mut kind, &file).await?,
        Command::Export { file, force, .. } => {
            let Exported { rows, skipped } = row_file::export(&mut kind, &file, force, false).await?;
            if skipped > 0 {
                console::print(format_args!(
                    "{skipped} corrupt or missing values are not in the file; the lines above name them"
                ));
            }
            console::print(format_args!("exported {rows}"));
            skipped
        }
    };
    Ok(if left_out == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens the table of the stack, or else the table `name`, or else the table that the environment names.
async fn open(name: Option<String>, stack: Option<&str>) -> Result<Table, Error> {
    let sdk = Box::pin(tables::from_profile()).await?;
    if let Some(stack) = stack {
        let stack = unless_interrupted(Stack::find(&sdk, stack)).await?;
        return Ok(Table::of_sdk(&sdk, stack.output("HistoryTable")?));
    }
    let name = name.unwrap_or_else(|| Table::name_of_history(&Config::from_environment()));
    Ok(Table::of_sdk(&sdk, &name))
}
