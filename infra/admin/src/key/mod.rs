//! `key` and its commands, each in a file with its name.

mod explain;
mod issue;
mod list;
mod revoke;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use common::auth::{AccountName, KeyId, Label};

use crate::access::options::AccessOptions;
use crate::arguments::{account_name, key_id, label};
use crate::error::Error;
use crate::interrupt::unless_interrupted;

/// The arguments of `key`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: AccessOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Issue a key to an account; the key is shown only once
    Issue {
        /// The name of the account
        #[arg(value_parser = account_name)]
        name: AccountName,
        /// The purpose of the key
        #[arg(long, value_parser = label)]
        label: Label,
    },
    /// List the valid keys of an account and the 20 latest revoked ones, newest first
    List {
        /// The name of the account
        #[arg(value_parser = account_name)]
        name: AccountName,
    },
    /// Revoke a key permanently
    Revoke {
        /// The KEY-ID, as `key list` shows it
        #[arg(value_name = "KEY-ID", value_parser = key_id)]
        id: KeyId,
    },
    /// Explain whether the service accepts a key now; the exit code is 0 if it does, otherwise 1
    Explain {
        /// The key; - reads it from standard input, which keeps it out of the shell's history and the list of
        /// processes
        key: String,
    },
}

pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let Arguments { command, options } = arguments;
    let format = options.format();
    match command {
        Command::Issue { name, label } => issue::run(&options, name, label).await,
        Command::List { name } => {
            let list = async { list::run(&options.open().await?, name, format).await };
            unless_interrupted(list).await.map(|()| ExitCode::SUCCESS)
        }
        Command::Revoke { id } => {
            let revoke = async { revoke::run(&options.open().await?, id, format).await };
            unless_interrupted(revoke).await.map(|()| ExitCode::SUCCESS)
        }
        Command::Explain { key } => unless_interrupted(explain::run(&options, key)).await,
    }
}
