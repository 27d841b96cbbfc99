//! `account import`, which also adds the issued keys to API Gateway.

use std::path::Path;
use std::process::ExitCode;

use accounts::GatewayTally;
use accounts::command::Command;
use common::auth::KeyId;
use serde_json::json;

use super::rows::AccessRows;
use crate::access::Accounts;
use crate::console::{self, Progress};
use crate::error::Error;
use crate::output::{Format, write};
use crate::row_file;

/// How many keys one invocation adds to API Gateway. API Gateway allows a few requests per second, so 25 keys take about 20 seconds.
const PAGE: usize = 25;

/// Imports the file, then adds its issued keys to API Gateway.
///
/// # Errors
/// If the file cannot be read, or the table or AWS fails. Rows that were imported before stay.
pub(super) async fn run(access: &Accounts, file: &Path, format: Format) -> Result<ExitCode, Error> {
    let mut kind = AccessRows::of(access);
    let bad_lines = row_file::import(&mut kind, file).await?;
    let AccessRows { accounts, keys, issued, .. } = kind;
    let issued: Vec<KeyId> = issued.iter().map(|key| key.sha256.id()).collect();
    let gateway = add_to_gateway(access, &issued).await?;
    if gateway.is_none() && !issued.is_empty() {
        access.warn_without_gateway(
            "API Gateway does not have the keys, and rejects them with 401; the same command with --stack adds them",
        )?;
    }
    let without_account = gateway.as_ref().map_or(0, |gateway| gateway.without_account.len() as u64);
    let left_out = bad_lines + accounts.left_out + keys.left_out + without_account;
    if format == Format::Json {
        let gateway = gateway.map(|GatewayTally { added, moved, already_there, .. }| {
            json!({"added": added, "moved": moved, "already_there": already_there, "without_account": without_account})
        });
        let document =
            json!({"accounts": accounts, "keys": keys, "bad_lines": bad_lines, "gateway": gateway});
        write(format, String::new, &document)?;
    }
    Ok(if left_out == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Puts each key into the usage plan of its account's tier. Returns `None` if there is no API Gateway.
async fn add_to_gateway(access: &Accounts, ids: &[KeyId]) -> Result<Option<GatewayTally>, Error> {
    let mut counts = GatewayTally::default();
    let mut progress = Progress::new();
    let pages = if ids.is_empty() { vec![ids] } else { ids.chunks(PAGE).collect() };
    for (number, page) in pages.into_iter().enumerate() {
        progress.show(format_args!("API Gateway: {} of {} keys", number * PAGE, ids.len()));
        let command = Command::AddToGateway { key_ids: page.to_vec() };
        let (Some(tally), _) = access.call::<Option<GatewayTally>>(command).await? else { return Ok(None) };
        for (name, id) in &tally.without_account {
            let text = "is not added to API Gateway";
            console::print(format_args!("warning: there is no account {name}: its key {id} {text}"));
        }
        counts.without_account.extend(tally.without_account);
        counts.added += tally.added;
        counts.moved += tally.moved;
        counts.already_there += tally.already_there;
    }
    let GatewayTally { added, moved, already_there, .. } = counts;
    console::print(format_args!("API Gateway: added {added}, moved {moved}, already there {already_there}"));
    Ok(Some(counts))
}
