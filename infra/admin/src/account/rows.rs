//! The rows of accounts and keys in an exported file. An import removes nothing: an existing account stays unchanged, and the later
//! of two states of a key wins.

use std::pin::pin;

use common::auth::{Account, KeyId, KeyRecord, KeyState};
use common::time::UnixSeconds;
use futures_util::StreamExt as _;
use tables::access::AccessRow;

use super::line::{self, Line};
use crate::access::Access;
use crate::console;
use crate::error::Error;
use crate::row_file::line::BadLine;
use crate::row_file::writer::Writer;
use crate::row_file::{Kind, Tally};

/// The accounts and keys of a table.
pub(super) struct AccessRows<'a> {
    access: &'a Access,
    pub(super) accounts: Tally,
    pub(super) keys: Tally,
    /// The keys of the file that are issued now.
    pub(super) issued: Vec<KeyRecord>,
    /// How many accounts an export has.
    pub(super) exported: u64,
}

impl<'a> AccessRows<'a> {
    pub(super) fn of(access: &'a Access) -> Self {
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
