//! `account show`.

use accounts::AccountWithKeys;
use accounts::command::Command;
use common::auth::AccountName;

use crate::access::{Accounts, view};
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(accounts: &Accounts, name: AccountName, format: Format) -> Result<(), Error> {
    let command = Command::GetAccount { account: name };
    let (shown, _) = accounts.call::<AccountWithKeys>(command).await?;
    let AccountWithKeys { account, keys } = &shown;
    let text = || {
        let keys = if keys.is_empty() { "no keys".to_owned() } else { view::keys(keys) };
        format!("{}\n\n{keys}", view::account(account))
    };
    write(format, text, &shown)
}
