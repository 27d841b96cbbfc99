//! `account` and its commands, each in a file with its name.

mod delete;
mod export;
mod import;
mod line;
mod prune;
mod rows;
mod set;
mod show;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use accounts::command::Command::SetAccount;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use common::auth::{AccountName, AccountStatus, Tier};
use common::time::UnixSeconds;

use crate::access::options::AccessOptions;
use crate::arguments::{account_name, time};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// The arguments of `account`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: AccessOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Create or change an account; values without an option stay unchanged
    Set {
        /// The name of the account: 1 to 64 letters, digits and . _ - @ +
        #[arg(value_parser = account_name)]
        name: AccountName,
        /// The tier, which sets the limits; subscriptions of the account may add another tier or time
        #[arg(long, value_parser = tier())]
        tier: Option<Tier>,
        /// The last paid second; a date means its first second in UTC, so 2030-01-01 pays for all of 2029
        #[arg(long, value_name = "DATE", value_parser = time)]
        paid_until: Option<UnixSeconds>,
        /// A suspended account's requests are rejected, whatever is paid, until a person lifts it; a new
        /// account is active by default
        #[arg(long, value_parser = status())]
        status: Option<AccountStatus>,
    },
    /// Show an account, whether its requests are accepted now, and its keys
    Show {
        /// The name of the account
        #[arg(value_parser = account_name)]
        name: AccountName,
    },
    /// Show what an account has used of its limits in this month
    Usage {
        /// The name of the account
        #[arg(value_parser = account_name)]
        name: AccountName,
    },
    /// Delete an account and its keys, so that the service no longer has data about the person
    Delete {
        /// The name of the account
        #[arg(value_parser = account_name)]
        name: AccountName,
    },
    /// Delete the keys in API Gateway of accounts whose paid time ended 180 days ago; the next payment
    /// creates new ones
    Prune,
    /// Export all accounts, and the hashes of all keys, to FILE
    Export {
        /// The file to create, which only its owner can read; - writes to standard output
        file: PathBuf,
        /// Replace FILE if it exists
        #[arg(long)]
        force: bool,
    },
    /// Import accounts and keys from FILE; importing it again changes nothing
    Import {
        /// A file from `account export` (see infra/admin/README.md); - reads standard input
        file: PathBuf,
    },
}

fn tier() -> impl clap::builder::TypedValueParser<Value = Tier> {
    let names = PossibleValuesParser::new(Tier::ALL.map(Tier::name));
    names.try_map(|name| Tier::ALL.into_iter().find(|tier| tier.name() == name).ok_or("unknown tier"))
}

fn status() -> impl clap::builder::TypedValueParser<Value = AccountStatus> {
    let names = PossibleValuesParser::new(AccountStatus::ALL.map(AccountStatus::name));
    let find = |name: String| AccountStatus::ALL.into_iter().find(|status| status.name() == name);
    names.try_map(move |name| find(name).ok_or("unknown status"))
}

pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let Arguments { command, options } = arguments;
    let format = options.format();
    let run = async {
        let accounts = options.open().await?;
        match command {
            Command::Set { name, tier, paid_until, status } => {
                let command = SetAccount { account: name, tier, status, paid_until };
                set::run(&accounts, command, format).await?;
            }
            Command::Show { name } => show::run(&accounts, name, format).await?,
            Command::Usage { name } => usage::run(&accounts, name, format).await?,
            Command::Delete { name } => delete::run(&accounts, name, format).await?,
            Command::Prune => prune::run(&accounts, format).await?,
            Command::Export { file, force } => return export::run(&accounts, &file, force, format).await,
            Command::Import { file } => return import::run(&accounts, &file, format).await,
        }
        Ok(ExitCode::SUCCESS)
    };
    Box::pin(unless_interrupted(run)).await
}
