//! `account` and its commands.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use common::auth::{Account, AccountName, KeyRecord, KeyState, Subscription, SubscriptionStatus, Tier};
use common::time::UnixSeconds;
use serde::Serialize;

use super::view::{AccountView, KeyView, keys};
use super::{ATTEMPTS, Access, AccessOptions, now, quoted, transfer};
use crate::arguments::{account_name, time};
use crate::console;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::interrupt::unless_interrupted;
use crate::output::{Format, write};

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
    /// Create or change an account; options that are not given leave their values unchanged
    Set {
        /// The name of the account: 1 to 64 letters, digits and . _ - @ +
        #[arg(value_parser = account_name)]
        name: AccountName,
        /// The tier, which sets the rate limits; with --stack, the keys move to its usage plan
        #[arg(long, value_parser = tier())]
        tier: Option<Tier>,
        /// The last paid second. A date stands for its first second in UTC: 2030-01-01 pays for all of 2029
        #[arg(long, value_name = "DATE", value_parser = time)]
        paid_until: Option<UnixSeconds>,
        /// The requests of a suspended account are rejected even if it is paid for; a new account is active by default
        #[arg(long, value_parser = status())]
        status: Option<SubscriptionStatus>,
    },
    /// Show an account, whether its requests are accepted now, and its keys
    Show {
        /// The name of the account
        #[arg(value_parser = account_name)]
        name: AccountName,
    },
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

fn status() -> impl clap::builder::TypedValueParser<Value = SubscriptionStatus> {
    let names = PossibleValuesParser::new(SubscriptionStatus::ALL.map(SubscriptionStatus::name));
    let find = |name: String| SubscriptionStatus::ALL.into_iter().find(|status| status.name() == name);
    names.try_map(move |name| find(name).ok_or("unknown status"))
}

/// The changes to an account.
#[derive(Clone, Copy)]
struct Changes {
    tier: Option<Tier>,
    paid_until: Option<UnixSeconds>,
    status: Option<SubscriptionStatus>,
}

/// Runs the command.
///
/// # Errors
/// If the command fails.
pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let Arguments { command, options } = arguments;
    let format = options.format();
    let run = async {
        let access = options.open().await?;
        match command {
            Command::Set { name, tier, paid_until, status } => {
                set(&access, name, Changes { tier, paid_until, status }, format).await?;
            }
            Command::Show { name } => show(&access, &name, format).await?,
            Command::Export { file, force } => {
                return transfer::export(&access, &file, force, format).await;
            }
            Command::Import { file } => {
                return transfer::import(&access, &file, format).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    };
    Box::pin(unless_interrupted(run)).await
}

async fn set(access: &Access, name: AccountName, changes: Changes, format: Format) -> Result<(), Error> {
    let (before, account) = change(access, name, changes).await?;
    let view = AccountView::at(now(), &account);
    write(format, || view.text(), &view)?;
    let tier = account.subscription.tier;
    match &access.gateway {
        // Even if the tier stays the same: an earlier command may have been interrupted before it moved all keys.
        Some(gateway) => move_keys_until_settled(access, gateway, account).await,
        None if before.is_some_and(|before| before.subscription.tier != tier) => access.warn_without_gateway(
            "the account's keys stay in the usage plan of the former tier; the same command with --stack moves them",
        ),
        None => Ok(()),
    }
}

/// Changes the account, and returns it as it was before and as it is now.
async fn change(
    access: &Access,
    name: AccountName,
    Changes { tier, paid_until, status }: Changes,
) -> Result<(Option<Account>, Account), Error> {
    for _ in 0..ATTEMPTS {
        let before = access.account(&name).await?;
        let subscription = match before.as_ref().map(|before| before.subscription) {
            Some(before) => Subscription {
                tier: tier.unwrap_or(before.tier),
                status: status.unwrap_or(before.status),
                paid_until: paid_until.unwrap_or(before.paid_until),
            },
            None => match (tier, paid_until) {
                (Some(tier), Some(paid_until)) => {
                    Subscription { tier, status: status.unwrap_or(SubscriptionStatus::Active), paid_until }
                }
                _ => return Err(Error::Incomplete { name }),
            },
        };
        let account = Account { name: name.clone(), subscription };
        let is_unchanged = before.as_ref() == Some(&account);
        if is_unchanged || tables::access::replace_account(access.table(), before.as_ref(), &account).await? {
            return Ok((before, account));
        }
    }
    Err(Error::Contended { name })
}

/// Moves the account's keys, again if another process has changed its tier in the meantime.
async fn move_keys_until_settled(
    access: &Access,
    gateway: &Gateway,
    mut account: Account,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        move_keys(access, gateway, &account).await?;
        match access.account(&account.name).await? {
            Some(current) if current.subscription.tier != account.subscription.tier => account = current,
            _ => return Ok(()),
        }
    }
    Err(Error::Contended { name: account.name })
}

/// Moves every key of the account that is not revoked to the usage plan of its tier.
async fn move_keys(access: &Access, gateway: &Gateway, account: &Account) -> Result<(), Error> {
    let mut keys: Vec<KeyRecord> = access.keys_of(&account.name).await?;
    keys.retain(|key| !matches!(key.state, KeyState::Revoked { .. }));
    if keys.is_empty() {
        return Ok(());
    }
    let in_gateway = gateway.keys().await?;
    let tier = account.subscription.tier;
    for key in keys {
        let id = key.id();
        match in_gateway.get(id.as_str()) {
            Some(gateway_key) if gateway.move_to(tier, gateway_key).await? => {
                console::print(format_args!("moved the key {id} to the usage plan of {tier}"));
            }
            Some(_) => {}
            // The process that is issuing it checks the tier afterwards.
            None if key.state == KeyState::Pending => {}
            None => {
                let label = quoted(key.label.as_str());
                let command = access.command(&format!("key issue {} --label {label}", account.name));
                console::print(format_args!(
                    "warning: API Gateway does not have the key {id}; to add it, run: {command}"
                ));
            }
        }
    }
    Ok(())
}

async fn show(access: &Access, name: &AccountName, format: Format) -> Result<(), Error> {
    #[derive(Serialize)]
    struct AccountOutput<'a> {
        #[serde(flatten)]
        account: &'a AccountView<'a>,
        keys: Vec<KeyView<'a>>,
    }
    let account = access.account(name).await?.ok_or_else(|| access.no_account(name))?;
    let account = AccountView::at(now(), &account);
    let records = access.keys_of(name).await?;
    let text = || {
        let keys = if records.is_empty() { "no keys".to_owned() } else { keys(&records) };
        format!("{}\n\n{keys}", account.text())
    };
    write(
        format,
        text,
        &AccountOutput { account: &account, keys: records.iter().map(KeyView::from).collect() },
    )
}
