//! `account import`. It removes nothing: an existing account stays unchanged, and the later of two states of a key wins.
//! After an interruption, the same command does the rest.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use common::auth::{Account, AccountName, KeyId, KeyRecord, KeyState, Label, Tier};
use serde::Serialize;
use tables::access::Row;

use super::issue::move_to_plan;
use super::{Access, line};
use crate::console::{ClearOnDrop, Console};
use crate::error::Error;
use crate::gateway::Gateway;
use crate::history::import_file::ImportFile;
use crate::output::{Format, write};

/// What the import of a row did.
enum Stored {
    Imported,
    AlreadyThere,
    /// The table has other values, and keeps them.
    Different,
    /// This other key of the account is issued and has the same label. It stays, and the row is not imported.
    LabelTaken(KeyId),
}

/// How many rows had which result.
#[derive(Debug, Default, Serialize)]
struct Tally {
    imported: u64,
    already_there: u64,
    different: u64,
}

impl Tally {
    fn count(&mut self, stored: &Stored) {
        *match stored {
            Stored::Imported => &mut self.imported,
            Stored::AlreadyThere => &mut self.already_there,
            Stored::Different | Stored::LabelTaken(_) => &mut self.different,
        } += 1;
    }

    fn summary(&self) -> String {
        let Self { imported, already_there, different } = self;
        format!("imported {imported}, already there {already_there}, different {different}")
    }
}

/// What the import changed in API Gateway.
#[derive(Debug, Default, Serialize)]
struct GatewayTally {
    added: u64,
    moved: u64,
    already_there: u64,
    /// Keys of accounts that are not in the table.
    without_account: u64,
}

/// The result as a JSON document.
#[derive(Debug, Default, Serialize)]
struct Document {
    accounts: Tally,
    keys: Tally,
    bad_lines: u64,
    /// `None` without a stack.
    gateway: Option<GatewayTally>,
}

impl Document {
    fn is_complete(&self) -> bool {
        let without_account = self.gateway.as_ref().map_or(0, |gateway| gateway.without_account);
        self.bad_lines + self.accounts.different + self.keys.different + without_account == 0
    }
}

/// A row with the number of its line.
type Numbered<T> = (u64, T);

