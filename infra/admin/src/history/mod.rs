//! `history import` and `history export`: operators start with an empty past, move from one account to another, and keep
//! copies. The files are lines of JSON, one row each, so that other tools can make and read them.

mod bazaar;
mod export;
mod fire_sales;
mod import;
mod input;
mod line;
mod mayors;
mod output;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use common::config::Config;
use common::time::{UnixMilliseconds, UnixSeconds};
use futures_util::stream::LocalBoxStream;
use serde::Serialize;
use tables::Table;

use self::bazaar::Bazaar;
use self::fire_sales::FireSales;
use self::line::BadLine;
use self::mayors::Mayors;
use crate::console::Console;
use crate::error::Error;
use crate::stack::Stack;
use crate::unless_interrupted;

/// How long the table may take for one thing that is asked of it, with all that is sent again.
const PATIENCE: Duration = Duration::from_mins(1);
/// The file that stands for standard input or output.
const STANDARD: &str = "-";

/// The arguments of `history`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The table; otherwise the environment variable `HISTORY_TABLE` names it, otherwise it is History
    #[arg(long, value_name = "NAME", global = true)]
    table: Option<String>,
    /// The table of this `CloudFormation` stack
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "table")]
    stack: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Write what FILE holds into the table; what is there already stays as it is
    Import {
        kind: KindName,
        /// Lines of JSON (infra/admin/README.md); - is standard input
        file: PathBuf,
    },
    /// Write what the table holds to FILE, oldest first
    Export {
        kind: KindName,
        /// - is standard output
        file: PathBuf,
        /// Replace the file if it is there
        #[arg(long)]
        force: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum KindName {
    /// Mayors, one line for each election
    Mayors,
    /// Fire sales, one line each
    FireSales,
    /// Prices of the bazaar, one line for each minute
    Bazaar,
}

/// What a line did to the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    Imported,
    AlreadyThere,
    TooOld,
}

/// How many rows will come, if that is known, and the rows.
type Rows<'a, R> = (Option<u64>, LocalBoxStream<'a, Result<R, tables::Error>>);

/// A kind of history.
trait Kind {
    /// What a line holds.
    type Row: Serialize;

    /// How many rows may be on their way to the table at a time.
    const AT_A_TIME: usize;

    /// What a line holds, if it can be true at the moment `now`.
    fn parse(line: &str, now: UnixSeconds) -> Result<Self::Row, BadLine>;

    /// Writes the row, unless there is no need to. Doing so twice leaves what doing so once leaves.
    async fn store(&self, row: &Self::Row) -> Result<Stored, tables::Error>;

    /// All rows, oldest first.
    async fn rows(&self) -> Result<Rows<'_, Self::Row>, tables::Error>;
}

/// Runs the command.
///
/// # Errors
/// Why it did not come to its end.
pub(crate) async fn run(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    let Arguments { command, table, stack } = arguments;
    let table = match stack {
        Some(stack) => of_stack(&stack).await?,
        None => open(table).await?,
    };
    let (Command::Import { kind, .. } | Command::Export { kind, .. }) = command;
    match kind {
        KindName::Mayors => carry_out(command, &Mayors(table), console).await,
        KindName::FireSales => carry_out(command, &FireSales(table), console).await,
        KindName::Bazaar => carry_out(command, &Bazaar::of(table), console).await,
    }
}

async fn carry_out(command: Command, kind: &impl Kind, console: &Console) -> Result<ExitCode, Error> {
    match command {
        Command::Import { file, .. } => import::run(kind, &file, console).await,
        Command::Export { file, force, .. } => export::run(kind, &file, force, console).await,
    }
}

/// The table with this name, or with the one in the environment.
async fn open(name: Option<String>) -> Result<Table, Error> {
    let variable =
        |variable: &str| (variable == "HISTORY_TABLE").then(|| std::env::var(variable).ok()).flatten();
    let name = name.map_or_else(|| Config::from_lookup(variable).map(|config| config.history_table), Ok)?;
    Ok(Table::of_sdk(&tables::from_profile().await?, &name))
}

/// The table of the stack.
async fn of_stack(name: &str) -> Result<Table, Error> {
    let sdk = Box::pin(tables::from_profile()).await?;
    let stack = unless_interrupted(Stack::find(&sdk, name)).await?;
    Ok(Table::of_sdk(&sdk, stack.output("HistoryTable")?))
}

fn now() -> UnixSeconds {
    UnixMilliseconds::of_system_clock().into()
}

/// What messages call the file.
fn display(file: &Path) -> String {
    file.display().to_string()
}

#[cfg(test)]
mod tests;
