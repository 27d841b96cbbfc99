//! `key list`.

use accounts::Keys;
use accounts::command::Command;
use common::auth::AccountName;

use crate::access::{Accounts, view};
use crate::console;
use crate::error::Error;
use crate::output::{Format, write};

pub(super) async fn run(accounts: &Accounts, name: AccountName, format: Format) -> Result<(), Error> {
    let (listed, _) = accounts.call::<Keys>(Command::ListKeys { account: name }).await?;
    if listed.keys.is_empty() {
        console::print(format_args!("{} has no keys", listed.account));
    }
    let text = || if listed.keys.is_empty() { String::new() } else { view::keys(&listed.keys) };
    write(format, text, &listed)
}
