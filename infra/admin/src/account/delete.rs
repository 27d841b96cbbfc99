//! `account delete`.

use accounts::Deleted;
use accounts::command::Command;
use common::auth::AccountName;

use crate::access::Accounts;
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(accounts: &Accounts, name: AccountName, format: Format) -> Result<(), Error> {
    let (deleted, _) = accounts.call::<Deleted>(Command::DeleteAccount { account: name }).await?;
    let text = || format!("deleted the account {}; keys: {}", deleted.account, deleted.keys);
    write(format, text, &deleted)
}
