//! `account set`. A new tier moves the keys of the account to another usage plan.

use accounts::AccountView;
use accounts::command::Command;

use crate::access::{Accounts, view};
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(accounts: &Accounts, command: Command, format: Format) -> Result<(), Error> {
    let (account, notes) = accounts.call::<AccountView>(command).await?;
    write(format, || view::account(&account), &account)?;
    accounts.print(
        &account.name,
        notes,
        "the account's keys stay in the usage plan of the former tier; the same command with --stack moves them",
    )
}
