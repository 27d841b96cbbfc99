//! The rows of accounts and keys in an exported file. An import removes nothing: an existing account stays unchanged, and an existing key
//! only changes from pending to issued to revoked.

use accounts::command::Command;
use accounts::{AccountRow, ExportedRows, Imported, KeyRow, Row, State};
use common::time::UnixSeconds;

use super::line;
use crate::access::Accounts;
use crate::console;
use crate::error::Error;
use crate::row_file::line::BadLine;
use crate::row_file::writer::Writer;
use crate::row_file::{Kind, Tally};

/// The state of an export or import.
pub(super) struct AccessRows<'a> {
    access: &'a Accounts,
    pub(super) accounts: Tally,
    pub(super) keys: Tally,
    /// The issued keys of the file, except keys for which the table keeps other values.
    pub(super) issued: Vec<KeyRow>,
    /// How many accounts were exported.
    pub(super) exported: u64,
}

impl<'a> AccessRows<'a> {
    pub(super) fn of(access: &'a Accounts) -> Self {
        Self { access, accounts: Tally::default(), keys: Tally::default(), issued: Vec::new(), exported: 0 }
    }
}

impl Kind for AccessRows<'_> {
    type Record = Row;

    fn parse(line: &str, now: UnixSeconds) -> Result<Row, BadLine> {
        line::parse(line, now)
    }

    async fn store(&mut self, row: Row) -> Result<Option<String>, Error> {
        let (tally, key) = match &row {
            Row::Account(_) => (&mut self.accounts, None),
            Row::Key(key) => (&mut self.keys, Some(key.clone())),
        };
        let has_label = |other: &&KeyRow| {
            key.as_ref().is_some_and(|key| (&other.account, &other.label) == (&key.account, &key.label))
        };
        let others = self.issued.iter().filter(has_label).map(|other| other.sha256.id()).collect();
        let (imported, _) = self.access.call(Command::ImportRow { row, others }).await?;
        if let Imported::Different { reason } = imported {
            tally.left_out += 1;
            return Ok(Some(reason));
        }
        tally.count(1, imported == Imported::Imported);
        self.issued.extend(key.filter(|key| key.state == State::Issued));
        Ok(None)
    }

    fn summary(&self) -> String {
        let [accounts, keys] = [&self.accounts, &self.keys].map(|tally| tally.text("different"));
        format!("accounts: {accounts}; keys: {keys}; ")
    }

    /// Exports accounts by name, then keys by account and age. Reports and skips corrupt rows.
    async fn export(&mut self, writer: &mut Writer) -> Result<(), Error> {
        let mut rows = Vec::new();
        let mut after = None;
        loop {
            let command = Command::ExportRows { after };
            let (page, _) = self.access.call::<ExportedRows>(command).await?;
            for reason in page.corrupt {
                console::print(format_args!("skipped: {reason}"));
                writer.skip(1);
            }
            rows.extend(page.rows);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        rows.sort_by_cached_key(|row| match row {
            Row::Account(AccountRow { account, .. }) => (false, account.clone(), 0, None),
            Row::Key(key) => (true, key.account.clone(), key.created_at.get(), Some(key.sha256.id())),
        });
        for row in rows {
            self.exported += u64::from(matches!(row, Row::Account(_)));
            writer.write(Some(row)).await?;
        }
        Ok(())
    }
}
