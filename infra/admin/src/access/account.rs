//! `account set` and `account show`.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use common::auth::{Account, AccountName, KeyRecord, KeyState, Subscription, SubscriptionStatus, Tier};
use common::time::UnixSeconds;
use serde::Serialize;

use super::view::{AccountView, KeyView, keys};
use super::{ATTEMPTS, Access, Place, now, quoted};
use crate::answer::{Format, write};
use crate::arguments::{account_name, moment};
use crate::console::Console;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::unless_interrupted;

/// The arguments of `account`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand)]
enum Command {
    /// Make an account or change it; what is left out stays as it is
    Set {
        /// 1 to 64 letters, digits and . _ - @ +
        #[arg(value_parser = account_name)]
        name: AccountName,
        /// How often it may ask; its keys move to the usage plan of this tier
        #[arg(long, value_parser = tier())]
        tier: Option<Tier>,
        /// The last second that is paid for; of a date it is the first one (UTC)
        #[arg(long, value_name = "DATE", value_parser = moment)]
        paid_until: Option<UnixSeconds>,
        /// suspended stops it whatever is paid for; a new account is active
        #[arg(long, value_parser = status())]
        status: Option<SubscriptionStatus>,
    },
    /// Show an account, whether it may ask now, and its keys
    Show {
        #[arg(value_parser = account_name)]
        name: AccountName,
    },
}

fn tier() -> impl clap::builder::TypedValueParser<Value = Tier> {
    let names = PossibleValuesParser::new(Tier::ALL.map(Tier::name));
    names.try_map(|name| Tier::ALL.into_iter().find(|tier| tier.name() == name).ok_or("it is no tier"))
}

fn status() -> impl clap::builder::TypedValueParser<Value = SubscriptionStatus> {
    let names = PossibleValuesParser::new(SubscriptionStatus::ALL.map(SubscriptionStatus::name));
    let find = |name: String| SubscriptionStatus::ALL.into_iter().find(|status| status.name() == name);
    names.try_map(move |name| find(name).ok_or("it is no status"))
}

/// What is to change.
#[derive(Clone, Copy)]
struct Changes {
    tier: Option<Tier>,
    paid_until: Option<UnixSeconds>,
    status: Option<SubscriptionStatus>,
}

/// Runs the command.
///
/// # Errors
/// Why it did not come to its end.
pub(crate) async fn run(arguments: Arguments, console: &Console) -> Result<ExitCode, Error> {
    let Arguments { command, place } = arguments;
    let format = place.format();
    let run = async {
        let access = place.open().await?;
        match command {
            Command::Set { name, tier, paid_until, status } => {
                set(&access, name, Changes { tier, paid_until, status }, format, console).await
            }
            Command::Show { name } => show(&access, &name, format).await,
        }
    };
    unless_interrupted(run).await.map(|()| ExitCode::SUCCESS)
}

async fn set(
    access: &Access,
    name: AccountName,
    changes: Changes,
    format: Format,
    console: &Console,
) -> Result<(), Error> {
    let (before, account) = change(access, name, changes).await?;
    let account_now = AccountView::at(now(), &account);
    write(format, || account_now.text(), &account_now)?;
    let tier = account.subscription.tier;
    match &access.gateway {
        // Not only when the tier changes now: moving the keys may have been cut off the last time.
        Some(gateway) => settle(access, gateway, account, console).await,
        None if before.is_some_and(|before| before.subscription.tier != tier) => access.warn_without_gateway(
            console,
            "the account's keys stay in the usage plan of the tier before; the same command with --stack moves them",
        ),
        None => Ok(()),
    }
}

/// Changes the account, and says what it was and what it is.
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
        let is_there = before.as_ref() == Some(&account);
        if is_there || tables::access::replace_account(access.table(), before.as_ref(), &account).await? {
            return Ok((before, account));
        }
    }
    Err(Error::Contended { name })
}

/// Moves the account's keys, and once more if somebody else has changed its tier meanwhile.
async fn settle(
    access: &Access,
    gateway: &Gateway,
    mut account: Account,
    console: &Console,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        move_keys(access, gateway, &account, console).await?;
        match access.account(&account.name).await? {
            Some(current) if current.subscription.tier != account.subscription.tier => account = current,
            _ => return Ok(()),
        }
    }
    Err(Error::Contended { name: account.name })
}

/// Sees to it that every key of the account that counts, or is about to, is in the usage plan of its tier.
async fn move_keys(
    access: &Access,
    gateway: &Gateway,
    account: &Account,
    console: &Console,
) -> Result<(), Error> {
    let keys: Vec<KeyRecord> = access.keys_of(&account.name).await?;
    let is_revoked = |key: &KeyRecord| matches!(key.state, KeyState::Revoked { .. });
    let keys: Vec<_> = keys.into_iter().filter(|key| !is_revoked(key)).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let in_gateway = gateway.keys().await?;
    let tier = account.subscription.tier;
    for key in keys {
        let id = key.id();
        match in_gateway.get(id.as_str()) {
            Some(gateway_key) if gateway.put_into(tier, gateway_key).await? => {
                console.say(format_args!("the key {id} is in the usage plan of {tier} now"));
            }
            Some(_) => {}
            // Whoever is issuing it looks at the tier after making it known.
            None if key.state == KeyState::Pending => {}
            None => {
                let label = quoted(key.label.as_str());
                let command = access.command(&format!("key issue {} --label {label}", account.name));
                console.say(format_args!(
                    "warning: API Gateway does not know the key {id}; this makes it known: {command}"
                ));
            }
        }
    }
    Ok(())
}

async fn show(access: &Access, name: &AccountName, format: Format) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Document<'a> {
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
    write(format, text, &Document { account: &account, keys: records.iter().map(KeyView::from).collect() })
}
