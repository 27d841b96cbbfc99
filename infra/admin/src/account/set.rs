//! `account set`.

use accounts::AccountView;
use accounts::command::Command;

use crate::access::{Accounts, view};
use crate::console;
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(accounts: &Accounts, command: Command, format: Format) -> Result<(), Error> {
    let (account, _) = accounts.call::<AccountView>(command).await?;
    write(format, || view::account(&account), &account)?;
    if let Some(from) = account.usable_from {
        console::print(format_args!("the account is new: API Gateway may refuse its keys until {from}"));
    }
    Ok(())
}