/// Imports the file: first all accounts, then all keys, then the keys of API Gateway.
///
/// # Errors
/// If the file cannot be read, or the table or AWS fails. What was imported before stays.
pub(super) async fn run(
    access: &Access,
    file: &Path,
    format: Format,
    console: &Console,
) -> Result<ExitCode, Error> {
    let mut document = Document::default();
    let name = file.display().to_string();
    let (accounts, mut keys, bad_lines) = read(file, console).await?;
    document.bad_lines = bad_lines;
    // A key that the file revokes makes room for one with its label.
    keys.sort_by_key(|(_, key)| key.state == KeyState::Issued);
    for (number, account) in &accounts {
        let stored = import_account(access, account).await?;
        document.accounts.count(&stored);
        if matches!(stored, Stored::Different) {
            let account = &account.name;
            console.print(format_args!(
                "{name}:{number}: the account {account} exists with other values, which stay; `account set` changes them"
            ));
        }
    }
    let progress = ClearOnDrop(console.progress_in_rows(u64::try_from(keys.len()).ok()));
    let mut imported = Vec::new();
    let mut labels = Labels::default();
    for (number, key) in keys {
        let (stored, state) = import_key(access, &key, &mut labels).await?;
        document.keys.count(&stored);
        let (id, KeyRecord { account, label, .. }) = (key.id(), &key);
        match &stored {
            Stored::Different => {
                console.print(format_args!("{name}:{number}: the key {id} exists with other values, which stay"));
            }
            Stored::LabelTaken(other) => console.print(format_args!(
                "{name}:{number}: the key {id} is not imported: the account {account} has the issued key {other} with the label \
                 '{label}'; revoke one of them"
            )),
            Stored::Imported | Stored::AlreadyThere => imported.push(KeyRecord { state, ..key }),
        }
        progress.0.inc(1);
    }
    drop(progress);
    console.print(format_args!(
        "accounts: {}; keys: {}; bad lines {}",
        document.accounts.summary(),
        document.keys.summary(),
        document.bad_lines
    ));
    if let Some(gateway) = &access.gateway {
        let tally = document.gateway.insert(GatewayTally::default());
        add_to_gateway(access, gateway, &imported, tally, console).await?;
        let GatewayTally { added, moved, already_there, .. } = tally;
        console
            .print(format_args!("API Gateway: added {added}, moved {moved}, already there {already_there}"));
    } else if imported.iter().any(|key| key.state == KeyState::Issued) {
        access.warn_without_gateway(
            console,
            "API Gateway does not have the keys, and rejects them with 401; the same command with --stack adds them",
        )?;
    }
    if format == Format::Json {
        write(format, String::new, &document)?;
    }
    Ok(if document.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The accounts and keys of the file, and the number of bad lines, which are reported and skipped.
async fn read(
    file: &Path,
    console: &Console,
) -> Result<(Vec<Numbered<Account>>, Vec<Numbered<KeyRecord>>, u64), Error> {
    let mut file = ImportFile::open(file, console).await?;
    let (mut accounts, mut keys) = (Vec::new(), Vec::new());
    while let Some((number, row)) = file.next(line::parse).await? {
        match row {
            Row::Account(account) => accounts.push((number, account)),
            Row::Key(key) => keys.push((number, key)),
        }
    }
    Ok((accounts, keys, file.finish()))
}

async fn import_account(access: &Access, account: &Account) -> Result<Stored, Error> {
    if tables::access::replace_account(access.table(), None, account).await? {
        return Ok(Stored::Imported);
    }
    let is_same = access.account(&account.name).await?.as_ref() == Some(account);
    Ok(if is_same { Stored::AlreadyThere } else { Stored::Different })
}

/// The issued key with each label, by account: an account has at most one. Accounts are read when they are first needed.
#[derive(Default)]
struct Labels(BTreeMap<AccountName, BTreeMap<Label, KeyId>>);

impl Labels {
    /// Returns the other issued key with the label of this one, if there is one. Otherwise this one takes the label.
    async fn take(&mut self, access: &Access, key: &KeyRecord) -> Result<Option<KeyId>, Error> {
        if !self.0.contains_key(&key.account) {
            let issued = access.keys_of(&key.account).await?;
            let issued = issued.into_iter().filter(|key| key.state == KeyState::Issued);
            self.0.insert(key.account.clone(), issued.map(|key| (key.label.clone(), key.id())).collect());
        }
        let labels = self.0.entry(key.account.clone()).or_default();
        if let Some(other) = labels.get(&key.label).filter(|other| **other != key.id()) {
            // The index may lag behind the row, and an earlier line may not have been imported.
            let current = tables::access::key(access.table(), other).await?;
            if current.is_some_and(|current| {
                current.state == KeyState::Issued
                    && current.account == key.account
                    && current.label == key.label
            }) {
                return Ok(Some(other.clone()));
            }
        }
        labels.insert(key.label.clone(), key.id());
        Ok(None)
    }
}

/// Imports the key, and returns the state that it has now.
async fn import_key(
    access: &Access,
    key: &KeyRecord,
    labels: &mut Labels,
) -> Result<(Stored, KeyState), Error> {
    let (table, id) = (access.table(), key.id());
    if key.state == KeyState::Issued
        && let Some(other) = labels.take(access, key).await?
    {
        let existing = tables::access::key(table, &id).await?.filter(|existing| is_same_key(existing, key));
        return Ok(match existing {
            Some(KeyRecord { state: KeyState::Pending, .. }) | None => (Stored::LabelTaken(other), key.state),
            Some(KeyRecord { state, .. }) => (Stored::AlreadyThere, state),
        });
    }
    if tables::access::put_key(table, key).await? {
        return Ok((Stored::Imported, key.state));
    }
    let existing = tables::access::key(table, &id).await?;
    let Some(existing) = existing.filter(|existing| is_same_key(existing, key)) else {
        return Ok((Stored::Different, key.state));
    };
    let changed = match (existing.state, key.state) {
        (KeyState::Pending, KeyState::Issued) => tables::access::complete_key(table, &id).await?,
        (KeyState::Pending | KeyState::Issued, KeyState::Revoked { at }) => {
            tables::access::revoke_key(table, &id, at).await?
        }
        _ => return Ok((Stored::AlreadyThere, existing.state)),
    };
    Ok(if changed { (Stored::Imported, key.state) } else { (Stored::AlreadyThere, existing.state) })
}

/// Whether both are the same key, in whatever state.
fn is_same_key(one: &KeyRecord, other: &KeyRecord) -> bool {
    KeyRecord { state: other.state, ..one.clone() } == *other
}

/// Brings every issued key into the usage plan of its account's tier.
async fn add_to_gateway(
    access: &Access,
    gateway: &Gateway,
    keys: &[KeyRecord],
    tally: &mut GatewayTally,
    console: &Console,
) -> Result<(), Error> {
    let existing = gateway.keys().await?;
    let mut in_plan = BTreeMap::new();
    for tier in Tier::ALL {
        in_plan.insert(tier, gateway.ids_in_plan(tier).await?);
    }
    let mut accounts = BTreeMap::<&AccountName, Option<Account>>::new();
    let issued = || keys.iter().filter(|key| key.state == KeyState::Issued);
    let progress = ClearOnDrop(console.progress_in_rows(u64::try_from(issued().count()).ok()));
    for key in issued() {
        progress.0.inc(1);
        if !accounts.contains_key(&key.account) {
            accounts.insert(&key.account, access.account(&key.account).await?);
        }
        let Some(account) = accounts.get(&key.account).and_then(Option::as_ref) else {
            let (id, account) = (key.id(), &key.account);
            console.print(format_args!(
                "warning: there is no account {account}: its key {id} is not added to API Gateway"
            ));
            tally.without_account += 1;
            continue;
        };
        let tier = account.subscription.tier;
        match existing.get(key.id().as_str()) {
            Some(known) if in_plan.get(&tier).is_some_and(|ids| ids.contains(&known.id)) => {
                tally.already_there += 1;
            }
            Some(known) => {
                move_to_plan(access, gateway, account.clone(), known).await?;
                tally.moved += 1;
            }
            None => {
                let created = gateway.create(key).await?;
                move_to_plan(access, gateway, account.clone(), &created).await?;
                tally.added += 1;
            }
        }
    }
    Ok(())
}
