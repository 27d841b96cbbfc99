//! `key issue`, the only command that shows a key.

use std::process::ExitCode;

use accounts::IssuedKey;
use accounts::command::Command;
use common::auth::{AccountName, Label};

use crate::access::options::AccessOptions;
use crate::access::print;
use crate::console;
use crate::error::Error;
use crate::interrupt::unless_interrupted;
use crate::output::{is_discarded, write_all};

pub(super) async fn run(options: &AccessOptions, name: AccountName, label: Label) -> Result<ExitCode, Error> {
    if is_discarded() {
        return Err(Error::Discarded);
    }
    let format = options.format();
    let accounts = unless_interrupted(options.open()).await?;
    let command = Command::IssueKey { account: name.clone(), label };
    // From here on the command cannot be interrupted: an issued key must be shown.
    let (issued, notes) = accounts.call::<IssuedKey>(command).await?;
    print(notes);
    let (key, id) = (&issued.key, &issued.view.id);
    if let Err(cause) = write_all(format, || key.clone(), &issued) {
        let revoke = accounts.command(&format!("key revoke {id}"));
        let issue = accounts.issue(&name, issued.view.label.as_str());
        return Err(Error::NotShown { id: id.clone(), cause, command: format!("{revoke} && {issue}") });
    }
    console::print(format_args!("the key is shown only once; its KEY-ID is {id}"));
    Ok(ExitCode::SUCCESS)
}
