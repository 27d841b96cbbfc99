//! `account export` and `account import`. A file has the hashes of keys, and the time until which each account is paid, so only its
//! owner can read it. An import removes nothing: an existing account stays unchanged, and the later of two states of a key wins.

use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use common::auth::{Account, KeyId, KeyRecord, KeyState};
use common::time::UnixSeconds;
use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::json;
use tables::access::AccessRow;

use super::Access;
use super::issue::move_to_plan;
use super::line::{self, Line};
use crate::arguments::STANDARD_STREAM;
use crate::console::{self, Progress};
use crate::error::Error;
use crate::gateway::Gateway;
use crate::output::{Format, write};
use crate::transfer::line::BadLine;
use crate::transfer::writer::{Exported, Writer};
use crate::transfer::{self, Kind, Tally};

/// The accounts and keys of a table.
struct AccessRows<'a> {
    access: &'a Access,
    accounts: Tally,
    keys: Tally,
    /// The keys of the file that are issued now.
    issued: Vec<KeyRecord>,
    /// How many accounts an export has.
    exported: u64,
}

impl<'a> AccessRows<'a> {
    fn of(access: &'a Access) -> Self {
        Self { access, accounts: Tally::default(), keys: Tally::default(), issued: Vec::new(), exported: 0 }
    }

    async fn store_account(&mut self, account: &Account) -> Result<Option<String>, Error> {
        let is_new = tables::access::replace_account(self.access.table(), None, account).await?;
        if is_new || self.access.account(&account.name).await?.as_ref() == Some(account) {
            self.accounts.count(1, is_new);
            return Ok(None);
        }
        self.accounts.left_out += 1;
        let text = "exists with other values, which stay; `account set` changes them";
        Ok(Some(format!("the account {} {text}", account.name)))
    }

    async fn store_key(&mut self, key: KeyRecord) -> Result<Option<String>, Error> {
        let table = self.access.table();
        let id = key.id();
        let existing = tables::access::key(table, &id).await?;
        if existing.as_ref().is_some_and(|existing| KeyRecord { state: key.state, ..existing.clone() } != key)
        {
            self.keys.left_out += 1;
            return Ok(Some(format!("the key {id} exists with other values, which stay")));
        }
        let state = existing.map(|existing| existing.state);
        if let (None | Some(KeyState::Pending), KeyState::Issued) = (state, key.state)
            && let Some(other) = self.other_with_label(&key).await?
        {
            self.keys.left_out += 1;
            return Ok(Some(format!(
                "the key {id} is not imported: the account {} has the issued key {other} with the label '{}'; revoke one of \
                 them",
                key.account, key.label
            )));
        }
        let is_new = match (state, key.state) {
            (None, _) => tables::access::put_key(table, &key).await?,
            (Some(KeyState::Pending), KeyState::Issued) => tables::access::complete_key(table, &id).await?,
            (Some(KeyState::Pending | KeyState::Issued), KeyState::Revoked { at }) => {
                tables::access::revoke_key(table, &id, at).await?
            }
            _ => false,
        };
        self.keys.count(1, is_new);
        if key.state == KeyState::Issued && !matches!(state, Some(KeyState::Revoked { .. })) {
            self.issued.push(key);
        }
        Ok(None)
    }

    /// The other issued key of the account with the label of this one: an account has at most one.
    async fn other_with_label(&self, key: &KeyRecord) -> Result<Option<KeyId>, Error> {
        let is_other = |other: &KeyRecord| {
            other.state == KeyState::Issued
                && (&other.account, &other.label) == (&key.account, &key.label)
                && other.digest != key.digest
        };
        // The index lags behind the rows in both directions.
        if let Some(other) = self.issued.iter().find(|other| is_other(other)) {
            return Ok(Some(other.id()));
        }
        for other in self.access.keys_of(&key.account).await?.into_iter().filter(is_other) {
            let current = tables::access::key(self.access.table(), &other.id()).await?;
            if current.as_ref().is_some_and(is_other) {
                return Ok(Some(other.id()));
            }
        }
        Ok(None)
    }
}

impl Kind for AccessRows<'_> {
    type Record = Line;

    fn parse(line: &str, now: UnixSeconds) -> Result<Line, BadLine> {
        line::parse(line, now)
    }

    async fn store(&mut self, Line(row): Line) -> Result<Option<String>, Error> {
        match row {
            AccessRow::Account(account) => self.store_account(&account).await,
            AccessRow::Key(key) => self.store_key(key).await,
        }
    }

    fn summary(&self) -> String {
        let [accounts, keys] = [&self.accounts, &self.keys].map(|tally| tally.text("different"));
        format!("accounts: {accounts}; keys: {keys}; ")
    }

    /// Accounts by name, then keys by account and age. Corrupt rows are reported and skipped.
    async fn export(&mut self, writer: &mut Writer) -> Result<(), Error> {
        let mut rows = Vec::new();
        let mut read = pin!(tables::access::rows(self.access.table()));
        while let Some(row) = read.next().await {
            match row {
                Ok(row) => rows.push(row),
                Err(error @ tables::Error::Corrupt { .. }) => {
                    console::print(format_args!("skipped: {error}"));
                    writer.skip(1);
                }
                Err(error) => return Err(error.into()),
            }
        }
        rows.sort_by_cached_key(|row| match row {
            AccessRow::Account(account) => (false, account.name.clone(), 0, None),
            AccessRow::Key(key) => (true, key.account.clone(), key.created_at.get(), Some(key.id())),
        });
        for row in rows {
            self.exported += u64::from(matches!(row, AccessRow::Account(_)));
            writer.write(Some(Line(row))).await?;
        }
        Ok(())
    }
}

/// Exports the table.
///
/// # Errors
/// If the table cannot be read, or the file cannot be written.
pub(super) async fn export(
    access: &Access,
    file: &Path,
    replaces: bool,
    format: Format,
) -> Result<ExitCode, Error> {
    let mut kind = AccessRows::of(access);
    let Exported { rows, skipped } = transfer::export(&mut kind, file, replaces, true).await?;
    let accounts = kind.exported;
    let keys = rows - accounts;
    console::print(format_args!("exported accounts {accounts}, keys {keys}; skipped {skipped}"));
    if format == Format::Json && file.as_os_str() != STANDARD_STREAM {
        write(format, String::new, &json!({"accounts": accounts, "keys": keys, "skipped": skipped}))?;
    }
    Ok(if skipped == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

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
pub(super) async fn import(access: &Access, file: &Path, format: Format) -> Result<ExitCode, Error> {
    let mut kind = AccessRows::of(access);
    let bad_lines = transfer::import(&mut kind, file).await?;
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
            let is_moved = move_to_plan(access, gateway, account, known).await?;
            *(if is_moved { &mut tally.moved } else { &mut tally.already_there }) += 1;
        } else {
            let created = gateway.create(key).await?;
            move_to_plan(access, gateway, account, &created).await?;
            tally.added += 1;
        }
    }
    let GatewayTally { added, moved, already_there, .. } = tally;
    console::print(format_args!("API Gateway: added {added}, moved {moved}, already there {already_there}"));
    Ok(tally)
}
