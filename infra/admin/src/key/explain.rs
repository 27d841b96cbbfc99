//! `key explain` shows the authorizer's decision and its reason, which clients do not see. No output repeats
//! the key.

use std::process::ExitCode;

use accounts::Explanation;
use accounts::command::Command;
use common::auth::ApiKey;

use crate::access::options::AccessOptions;
use crate::access::view::{key_lines, or_none, yes_or_no};
use crate::arguments::STANDARD_STREAM;
use crate::error::Error;
use crate::key_input;
use crate::output::{table, write};

pub(super) async fn run(options: &AccessOptions, key: String) -> Result<ExitCode, Error> {
    let input = if key == STANDARD_STREAM { key_input::read_standard_input().await? } else { key };
    let key = match key_input::trim(&input).parse::<ApiKey>() {
        Ok(key) => key,
        Err(malformed) => return show(options, &Explanation::of_malformed(malformed)),
    };
    let accounts = options.open().await?;
    let command = Command::ExplainKey { key: key.expose().to_owned() };
    let (explanation, _) = accounts.call::<Explanation>(command).await?;
    show(options, &explanation)
}

fn show(options: &AccessOptions, explanation: &Explanation) -> Result<ExitCode, Error> {
    let Explanation { allowed, status, reason, key, account } = explanation;
    let text = || {
        let mut lines = key.as_ref().map(key_lines).unwrap_or_default();
        if let Some(account) = account {
            lines.push(["tier".to_owned(), or_none(account.tier)]);
            lines.push(["paid until".to_owned(), or_none(account.paid_until)]);
        }
        lines.push(["status".to_owned(), status.to_string()]);
        lines.push(["allowed".to_owned(), yes_or_no(reason.as_deref())]);
        table(None, lines)
    };
    write(options.format(), text, explanation)?;
    Ok(if *allowed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
