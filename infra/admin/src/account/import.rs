//! `account import`, which also brings the issued keys into API Gateway.

use std::path::Path;
use std::process::ExitCode;

use common::auth::KeyRecord;
use serde::Serialize;
use serde_json::json;

use super::rows::AccessRows;
use crate::access::Access;
use crate::console::{self, Progress};
use crate::error::Error;
use crate::gateway::Gateway;
use crate::output::{Format, write};
use crate::row_file;

/// What an import changed in API Gateway.
#[derive(Default, Serialize)]
struct GatewayTally {
    added: u64,
    moved: u64,
    already_there: u64,
    /// Keys of accounts that are not in the table.
    without_account: u64,
}

/// Imports the file, and then the keys of API Gateway.
///
/// # Errors
/// If the file cannot be read, or the table or AWS fails. What was imported before stays.
pub(super) async fn run(access: &Access, file: &Path, format: Format) -> Result<ExitCode, Error> {
    let mut kind = AccessRows::of(access);
    let bad_lines = row_file::import(&mut kind, file).await?;
    let AccessRows { accounts, keys, issued, .. } = kind;
    let gateway = match &access.gateway {
        Some(gateway) => Some(add_to_gateway(access, gateway, &issued).await?),
        None => None,
    };
    if gateway.is_none() && !issued.is_empty() {
        access.warn_without_gateway(
            "API Gateway does not have the keys, and rejects them with 401; the same command with --stack adds them",
        )?;
    }
    let without_account = gateway.as_ref().map_or(0, |gateway| gateway.without_account);
    let left_out = bad_lines + accounts.left_out + keys.left_out + without_account;
    if format == Format::Json {
        let document =
            json!({"accounts": accounts, "keys": keys, "bad_lines": bad_lines, "gateway": gateway});
        write(format, String::new, &document)?;
    }
    Ok(if left_out == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Brings the keys into the usage plans of their accounts' tiers.
async fn add_to_gateway(
    access: &Access,
    gateway: &Gateway,
    keys: &[KeyRecord],
) -> Result<GatewayTally, Error> {
    let mut tally = GatewayTally::default();
    let existing = gateway.keys().await?;
    let mut progress = Progress::new();
    for (number, key) in keys.iter().enumerate() {
        progress.show(format_args!("API Gateway: {number} of {} keys", keys.len()));
        let id = key.id();
        let name = &key.account;
        let Some(account) = access.account(name).await? else {
            let text = "is not added to API Gateway";
            console::print(format_args!("warning: there is no account {name}: its key {id} {text}"));
            tally.without_account += 1;
            continue;
        };
        if let Some(known) = existing.get(id.as_str()) {
            let is_moved = access.move_to_plan(gateway, account, known).await?;
            *(if is_moved { &mut tally.moved } else { &mut tally.already_there }) += 1;
        } else {
            let created = gateway.create(key).await?;
            access.move_to_plan(gateway, account, &created).await?;
            tally.added += 1;
        }
    }
    let GatewayTally { added, moved, already_there, .. } = tally;
    console::print(format_args!("API Gateway: added {added}, moved {moved}, already there {already_there}"));
    Ok(tally)
}
